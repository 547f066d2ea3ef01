#include "connectors/delta/delta_row_level.h"

#include <algorithm>
#include <atomic>

#include "base/fault_point.h"
#include "connectors/delta/delta_commit.h"
#include "connectors/delta/delta_filter.h"
#include "connectors/delta/delta_protocol.h"
#include "connectors/delta/delta_scan.h"
#include "connectors/delta/delta_schema.h"
#include "connectors/delta/delta_settings.h"
#include "connectors/delta/delta_text_limits.h"
#include "connectors/delta/delta_write_plan.h"
#include "data/text/numbers.h"

namespace thalweg::connectors {

using sql::RowLevelCommand;
using sql::RowLevelOperation;

namespace {

/// The rows of some files of one version.
class GroupsTable final : public sql::Table {
 public:
  GroupsTable(std::shared_ptr<DeltaLog> log, DeltaSnapshotPtr snapshot, std::shared_ptr<const DeltaScanGroups> groups)
      : log_(std::move(log)), snapshot_(std::move(snapshot)), groups_(std::move(groups)) {}
  std::string name() const override { return "delta.`" + log_->table_path() + "`"; }
  data::Schema schema() const override {
    data::Schema schema = PublicSchema(snapshot_->schema());
    schema.push_back({.name = std::string(RowLevelOperation::kGroupColumn), .type = data::DataType::Integer(), .nullable = false});
    schema.push_back({.name = std::string(RowLevelOperation::kPositionColumn), .type = data::DataType::Long(), .nullable = false});
    return schema;
  }
  sql::TableCapabilities capabilities() const override { return {.batch_read = true}; }
  Result<std::unique_ptr<sql::Scan>> NewScan(const sql::ScanRequest& request, std::shared_ptr<const sql::EvalConfig> config) override {
    return NewDeltaScan(log_, snapshot_, request, std::move(config), true, groups_);
  }

 private:
  std::shared_ptr<DeltaLog> log_;
  DeltaSnapshotPtr snapshot_;
  std::shared_ptr<const DeltaScanGroups> groups_;
};

class DeltaRowLevelOperation final : public RowLevelOperation {
 public:
  DeltaRowLevelOperation(std::shared_ptr<DeltaLog> log, DeltaWriteTarget target, const sql::RowLevelRequest& request)
      : log_(std::move(log)), target_(std::move(target)), request_(request) {}

  Status Begin();
  bool done_before() const override { return done_before_; }
  Status Narrow(const sql::ExprList& filters) override;
  std::vector<int32_t> Candidates() const override { return candidates_; }
  bool filters_are_exact() const override { return read_filter_->took_all(); }
  std::optional<int64_t> GroupRows(int32_t group) const override;
  sql::TablePtr Rows(const std::vector<int32_t>& groups) const override {
    auto chosen = std::make_shared<DeltaScanGroups>();
    for (const int32_t group : groups) {
      chosen->files.push_back(files_[static_cast<size_t>(group)]);
      chosen->numbers.push_back(group);
    }
    return std::make_shared<GroupsTable>(log_, target_.snapshot, std::move(chosen));
  }
  Result<std::unique_ptr<sql::DataWriter>> NewWriter(PartitionId partition) override {
    return NewDeltaFilesWriter(target_.plan, partition.value());
  }
  Status Commit(const std::vector<int32_t>& replaced, const std::vector<sql::CommitMessagePtr>& messages,
                const sql::RowLevelCounts& counts) override;
  void Abort(const std::vector<sql::CommitMessagePtr>& messages) override {
    if (!commit_tried_.load()) RemoveDeltaFiles(log_->file_system(), messages);
  }

 private:
  Status TakeTransactionId();
  Status Keep(const DeltaPartitionFilter& partitions, const sql::ExprList& filters);
  std::string HistoryParameters() const;
  StringPairs Metrics(const sql::RowLevelCounts& counts, const DeltaTransaction& transaction) const;
  std::string TextOf(const Setting<std::string>& setting) const;

