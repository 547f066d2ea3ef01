#include "connectors/delta/delta_commit.h"

#include <algorithm>
#include <set>

#include "base/fault_point.h"
#include "base/log.h"
#include "base/uuid.h"
#include "connectors/delta/delta_protocol.h"
#include "data/io/atomic_write.h"
#include "data/io/path.h"
#include "data/text/numbers.h"

namespace thalweg::connectors {

namespace {

constexpr int64_t kMaxAttempts = 10000000;
constexpr std::string_view kDocLink = "https://docs.delta.io/latest/concurrency-control.html";

std::string ConflictText(const DeltaCommit& winner, int64_t version) {
  std::string text = "\nConflicting commit: {\"version\":" + std::to_string(version);
  if (winner.info) text += ",\"operation\":\"" + winner.info->operation + "\"";
  return text + "}";
}

// A new table's directory, and ancestors that were made for it, are names that a crash may take away with all that is in them.
void SyncAncestors(data::FileSystem& file_system, std::string directory) {
  for (std::string parent = data::ParentPath(directory); parent != directory; parent = data::ParentPath(directory)) {
    Ignore(file_system.SyncDirectory(parent), "what may not be opened was not made by us");
    directory = std::move(parent);
  }
}

class Committer {
 public:
  Committer(DeltaLog& log, DeltaTransaction transaction)
      : log_(log), transaction_(std::move(transaction)), txn_id_(Uuid::MakeRandom().ToString()) {}

  Result<int64_t> Run();

 private:
  bool BlindAppend() const {
    return transaction_.removes.empty() && !transaction_.reads_whole_table && transaction_.read_filter == nullptr;
  }
  Status Prepare() const;
  Status CheckAgainst(const DeltaCommit& winner, int64_t version) const;
  Status CheckFiles(const DeltaCommit& winner, int64_t version) const;
  std::string Entry(int64_t now_ms) const;
  std::string InfoLine(int64_t now_ms) const;
  Result<bool> TryWrite(int64_t version, const std::string& entry) const;
  bool IsOurs(int64_t version) const;
  void AfterCommit(int64_t version, const std::string& entry);
  Error Conflict(std::string_view condition, const DeltaCommit& winner, int64_t version) const;
  Error FileConflict(std::string_view condition, const PartitionValues& values, const DeltaCommit& winner, int64_t version) const;
  bool HasInCommitTimestamps() const;

