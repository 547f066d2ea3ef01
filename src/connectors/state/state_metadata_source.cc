#include <algorithm>

#include "connectors/state/state_reader_options.h"
#include "connectors/state/state_source.h"
#include "data/columnar/builder.h"
#include "data/io/path.h"
#include "engine/checkpoint/commit_log.h"
#include "engine/checkpoint/operator_metadata.h"
#include "engine/checkpoint/require_checkpoint.h"

namespace thalweg::connectors {
namespace {

using data::DataType;
using data::Value;

// The last column is Spark's hidden one.
const data::Schema& TableSchema() {
  static const data::Schema* const kSchema = new data::Schema{
      {"operatorId", DataType::Long(), true, "{}"},
      {"operatorName", DataType::String(), true, "{}"},
      {"stateStoreName", DataType::String(), true, "{}"},
      {"numPartitions", DataType::Integer(), true, "{}"},
      {"minBatchId", DataType::Long(), true, "{}"},
      {"maxBatchId", DataType::Long(), true, "{}"},
      {"operatorProperties", DataType::String(), true, "{}"},
      {"_numColsPrefixKey", DataType::Integer(), true, R"({"__metadata_col":true})"},
  };
  return *kSchema;
}

/// Rows made at once: a handful.
class RowsReader final : public sql::PartitionReader {
 public:
  explicit RowsReader(data::Chunk rows) : rows_(std::move(rows)) {}
  Result<sql::ReadStep> Next() override {
    if (done_) return sql::ReadStep(sql::ReadEnd{});
    done_ = true;
    return sql::ReadStep(sql::ReadChunk{rows_});
  }

 private:
  const data::Chunk rows_;
  bool done_ = false;
};

class RowsSplit final : public sql::InputSplit {
 public:
  explicit RowsSplit(data::Chunk rows) : rows_(std::move(rows)) {}
  Result<std::unique_ptr<sql::PartitionReader>> Open(const sql::EvalConfig&) const override {
    return std::unique_ptr<sql::PartitionReader>(std::make_unique<RowsReader>(rows_));
  }
  std::string Describe() const override { return "operator metadata"; }

 private:
  const data::Chunk rows_;
};

class StateMetadataScan final : public sql::Scan {
 public:
  StateMetadataScan(data::FileSystem& file_system, std::string root, std::optional<BatchId> batch_id, std::vector<std::string> columns)
      : file_system_(file_system), layout_(std::move(root)), batch_id_(batch_id), columns_(std::move(columns)) {}

  data::Schema schema() const override {
    data::Schema picked;
    for (const std::string& name : columns_) picked.push_back(TableSchema()[Index(name)]);
    return picked;
  }
  std::string Describe() const override { return "StateMetadataScan " + layout_.root(); }

  Result<std::vector<sql::InputSplitPtr>> PlanSplits() override {
    TW_ASSIGN_OR_RETURN(const std::vector<data::ValueList> all, Rows());
    std::vector<DataType> types;
    std::vector<data::ValueList> picked(all.size());
    for (const std::string& name : columns_) {
      types.push_back(TableSchema()[Index(name)].type);
      for (size_t row = 0; row < all.size(); ++row) picked[row].push_back(all[row][Index(name)]);
    }
    data::Chunk chunk = types.empty() ? data::Chunk({}, static_cast<int64_t>(all.size())) : data::ChunkFromRows(types, picked);
    return std::vector<sql::InputSplitPtr>{std::make_shared<RowsSplit>(std::move(chunk))};
  }

 private:
  static size_t Index(const std::string& name) {
    const data::Schema& all = TableSchema();
    return static_cast<size_t>(
        std::find_if(all.begin(), all.end(), [&](const data::StructField& field) { return field.name == name; }) - all.begin());
  }

  Result<std::vector<data::ValueList>> Rows() const {
    TW_ASSIGN_OR_RETURN(const std::vector<int64_t> commits, engine::CommitLog(file_system_, layout_.CommitsDirectory()).Ids());
    const BatchId at = batch_id_.value_or(BatchId(commits.empty() ? 0 : commits.back()));
    TW_ASSIGN_OR_RETURN(const std::vector<OperatorId> operators, engine::ListOperators(file_system_, layout_));
    std::vector<data::ValueList> rows;
    for (const OperatorId id : operators) {
      TW_ASSIGN_OR_RETURN(const auto metadata, engine::ReadOperatorMetadata(file_system_, layout_, id, at));
      if (!metadata) {
        return Error("STDS_FAILED_TO_READ_OPERATOR_METADATA")
            .With("checkpointLocation", data::QualifiedPathText(layout_.root()))
            .With("batchId", static_cast<long long>(at.value()));
      }
      const bool columns_families = metadata->operator_name.starts_with("transformWithState");
      for (const engine::StoreMetadata& store : metadata->stores) {
        rows.push_back({Value(metadata->operator_id.value()), Value(metadata->operator_name), Value(store.store_name),
                        Value(static_cast<int32_t>(store.partitions)), Value(commits.empty() ? int64_t{-1} : commits.front()),
                        Value(commits.empty() ? int64_t{-1} : commits.back()), Value(metadata->properties_json),
                        Value(columns_families ? int32_t{-1} : static_cast<int32_t>(store.prefix_key_columns))});
      }
    }
    return rows;
  }

  data::FileSystem& file_system_;
  const engine::CheckpointLayout layout_;
  const std::optional<BatchId> batch_id_;
  const std::vector<std::string> columns_;
};

class StateMetadataTable final : public sql::Table {
 public:
  StateMetadataTable(data::FileSystem& file_system, std::string root, std::optional<BatchId> batch_id)
      : file_system_(file_system), root_(std::move(root)), batch_id_(batch_id) {}
  std::string name() const override { return "state-metadata-table"; }
  data::Schema schema() const override { return TableSchema(); }
  sql::TableCapabilities capabilities() const override { return {.batch_read = true}; }
  Result<std::unique_ptr<sql::Scan>> NewScan(const sql::ScanRequest& request, std::shared_ptr<const sql::EvalConfig>) override {
    return std::unique_ptr<sql::Scan>(std::make_unique<StateMetadataScan>(file_system_, root_, batch_id_, request.columns));
  }

 private:
  data::FileSystem& file_system_;
  const std::string root_;
  const std::optional<BatchId> batch_id_;
};

class StateMetadataDataSource final : public sql::DataSource {
 public:
  explicit StateMetadataDataSource(const sql::ConnectorServices& services) : services_(services) {}
  std::string short_name() const override { return "state-metadata"; }
  Result<sql::TablePtr> Load(const sql::LoadRequest& request) const override {
    TW_ASSIGN_OR_RETURN(std::string root, CheckpointPath(request));
    TW_ASSIGN_OR_RETURN(const std::optional<int64_t> batch, WholeNumber(request.options, "batchId"));
    TW_RETURN_NOT_OK(engine::RequireCheckpoint(*services_.file_system, engine::CheckpointLayout(root)));
    return sql::TablePtr(std::make_shared<StateMetadataTable>(
        *services_.file_system, std::move(root), batch ? std::optional<BatchId>(BatchId(*batch)) : std::nullopt));
  }

 private:
  const sql::ConnectorServices services_;
};

}  // namespace

std::shared_ptr<const sql::DataSource> MakeStateMetadataDataSource(const sql::ConnectorServices& services) {
  return std::make_shared<StateMetadataDataSource>(services);
}

}  // namespace thalweg::connectors
