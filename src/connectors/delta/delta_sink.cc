// The streaming sink: exactly once by the `txn` action.

#include <atomic>

#include "base/fault_point.h"
#include "base/mutex.h"
#include "connectors/delta/delta_write.h"
#include "connectors/delta/delta_write_plan.h"
#include "data/io/path.h"

namespace thalweg::connectors {

namespace {

/// Thread: NewWriter from tasks; the rest from the query's driver.
class DeltaSink final : public sql::StreamingWrite {
 public:
  DeltaSink(std::shared_ptr<DeltaLog> log, const sql::StreamWriteRequest& request)
      : log_(std::move(log)), request_(request), app_id_(request.query_id.value().ToString()) {}

  sql::DeliveryGuarantee guarantee() const override { return sql::DeliveryGuarantee::kExactlyOnce; }
  std::string Description() const override { return "DeltaSink[" + data::QualifiedPathText(log_->table_path()) + "]"; }

  /// Looks at the table and plans how rows become its rows.
  Status Plan();
  Result<std::unique_ptr<sql::DataWriter>> NewWriter(PartitionId partition, BatchId) override TW_EXCLUDES(mutex_) {
    const MutexLock lock(mutex_);
    return NewDeltaFilesWriter(target_.plan, partition.value());
  }
  Result<std::optional<BatchId>> LastCommitted() override;
  Status Commit(BatchId epoch, const std::vector<sql::CommitMessagePtr>& messages) override;
  void Abort(BatchId, const std::vector<sql::CommitMessagePtr>& messages) override {
    // Once the log may name the files, they are not ours to remove.
    if (!commit_tried_.load()) RemoveDeltaFiles(log_->file_system(), messages);
  }

 private:
  bool complete() const { return request_.mode == sql::OutputMode::kComplete; }
  Status MakeDurable(const DeltaSnapshot& snapshot) const;
  std::optional<BatchId> LastIn(const DeltaSnapshotPtr& snapshot) const;
  Result<DeltaTransaction> MakeTransaction(BatchId epoch, const std::vector<sql::CommitMessagePtr>& messages,
                                           const DeltaSnapshotPtr& snapshot) const;
  Status CheckUnchanged(const DeltaSnapshotPtr& snapshot) const;