  DeltaLog& log_;
  DeltaTransaction transaction_;
  const std::string txn_id_;
  DeltaSnapshotPtr base_;              // the version ours goes on top of; null: none
  int64_t least_timestamp_ = 0;        // in-commit timestamps grow
};

bool Committer::HasInCommitTimestamps() const {
  if (transaction_.metadata) return PropertyIsTrue(*transaction_.metadata, "delta.enableInCommitTimestamps");
  return base_ != nullptr && PropertyIsTrue(base_->metadata(), "delta.enableInCommitTimestamps");
}

Status Committer::Prepare() const {
  const DeltaMetadata* metadata = transaction_.metadata ? &*transaction_.metadata
                                  : transaction_.read  ? &transaction_.read->metadata()
                                                       : nullptr;
  if (metadata == nullptr) return InternalError("a Delta commit without metadata for a table that is not there");
  if (!transaction_.removes.empty() && PropertyIsTrue(*metadata, "delta.appendOnly")) {
    const bool changes = std::any_of(transaction_.removes.begin(), transaction_.removes.end(),
                                     [](const RemoveFile& remove) { return remove.data_change; });
    if (changes) {
      return Error("DELTA_CANNOT_MODIFY_APPEND_ONLY").With("table_name", "delta.`" + log_.table_path() + "`")
          .With("config", "delta.appendOnly");
    }
  }
  std::set<std::string> paths;
  for (const AddFile& add : transaction_.adds) {
    if (!paths.insert(add.path).second) {
      return Error("DELTA_DUPLICATE_ACTIONS_FOUND").With("actionType", "add").With("path", add.path).With("conflictingPath", add.path);
    }
    if (add.partition_values.size() != metadata->partition_columns.size()) {
      return Error("DELTA_INVALID_PARTITIONING_SCHEMA").With("neededPartitioning", JsonStringArray(metadata->partition_columns))
          .With("specifiedPartitioning", add.path).With("config", "spark.databricks.delta.partitionColumnValidationEnabled");
    }
  }
  return Status::OK();
}

std::string Committer::InfoLine(int64_t now_ms) const {
  std::string out = "{\"commitInfo\":{";
  if (HasInCommitTimestamps()) out += "\"inCommitTimestamp\":" + std::to_string(now_ms) + ",";
  out += "\"timestamp\":" + std::to_string(now_ms) + ",\"operation\":";
  AppendJsonText(transaction_.operation, &out);
  out += ",\"operationParameters\":" + transaction_.parameters_json;
  if (transaction_.read != nullptr) out += ",\"readVersion\":" + std::to_string(transaction_.read->version());
  out += std::string(",\"isolationLevel\":\"") + (transaction_.snapshot_isolation ? "SnapshotIsolation" : "Serializable") + "\",\"isBlindAppend\":";
  out += BlindAppend() ? "true" : "false";
  out += ",\"operationMetrics\":";
  AppendJsonObject(transaction_.metrics, &out);
  if (!transaction_.user_metadata.empty()) {
    out += ",\"userMetadata\":";
    AppendJsonText(transaction_.user_metadata, &out);
  }
  out += ",\"engineInfo\":\"Thalweg/0.1 Delta-Lake/4.4.0\",\"txnId\":\"" + txn_id_ + "\"}}";
  return out;
}

std::string Committer::Entry(int64_t now_ms) const {
  std::string out = InfoLine(now_ms) + "\n";
  if (transaction_.metadata) out += ActionLine(*transaction_.metadata) + "\n";
  if (transaction_.protocol) out += ActionLine(*transaction_.protocol) + "\n";
  if (transaction_.transaction) out += ActionLine(*transaction_.transaction) + "\n";
  for (const AddFile& add : transaction_.adds) out += ActionLine(add) + "\n";
  for (const RemoveFile& remove : transaction_.removes) out += ActionLine(remove) + "\n";
  return out;
}

bool Committer::IsOurs(int64_t version) const {
  const auto commit = log_.ReadCommit(version);
  return commit.ok() && (*commit)->info && (*commit)->info->txn_id == txn_id_;
}

// True: written; false: somebody else has that version.
Result<bool> Committer::TryWrite(int64_t version, const std::string& entry) const {
  const Status written = data::AtomicWriteFile(log_.file_system(), log_.CommitPath(version), entry);
  if (written.ok()) return true;
  if (data::IsAlreadyExists(written)) return false;
  if (IsOurs(version)) {  // visible, but perhaps not durable: the caller's crash protocol must not depend on it
    TW_RETURN_NOT_OK(log_.file_system().SyncFile(log_.CommitPath(version)));
    TW_RETURN_NOT_OK(log_.file_system().SyncDirectory(log_.log_path()));
    return true;
  }
  return written;
}

Error Committer::Conflict(std::string_view condition, const DeltaCommit& winner, int64_t version) const {
  return Error(condition).With("tableName", "delta.`" + log_.table_path() + "`")
      .With("operation", winner.info ? winner.info->operation : "unknown").With("version", version)
      .With("conflictingCommit", ConflictText(winner, version)).With("additionalInfo", "").With("docLink", kDocLink);
}

// Of a file: on partitioned tables the partition is named.
Error Committer::FileConflict(std::string_view condition, const PartitionValues& values, const DeltaCommit& winner, int64_t version) const {
  const std::string partition = PartitionText(base_->metadata(), values);
  const std::string_view hint = partition.empty() ? ".WITHOUT_HINT" : ".WITH_PARTITION_HINT";
  return Conflict(std::string(condition).append(hint), winner, version).With("partitionValues", partition);
}

Status Committer::CheckFiles(const DeltaCommit& winner, int64_t version) const {
  if (BlindAppend()) return Status::OK();
  std::vector<bool> read(winner.adds.size(), transaction_.reads_whole_table);
  if (!transaction_.reads_whole_table && transaction_.read_filter != nullptr) {
    TW_ASSIGN_OR_RETURN(read, transaction_.read_filter->Matches(winner.adds));
  }
  for (size_t i = 0; i < winner.adds.size(); ++i) {
    if (read[i]) return FileConflict("DELTA_CONCURRENT_APPEND", winner.adds[i]->partition_values, winner, version);
  }
  const std::set<std::string> paths(transaction_.read_paths.begin(), transaction_.read_paths.end());
  for (const RemoveFile& theirs : winner.removes) {
    if (!transaction_.reads_whole_table && paths.count(theirs.path) == 0) continue;
    return FileConflict("DELTA_CONCURRENT_DELETE_READ", theirs.partition_values, winner, version);
  }
  for (const RemoveFile& theirs : winner.removes) {
    for (const RemoveFile& ours : transaction_.removes) {
      if (theirs.path == ours.path) return FileConflict("DELTA_CONCURRENT_DELETE_DELETE", theirs.partition_values, winner, version);
    }
  }
  return Status::OK();
}

Status Committer::CheckAgainst(const DeltaCommit& winner, int64_t version) const {
  if (winner.protocol) {
    if (transaction_.protocol) return Conflict("DELTA_PROTOCOL_CHANGED", winner, version);
    TW_RETURN_NOT_OK(CheckDeltaWritable(*base_, "delta.`" + log_.table_path() + "`"));
  }
  if (winner.metadata) return Conflict("DELTA_METADATA_CHANGED", winner, version);
  if (transaction_.transaction) {
    for (const SetTransaction& theirs : winner.transactions) {
      if (theirs.app_id == transaction_.transaction->app_id) return Conflict("DELTA_CONCURRENT_TRANSACTION", winner, version);
    }
  }
  return CheckFiles(winner, version);
}

void Committer::AfterCommit(int64_t version, const std::string& entry) {
  auto commit = ParseDeltaCommit(entry, "own commit");
  if (!commit.ok()) {
    TW_LOG(kError, "delta commit not understood again", {"table", log_.table_path()}, {"error", commit.status()});
    return;
  }
  auto snapshot = DeltaSnapshot::After(base_, std::make_shared<const DeltaCommit>(std::move(*commit)), version);
  if (!snapshot.ok()) {
    TW_LOG(kError, "delta snapshot after commit failed", {"table", log_.table_path()}, {"error", snapshot.status()});
    return;
  }
  log_.Advance(*snapshot);
  int64_t interval = 10;
  if (const auto property = (*snapshot)->metadata().Property("delta.checkpointInterval")) {
    int64_t value = 0;
    if (data::ParseJavaLong(*property, &value) && value > 0) interval = value;
  }
  if (version == 0 || version % interval != 0) return;
  const Status written = WriteDeltaCheckpoint(log_, **snapshot);
  if (!written.ok()) TW_LOG(kWarn, "delta checkpoint failed", {"table", log_.table_path()}, {"version", version}, {"error", written});
}

Result<int64_t> Committer::Run() {
  TW_RETURN_NOT_OK(Prepare());
  base_ = transaction_.read;
  if (base_ == nullptr) SyncAncestors(log_.file_system(), log_.table_path());
  for (int64_t attempt = 0; attempt < kMaxAttempts; ++attempt) {
    const int64_t version = base_ == nullptr ? 0 : base_->version() + 1;
    if (base_ != nullptr && base_->in_commit_timestamp()) least_timestamp_ = *base_->in_commit_timestamp() + 1;
    const std::string entry = Entry(std::max(log_.clock().NowMillis(), least_timestamp_));
    TW_FAULT_POINT("delta commit: before the log entry");
    TW_ASSIGN_OR_RETURN(const bool written, TryWrite(version, entry));
    if (written) {
      AfterCommit(version, entry);
      TW_FAULT_POINT("delta commit: log entry written");
      return version;
    }
    // Whoever was faster: look at each of their commits, then try behind the last one.
    TW_ASSIGN_OR_RETURN(DeltaCommitPtr winner, log_.ReadCommit(version));
    while (winner != nullptr) {
      const int64_t at = base_ == nullptr ? 0 : base_->version() + 1;
      TW_ASSIGN_OR_RETURN(base_, DeltaSnapshot::After(base_, winner, at));
      TW_RETURN_NOT_OK(CheckAgainst(*winner, at));
      auto next = log_.ReadCommit(at + 1);
      if (!next.ok() && !data::IsNotFound(next.status())) return next.status();
      winner = next.ok() ? *next : nullptr;
    }
  }
  return Error("DELTA_MAX_COMMIT_RETRIES_EXCEEDED").With("numAttempts", kMaxAttempts)
      .With("startVersion", transaction_.read == nullptr ? -1 : transaction_.read->version()).With("failVersion", base_->version())
      .With("numActions", static_cast<int64_t>(transaction_.adds.size() + transaction_.removes.size())).With("timeSpent", 0);
}

}  // namespace

bool IsDeltaConflict(const Status& status) {
  const std::string& condition = status.condition();
  return condition.starts_with("DELTA_CONCURRENT_") || condition.starts_with("DELTA_METADATA_CHANGED") || condition.starts_with("DELTA_PROTOCOL_CHANGED");
}

Result<int64_t> CommitDelta(DeltaLog& log, DeltaTransaction transaction) {
  return Committer(log, std::move(transaction)).Run();
}

}  // namespace thalweg::connectors
