// Probes of the operator contract: small operators of every shape, run by the real scheduler and exchanges on one and on two
// workers.

#include <algorithm>
#include <atomic>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

#include "base/thread.h"
#include "data/rowformat/column_hash.h"
#include "engine/exec/testing.h"

namespace thalweg::engine::testing {
namespace {

std::vector<int64_t> Sequence(int64_t count, int64_t first = 0) {
  std::vector<int64_t> out(count);
  std::iota(out.begin(), out.end(), first);
  return out;
}

PhysicalNodePtr SourceNode(std::vector<std::vector<data::Chunk>> by_partition) {
  const int partitions = static_cast<int>(by_partition.size());
  auto node = Node("Source", {}, partitions, [by_partition](PartitionId p) -> Result<std::unique_ptr<Operator>> {
    return std::make_unique<ChunkSource>(by_partition[p.value()]);
  });
  node->output = LongOutput();
  return node;
}

PhysicalNodePtr MapNode(PhysicalInput input, int partitions, FlatMap::Function function) {
  return Node("Map", {std::move(input)}, partitions, [function](PartitionId) -> Result<std::unique_ptr<Operator>> {
    return std::make_unique<FlatMap>(function);
  });
}

PhysicalNodePtr Identity(PhysicalInput input, int partitions) {
  return MapNode(std::move(input), partitions,
                 [](data::Chunk chunk) -> Result<std::vector<data::Chunk>> { return std::vector<data::Chunk>{chunk}; });
}

/// Takes all of port 1 before port 0 and emits port 1's rows first; fails when the order is broken.
class RightFirst final : public Operator {
 public:
  int wanted_port() const override { return right_ended_ ? 0 : 1; }
  Status BeginEpoch(const sql::EpochContext&) override {
    right_ended_ = false;
    return Status::OK();
  }
  Result<OperatorState> Push(int port, data::Chunk chunk) override {
    if ((port == 1) == right_ended_) return InternalError("a port came out of order");
    pending_.push_back(std::move(chunk));
    return OperatorState::kHaveOutput;
  }
  Result<OperatorState> EndInput(int port) override {
    if (port == 1) right_ended_ = true;
    return port == 1 ? OperatorState::kNeedInput : OperatorState::kFinished;
  }
  Result<std::optional<data::Chunk>> Pull(OperatorState* state) override {
    std::optional<data::Chunk> out(std::move(pending_.front()));
    pending_.pop_front();
    *state = pending_.empty() ? OperatorState::kNeedInput : OperatorState::kHaveOutput;
    return out;
  }

 private:
  std::deque<data::Chunk> pending_;
  bool right_ended_ = false;
};

/// Sums its rows per epoch and over epochs; emits both at Seal: a stateful operator in miniature.
class SumState final : public Operator {
 public:
  struct Log {
    Mutex mutex;
    std::map<int, int> prepared, committed, aborted;
    std::set<int> ran;
    int fail_from = INT32_MAX;  // partitions whose Prepare fails
    std::shared_ptr<Signal> prepare_waits_for;
  };
  SumState(int partition, std::shared_ptr<Log> log) : partition_(partition), log_(std::move(log)) {}
  bool NeedsEpoch(const sql::EpochContext& epoch) const override { return epoch.has_watermark; }
  Status BeginEpoch(const sql::EpochContext&) override {
    sum_ = total_;
    rows_ = 0;
    MutexLock lock(log_->mutex);
    log_->ran.insert(partition_);
    return Status::OK();
  }
  Result<OperatorState> Push(int, data::Chunk chunk) override {
    for (const int64_t value : Longs(chunk)) sum_ += value;
    rows_ += chunk.num_rows();
    return OperatorState::kNeedInput;
  }
  Result<OperatorState> EndInput(int) override { return OperatorState::kFinished; }
  Result<OperatorState> Seal() override {
    out_ = rows_ > 0;
    return out_ ? OperatorState::kHaveOutput : OperatorState::kFinished;
  }
  Result<std::optional<data::Chunk>> Pull(OperatorState* state) override {
    *state = OperatorState::kFinished;
    if (!std::exchange(out_, false)) return std::optional<data::Chunk>{};
    return std::optional<data::Chunk>(LongChunk({sum_}));
  }
  Result<bool> Prepare(const sql::EpochContext&) override {
    MutexLock lock(log_->mutex);
    if (partition_ >= log_->fail_from) return Error("IO_ERROR").Kind(ErrorKind::kEnvironment);
    if (log_->prepare_waits_for != nullptr && !log_->prepare_waits_for->IsSet()) return false;
    ++log_->prepared[partition_];
    return true;
  }
  std::shared_ptr<Signal> blocked_on() const override { return log_->prepare_waits_for; }
  Status Committed(const sql::EpochContext&) override {
    total_ = sum_;
    MutexLock lock(log_->mutex);
    ++log_->committed[partition_];
    return Status::OK();
  }
  void Abort(const sql::EpochContext&) override {
    sum_ = total_;
    MutexLock lock(log_->mutex);
    ++log_->aborted[partition_];
  }

