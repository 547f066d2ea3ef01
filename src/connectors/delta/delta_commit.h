#pragma once

// Optimistic commits: put-if-absent of the next log entry, conflict checks against whoever was faster. Source: the Delta
// protocol, "Writer requirements"; order of checks as Delta's ConflictChecker.

#include <optional>
#include <string>
#include <vector>

#include "connectors/delta/delta_log.h"
#include "connectors/delta/delta_partition_filter.h"

namespace thalweg::connectors {

/// What a transaction read and wants to write. Built by one thread, committed once.
struct DeltaTransaction {
  DeltaSnapshotPtr read;              ///< null: there was no table
  std::optional<DeltaProtocol> protocol;
  std::optional<DeltaMetadata> metadata;
  std::optional<SetTransaction> transaction;  ///< its app id counts as read
  std::vector<AddFile> adds;
  std::vector<RemoveFile> removes;
  bool reads_whole_table = false;     ///< an overwrite, or a query that reads its target
  /// What of the table was read: rows in files that match; an added file that matches is a conflict. Null: nothing.
  DeltaPartitionFilterPtr read_filter;
  std::vector<std::string> read_paths;  ///< of the files with such rows, as in the log; removing one is a conflict
  std::string operation;              ///< "WRITE", "STREAMING UPDATE", "CREATE TABLE"
  std::string parameters_json;        ///< operationParameters, one JSON object
  StringPairs metrics;
  std::string user_metadata;
  bool snapshot_isolation = false;    ///< rearranges rows or none: recorded as SnapshotIsolation
  bool metadata_first = true;         ///< metaData before protocol, as Delta writes new tables
};

/// Commits and returns the version. Retries while others commit without conflict. After an error of the disk whose outcome is
/// unknown the log is read back: if the entry is ours, the commit has succeeded.
/// The files of `adds` must be durable before. Every `delta.checkpointInterval`th version
/// gets a checkpoint; its failure is logged only.
/// Errors: DELTA_CONCURRENT_*, DELTA_METADATA_CHANGED, DELTA_PROTOCOL_CHANGED, DELTA_CANNOT_MODIFY_APPEND_ONLY,
/// DELTA_MAX_COMMIT_RETRIES_EXCEEDED, IO_ERROR.
Result<int64_t> CommitDelta(DeltaLog& log, DeltaTransaction transaction);

/// Whether a commit ended because of what others had committed: then the log does not name the files, and they may be removed.
bool IsDeltaConflict(const Status& status);

}  // namespace thalweg::connectors