  std::shared_ptr<DeltaLog> log_;
  DeltaWriteTarget target_;
  const sql::RowLevelRequest request_;
  std::vector<AddFilePtr> files_;       // by group
  std::vector<int32_t> candidates_;
  DeltaPartitionFilterPtr read_filter_;
  std::optional<SetTransaction> transaction_;
  bool done_before_ = false;
  std::atomic<bool> commit_tried_{false};
};

std::string DeltaRowLevelOperation::TextOf(const Setting<std::string>& setting) const {
  return request_.settings == nullptr ? setting.default_value : request_.settings->Get(setting);
}

// A statement with the application's name and number happens once.
Status DeltaRowLevelOperation::TakeTransactionId() {
  const std::string app_id = TextOf(kTxnAppId);
  const std::string version = TextOf(kTxnVersion);
  if (app_id.empty() && version.empty()) return Status::OK();
  int64_t number = 0;
  if (app_id.empty() || version.empty() || !data::ParseJavaLong(version, &number) || number < 0) {
    return Error("DELTA_INVALID_IDEMPOTENT_WRITES_OPTIONS")
        .With("reason", "Both " + std::string(kTxnAppId.key) + " and " + std::string(kTxnVersion.key) + " (a non-negative number) must be specified for idempotent Delta writes");
  }
  const auto found = target_.snapshot->transactions().find(app_id);
  done_before_ = found != target_.snapshot->transactions().end() && found->second.version >= number;
  transaction_ = SetTransaction{.app_id = app_id, .version = number, .last_updated = log_->clock().NowMillis()};
  return Status::OK();
}

Status DeltaRowLevelOperation::Begin() {
  files_ = target_.snapshot->files()->live();
  for (size_t i = 0; i < files_.size(); ++i) candidates_.push_back(static_cast<int32_t>(i));
  TW_ASSIGN_OR_RETURN(read_filter_, DeltaPartitionFilter::Make(target_.snapshot->metadata(), request_.filters, request_.attributes, request_.config));
  TW_RETURN_NOT_OK(Keep(*read_filter_, request_.filters));
  return TakeTransactionId();
}

Status DeltaRowLevelOperation::Narrow(const sql::ExprList& filters) {
  if (filters.empty()) return Status::OK();
  TW_ASSIGN_OR_RETURN(const DeltaPartitionFilterPtr partitions,
                      DeltaPartitionFilter::Make(target_.snapshot->metadata(), filters, request_.attributes, request_.config));
  return Keep(*partitions, filters);
}

// Leaves the candidates that may hold rows for which all filters are true.
Status DeltaRowLevelOperation::Keep(const DeltaPartitionFilter& partitions, const sql::ExprList& filters) {
  std::vector<AddFilePtr> asked;
  for (const int32_t group : candidates_) asked.push_back(files_[static_cast<size_t>(group)]);
  TW_ASSIGN_OR_RETURN(const std::vector<bool> matches, partitions.Matches(asked));
  const data::Schema& schema = target_.snapshot->schema();
  const auto& names = target_.snapshot->metadata().partition_columns;
  const bool mapped = HasColumnMapping(target_.snapshot->metadata());
  std::vector<data::ColumnPredicate> predicates;
  for (data::ColumnPredicate& predicate : SimplePredicates(filters)) {
    const int at = FindColumn(schema, predicate.column, false);
    if (at < 0 || std::find(names.begin(), names.end(), schema[static_cast<size_t>(at)].name) != names.end()) continue;
    const data::StructField& field = schema[static_cast<size_t>(at)];
    if (CharLength(field) > 0 || !field.type.SameType(predicate.type)) continue;
    predicate.column = PhysicalField(field, mapped).name;
    predicates.push_back(std::move(predicate));
  }
  std::vector<int32_t> kept;
  for (size_t i = 0; i < asked.size(); ++i) {
    if (matches[i] && FileMayMatch(*asked[i], predicates)) kept.push_back(candidates_[i]);
  }
  candidates_ = std::move(kept);
  return Status::OK();
}

std::optional<int64_t> DeltaRowLevelOperation::GroupRows(int32_t group) const {
  const AddFile& file = *files_[static_cast<size_t>(group)];
  const auto rows = StatsRecordCount(file);
  if (!rows) return {};
  return *rows - (file.deletion_vector ? file.deletion_vector->cardinality : 0);
}

// ["<predicate>"]
std::string PredicateList(const std::string& predicate) {
  return JsonStringArray(predicate.empty() ? std::vector<std::string>{} : std::vector<std::string>{predicate});
}

std::string ClauseList(const std::vector<sql::RowLevelClauseText>& clauses) {
  std::string out = "[";
  for (const sql::RowLevelClauseText& clause : clauses) {
    out += out.size() > 1 ? ",{" : "{";
    if (clause.predicate) {
      out += "\"predicate\":";
      AppendJsonText(*clause.predicate, &out);
      out += ",";
    }
    out += "\"actionType\":\"" + clause.action + "\"}";
  }
  return out + "]";
}

std::string DeltaRowLevelOperation::HistoryParameters() const {
  StringPairs parameters = {{"predicate", PredicateList(request_.predicate)}};
  if (request_.command == RowLevelCommand::kMerge) {
    parameters.emplace_back("matchedPredicates", ClauseList(request_.matched));
    parameters.emplace_back("notMatchedPredicates", ClauseList(request_.not_matched));
    parameters.emplace_back("notMatchedBySourcePredicates", ClauseList(request_.not_matched_by_source));
  }
  std::string out;
  AppendJsonObject(parameters, &out);
  return out;
}

StringPairs DeltaRowLevelOperation::Metrics(const sql::RowLevelCounts& counts, const DeltaTransaction& transaction) const {
  int64_t added = 0, removed = 0, vectors = 0;
  for (const AddFile& add : transaction.adds) added += add.size;
  for (const RemoveFile& remove : transaction.removes) {
    removed += remove.size.value_or(0);
    vectors += remove.deletion_vector ? 1 : 0;
  }
  StringPairs out;
  const auto put = [&](const char* name, int64_t value) { out.emplace_back(name, std::to_string(value)); };
  const auto files_added = static_cast<int64_t>(transaction.adds.size());
  const auto files_removed = static_cast<int64_t>(transaction.removes.size());
  const int64_t all_ms = counts.source_ms + counts.scan_ms + counts.rewrite_ms;
  if (request_.command == RowLevelCommand::kMerge) {
    put("numSourceRows", counts.source_rows);
    put("numTargetRowsInserted", counts.inserted);
    put("numTargetRowsUpdated", counts.updated());
    put("numTargetRowsMatchedUpdated", counts.updated_matched);
    put("numTargetRowsNotMatchedBySourceUpdated", counts.updated_by_source);
    put("numTargetRowsDeleted", counts.deleted());
    put("numTargetRowsMatchedDeleted", counts.deleted_matched);
    put("numTargetRowsNotMatchedBySourceDeleted", counts.deleted_by_source);
    put("numTargetRowsCopied", counts.copied);
    put("numOutputRows", counts.copied + counts.updated() + counts.inserted);
    put("numTargetFilesAdded", files_added);
    put("numTargetFilesRemoved", files_removed);
    put("numTargetBytesAdded", added);
    put("numTargetBytesRemoved", removed);
    put("numTargetChangeFilesAdded", 0);
    put("numTargetDeletionVectorsAdded", 0);
    put("numTargetDeletionVectorsRemoved", vectors);
    put("numTargetDeletionVectorsUpdated", 0);
    put("executionTimeMs", all_ms);
    put("materializeSourceTimeMs", counts.source_ms);
  } else {
    put("numAddedFiles", files_added);
    put("numRemovedFiles", files_removed);
    put("numAddedBytes", added);
    put("numRemovedBytes", removed);
    put("numDeletionVectorsAdded", 0);
    put("numDeletionVectorsRemoved", vectors);
    put("numDeletionVectorsUpdated", 0);
    put("numAddedChangeFiles", 0);
    if (request_.command == RowLevelCommand::kUpdate) put("numUpdatedRows", counts.updated());
    if (request_.command == RowLevelCommand::kDelete && counts.deleted() >= 0) put("numDeletedRows", counts.deleted());
    put("numCopiedRows", counts.copied);
    put("executionTimeMs", all_ms);
  }
  put("scanTimeMs", counts.scan_ms);
  put("rewriteTimeMs", counts.rewrite_ms);
  return out;
}

Status DeltaRowLevelOperation::Commit(const std::vector<int32_t>& replaced, const std::vector<sql::CommitMessagePtr>& messages,
                                      const sql::RowLevelCounts& counts) {
  TW_RETURN_NOT_OK(SyncDeltaFiles(log_->file_system(), messages));
  TW_FAULT_POINT("delta row level: files durable");
  DeltaTransaction transaction;
  transaction.read = target_.snapshot;
  transaction.metadata = target_.metadata;
  transaction.protocol = target_.protocol;
  transaction.transaction = transaction_;
  transaction.read_filter = read_filter_;
  for (const int32_t group : candidates_) transaction.read_paths.push_back(files_[static_cast<size_t>(group)]->path);
  transaction.adds = JoinDeltaFiles(messages).adds;
  const int64_t now = log_->clock().NowMillis();
  for (const int32_t group : replaced) transaction.removes.push_back(RemoveOf(*files_[static_cast<size_t>(group)], now));
  switch (request_.command) {
    case RowLevelCommand::kMerge: transaction.operation = "MERGE"; break;
    case RowLevelCommand::kUpdate: transaction.operation = "UPDATE"; break;
    case RowLevelCommand::kDelete: transaction.operation = "DELETE"; break;
  }
  transaction.parameters_json = HistoryParameters();
  transaction.metrics = Metrics(counts, transaction);
  transaction.user_metadata = TextOf(kUserMetadata);
  const bool nothing = transaction.adds.empty() && transaction.removes.empty() && !transaction.metadata;
  if (nothing && !transaction.transaction) return Status::OK();
  commit_tried_ = true;
  Status committed = CommitDelta(*log_, std::move(transaction)).status();
  if (IsDeltaConflict(committed)) commit_tried_ = false;  // Abort may remove the files
  return committed;
}

Status CheckSameColumns(const data::Schema& resolved, const data::Schema& now) {
  const bool same = std::equal(resolved.begin(), resolved.end(), now.begin(), now.end(), [](const data::StructField& a, const data::StructField& b) {
    return a.name == b.name && a.type.SameType(b.type);
  });
  if (same) return Status::OK();
  return Error("DELTA_SCHEMA_CHANGE_SINCE_ANALYSIS").With("schemaDiff", data::SchemaTree(now)).With("legacyFlagMessage", "");
}

}  // namespace

Result<std::unique_ptr<RowLevelOperation>> NewDeltaRowLevelOperation(std::shared_ptr<DeltaLog> log, DeltaSnapshotPtr snapshot,
                                                                     const sql::RowLevelRequest& request) {
  const std::string name = "delta.`" + log->table_path() + "`";
  if (snapshot == nullptr) return Error("DELTA_TABLE_NOT_FOUND").With("tableName", name);
  TW_RETURN_NOT_OK(CheckSameColumns(request.schema, PublicSchema(snapshot->schema())));
  if (PropertyIsTrue(snapshot->metadata(), "delta.enableChangeDataFeed")) {
    return Unsupported("MERGE, UPDATE and DELETE on a Delta table with a change data feed");
  }
  DeltaWriteRequest wanted;
  wanted.schema = request.written;
  wanted.config = request.config;
  if (request.written.size() > request.schema.size()) wanted.options.Set("mergeSchema", "true");
  TW_ASSIGN_OR_RETURN(DeltaWriteTarget target, PlanDeltaWrite(*log, std::move(snapshot), wanted));
  auto operation = std::make_unique<DeltaRowLevelOperation>(std::move(log), std::move(target), request);
  TW_RETURN_NOT_OK(operation->Begin());
  return std::unique_ptr<RowLevelOperation>(std::move(operation));
}

}  // namespace thalweg::connectors