 private:
  const int partition_;
  const std::shared_ptr<Log> log_;
  int64_t sum_ = 0, total_ = 0, rows_ = 0;
  bool out_ = false;
};

PhysicalNodePtr StateNode(PhysicalInput input, int partitions, int64_t id, std::shared_ptr<SumState::Log> log) {
  auto node = Node("Sum", {std::move(input)}, partitions, [log](PartitionId p) -> Result<std::unique_ptr<Operator>> {
    return std::make_unique<SumState>(p.value(), log);
  });
  node->stateful_id = id;
  return node;
}

LeafSlot StreamLeaf(int index = 0) {
  LeafSlot leaf;
  leaf.stream_index = index;
  leaf.output = LongOutput();
  return leaf;
}

EpochInput Input(std::vector<SplitList> splits, int64_t batch = 0) {
  EpochInput input;
  input.context.batch_id = BatchId(batch);
  input.leaf_splits = std::move(splits);
  return input;
}

class ContractProbe : public ::testing::TestWithParam<int> {
 protected:
  int workers() const { return GetParam(); }
};

INSTANTIATE_TEST_SUITE_P(Workers, ContractProbe, ::testing::Values(1, 2));

TEST_P(ContractProbe, TwoPortsInFixedOrder) {
  const auto left = SourceNode({{LongChunk({1, 2})}, {LongChunk({3})}});
  const auto right = SourceNode({{LongChunk({10})}, {}});
  auto node = Node("RightFirst", {{left, Distribution::kSame, {}}, {right, Distribution::kHash, {0}}}, 2,
                   [](PartitionId) -> Result<std::unique_ptr<Operator>> { return std::make_unique<RightFirst>(); });
  const auto chunks = RunPlan(Plan(node), workers()).ValueOrDie();
  int64_t sum = 0;
  for (const auto& chunk : chunks) {
    for (const int64_t value : Longs(chunk)) sum += value;
  }
  EXPECT_EQ(sum, 16);
}

TEST_P(ContractProbe, BlockedUntilAnOutsideThreadSignals) {
  auto feed = std::make_shared<Feed>();
  const auto leaf = LeafNode(0, 1, LongOutput());
  const auto root = Identity({leaf, Distribution::kHash, {0}}, 4);
  Runner runner(Plan(root, {StreamLeaf()}), workers());
  Collector collector;
  std::jthread outside = StartThread("outside", [&](std::stop_token) {
    for (int64_t i = 0; i < 100; ++i) feed->Add(LongChunk({i}));
    feed->End();
  });
  const auto result = runner.execution->RunEpoch(Input({{Feed::Split(feed)}}), collector.consumer()).ValueOrDie();
  EXPECT_EQ(collector.sorted_longs(), Sequence(100));
  EXPECT_EQ(result.leaf_rows, std::vector<int64_t>{100});
}

TEST_P(ContractProbe, OneRowIntoAMillion) {
  const auto source = SourceNode({{LongChunk({7})}});
  const auto many = MapNode({source, Distribution::kSame, {}}, 1, [](data::Chunk) -> Result<std::vector<data::Chunk>> {
    std::vector<data::Chunk> out;
    for (int64_t i = 0; i < 250; ++i) out.push_back(LongChunk(Sequence(4000, i * 4000)));
    return out;
  });
  const auto root = Identity({many, Distribution::kHash, {0}}, 3);
  Collector collector;
  Runner runner(Plan(root), workers());
  TW_CHECK(runner.execution->RunEpoch({}, collector.consumer()).ok());
  EXPECT_EQ(collector.sorted_longs(), Sequence(1'000'000));
  EXPECT_EQ(runner.account.used_bytes(), 0);
  EXPECT_GT(runner.account.peak_bytes(), 0);
}

TEST_P(ContractProbe, ChangeKindsPassThrough) {
  data::Chunk chunk = LongChunk({1, 2, 3, 4, 5, 6, 7, 8});
  std::vector<data::ChangeKind> kinds;
  for (int i = 0; i < 8; ++i) kinds.push_back(static_cast<data::ChangeKind>(i % 4));
  chunk.set_change_kinds(std::make_shared<const std::vector<data::ChangeKind>>(kinds));
  const auto root = Identity({Identity({SourceNode({{chunk}}), Distribution::kSame, {}}, 1), Distribution::kHash, {0}}, 3);
  std::map<int64_t, data::ChangeKind> seen;
  for (const data::Chunk& part : RunPlan(Plan(root), workers()).ValueOrDie()) {
    const data::Chunk dense = part.Dense();
    ASSERT_NE(dense.change_kinds(), nullptr);
    const auto values = Longs(dense);
    for (size_t row = 0; row < values.size(); ++row) seen[values[row]] = (*dense.change_kinds())[row];
  }
  ASSERT_EQ(seen.size(), 8U);
  for (int i = 0; i < 8; ++i) EXPECT_EQ(seen[i + 1], kinds[i]);
}

// Every row has the same key: one strand gets all, the others get no task.
TEST_P(ContractProbe, SkewedStrandAndEmptyOnes) {
  auto log = std::make_shared<SumState::Log>();
  const auto leaf = LeafNode(0, 2, LongOutput());
  const auto root = StateNode({leaf, Distribution::kHash, {0}}, 16, 0, log);
  Runner runner(Plan(root, {StreamLeaf()}), workers());
  Collector collector;
  std::vector<data::Chunk> same(50, LongChunk(std::vector<int64_t>(1000, 5)));
  for (int64_t batch = 0; batch < 3; ++batch) {
    TW_CHECK(runner.execution->RunEpoch(Input({{ChunksSplit(same), ChunksSplit(same)}}, batch), collector.consumer()).ok());
    EXPECT_TRUE(runner.execution->Prepare().ok());
    EXPECT_TRUE(runner.execution->Committed().ok());
  }
  EXPECT_EQ(collector.longs(), (std::vector<int64_t>{500'000, 1'000'000, 1'500'000}));
  std::vector<int32_t> hash(1);
  data::HashColumns(LongChunk({5}).columns(), nullptr, hash);
  EXPECT_EQ(log->ran, std::set<int>{data::PartitionOf(hash[0], 16)});
  EXPECT_EQ(log->prepared.size(), 16U);  // also those without a task get their version
  for (const auto& [partition, times] : log->committed) EXPECT_EQ(times, 3) << partition;
}

// Without a key all rows meet in one instance, which runs also without rows when it says so.
TEST_P(ContractProbe, KeylessStrand) {
  auto log = std::make_shared<SumState::Log>();
  const auto leaf = LeafNode(0, 4, LongOutput());
  const auto root = StateNode({leaf, Distribution::kSingle, {}}, 1, 0, log);
  Runner runner(Plan(root, {StreamLeaf()}), workers());
  Collector collector;
  EpochInput empty = Input({{}});
  TW_CHECK(runner.execution->RunEpoch(empty, collector.consumer()).ok());
  EXPECT_TRUE(log->ran.empty());
  empty.operator_watermarks[0] = {5, 7};
  TW_CHECK(runner.execution->RunEpoch(empty, collector.consumer()).ok());
  EXPECT_EQ(log->ran, std::set<int>{0});
  SplitList splits;
  for (int64_t i = 0; i < 8; ++i) splits.push_back(ChunksSplit({LongChunk({i})}));
  TW_CHECK(runner.execution->RunEpoch(Input({splits}), collector.consumer()).ok());
  EXPECT_EQ(collector.longs(), std::vector<int64_t>{28});
}

TEST_P(ContractProbe, PrepareFailsAfterHalfOfThePartitions) {
  auto log = std::make_shared<SumState::Log>();
  const auto leaf = LeafNode(0, 1, LongOutput());
  const auto root = StateNode({leaf, Distribution::kHash, {0}}, 16, 0, log);
  Runner runner(Plan(root, {StreamLeaf()}), workers());
  Collector collector;
  const EpochInput input = Input({{ChunksSplit({LongChunk(Sequence(1000))})}});
  log->fail_from = 8;
  TW_CHECK(runner.execution->RunEpoch(input, collector.consumer()).ok());
  const int64_t first = 999 * 1000 / 2;
  const Status status = runner.execution->Prepare();
  EXPECT_EQ(status.condition(), "IO_ERROR");
  runner.execution->Abort();
  EXPECT_EQ(log->aborted.size(), 16U);
  EXPECT_TRUE(log->committed.empty());
  // The same epoch again starts from the state before it.
  log->fail_from = INT32_MAX;
  collector.Clear();
  TW_CHECK(runner.execution->RunEpoch(input, collector.consumer()).ok());
  EXPECT_TRUE(runner.execution->Prepare().ok());
  EXPECT_TRUE(runner.execution->Committed().ok());
  const auto sums = collector.longs();
  EXPECT_EQ(std::accumulate(sums.begin(), sums.end(), int64_t{0}), first);
}

TEST_P(ContractProbe, PrepareCompletesLater) {
  auto log = std::make_shared<SumState::Log>();
  log->prepare_waits_for = std::make_shared<Signal>();
  const auto root = StateNode({SourceNode({{LongChunk({1})}}), Distribution::kHash, {0}}, 4, 0, log);
  Runner runner(Plan(root), workers());
  TW_CHECK(runner.execution->RunEpoch({}, nullptr).ok());
  std::jthread disk = StartThread("disk", [&](std::stop_token) { log->prepare_waits_for->Set(); });
  EXPECT_TRUE(runner.execution->Prepare().ok());
  EXPECT_EQ(log->prepared.size(), 4U);
}

// What the first emits at Seal is the second one's input in the same epoch.
TEST_P(ContractProbe, TwoChainedStatefulOperators) {
  auto first = std::make_shared<SumState::Log>();
  auto second = std::make_shared<SumState::Log>();
  const auto leaf = LeafNode(0, 2, LongOutput());
  const auto lower = StateNode({leaf, Distribution::kHash, {0}}, 5, 1, first);
  const auto root = StateNode({lower, Distribution::kHash, {0}}, 3, 0, second);
  Runner runner(Plan(root, {StreamLeaf()}), workers());
  Collector collector;
  for (int64_t batch = 0; batch < 2; ++batch) {
    collector.Clear();
    TW_CHECK(runner.execution->RunEpoch(Input({{ChunksSplit({LongChunk(Sequence(100))})}}, batch), collector.consumer()).ok());
    EXPECT_TRUE(runner.execution->Prepare().ok());
    EXPECT_TRUE(runner.execution->Committed().ok());
  }
  // The lower sums are 4950 after one batch and 9900 after two; the upper ones hold all that was emitted.
  const auto sums = collector.longs();
  EXPECT_LE(std::accumulate(sums.begin(), sums.end(), int64_t{0}), 4950 + 9900);
  EXPECT_GE(std::accumulate(sums.begin(), sums.end(), int64_t{0}), 9900);
  EXPECT_EQ(first->committed.size(), 5U);
  EXPECT_EQ(second->committed.size(), 3U);
}

/// Keeps the rows of port 0 over epochs when they do not change; emits for each row of port 1 how many it keeps.
class KeepsBuild final : public Operator {
 public:
  explicit KeepsBuild(std::shared_ptr<std::atomic<int>> builds) : builds_(std::move(builds)) {}
  bool NeedsEpoch(const sql::EpochContext&) const override { return false; }
  bool CanReuse(int port) const override { return port == 0 && built_; }
  void Reuse(int) override { ended_ = true; }
  int wanted_port() const override { return ended_ ? 1 : 0; }
  Status BeginEpoch(const sql::EpochContext&) override {
    ended_ = false;
    return Status::OK();
  }
  Result<OperatorState> Push(int port, data::Chunk chunk) override {
    if (port == 0) {
      if (std::exchange(built_, false)) kept_ = 0;
      kept_ += chunk.num_rows();
      return OperatorState::kNeedInput;
    }
    out_ = LongChunk(std::vector<int64_t>(chunk.num_rows(), kept_));
    return OperatorState::kHaveOutput;
  }
  Result<OperatorState> EndInput(int port) override {
    if (port == 1) return OperatorState::kFinished;
    ended_ = built_ = true;
    builds_->fetch_add(1);
    return OperatorState::kNeedInput;
  }
  Result<std::optional<data::Chunk>> Pull(OperatorState* state) override {
    *state = OperatorState::kNeedInput;
    return std::exchange(out_, std::nullopt);
  }

 private:
  const std::shared_ptr<std::atomic<int>> builds_;
  bool built_ = false, ended_ = false;
  int64_t kept_ = 0;
  std::optional<data::Chunk> out_;
};

TEST_P(ContractProbe, StaticLeafChangesItsVersionBetweenBatches) {
  auto builds = std::make_shared<std::atomic<int>>(0);
  auto opened = std::make_shared<std::atomic<int>>(0);
  const auto fixed = LeafNode(0, 1, LongOutput());
  const auto build = Identity({fixed, Distribution::kSame, {}}, 1);
  const auto stream = LeafNode(1, 2, LongOutput());
  auto root = Node("Join", {{build, Distribution::kBroadcast, {}}, {stream, Distribution::kSame, {}}}, 2,
                   [builds](PartitionId) -> Result<std::unique_ptr<Operator>> { return std::make_unique<KeepsBuild>(builds); });
  LeafSlot slot;
  slot.scan = FixedScan({});
  Runner runner(Plan(root, {slot, StreamLeaf()}), workers());
  const SplitList two = {ChunksSplit({LongChunk({1, 2})}, opened)};
  const SplitList three = {ChunksSplit({LongChunk({1, 2, 3})}, opened)};
  const SplitList rows = {ChunksSplit({LongChunk({0})}), ChunksSplit({LongChunk({0})})};
  const auto run = [&](SplitList leaf, bool unchanged) {
    Collector collector;
    EpochInput input = Input({std::move(leaf), rows});
    input.leaf_unchanged = {unchanged, false};
    TW_CHECK(runner.execution->RunEpoch(input, collector.consumer()).ok());
    return collector.longs();
  };
  EXPECT_EQ(run(two, false), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(opened->load(), 1);
  EXPECT_EQ(run({}, true), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(run({}, true), (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(opened->load(), 1);
  EXPECT_EQ(builds->load(), 2);
  EXPECT_EQ(run(three, false), (std::vector<int64_t>{3, 3}));
  EXPECT_EQ(opened->load(), 2);
  // After an abort nothing is trusted: the leaf's last splits are read again.
  runner.execution->Abort();
  EXPECT_EQ(run({}, true), (std::vector<int64_t>{3, 3}));
  EXPECT_EQ(opened->load(), 3);
}

/// The rows of one micro-batch, as a sink keeps them.
class KeptRelation final : public sql::BatchRelation {
 public:
  explicit KeptRelation(std::vector<data::Chunk> chunks) : chunks_(std::move(chunks)) {}
  const data::Schema& schema() const override { return schema_; }
  int64_t num_rows() const override {
    int64_t rows = 0;
    for (const auto& chunk : chunks_) rows += chunk.num_rows();
    return rows;
  }
  std::vector<data::Chunk> chunks() const override { return chunks_; }

 private:
  data::Schema schema_;
  std::vector<data::Chunk> chunks_;
};

class KeepingSink final : public sql::BatchSink {
 public:
  sql::DeliveryGuarantee guarantee() const override { return sql::DeliveryGuarantee::kExactlyOnce; }
  Status AddBatch(BatchId, std::shared_ptr<const sql::BatchRelation> rows) override {
    for (int pass = 0; pass < 2; ++pass) {
      for (const auto& chunk : rows->chunks()) {
        for (const int64_t value : Longs(chunk)) sum_ += value;
      }
    }
    kept_ = std::move(rows);
    return Status::OK();
  }
  std::string Description() const override { return "keeping"; }
  int64_t sum_ = 0;
  std::shared_ptr<const sql::BatchRelation> kept_;
};

TEST_P(ContractProbe, BatchSinkReadsTwiceAndKeepsItsRelationAfterStop) {
  KeepingSink sink;
  {
    const auto leaf = LeafNode(0, 2, LongOutput());
    Runner runner(Plan(Identity({leaf, Distribution::kHash, {0}}, 2), {StreamLeaf()}), workers());
    Collector collector;
    const EpochInput input = Input({{ChunksSplit({LongChunk(Sequence(10))}), ChunksSplit({LongChunk(Sequence(10, 10))})}});
    TW_CHECK(runner.execution->RunEpoch(input, collector.consumer()).ok());
    EXPECT_TRUE(sink.AddBatch(BatchId(0), std::make_shared<KeptRelation>(collector.chunks())).ok());
    runner.execution->Cancel(Cancelled());
  }
  EXPECT_EQ(sink.sum_, 2 * 190);
  EXPECT_EQ(sink.kept_->num_rows(), 20);
  int64_t sum = 0;
  for (const auto& chunk : sink.kept_->chunks()) {
    for (const int64_t value : Longs(chunk)) sum += value;
  }
  EXPECT_EQ(sum, 190);
}

/// Counts rows; writes the count of the epoch as a message at each barrier.
class CountingSink final : public Operator {
 public:
  struct Count final : sql::CommitMessage {
    int64_t rows = 0;
  };
  Result<OperatorState> Push(int, data::Chunk chunk) override {
    rows_ += chunk.num_rows();
    return OperatorState::kNeedInput;
  }
  Result<OperatorState> EndInput(int) override { return OperatorState::kFinished; }
  Result<std::optional<data::Chunk>> Pull(OperatorState* state) override {
    *state = OperatorState::kNeedInput;
    return std::optional<data::Chunk>{};
  }
  void AddReport(bool, EpochResult* result) override {
    auto message = std::make_shared<Count>();
    message->rows = std::exchange(rows_, 0);
    result->messages.push_back(std::move(message));
  }

 private:
  int64_t rows_ = 0;
};

// Another thread reads what a running query has done so far.
TEST_P(ContractProbe, MetricsOfARunningEpoch) {
  auto mapped = std::make_shared<std::atomic<int64_t>>(0);
  const auto leaf = LeafNode(0, 2, LongOutput());
  const auto map = MapNode({leaf, Distribution::kSame, {}}, 2, [mapped](data::Chunk chunk) -> Result<std::vector<data::Chunk>> {
    mapped->fetch_add(chunk.num_rows());
    mapped->notify_all();
    return std::vector<data::Chunk>{chunk};
  });
  Runner runner(Plan(Identity({map, Distribution::kHash, {0}}, 3), {StreamLeaf()}), workers());
  EXPECT_EQ(runner.execution->LiveMetrics().size(), 2U);
  const auto feed = std::make_shared<Feed>();
  Collector collector;
  std::jthread owner = StartThread("owner", [&](std::stop_token) {
    TW_CHECK(runner.execution->RunEpoch(Input({{Feed::Split(feed), ChunksSplit({})}}), collector.consumer()).ok());
  });
  feed->Add(LongChunk(Sequence(7)));
  for (int64_t seen = mapped->load(); seen < 7; seen = mapped->load()) mapped->wait(seen);
  std::vector<StageMetrics> stages = runner.execution->LiveMetrics();
  ASSERT_EQ(stages.size(), 2U);
  EXPECT_EQ(stages[0].tasks, 3);
  EXPECT_EQ(stages[0].finished, 0);
  EXPECT_EQ(stages[1].tasks, 2);
  EXPECT_GE(stages[1].running, 1);
  ASSERT_EQ(stages[1].nodes.size(), 2U);  // the map, and the scan below it
  EXPECT_EQ(stages[1].nodes[1].node, leaf.get());
  EXPECT_EQ(stages[1].nodes[1].total.output_rows, 7);
  EXPECT_EQ(stages[1].nodes[0].total.input_rows, 7);
  feed->End();
  owner.join();
  stages = runner.execution->LiveMetrics();
  for (const StageMetrics& stage : stages) {
    EXPECT_EQ(stage.finished, stage.tasks);
    EXPECT_EQ(stage.running, 0);
  }
  EXPECT_EQ(collector.num_rows(), 7);
}

TEST_P(ContractProbe, LongLivedRunWithInBandBarriers) {
  auto mapped = std::make_shared<std::atomic<int64_t>>(0);
  const auto leaf = LeafNode(0, 2, LongOutput());
  const auto map = MapNode({leaf, Distribution::kSame, {}}, 2, [mapped](data::Chunk chunk) -> Result<std::vector<data::Chunk>> {
    mapped->fetch_add(chunk.num_rows());
    mapped->notify_all();
    return std::vector<data::Chunk>{chunk};
  });
  const auto root = Node("Sink", {{map, Distribution::kHash, {0}}}, 3,
                         [](PartitionId) -> Result<std::unique_ptr<Operator>> { return std::make_unique<CountingSink>(); });
  Runner runner(Plan(root, {StreamLeaf()}), workers());
  const std::vector<std::shared_ptr<Feed>> feeds = {std::make_shared<Feed>(), std::make_shared<Feed>()};
  LongLivedInput input;
  input.input = Input({{Feed::Split(feeds[0]), Feed::Split(feeds[1])}});
  std::atomic<int64_t> delivered{0};
  std::vector<std::pair<int64_t, int64_t>> epochs;
  input.on_barrier = [&](int64_t epoch, std::vector<sql::CommitMessagePtr> messages) {
    int64_t rows = 0;
    for (const auto& message : messages) rows += static_cast<const CountingSink::Count&>(*message).rows;
    EXPECT_EQ(messages.size(), 3U);
    epochs.emplace_back(epoch, rows);
    delivered.store(epoch);
    delivered.notify_all();
  };
  Status ended;
  std::jthread driver = StartThread("driver", [&](std::stop_token) {
    ended = runner.execution->RunLongLived(input, nullptr).status();
  });
  // Rows come from one source in one epoch and from the other in the next: a barrier that overtook rows on the busy channel,
  // or did not wait for the idle one, would give other counts.
  int64_t total = 0;
  for (int64_t epoch = 1; epoch <= 6; ++epoch) {
    for (int64_t i = 0; i < epoch * 5; ++i) {
      feeds[epoch % 2]->Add(LongChunk(Sequence(7, i * 7)));
      total += 7;
    }
    for (int64_t seen = mapped->load(); seen < total; seen = mapped->load()) mapped->wait(seen);
    runner.execution->InjectMarker({Marker::Kind::kBarrier, epoch});
    for (int64_t seen = delivered.load(); seen < epoch; seen = delivered.load()) delivered.wait(seen);
  }
  runner.execution->Cancel(Cancelled());
  driver.join();
  EXPECT_EQ(ended.kind(), ErrorKind::kCancelled);
  ASSERT_EQ(epochs.size(), 6U);
  for (int64_t epoch = 1; epoch <= 6; ++epoch) EXPECT_EQ(epochs[epoch - 1], std::make_pair(epoch, epoch * 35));
}

// Its state would not become durable at a barrier.
TEST_P(ContractProbe, ALongLivedRunOverStateIsRefused) {
  auto log = std::make_shared<SumState::Log>();
  const auto root = StateNode({LeafNode(0, 2, LongOutput()), Distribution::kHash, {0}}, 2, 0, log);
  Runner runner(Plan(root, {StreamLeaf()}), workers());
  LongLivedInput input;
  input.input = Input({{ChunksSplit({LongChunk({1})})}});
  EXPECT_EQ(runner.execution->RunLongLived(input, nullptr).status().condition(), "UNSUPPORTED_FEATURE.THALWEG");
  EXPECT_TRUE(log->ran.empty());
}

TEST_P(ContractProbe, WhatAnOperatorThrowsFailsItsEpochAndNotItsWorker) {
  std::atomic<bool> throws{true};
  const auto root = MapNode({SourceNode({{LongChunk({1, 2})}, {LongChunk({3})}}), Distribution::kRoundRobin}, 2,
                            [&](data::Chunk chunk) -> Result<std::vector<data::Chunk>> {
                              const std::vector<data::Chunk> none;
                              return std::vector<data::Chunk>{throws.load() ? none.at(1) : std::move(chunk)};
                            });
  Runner runner(Plan(root), workers());
  Collector collector;
  EXPECT_EQ(runner.execution->RunEpoch({}, collector.consumer()).status().condition(), "INTERNAL_ERROR");
  runner.execution->Abort();
  throws.store(false);
  EXPECT_TRUE(runner.execution->RunEpoch({}, collector.consumer()).ok());
  EXPECT_EQ(collector.sorted_longs(), (std::vector<int64_t>{1, 2, 3}));
}

TEST(PlanGraph, PartitionsWithoutBoundAreRefused) {
  Scheduler scheduler({1, 1});
  MemoryAccount account{"test", nullptr};
  MemoryReservation memory(account);
  const auto root = Node("Many", {}, 2'000'000'000, [](PartitionId) -> Result<std::unique_ptr<Operator>> {
    return std::make_unique<ChunkSource>(std::vector<data::Chunk>{});
  });
  const auto made = Execution::Make(scheduler, Plan(root), QueryClass::kInteractive, std::make_shared<sql::EvalConfig>(), &memory);
  EXPECT_EQ(made.status().condition(), "UNSUPPORTED_FEATURE.THALWEG");
}

}  // namespace
}  // namespace thalweg::engine::testing
