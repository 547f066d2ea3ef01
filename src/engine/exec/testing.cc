#include "engine/exec/testing.h"

#include <algorithm>

#include "data/columnar/builder.h"

namespace thalweg::engine::testing {

data::Chunk LongChunk(const std::vector<int64_t>& values) {
  data::FixedBuilder<int64_t> builder(data::DataType::Long());
  for (const int64_t value : values) builder.Append(value);
  return data::Chunk({builder.Finish()}, static_cast<int64_t>(values.size()));
}

std::vector<int64_t> Longs(const data::Chunk& chunk, int column) {
  const data::Chunk dense = chunk.Dense();
  std::vector<int64_t> out;
  for (int64_t row = 0; row < dense.num_rows(); ++row) out.push_back(dense.column(column)->GetValue(row).AsInt64());
  return out;
}

sql::AttributeList LongOutput(const std::string& name) {
  return {sql::Attribute::Make(name, data::DataType::Long(), true)};
}

void Feed::Add(data::Chunk chunk) {
  std::shared_ptr<Signal> wake;
  {
    MutexLock lock(mutex_);
    chunks_.push_back(std::move(chunk));
    wake = more_;
  }
  wake->Set();
}

void Feed::End() {
  std::shared_ptr<Signal> wake;
  {
    MutexLock lock(mutex_);
    ended_ = true;
    wake = more_;
  }
  wake->Set();
}

Result<sql::ReadStep> Feed::Next() {
  MutexLock lock(mutex_);
  if (!chunks_.empty()) {
    data::Chunk chunk = std::move(chunks_.front());
    chunks_.pop_front();
    return sql::ReadStep(sql::ReadChunk{std::move(chunk)});
  }
  if (ended_) return sql::ReadStep(sql::ReadEnd{});
  more_ = std::make_shared<Signal>();
  return sql::ReadStep(sql::ReadBlocked{more_});
}

namespace {

class FeedReader final : public sql::PartitionReader {
 public:
  explicit FeedReader(std::shared_ptr<Feed> feed) : feed_(std::move(feed)) {}
  Result<sql::ReadStep> Next() override { return feed_->Next(); }

 private:
  std::shared_ptr<Feed> feed_;
};

class FeedSplit final : public sql::InputSplit {
 public:
  explicit FeedSplit(std::shared_ptr<Feed> feed) : feed_(std::move(feed)) {}
  Result<std::unique_ptr<sql::PartitionReader>> Open(const sql::EvalConfig&) const override {
    return std::unique_ptr<sql::PartitionReader>(std::make_unique<FeedReader>(feed_));
  }
  std::string Describe() const override { return "feed"; }

 private:
  std::shared_ptr<Feed> feed_;
};

class ChunksReader final : public sql::PartitionReader {
 public:
  explicit ChunksReader(const std::vector<data::Chunk>& chunks) : chunks_(chunks) {}
  Result<sql::ReadStep> Next() override {
    if (next_ == chunks_.size()) return sql::ReadStep(sql::ReadEnd{});
    return sql::ReadStep(sql::ReadChunk{chunks_[next_++]});
  }

 private:
  const std::vector<data::Chunk>& chunks_;
  size_t next_ = 0;
};

class FixedSplit final : public sql::InputSplit {
 public:
  FixedSplit(std::vector<data::Chunk> chunks, std::shared_ptr<std::atomic<int>> opened)
      : chunks_(std::move(chunks)), opened_(std::move(opened)) {}
  Result<std::unique_ptr<sql::PartitionReader>> Open(const sql::EvalConfig&) const override {
    if (opened_ != nullptr) opened_->fetch_add(1);
    return std::unique_ptr<sql::PartitionReader>(std::make_unique<ChunksReader>(chunks_));
  }
  std::string Describe() const override { return "chunks"; }

 private:
  std::vector<data::Chunk> chunks_;
  std::shared_ptr<std::atomic<int>> opened_;
};

class SplitsScan final : public sql::Scan {
 public:
  explicit SplitsScan(SplitList splits) : splits_(std::move(splits)) {}
  data::Schema schema() const override { return {}; }
  std::string Describe() const override { return "FixedScan"; }
  Result<std::vector<sql::InputSplitPtr>> PlanSplits() override { return splits_; }

