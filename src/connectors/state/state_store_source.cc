#include <algorithm>
#include <deque>
#include <utility>

#include "connectors/state/state_reader_options.h"
#include "connectors/state/state_source.h"
#include "data/columnar/builder.h"
#include "data/io/path.h"
#include "data/rowformat/unsafe_row_reader.h"
#include "engine/checkpoint/operator_metadata.h"
#include "engine/state/stored_state.h"

namespace thalweg::connectors {
namespace {

using data::DataType;
using engine::StateChange;

std::vector<DataType> TypesOf(const data::Schema& schema) {
  std::vector<DataType> types;
  for (const data::StructField& field : schema) types.push_back(field.type);
  return types;
}

/// One store as it is read: where it lies, what its rows are, what of them is shown. Thread: immutable.
struct StoreView {
  data::FileSystem* file_system = nullptr;
  StateReaderOptions options;
  engine::StateOptions state_options;
  std::string store_name;       ///< on disk
  engine::StoreSchema stored;
  int prefix_columns = 0;       ///< leading key columns that are stored apart
  size_t key_columns = 0;       ///< shown, from the left
  size_t value_columns = 0;

  data::Schema ShownKey() const { return {stored.key.begin(), stored.key.begin() + static_cast<int64_t>(key_columns)}; }
  data::Schema ShownValue() const { return {stored.value.begin(), stored.value.begin() + static_cast<int64_t>(value_columns)}; }
  data::Schema TableSchema() const {
    const data::StructField key{"key", DataType::Struct(ShownKey()), true, "{}"};
    const data::StructField value{"value", DataType::Struct(ShownValue()), true, "{}"};
    const data::StructField partition{"partition_id", DataType::Integer(), true, "{}"};
    if (!options.change_start) return {key, value, partition};
    return {{"batch_id", DataType::Long(), true, "{}"}, {"change_type", DataType::String(), true, "{}"}, key, value, partition};
  }
};
using StoreViewPtr = std::shared_ptr<const StoreView>;

data::ColumnPtr StructOf(const data::Schema& fields, std::vector<data::ColumnPtr> columns, int64_t rows) {
  columns.resize(fields.size());
  data::Column::Parts parts;
  parts.type = DataType::Struct(fields);
  parts.length = rows;
  parts.children = std::move(columns);
  return data::Column::Make(std::move(parts));
}

/// Entries or changes of one partition, as chunks of the wanted columns.
class PartitionRows {
 public:
  PartitionRows(StoreViewPtr view, PartitionId partition, std::vector<std::string> columns)
      : view_(std::move(view)),
        partition_(partition),
        columns_(std::move(columns)),
        key_reader_(TypesOf(view_->stored.key)),
        value_reader_(TypesOf(view_->stored.value)) {}

  /// `batch`: of changes; nothing: entries.
  Status Add(std::span<const StateChange> changes, std::optional<BatchId> batch) {
    const auto rows = static_cast<int64_t>(changes.size());
    std::vector<data::ColumnPtr> out;
    for (const std::string& name : columns_) {
      if (name == "key") {
        std::vector<std::string_view> keys;
        for (const StateChange& change : changes) keys.push_back(change.key);
        TW_ASSIGN_OR_RETURN(std::vector<data::ColumnPtr> fields, key_reader_.Read(keys));
        out.push_back(StructOf(view_->ShownKey(), std::move(fields), rows));
      } else if (name == "value") {
        TW_ASSIGN_OR_RETURN(data::ColumnPtr value, Values(changes));
        out.push_back(std::move(value));
      } else if (name == "partition_id") {
        out.push_back(data::Column::Constant(DataType::Integer(), data::Value(partition_.value()), rows));
      } else if (name == "batch_id") {
        out.push_back(data::Column::Constant(DataType::Long(), data::Value(batch->value()), rows));
      } else {
        data::TextBuilder kinds(DataType::String());
        for (const StateChange& change : changes) kinds.Append(change.removed ? "delete" : "update");
        out.push_back(kinds.Finish());
      }
    }
    chunks_.emplace_back(std::move(out), rows);
    return Status::OK();
  }
  void Clear() { chunks_.clear(); }
  std::deque<data::Chunk>& chunks() { return chunks_; }

 private:
  /// Null where the entry was removed.
  Result<data::ColumnPtr> Values(std::span<const StateChange> changes) const {
    std::vector<std::string_view> values;
    std::vector<int32_t> places;
    for (const StateChange& change : changes) {
      places.push_back(change.removed ? -1 : static_cast<int32_t>(values.size()));
      if (!change.removed) values.push_back(change.value);
    }
    if (values.empty()) return data::Column::Nulls(DataType::Struct(view_->ShownValue()), static_cast<int64_t>(changes.size()));
    TW_ASSIGN_OR_RETURN(std::vector<data::ColumnPtr> fields, value_reader_.Read(values));
    data::ColumnPtr all = StructOf(view_->ShownValue(), std::move(fields), static_cast<int64_t>(values.size()));
    return values.size() == changes.size() ? all : data::Take(all, places);
  }

