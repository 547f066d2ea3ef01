#include <array>
#include <atomic>
#include <chrono>
#include <thread>

#include <gtest/gtest.h>

#include "base/bounded_queue.h"
#include "engine/exec/task.h"
#include "engine/exec/testing.h"

namespace thalweg::engine {
namespace {

/// Runs `slices` slices, each until `work` says, then signals.
class CountedRunner final : public TaskRunner {
 public:
  CountedRunner(int slices, std::function<void(const SliceLimit&)> work) : left_(slices), work_(std::move(work)) {}
  SliceEnd RunSlice(const SliceLimit& limit) override {
    EXPECT_FALSE(inside_.exchange(true));
    work_(limit);
    inside_.store(false);
    if (--left_ > 0) return SliceEnd::kAgain;
    done.Set();
    return SliceEnd::kIdle;
  }
  Signal done;

 private:
  int left_;
  std::function<void(const SliceLimit&)> work_;
  std::atomic<bool> inside_{false};
};

/// Uses up a slice; the time it took.
std::chrono::nanoseconds Spin(const SliceLimit& limit) {
  const auto begin = std::chrono::steady_clock::now();
  while (!limit.ShouldYield()) {
  }
  return std::chrono::steady_clock::now() - begin;
}

TEST(Scheduler, EveryWakeIsAnsweredByASlice) {
  Scheduler scheduler({2, 1});
  const auto group = NewTaskGroup(scheduler, QueryClass::kStreaming);
  std::atomic<int> seen{0};
  std::atomic<int> asked{0};
  CountedRunner runner(1'000'000'000, [&](const SliceLimit&) { seen.store(asked.load()); });
  // kAgain would spin: this runner idles after each slice.
  class Idle final : public TaskRunner {
   public:
    explicit Idle(CountedRunner& inner) : inner_(inner) {}
    SliceEnd RunSlice(const SliceLimit& limit) override {
      inner_.RunSlice(limit);
      return SliceEnd::kIdle;
    }

   private:
    CountedRunner& inner_;
  } idle(runner);
  const auto task = std::make_shared<Task>(group, idle);
  group->Open();
  for (int i = 1; i <= 10'000; ++i) {
    asked.store(i);
    task->Wake();
    if (i % 100 == 0) {
      while (seen.load() < i) {
      }
    }
  }
  group->Close();
  EXPECT_EQ(seen.load(), 10'000);
}

// A task that is woken at the very moment at which its slice ends is queued once: two workers never have the same task.
TEST(Scheduler, ATaskRunsOnOneWorkerAtATime) {
  class Exclusive final : public TaskRunner {
   public:
    SliceEnd RunSlice(const SliceLimit&) override {
      if (inside_.exchange(true)) overlaps.fetch_add(1);
      slices.fetch_add(1);
      inside_.store(false);
      return SliceEnd::kIdle;
    }
    std::atomic<int> slices{0};
    std::atomic<int> overlaps{0};

   private:
    std::atomic<bool> inside_{false};
  } runner;
  Scheduler scheduler({4, 1});
  const auto group = NewTaskGroup(scheduler, QueryClass::kStreaming);
  const auto task = std::make_shared<Task>(group, runner);
  group->Open();
  {
    std::vector<std::jthread> wakers;
    for (int waker = 0; waker < 2; ++waker) {
      wakers.emplace_back([&] {
        while (runner.slices.load() < 200'000) task->Wake();
      });
    }
  }
  group->Close();
  EXPECT_EQ(runner.overlaps.load(), 0);
}

TEST(Scheduler, ClosedGroupRunsNothing) {
  Scheduler scheduler({1, 1});
  const auto group = NewTaskGroup(scheduler, QueryClass::kStreaming);
  std::atomic<int> slices{0};
  CountedRunner runner(1, [&](const SliceLimit&) { slices.fetch_add(1); });
  const auto task = std::make_shared<Task>(group, runner);
  task->Wake();
  group->Open();
  group->Close();
  task->Wake();
  EXPECT_EQ(slices.load(), 0);
  group->Open();
  task->Wake();
  EXPECT_TRUE(runner.done.Wait({}));
  group->Close();
  EXPECT_EQ(slices.load(), 1);
}

// One worker, endless streaming work: interactive work of 200 slices still ends, and gets about a quarter of the time.
TEST(Scheduler, InteractiveHasAFloorOfAQuarter) {
  Scheduler scheduler({1, 1});
  const auto stream_group = NewTaskGroup(scheduler, QueryClass::kStreaming);
  std::atomic<int64_t> streamed{0};
  std::atomic<int64_t> answered{0};
  CountedRunner stream(1'000'000'000, [&](const SliceLimit& limit) { streamed.fetch_add(Spin(limit).count()); });
  const auto stream_task = std::make_shared<Task>(stream_group, stream);
  const auto batch_group = NewTaskGroup(scheduler, QueryClass::kInteractive);
  CountedRunner batch(200, [&](const SliceLimit& limit) { answered.fetch_add(Spin(limit).count()); });
  const auto batch_task = std::make_shared<Task>(batch_group, batch);
  stream_group->Open();
  batch_group->Open();
  stream_task->Wake();
  batch_task->Wake();
  EXPECT_TRUE(batch.done.Wait({}));
  stream_group->Close();
  batch_group->Close();
  EXPECT_GE(streamed.load(), answered.load());  // streaming comes first: three quarters of the time
  EXPECT_LE(streamed.load(), 10 * answered.load());
}

TEST(Scheduler, QueriesTakeTurns) {
  Scheduler scheduler({1, 1});
  std::vector<std::shared_ptr<TaskGroup>> groups;
  std::vector<std::unique_ptr<CountedRunner>> runners;
  std::vector<std::shared_ptr<Task>> tasks;
  Mutex mutex;
  std::vector<int> order;
  for (int query = 0; query < 3; ++query) {
    groups.push_back(NewTaskGroup(scheduler, QueryClass::kStreaming));
    // The first query has four tasks; it still gets one turn in three.
    for (int task = 0; task < (query == 0 ? 4 : 1); ++task) {
      runners.push_back(std::make_unique<CountedRunner>(8, [&, query](const SliceLimit& limit) {
        Spin(limit);
        MutexLock lock(mutex);
        order.push_back(query);
      }));
      tasks.push_back(std::make_shared<Task>(groups.back(), *runners.back()));
    }
  }
  for (const auto& group : groups) group->Open();
  for (const auto& task : tasks) task->Wake();
  for (const auto& runner : runners) EXPECT_TRUE(runner->done.Wait({}));
  for (const auto& group : groups) group->Close();
  std::array<int, 3> first_turns{};
  for (size_t i = 0; i < 15; ++i) ++first_turns[order[i]];
  EXPECT_LE(first_turns[0], 8);
  EXPECT_GE(first_turns[1], 3);
  EXPECT_GE(first_turns[2], 3);
}

TEST(Scheduler, BlockingCallsRunBesideEachOther) {
  Scheduler scheduler({1, 3});
  auto gate = std::make_shared<Signal>();
  std::atomic<int> entered{0};
  std::vector<std::shared_ptr<Signal>> done;
  for (int i = 0; i < 2; ++i) {
    done.push_back(scheduler.RunBlocking([&, gate] {
      entered.fetch_add(1);
      gate->Wait({});
    }));
  }
  done.push_back(scheduler.RunBlocking([gate] { gate->Set(); }));  // needs the third thread
  for (const auto& signal : done) EXPECT_TRUE(signal->Wait({}));
  EXPECT_EQ(entered.load(), 2);
}

TEST(Scheduler, ABlockingCallThatThrowsIsOver) {
  Scheduler scheduler({1, 1});
  EXPECT_TRUE(scheduler.RunBlocking([] { throw std::bad_alloc(); })->WaitFor({}, std::chrono::seconds(30)));
  bool ran = false;
  EXPECT_TRUE(scheduler.RunBlocking([&ran] { ran = true; })->WaitFor({}, std::chrono::seconds(30))) << "its thread goes on";
  EXPECT_TRUE(ran);
}

TEST(Execution, CancelStopsWithinAChunk) {
  using namespace testing;  // NOLINT
  auto endless = Node("Endless", {}, 2, [](PartitionId) -> Result<std::unique_ptr<Operator>> {
    class Source final : public Operator {
     public:
      Result<OperatorState> Push(int, data::Chunk) override { return OperatorState::kFinished; }
      Result<OperatorState> EndInput(int) override { return OperatorState::kFinished; }
      Result<std::optional<data::Chunk>> Pull(OperatorState* state) override {
        *state = OperatorState::kHaveOutput;
        return std::optional<data::Chunk>(LongChunk({1}));
      }
    };
    return std::make_unique<Source>();
  });
  endless->output = LongOutput();
  Runner runner(Plan(endless));
  std::atomic<int64_t> rows{0};
  std::jthread other([&](std::stop_token) {
    for (int64_t seen = rows.load(); seen < 1000; seen = rows.load()) rows.wait(seen);
    runner.execution->Cancel(Cancelled());
  });
  const auto result = runner.execution->RunEpoch({}, [&](PartitionId, data::Chunk, std::shared_ptr<Signal>*) -> Result<bool> {
    rows.fetch_add(1);
    rows.notify_all();
    return true;
  });
  EXPECT_EQ(result.status().kind(), ErrorKind::kCancelled);
  EXPECT_EQ(runner.execution->RunEpoch({}, nullptr).status().kind(), ErrorKind::kCancelled);
}

TEST(Execution, StopsWhenTheConsumerHasEnough) {
  using namespace testing;  // NOLINT
  auto source = Node("Source", {}, 1, [](PartitionId) -> Result<std::unique_ptr<Operator>> {
    return std::make_unique<ChunkSource>(std::vector<data::Chunk>(100'000, LongChunk({1, 2, 3})));
  });
  source->output = LongOutput();
  const auto root = Node("Map", {{source, Distribution::kRoundRobin, {}}}, 3, [](PartitionId) -> Result<std::unique_ptr<Operator>> {
    return std::make_unique<FlatMap>([](data::Chunk c) -> Result<std::vector<data::Chunk>> { return std::vector<data::Chunk>{c}; });
  });
  Runner runner(Plan(root));
  std::atomic<int64_t> rows{0};
  const auto result = runner.execution->RunEpoch({}, [&](PartitionId, data::Chunk chunk, std::shared_ptr<Signal>*) -> Result<bool> {
    return rows.fetch_add(chunk.num_rows()) < 30;
  });
  ASSERT_TRUE(result.ok());
  EXPECT_LT(result->nodes[1].total.output_rows, 300'000);
}

TEST(Execution, ConsumerMayBlockATask) {
  using namespace testing;  // NOLINT
  auto source = Node("Source", {}, 2, [](PartitionId) -> Result<std::unique_ptr<Operator>> {
    return std::make_unique<ChunkSource>(std::vector<data::Chunk>(200, LongChunk({1})));
  });
  source->output = LongOutput();
  Runner runner(Plan(source));
  BoundedQueue<std::shared_ptr<Signal>> releases(1000);
  std::jthread releaser([&](std::stop_token) {
    while (auto signal = releases.Pop()) (*signal)->Set();
  });
  std::atomic<int64_t> rows{0};
  const auto result = runner.execution->RunEpoch({}, [&](PartitionId, data::Chunk chunk, std::shared_ptr<Signal>* blocked) -> Result<bool> {
    rows.fetch_add(chunk.num_rows());
    *blocked = std::make_shared<Signal>();
    releases.Push(*blocked);
    return true;
  });
  releases.Close();
  ASSERT_TRUE(result.ok());
  EXPECT_EQ(rows.load(), 400);
}

}  // namespace
}  // namespace thalweg::engine