  std::shared_ptr<DeltaLog> log_;
  const sql::StreamWriteRequest request_;
  const std::string app_id_;
  mutable Mutex mutex_;
  DeltaWriteTarget target_ TW_GUARDED_BY(mutex_);
  std::atomic<bool> commit_tried_{false};  // in the current epoch
};

Status DeltaSink::Plan() {
  TW_ASSIGN_OR_RETURN(DeltaSnapshotPtr snapshot, log_->Update());
  DeltaWriteRequest wanted{.schema = request_.schema,
                           .partition_columns = request_.partition_columns,
                           .options = request_.options,
                           .overwrite = complete(),
                           .streaming = true,
                           .config = request_.config};
  TW_ASSIGN_OR_RETURN(DeltaWriteTarget target, PlanDeltaWrite(*log_, std::move(snapshot), wanted));
  const MutexLock lock(mutex_);
  target_ = std::move(target);
  return Status::OK();
}

std::optional<BatchId> DeltaSink::LastIn(const DeltaSnapshotPtr& snapshot) const {
  if (snapshot == nullptr) return {};
  const auto found = snapshot->transactions().find(app_id_);
  if (found == snapshot->transactions().end()) return {};
  return BatchId(found->second.version);
}

Result<std::optional<BatchId>> DeltaSink::LastCommitted() {
  TW_ASSIGN_OR_RETURN(const DeltaSnapshotPtr snapshot, log_->Update());
  const std::optional<BatchId> last = LastIn(snapshot);
  if (last) TW_RETURN_NOT_OK(MakeDurable(*snapshot));
  return last;
}

// A run that was killed may have left an entry that is visible and not durable. Whoever goes on from it makes it so.
Status DeltaSink::MakeDurable(const DeltaSnapshot& snapshot) const {
  data::FileSystem& file_system = log_->file_system();
  const Status file = file_system.SyncFile(log_->CommitPath(snapshot.version()));
  if (!file.ok() && !data::IsNotFound(file)) return file;  // a checkpoint may stand for it
  TW_RETURN_NOT_OK(file_system.SyncDirectory(log_->log_path()));
  TW_RETURN_NOT_OK(file_system.SyncDirectory(log_->table_path()));
  return file_system.SyncDirectory(data::ParentPath(log_->table_path()));
}

// The files were made for the table as it was planned; another schema or partitioning in between is somebody's conflict.
Status DeltaSink::CheckUnchanged(const DeltaSnapshotPtr& snapshot) const {
  const MutexLock lock(mutex_);
  const DeltaSnapshotPtr& planned = target_.snapshot;
  if (planned == nullptr && snapshot == nullptr) return Status::OK();
  if (planned != nullptr && snapshot != nullptr &&
      (planned == snapshot || planned->metadata() == snapshot->metadata())) {
    return Status::OK();
  }
  return Error("DELTA_METADATA_CHANGED").With("tableName", "delta.`" + log_->table_path() + "`").With("conflictingCommit", "")
      .With("docLink", "https://docs.delta.io/latest/concurrency-control.html");
}

Result<DeltaTransaction> DeltaSink::MakeTransaction(BatchId epoch, const std::vector<sql::CommitMessagePtr>& messages,
                                                    const DeltaSnapshotPtr& snapshot) const {
  DeltaTransaction transaction;
  {
    const MutexLock lock(mutex_);
    transaction.metadata = target_.metadata;
    transaction.protocol = target_.protocol;
  }
  transaction.read = snapshot;
  const int64_t now = log_->clock().NowMillis();
  transaction.transaction = SetTransaction{.app_id = app_id_, .version = epoch.value(), .last_updated = now};
  transaction.operation = "STREAMING UPDATE";
  transaction.parameters_json = std::string("{\"outputMode\":\"") + (complete() ? "Complete" : "Append") + "\",\"queryId\":\"" +
                                app_id_ + "\",\"epochId\":\"" + std::to_string(epoch.value()) + "\"}";
  const DeltaFilesMessage written = JoinDeltaFiles(messages);
  transaction.adds = written.adds;
  if (complete() && snapshot != nullptr) {
    transaction.reads_whole_table = true;
    for (const AddFilePtr& add : snapshot->files()->live()) transaction.removes.push_back(RemoveOf(*add, now));
  }
  if (const auto user = request_.options.Get("userMetadata")) transaction.user_metadata = *user;
  transaction.metrics = {{"numRemovedFiles", std::to_string(transaction.removes.size())},
                         {"numAddedFiles", std::to_string(transaction.adds.size())},
                         {"numOutputRows", std::to_string(written.rows)},
                         {"numOutputBytes", std::to_string(written.bytes)}};
  return transaction;
}

Status DeltaSink::Commit(BatchId epoch, const std::vector<sql::CommitMessagePtr>& messages) {
  TW_ASSIGN_OR_RETURN(const DeltaSnapshotPtr snapshot, log_->Update());
  const auto last = LastIn(snapshot);
  if (last && *last >= epoch) {  // this epoch, or a later one, is in the table: a run before this one committed it
    RemoveDeltaFiles(log_->file_system(), messages);
    return MakeDurable(*snapshot);
  }
  TW_RETURN_NOT_OK(CheckUnchanged(snapshot));
  TW_RETURN_NOT_OK(SyncDeltaFiles(log_->file_system(), messages));
  TW_FAULT_POINT("delta sink: files durable");
  TW_ASSIGN_OR_RETURN(DeltaTransaction transaction, MakeTransaction(epoch, messages, snapshot));
  const bool changes_metadata = transaction.metadata.has_value();
  commit_tried_ = true;
  const Status committed = CommitDelta(*log_, std::move(transaction)).status();
  if (committed.ok() || IsDeltaConflict(committed)) commit_tried_ = false;  // after a conflict Abort may remove the files
  TW_RETURN_NOT_OK(committed);
  TW_FAULT_POINT("delta sink: committed");
  return changes_metadata ? Plan() : Status::OK();
}

}  // namespace

Status CheckDeltaSinkMode(sql::OutputMode mode) {
  if (mode != sql::OutputMode::kUpdate) return Status::OK();
  return Error("DELTA_UNSUPPORTED_OUTPUT_MODE").With("dataSource", "delta").With("mode", "Update");
}

Result<std::unique_ptr<sql::StreamingWrite>> NewDeltaSink(std::shared_ptr<DeltaLog> log, const sql::StreamWriteRequest& request) {
  TW_RETURN_NOT_OK(CheckDeltaSinkMode(request.mode));
  auto sink = std::make_unique<DeltaSink>(std::move(log), request);
  TW_RETURN_NOT_OK(sink->Plan());
  return std::unique_ptr<sql::StreamingWrite>(std::move(sink));
}

}  // namespace thalweg::connectors