  const StoreViewPtr view_;
  const PartitionId partition_;
  const std::vector<std::string> columns_;
  const data::UnsafeRowReader key_reader_;
  const data::UnsafeRowReader value_reader_;
  std::deque<data::Chunk> chunks_;
};

/// Reads the whole partition at the first call: a version is put together from several files.
class StateReader final : public sql::PartitionReader {
 public:
  StateReader(StoreViewPtr view, PartitionId partition, std::vector<std::string> columns)
      : view_(view), partition_(partition), rows_(view, partition, std::move(columns)) {}

  Result<sql::ReadStep> Next() override {
    if (!std::exchange(loaded_, true)) TW_RETURN_NOT_OK(Load());
    if (rows_.chunks().empty()) return sql::ReadStep(sql::ReadEnd{});
    data::Chunk chunk = std::move(rows_.chunks().front());
    rows_.chunks().pop_front();
    return sql::ReadStep(sql::ReadChunk{std::move(chunk)});
  }

 private:
  Status Load() {
    const StateReaderOptions& options = view_->options;
    engine::StateRowTypes types{TypesOf(view_->stored.key), TypesOf(view_->stored.value), true};
    const bool without_value = types.value.size() == 1 && types.value[0].Is(data::TypeKind::kNull);
    types.check_value = !without_value;
    types.prefix_columns = view_->prefix_columns;
    TW_ASSIGN_OR_RETURN(const auto persister,
                        engine::OpenStoredState(*view_->file_system, {options.root, options.operator_id, partition_, view_->store_name},
                                                view_->state_options, std::move(types)));
    if (options.change_start) {
      for (BatchId batch = *options.change_start; batch <= options.batch_id; batch = batch.Next()) {
        TW_RETURN_NOT_OK(persister->ReadChanges(StateVersionAfter(batch), [&](std::span<const StateChange> changes) {
          return rows_.Add(changes, batch);
        }));
      }
      return Status::OK();
    }
    const engine::StateVisitor visitor = [&](std::span<const StateChange> entries) {
      if (!entries.empty()) return rows_.Add(entries, std::nullopt);
      rows_.Clear();
      return Status::OK();
    };
    const StateVersion version = StateVersionAfter(options.batch_id);
    if (!options.snapshot_start) return persister->Load(version, visitor);
    return persister->Replay(StateVersionAfter(*options.snapshot_start), version, visitor);
  }

  const StoreViewPtr view_;
  const PartitionId partition_;
  PartitionRows rows_;
  bool loaded_ = false;
};

class StateSplit final : public sql::InputSplit {
 public:
  StateSplit(StoreViewPtr view, PartitionId partition, std::vector<std::string> columns)
      : view_(std::move(view)), partition_(partition), columns_(std::move(columns)) {}
  Result<std::unique_ptr<sql::PartitionReader>> Open(const sql::EvalConfig&) const override {
    return std::unique_ptr<sql::PartitionReader>(std::make_unique<StateReader>(view_, partition_, columns_));
  }
  std::string Describe() const override { return "state of partition " + std::to_string(partition_.value()); }

 private:
  const StoreViewPtr view_;
  const PartitionId partition_;
  const std::vector<std::string> columns_;
};

class StateStoreScan final : public sql::Scan {
 public:
  StateStoreScan(StoreViewPtr view, std::vector<std::string> columns) : view_(std::move(view)), columns_(std::move(columns)) {}

  data::Schema schema() const override {
    const data::Schema all = view_->TableSchema();
    data::Schema picked;
    for (const std::string& name : columns_) {
      picked.push_back(*std::find_if(all.begin(), all.end(), [&](const data::StructField& field) { return field.name == name; }));
    }
    return picked;
  }
  std::string Describe() const override { return "StateStoreScan " + view_->options.ToString(); }
  Result<std::vector<sql::InputSplitPtr>> PlanSplits() override {
    const engine::CheckpointLayout layout(view_->options.root);
    TW_ASSIGN_OR_RETURN(const std::vector<PartitionId> partitions,
                        engine::StoredPartitions(*view_->file_system, layout, view_->options.operator_id));
    if (partitions.empty()) return Error("STDS_NO_PARTITION_DISCOVERED_IN_STATE_STORE").With("sourceOptions", view_->options.ToString());
    std::vector<sql::InputSplitPtr> splits;
    const auto& wanted = view_->options.snapshot_partition;
    for (const PartitionId partition : partitions) {
      if (!wanted || *wanted == partition) splits.push_back(std::make_shared<StateSplit>(view_, partition, columns_));
    }
    if (splits.empty()) {
      return Error("CANNOT_LOAD_STATE_STORE.SNAPSHOT_PARTITION_ID_NOT_FOUND")
          .With("snapshotPartitionId", static_cast<long long>(wanted->value()))
          .With("operatorId", static_cast<long long>(view_->options.operator_id.value()))
          .With("checkpointLocation", layout.StateDirectory());
    }
    return splits;
  }

