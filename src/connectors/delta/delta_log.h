#pragma once

// The log of one Delta table: listing, replay, versions. Source: the Delta protocol, sections on delta log entries and
// checkpoints; docs/internals/delta.md.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "connectors/delta/delta_snapshot.h"
#include "data/io/file_system.h"

namespace thalweg::connectors {

/// What stands in `_delta_log`.
struct DeltaLogListing {
  struct Checkpoint {
    int64_t version = 0;
    int parts = 1;                     ///< of a multi-part checkpoint
    std::vector<std::string> paths;    ///< complete: `parts` of them, in order
    bool is_uuid = false;              ///< V2 by name
  };
  std::map<int64_t, data::FileInfo> commits;
  std::vector<Checkpoint> checkpoints;  ///< complete ones, newest first; of one version UUID-named, multi-part, single
};

/// When a commit happened: its in-commit timestamp, or the time of its file, made to grow.
struct DeltaCommitTime {
  int64_t version = 0;
  int64_t timestamp_ms = 0;
};

/// DELTA_TIMESTAMP_GREATER_THAN_COMMIT.
Error DeltaTimestampAfterLastCommit(int64_t timestamp_ms, int64_t last_ms);

/// A table's log. Keeps the newest snapshot it has seen, so that asking again costs a look at the next file.
/// Owner: whoever uses the table; shared. Thread: any. Blocks: on the disk.
class DeltaLog {
 public:
  DeltaLog(data::FileSystem& file_system, Clock& clock, std::string table_path)
      : file_system_(file_system), clock_(clock), table_path_(std::move(table_path)) {}

  const std::string& table_path() const { return table_path_; }
  std::string log_path() const;
  std::string CommitPath(int64_t version) const;
  data::FileSystem& file_system() const { return file_system_; }
  Clock& clock() const { return clock_; }

  /// The newest version; null when there is no table. Errors: DELTA_VERSIONS_NOT_CONTIGUOUS,
  /// DELTA_TRUNCATED_TRANSACTION_LOG, INTERNAL_ERROR for damage, IO_ERROR.
  Result<DeltaSnapshotPtr> Update() TW_EXCLUDES(mutex_);
  /// That version. Errors: also DELTA_VERSION_NOT_FOUND.
  Result<DeltaSnapshotPtr> At(int64_t version);
  /// The newest version whose timestamp is at or before `timestamp_ms`. Errors: DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION,
  /// DELTA_TIMESTAMP_GREATER_THAN_COMMIT.
  Result<int64_t> VersionAt(int64_t timestamp_ms);
  /// Every commit whose file is there with its timestamp, oldest first; timestamps grow strictly.
  Result<std::vector<DeltaCommitTime>> CommitTimes();
  /// The actions of one commit. Errors: IsNotFound when it is not there.
  Result<DeltaCommitPtr> ReadCommit(int64_t version) const;
  Result<DeltaLogListing> List() const;
  /// Takes a snapshot that the caller just made by committing.
  void Advance(const DeltaSnapshotPtr& snapshot) TW_EXCLUDES(mutex_);

 private:
  struct Seen {
    DeltaSnapshotPtr snapshot;
    int64_t size = 0;   // of the commit file, to notice that the table was made anew
    int64_t modification_time = 0;
  };
  Result<DeltaSnapshotPtr> Load(std::optional<int64_t> target) const;
  Result<DeltaSnapshotPtr> LoadFrom(const DeltaLogListing& listing, const DeltaLogListing::Checkpoint* checkpoint,
                                    int64_t target) const;
  void Remember(const DeltaSnapshotPtr& snapshot) TW_EXCLUDES(mutex_);

  data::FileSystem& file_system_;
  Clock& clock_;
  const std::string table_path_;
  Mutex mutex_;
  Seen seen_ TW_GUARDED_BY(mutex_);
};

/// The contents of a checkpoint, sidecars included. Errors: INTERNAL_ERROR, FAILED_READ_FILE.*.
Result<DeltaCommit> ReadDeltaCheckpoint(data::FileSystem& file_system, const std::string& log_path,
                                        const DeltaLogListing::Checkpoint& checkpoint);
/// Writes the classic checkpoint of a version and `_last_checkpoint`. Errors: IO_ERROR; the table is unharmed.
Status WriteDeltaCheckpoint(DeltaLog& log, const DeltaSnapshot& snapshot);

}  // namespace thalweg::connectors
