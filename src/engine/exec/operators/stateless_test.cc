// Limits, unions, sources, sampling, event times and the sink writer.

#include <algorithm>

#include <gtest/gtest.h>

#include "data/columnar/builder.h"
#include "engine/exec/operators/event_time_watermark.h"
#include "engine/exec/operators/limit.h"
#include "engine/exec/operators/sample.h"
#include "engine/exec/operators/sink_writer.h"
#include "engine/exec/operators/sources.h"
#include "engine/exec/operators/union_all.h"
#include "engine/exec/testing.h"

namespace thalweg::engine {
namespace {

using data::DataType;
using data::Value;
using testing::LongChunk;
using testing::Node;
using testing::Plan;

template <typename T, typename... Args>
testing::MakeOperator Make(Args... args) {
  return [=](PartitionId) -> Result<std::unique_ptr<Operator>> { return std::make_unique<T>(args...); };
}

std::vector<int64_t> RunLongs(const PhysicalNodePtr& root) {
  std::vector<int64_t> out;
  for (const auto& chunk : testing::RunPlan(Plan(root)).ValueOrDie()) {
    for (const int64_t value : testing::Longs(chunk)) out.push_back(value);
  }
  return out;
}

PhysicalNodePtr RangeNode(int64_t start, int64_t end, int64_t step, int partitions) {
  return Node("Range", {}, partitions, [=](PartitionId p) -> Result<std::unique_ptr<Operator>> {
    return std::make_unique<RangeSource>(start, end, step, p.value(), partitions);
  });
}

std::vector<int64_t> Numbers(int64_t start, int64_t end, int64_t step = 1) {
  std::vector<int64_t> out;
  for (int64_t v = start; step > 0 ? v < end : v > end; v += step) out.push_back(v);
  return out;
}

TEST(Range, EveryNumberOnceInOrder) {
  EXPECT_EQ(RunLongs(RangeNode(0, 10'000, 1, 3)), Numbers(0, 10'000));
  EXPECT_EQ(RunLongs(RangeNode(10, -1, -3, 3)), Numbers(10, -1, -3));
  EXPECT_EQ(RunLongs(RangeNode(5, 5, 1, 2)), Numbers(5, 5));
  EXPECT_EQ(RunLongs(RangeNode(0, -5, 1, 2)), std::vector<int64_t>{});
  EXPECT_EQ(RunLongs(RangeNode(INT64_MAX - 2, INT64_MAX, 1, 4)), (std::vector<int64_t>{INT64_MAX - 2, INT64_MAX - 1}));
  EXPECT_EQ(RunLongs(RangeNode(INT64_MIN, INT64_MAX, INT64_MAX, 2)), (std::vector<int64_t>{INT64_MIN, -1, INT64_MAX - 1}));
}

TEST(Limit, TakesRowsAfterItsOffset) {
  for (const int64_t limit : {0, 1, 4096, 5000, 20'000}) {
    for (const int64_t offset : {0, 1, 4095, 4097, 30'000}) {
      const auto node = Node("Limit", {{RangeNode(0, 10'000, 1, 2), Distribution::kSingle, {}}}, 1, Make<Limit>(limit, offset));
      const int64_t from = std::min<int64_t>(offset, 10'000);
      EXPECT_EQ(RunLongs(node), Numbers(from, std::min<int64_t>(from + limit, 10'000))) << limit << " " << offset;
    }
  }
}

// An endless source below a limit: the query ends.
TEST(Limit, StopsWhatIsBelow) {
  const auto range = RangeNode(0, INT64_MAX, 1, 2);
  const auto local = Node("LocalLimit", {{range, Distribution::kSame, {}}}, 2, Make<Limit>(10));
  EXPECT_EQ(RunLongs(Node("GlobalLimit", {{local, Distribution::kSingle, {}}}, 1, Make<Limit>(10))), Numbers(0, 10));
  const auto shuffled = Node("Union", {{range, Distribution::kRoundRobin, {}}}, 3, Make<UnionAll>(1));
  EXPECT_EQ(RunLongs(Node("GlobalLimit", {{shuffled, Distribution::kSingle, {}}}, 1, Make<Limit>(10))).size(), 10U);
}

TEST(Tail, LastRowsInOrder) {
  for (const int64_t limit : {0, 1, 4096, 9'999, 20'000}) {
    const auto node = Node("Tail", {{RangeNode(0, 10'000, 1, 2), Distribution::kSingle, {}}}, 1, Make<Tail>(limit));
    EXPECT_EQ(RunLongs(node), Numbers(std::max<int64_t>(0, 10'000 - limit), 10'000));
  }
}

TEST(UnionAll, PartitionsOneAfterTheOther) {
  const auto node = Node("Union", {{RangeNode(0, 3000, 1, 2), Distribution::kOffset, {}, 0}, {RangeNode(3000, 3010, 1, 1), Distribution::kOffset, {}, 2}, {RangeNode(3010, 9000, 1, 3), Distribution::kOffset, {}, 3}}, 6, Make<UnionAll>(3));
  EXPECT_EQ(RunLongs(node), Numbers(0, 9000));
}

TEST(Sources, ChunksAndOneRow) {
  auto chunks = std::make_shared<const std::vector<data::Chunk>>(std::vector<data::Chunk>{LongChunk({1, 2}), LongChunk({3})});
  EXPECT_EQ(RunLongs(Node("Local", {}, 1, Make<ChunksSource>(chunks))), (std::vector<int64_t>{1, 2, 3}));
  auto one = std::make_shared<const std::vector<data::Chunk>>(std::vector<data::Chunk>{data::Chunk({}, 1)});
  const auto rows = testing::RunPlan(Plan(Node("OneRow", {}, 1, Make<ChunksSource>(one)))).ValueOrDie();
  ASSERT_EQ(rows.size(), 1U);
  EXPECT_EQ(rows[0].num_rows(), 1);
}

// What spark.range(0, 60, 1, p).sample(fraction, seed) gives, recorded from Spark 4.2.0.
TEST(Sample, TakesSparksRows) {
  const auto sample = [](double fraction, int64_t seed, int partitions) {
    return RunLongs(Node("Sample", {{RangeNode(0, 60, 1, partitions), Distribution::kSame, {}}}, partitions, Make<Sample>(0.0, fraction, false, seed)));
  };
  EXPECT_EQ(sample(0.5, 42, 1), (std::vector<int64_t>{3, 7, 10, 12, 16, 18, 20, 25, 26, 27, 31, 36, 37, 38, 40, 41, 48, 50, 53, 54, 57, 58}));
  EXPECT_EQ(sample(0.1, 7, 1), (std::vector<int64_t>{11, 13, 20, 25, 27, 39, 42, 56, 58}));
  EXPECT_EQ(sample(0.3, -5, 1), (std::vector<int64_t>{1, 4, 6, 13, 16, 17, 19, 29, 31, 35, 38, 44, 55, 57}));
  EXPECT_EQ(sample(0.5, 42, 3), (std::vector<int64_t>{3, 7, 10, 12, 16, 18, 22, 23, 28, 29, 35, 37, 39, 45, 46, 48, 53, 54, 55, 56, 59}));
}

// spark.range(0, n, 1, p).sample(True, fraction, seed), recorded from Spark 4.2.0.
TEST(Sample, DrawsAsSparkWithReplacement) {
  const auto sample = [](double fraction, int64_t seed, int partitions, int64_t rows) {
    return RunLongs(Node("Sample", {{RangeNode(0, rows, 1, partitions), Distribution::kSame, {}}}, partitions, Make<Sample>(0.0, fraction, true, seed)));
  };
  EXPECT_EQ(sample(0.5, 3, 1, 10), (std::vector<int64_t>{5, 6}));
  EXPECT_EQ(sample(0.5, 42, 1, 30), (std::vector<int64_t>{5, 6, 7, 12, 14, 15, 18, 19, 19, 20, 26, 27, 27, 29, 29}));
  EXPECT_EQ(sample(1.5, 7, 1, 12), (std::vector<int64_t>{0, 0, 2, 2, 3, 4, 4, 4, 4, 5, 5, 6, 6, 7, 8, 8, 9, 9, 10, 11, 11}));
  EXPECT_EQ(sample(0.3, -5, 1, 60), (std::vector<int64_t>{0, 3, 5, 16, 17, 21, 31, 38, 38, 39, 40, 43, 46, 52, 53, 58}));
  EXPECT_EQ(sample(0.5, 42, 3, 30), (std::vector<int64_t>{5, 6, 7, 12, 12, 16, 18, 19, 20, 24, 25, 27, 28}));
}

TEST(EventTimeWatermark, CollectsTimesOfAllRows) {
  const std::vector<DataType> types = {DataType::Timestamp()};
  const auto rows = [&](std::vector<Value> values) {
    std::vector<data::ValueList> list;
    for (const Value& value : values) list.push_back({value});
    return data::ChunkFromRows(types, list);
  };
  const data::Chunk first = rows({Value(int64_t{5'000'999}), Value(int64_t{7'000'000})});
  const data::Chunk second = rows({Value(int64_t{-1}), Value()});
  const auto source = Node("Source", {}, 2, [=](PartitionId p) -> Result<std::unique_ptr<Operator>> {
    return std::make_unique<testing::ChunkSource>(std::vector<data::Chunk>{p.value() == 0 ? first : second});
  });
  auto plan = Plan(Node("EventTimeWatermark", {{source, Distribution::kSame, {}}}, 2, Make<EventTimeWatermark>(0, 0)));
  plan->num_watermark_operators = 1;
  testing::Runner runner(plan);
  testing::Collector collector;
  const EpochResult result = runner.execution->RunEpoch({}, collector.consumer()).ValueOrDie();
  EXPECT_EQ(collector.num_rows(), 4);
  ASSERT_EQ(result.event_time.size(), 1U);
  EXPECT_EQ(result.event_time[0].count, 4);
  EXPECT_EQ(result.event_time[0].max_ms, 7000);
  EXPECT_EQ(result.event_time[0].min_ms, -1);  // -1 us rounds down; the null counts as 0
  EXPECT_EQ(result.event_time[0].sum_ms, 5000 + 7000 - 1 + 0);
}

struct RowsMessage final : sql::CommitMessage {
  explicit RowsMessage(int64_t n) : rows(n) {}
  int64_t rows;
};

/// Counts rows; Finish asks once to be called again after a signal that another thread sets.
class CountingWriter final : public sql::DataWriter {
 public:
  CountingWriter(std::shared_ptr<std::atomic<int>> aborted, bool asks_again) : aborted_(std::move(aborted)), asks_again_(asks_again) {}
  Status Write(const data::Chunk& chunk) override {
    rows_ += chunk.num_rows();
    return rows_ > 1'000'000 ? Error("IO_ERROR") : Status::OK();
  }
  Result<sql::CommitMessagePtr> Finish(std::shared_ptr<Signal>* blocked) override {
    if (std::exchange(asks_again_, false)) {
      *blocked = std::make_shared<Signal>();
      network_ = std::jthread([signal = *blocked] { signal->Set(); });
      return sql::CommitMessagePtr();
    }
    return sql::CommitMessagePtr(std::make_shared<RowsMessage>(rows_));
  }
  void Abort() override { aborted_->fetch_add(1); }

 private:
  const std::shared_ptr<std::atomic<int>> aborted_;
  bool asks_again_;
  int64_t rows_ = 0;
  std::jthread network_;
};

TEST(SinkWriter, OneMessagePerPartitionThatWrote) {
  auto aborted = std::make_shared<std::atomic<int>>(0);
  const MakeWriter make = [aborted](PartitionId p, BatchId epoch) -> Result<std::unique_ptr<sql::DataWriter>> {
    EXPECT_EQ(epoch, BatchId(7));
    return std::unique_ptr<sql::DataWriter>(std::make_unique<CountingWriter>(aborted, p.value() == 1));
  };
  const auto source = Node("Source", {}, 3, [](PartitionId p) -> Result<std::unique_ptr<Operator>> {
    std::vector<data::Chunk> chunks;
    if (p.value() != 2) chunks.assign(3 + p.value(), LongChunk({1, 2}));
    return std::make_unique<testing::ChunkSource>(chunks);
  });
  testing::Runner runner(Plan(Node("Write", {{source, Distribution::kSame, {}}}, 3, Make<SinkWriter>(make))));
  EpochInput input;
  input.context.batch_id = BatchId(7);
  const EpochResult result = runner.execution->RunEpoch(input, nullptr).ValueOrDie();
  ASSERT_EQ(result.messages.size(), 2U);
  EXPECT_EQ(static_cast<const RowsMessage&>(*result.messages[0]).rows, 6);
  EXPECT_EQ(static_cast<const RowsMessage&>(*result.messages[1]).rows, 8);
  EXPECT_EQ(aborted->load(), 0);
}

TEST(SinkWriter, AbortsWritersOfAFailedEpoch) {
  auto aborted = std::make_shared<std::atomic<int>>(0);
  const MakeWriter make = [aborted](PartitionId, BatchId) -> Result<std::unique_ptr<sql::DataWriter>> {
    return std::unique_ptr<sql::DataWriter>(std::make_unique<CountingWriter>(aborted, false));
  };
  testing::Runner runner(Plan(Node("Write", {{RangeNode(0, 3'000'000, 1, 1), Distribution::kSame, {}}}, 1, Make<SinkWriter>(make))));
  EXPECT_EQ(runner.execution->RunEpoch({}, nullptr).status().condition(), "IO_ERROR");
  runner.execution->Abort();
  EXPECT_EQ(aborted->load(), 1);
}

}  // namespace
}  // namespace thalweg::engine
