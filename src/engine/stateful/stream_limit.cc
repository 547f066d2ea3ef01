#include "engine/stateful/stream_limit.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <utility>

#include "data/rowformat/unsafe_row_format.h"
#include "engine/state/state_store.h"
#include "engine/stateful/state_epochs.h"

namespace thalweg::engine {
namespace {

/// Rows up to a number; the rest is read and dropped.
class Cut {
 public:
  void Begin(int64_t left) {
    left_ = left;
    pending_.reset();
  }
  OperatorState Push(data::Chunk chunk) {
    const int64_t take = std::min(left_, chunk.num_rows());
    if (take == 0) return OperatorState::kNeedInput;
    left_ -= take;
    pending_ = take == chunk.num_rows() ? std::move(chunk) : chunk.Slice(0, take);
    return OperatorState::kHaveOutput;
  }
  std::optional<data::Chunk> Pull() { return std::exchange(pending_, std::nullopt); }
  int64_t left() const { return left_; }

 private:
  int64_t left_ = 0;
  std::optional<data::Chunk> pending_;
};

class LocalLimit final : public Operator {
 public:
  explicit LocalLimit(int64_t limit) : limit_(limit) {}
  bool NeedsEpoch(const sql::EpochContext&) const override { return false; }
  Status BeginEpoch(const sql::EpochContext&) override {
    cut_.Begin(limit_);
    return Status::OK();
  }
  Result<OperatorState> Push(int, data::Chunk chunk) override { return cut_.Push(std::move(chunk)); }
  Result<OperatorState> EndInput(int) override { return OperatorState::kFinished; }
  Result<std::optional<data::Chunk>> Pull(OperatorState* state) override {
    *state = OperatorState::kNeedInput;
    return cut_.Pull();
  }

 private:
  const int64_t limit_;
  Cut cut_;
};

// Key and value as rows of one column. Bytes: checkpoint-format 8.4, do not change.
using OneColumnRow = std::array<uint8_t, data::RowFixedBytes(1)>;
std::string_view Bytes(const OneColumnRow& row) { return {reinterpret_cast<const char*>(row.data()), row.size()}; }

OneColumnRow NullKey() {
  OneColumnRow row{};
  data::SetNullBit(row.data(), 0);
  return row;
}

class StreamLimit final : public Operator {
 public:
  explicit StreamLimit(const StreamLimitSpec& spec) : spec_(spec) {}

  Status Open(const TaskContext& context) override {
    partition_ = context.partition;
    StateStoreSchema schema;
    schema.key_types = {data::DataType::Null()};
    schema.value_types = {data::DataType::Long()};
    TW_ASSIGN_OR_RETURN(
        store_, StateStore::Open(spec_.state, spec_.operator_id, partition_, std::string(kDefaultStoreName), std::move(schema),
                                 context.memory != nullptr ? context.memory->account() : nullptr));
    return Status::OK();
  }

  bool NeedsEpoch(const sql::EpochContext&) const override { return false; }

  Status BeginEpoch(const sql::EpochContext& epoch) override {
    TW_RETURN_NOT_OK(epochs_.Begin(*store_, epoch));
    before_ = 0;
    const OneColumnRow key = NullKey();
    if (const auto value = store_->Get(Bytes(key)); value && value->size() >= key.size()) {
      before_ = data::LoadAs<int64_t>(reinterpret_cast<const uint8_t*>(value->data()) + 8);
    }
    allowed_ = std::max<int64_t>(0, spec_.limit - before_);
    cut_.Begin(allowed_);
    return Status::OK();
  }

  Result<OperatorState> Push(int, data::Chunk chunk) override { return cut_.Push(std::move(chunk)); }
  Result<OperatorState> EndInput(int) override { return OperatorState::kFinished; }
  Result<std::optional<data::Chunk>> Pull(OperatorState* state) override {
    *state = OperatorState::kNeedInput;
    return cut_.Pull();
  }

  Result<OperatorState> Seal() override {
    const int64_t passed = allowed_ - cut_.left();
    if (passed > 0) {
      OneColumnRow value{};
      data::StoreAs(value.data() + 8, before_ + passed);
      store_->Put(Bytes(NullKey()), Bytes(value));
    }
    return OperatorState::kFinished;
  }

  Result<bool> Prepare(const sql::EpochContext& epoch) override {
    return epochs_.Prepare(*store_, epoch, partition_, &metrics_);
  }
  std::shared_ptr<Signal> blocked_on() const override { return store_->commit_signal(); }
  void Abort(const sql::EpochContext&) override { epochs_.Abort(store_.get()); }

 private:
  const StreamLimitSpec spec_;
  PartitionId partition_{0};
  std::unique_ptr<StateStore> store_;
  StateEpochs<StateStore> epochs_;
  int64_t before_ = 0;   // rows let through by earlier epochs
  int64_t allowed_ = 0;  // rows that this one may let through
  Cut cut_;
};

}  // namespace

std::function<Result<std::unique_ptr<Operator>>(PartitionId)> MakeStreamLimit(StreamLimitSpec spec) {
  return [spec = std::move(spec)](PartitionId) -> Result<std::unique_ptr<Operator>> {
    return std::unique_ptr<Operator>(std::make_unique<StreamLimit>(spec));
  };
}

std::function<Result<std::unique_ptr<Operator>>(PartitionId)> MakeStreamLocalLimit(int64_t limit) {
  return [limit](PartitionId) -> Result<std::unique_ptr<Operator>> {
    return std::unique_ptr<Operator>(std::make_unique<LocalLimit>(limit));
  };
}

}  // namespace thalweg::engine
