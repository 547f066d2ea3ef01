// Batch writes.

#include "connectors/delta/delta_write.h"

#include <algorithm>
#include <atomic>

#include "base/fault_point.h"
#include "connectors/delta/delta_schema.h"
#include "connectors/delta/delta_write_plan.h"
#include "data/io/path.h"

namespace thalweg::connectors {

namespace {

const char* ModeName(sql::SaveMode mode) {
  switch (mode) {
    case sql::SaveMode::kAppend: return "Append";
    case sql::SaveMode::kOverwrite: return "Overwrite";
    case sql::SaveMode::kErrorIfExists: return "ErrorIfExists";
    case sql::SaveMode::kIgnore: return "Ignore";
  }
  return "";
}

class DeltaBatchWrite final : public sql::BatchWrite {
 public:
  DeltaBatchWrite(std::shared_ptr<DeltaLog> log, DeltaWriteTarget target, const sql::WriteRequest& request,
                  std::optional<SetTransaction> transaction)
      : log_(std::move(log)), target_(std::move(target)), request_(request), transaction_(std::move(transaction)) {}

  Result<std::unique_ptr<sql::DataWriter>> NewWriter(PartitionId partition) override {
    return NewDeltaFilesWriter(target_.plan, partition.value());
  }
  Status Commit(const std::vector<sql::CommitMessagePtr>& messages) override;
  void Abort(const std::vector<sql::CommitMessagePtr>& messages) override {
    // Once the log may name the files, they are not ours to remove.
    if (!commit_tried_.load()) RemoveDeltaFiles(log_->file_system(), messages);
  }

 private:
  std::string Parameters() const;
  /// Whether an overwrite takes the place of that file's rows.
  Result<bool> Replaces(const AddFile& add) const;