 private:
  const StoreViewPtr view_;
  const std::vector<std::string> columns_;
};

class StateStoreTable final : public sql::Table {
 public:
  explicit StateStoreTable(StoreViewPtr view) : view_(std::move(view)) {}
  std::string name() const override { return "statestore"; }
  data::Schema schema() const override { return view_->TableSchema(); }
  sql::TableCapabilities capabilities() const override { return {.batch_read = true}; }
  Result<std::unique_ptr<sql::Scan>> NewScan(const sql::ScanRequest& request, std::shared_ptr<const sql::EvalConfig>) override {
    return std::unique_ptr<sql::Scan>(std::make_unique<StateStoreScan>(view_, request.columns));
  }

 private:
  const StoreViewPtr view_;
};

class StateStoreDataSource final : public sql::DataSource {
 public:
  explicit StateStoreDataSource(const sql::ConnectorServices& services) : services_(services) {}
  std::string short_name() const override { return "statestore"; }

  Result<sql::TablePtr> Load(const sql::LoadRequest& request) const override {
    auto view = std::make_shared<StoreView>();
    view->file_system = services_.file_system;
    TW_ASSIGN_OR_RETURN(view->options, ReadStateReaderOptions(*services_.file_system, request));
    const StateReaderOptions& options = view->options;
    const engine::CheckpointLayout layout(options.root);
    TW_ASSIGN_OR_RETURN(const auto metadata,
                        engine::ReadOperatorMetadata(*services_.file_system, layout, options.operator_id, options.batch_id));
    TW_RETURN_NOT_OK(CheckOperator(metadata ? metadata->operator_name : "", options));
    static const SettingsMap kDefaults;
    TW_ASSIGN_OR_RETURN(view->state_options,
                        engine::StoredStateOptions(*services_.file_system, layout, options.batch_id,
                                                   request.settings != nullptr ? *request.settings : kDefaults));
    const bool join = options.join_side != JoinSide::kNone;
    view->store_name = !join ? options.store_name : options.join_side == JoinSide::kLeft ? "left-keyWithIndexToValue" : "right-keyWithIndexToValue";
    if (metadata) {
      for (const engine::StoreMetadata& store : metadata->stores) {
        if (store.store_name == view->store_name) view->prefix_columns = static_cast<int>(store.prefix_key_columns);
      }
    }
    auto stored = engine::ReadStoreSchema(*services_.file_system, layout, options.operator_id, view->store_name);
    if (!stored.ok() || !*stored || (join && ((*stored)->key.empty() || (*stored)->value.empty()))) {
      const Status failed = Error("STDS_FAILED_TO_READ_STATE_SCHEMA").With("sourceOptions", options.ToString());
      return stored.ok() ? failed : failed.Because(stored.status());
    }
    view->stored = **stored;
    // Of a join's side the rows that came in: without their number among those of the key, without whether they met one.
    view->key_columns = view->stored.key.size() - (join ? 1 : 0);
    view->value_columns = view->stored.value.size() - (join && view->stored.value.back().name == "matched" ? 1 : 0);
    return sql::TablePtr(std::make_shared<StateStoreTable>(std::move(view)));
  }

 private:
  /// What only transformWithState has.
  static Status CheckOperator(const std::string& name, const StateReaderOptions& options) {
    if (name.starts_with("transformWithState")) return Unsupported("reading the state of transformWithState");
    if (options.state_variable) {
      return Error("STDS_INVALID_OPTION_VALUE.WITH_MESSAGE")
          .With("optionName", "stateVarName")
          .With("message", "Providing state variable names is only supported with the transformWithState operator. Found operator=" + name +
                               ". Please remove this option and re-run the query.");
    }
    return Status::OK();
  }

  const sql::ConnectorServices services_;
};

}  // namespace

std::shared_ptr<const sql::DataSource> MakeStateStoreDataSource(const sql::ConnectorServices& services) {
  return std::make_shared<StateStoreDataSource>(services);
}

}  // namespace thalweg::connectors