 private:
  SplitList splits_;
};

}  // namespace

sql::InputSplitPtr Feed::Split(const std::shared_ptr<Feed>& feed) { return std::make_shared<FeedSplit>(feed); }

sql::InputSplitPtr ChunksSplit(std::vector<data::Chunk> chunks, std::shared_ptr<std::atomic<int>> opened) {
  return std::make_shared<FixedSplit>(std::move(chunks), std::move(opened));
}

std::shared_ptr<sql::Scan> FixedScan(SplitList splits) { return std::make_shared<SplitsScan>(std::move(splits)); }

RootConsumer Collector::consumer() {
  return [this](PartitionId partition, data::Chunk chunk, std::shared_ptr<Signal>*) -> Result<bool> {
    MutexLock lock(mutex_);
    by_partition_[partition.value()].push_back(std::move(chunk));
    return true;
  };
}

std::vector<data::Chunk> Collector::chunks(int partition) const {
  MutexLock lock(mutex_);
  const auto found = by_partition_.find(partition);
  return found == by_partition_.end() ? std::vector<data::Chunk>{} : found->second;
}

std::vector<data::Chunk> Collector::chunks() const {
  MutexLock lock(mutex_);
  std::vector<data::Chunk> out;
  for (const auto& [partition, chunks] : by_partition_) out.insert(out.end(), chunks.begin(), chunks.end());
  return out;
}

std::vector<int64_t> Collector::longs(int column) const {
  std::vector<int64_t> out;
  for (const data::Chunk& chunk : chunks()) {
    const std::vector<int64_t> part = Longs(chunk, column);
    out.insert(out.end(), part.begin(), part.end());
  }
  return out;
}

std::vector<int64_t> Collector::sorted_longs(int column) const {
  std::vector<int64_t> out = longs(column);
  std::sort(out.begin(), out.end());
  return out;
}

int64_t Collector::num_rows() const {
  int64_t rows = 0;
  for (const data::Chunk& chunk : chunks()) rows += chunk.num_rows();
  return rows;
}

void Collector::Clear() {
  MutexLock lock(mutex_);
  by_partition_.clear();
}

std::shared_ptr<PhysicalNode> Node(std::string name, std::vector<PhysicalInput> inputs, int partitions, MakeOperator make) {
  auto node = std::make_shared<PhysicalNode>();
  node->name = std::move(name);
  node->inputs = std::move(inputs);
  node->num_partitions = partitions;
  node->make = std::move(make);
  if (!node->inputs.empty()) node->output = node->inputs[0].node->output;
  return node;
}

std::shared_ptr<PhysicalNode> LeafNode(int leaf, int partitions, sql::AttributeList output) {
  auto node = std::make_shared<PhysicalNode>();
  node->name = "Scan";
  node->leaf = leaf;
  node->num_partitions = partitions;
  node->output = std::move(output);
  return node;
}

std::shared_ptr<PhysicalPlan> Plan(PhysicalNodePtr root, std::vector<LeafSlot> leaves) {
  auto plan = std::make_shared<PhysicalPlan>();
  plan->output = root->output;
  plan->root = std::move(root);
  plan->leaves = std::move(leaves);
  return plan;
}

Runner::Runner(std::shared_ptr<const PhysicalPlan> plan, int workers, QueryClass query_class)
    : scheduler(Scheduler::Options{workers, 2}) {
  auto made = Execution::Make(scheduler, std::move(plan), query_class, std::make_shared<const sql::EvalConfig>(), &memory);
  TW_CHECK(made.ok());
  execution = std::move(*made);
}

Result<std::vector<data::Chunk>> RunPlan(std::shared_ptr<const PhysicalPlan> plan, int workers) {
  Scheduler scheduler(Scheduler::Options{workers, 2});
  MemoryAccount account{"test", nullptr};
  MemoryReservation memory{account};
  Collector collector;
  TW_RETURN_NOT_OK(RunBatch(scheduler, std::move(plan), std::make_shared<const sql::EvalConfig>(), &memory,
                            collector.consumer(), {})
                       .status());
  return collector.chunks();
}

}  // namespace thalweg::engine::testing