  std::shared_ptr<DeltaLog> log_;
  DeltaWriteTarget target_;
  const sql::WriteRequest request_;
  std::optional<SetTransaction> transaction_;
  std::atomic<bool> commit_tried_{false};
};

std::string DeltaBatchWrite::Parameters() const {
  std::string out = std::string("{\"mode\":\"") + ModeName(request_.mode) + "\",\"partitionBy\":";
  AppendJsonText(JsonStringArray(request_.partition_columns), &out);
  if (target_.overwrite_schema && request_.mode == sql::SaveMode::kOverwrite) out += ",\"canOverwriteSchema\":true";
  if (target_.merge_schema) out += ",\"canMergeSchema\":true";
  return out + "}";
}

Result<bool> DeltaBatchWrite::Replaces(const AddFile& add) const {
  for (const auto& [name, wanted] : request_.overwrite_partition) {
    const int at = FindColumn(target_.snapshot->schema(), name, false);
    if (at < 0) return Error("DELTA_PARTITION_COLUMN_NOT_FOUND").With("columnName", name).With("schemaMap", "");
    const data::StructField& field = target_.snapshot->schema()[static_cast<size_t>(at)];
    const auto entry = std::find_if(add.partition_values.begin(), add.partition_values.end(), [&](const auto& value) { return value.first == field.name; });
    TW_ASSIGN_OR_RETURN(const data::Value value, ParsePartitionValue(entry == add.partition_values.end() ? std::nullopt : entry->second,
                                                                     field.type, target_.plan->stats.zone));
    if (!(value == wanted)) return false;
  }
  return true;
}

Status DeltaBatchWrite::Commit(const std::vector<sql::CommitMessagePtr>& messages) {
  TW_RETURN_NOT_OK(SyncDeltaFiles(log_->file_system(), messages));
  TW_FAULT_POINT("delta write: files durable");
  DeltaTransaction transaction;
  transaction.read = target_.snapshot;
  transaction.metadata = target_.metadata;
  transaction.protocol = target_.protocol;
  transaction.transaction = transaction_;
  transaction.operation = "WRITE";
  transaction.parameters_json = Parameters();
  transaction.user_metadata = request_.user_metadata;
  if (const auto option = request_.options.Get("userMetadata")) transaction.user_metadata = *option;
  const DeltaFilesMessage written = JoinDeltaFiles(messages);
  transaction.adds = written.adds;
  transaction.metrics = {{"numFiles", std::to_string(transaction.adds.size())}};
  if (request_.mode == sql::SaveMode::kOverwrite && target_.snapshot != nullptr) {
    transaction.reads_whole_table = true;
    int64_t removed_bytes = 0;
    const int64_t now = log_->clock().NowMillis();
    for (const AddFilePtr& add : target_.snapshot->files()->live()) {
      TW_ASSIGN_OR_RETURN(const bool replaced, Replaces(*add));
      if (!replaced) continue;
      transaction.removes.push_back(RemoveOf(*add, now));
      removed_bytes += add->size;
    }
    transaction.metrics.emplace_back("numRemovedFiles", std::to_string(transaction.removes.size()));
    transaction.metrics.emplace_back("numRemovedBytes", std::to_string(removed_bytes));
  }
  transaction.metrics.emplace_back("numOutputRows", std::to_string(written.rows));
  transaction.metrics.emplace_back("numOutputBytes", std::to_string(written.bytes));
  if (transaction.adds.empty() && transaction.removes.empty() && !transaction.metadata && !transaction.transaction) {
    return Status::OK();  // nothing to record
  }
  commit_tried_ = true;
  Status committed = CommitDelta(*log_, std::move(transaction)).status();
  if (IsDeltaConflict(committed)) commit_tried_ = false;  // Abort may remove the files
  return committed;
}

// txnAppId and txnVersion: both or neither.
Result<std::optional<SetTransaction>> IdempotenceOf(const sql::WriteRequest& request, int64_t now_ms) {
  const auto app_id = request.options.Get("txnAppId");
  const auto version = request.options.Get("txnVersion");
  if (!app_id && !version) return std::optional<SetTransaction>{};
  if (!app_id || !version) {
    return Error("DELTA_INVALID_IDEMPOTENT_WRITES_OPTIONS").With("reason", "Both txnAppId and txnVersion must be specified for idempotent Delta writes");
  }
  const auto number = request.options.GetInt("txnVersion", -1);
  if (!number.ok() || *number < 0) {
    return Error("DELTA_INVALID_IDEMPOTENT_WRITES_OPTIONS").With("reason", "txnVersion must be a non-negative integer");
  }
  return std::optional<SetTransaction>({.app_id = *app_id, .version = *number, .last_updated = now_ms});
}

}  // namespace

Result<std::unique_ptr<sql::BatchWrite>> NewDeltaBatchWrite(std::shared_ptr<DeltaLog> log, DeltaSnapshotPtr snapshot,
                                                            const sql::WriteRequest& request) {
  if (snapshot != nullptr && request.mode == sql::SaveMode::kErrorIfExists) {
    return Error("DELTA_PATH_EXISTS").With("path", data::QualifiedPathText(log->table_path()));
  }
  if (snapshot != nullptr && request.mode == sql::SaveMode::kIgnore) return std::unique_ptr<sql::BatchWrite>();
  if (request.overwrite_condition != nullptr) return Unsupported("overwriting a part of a Delta table by a condition");
  TW_ASSIGN_OR_RETURN(std::optional<SetTransaction> transaction, IdempotenceOf(request, log->clock().NowMillis()));
  if (transaction && snapshot != nullptr) {
    const auto found = snapshot->transactions().find(transaction->app_id);
    if (found != snapshot->transactions().end() && found->second.version >= transaction->version) {
      return std::unique_ptr<sql::BatchWrite>();
    }
  }
  DeltaWriteRequest wanted{.schema = request.schema,
                           .partition_columns = request.partition_columns,
                           .options = request.options,
                           .overwrite = request.mode == sql::SaveMode::kOverwrite,
                           .streaming = false,
                           .config = request.config};
  TW_ASSIGN_OR_RETURN(DeltaWriteTarget target, PlanDeltaWrite(*log, std::move(snapshot), wanted));
  return std::unique_ptr<sql::BatchWrite>(
      std::make_unique<DeltaBatchWrite>(std::move(log), std::move(target), request, std::move(transaction)));
}

}  // namespace thalweg::connectors
