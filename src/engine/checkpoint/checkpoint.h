#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/ids.h"
#include "base/invariant.h"
#include "data/io/file_system.h"
#include "engine/checkpoint/checkpoint_layout.h"
#include "engine/checkpoint/commit_log.h"
#include "engine/checkpoint/offset_log.h"

namespace thalweg::engine {

struct CheckpointOptions {
  /// `spark.sql.streaming.checkpoint.verifyMetadataExists.enabled`
  bool verify_metadata_exists = true;
};

/// Where a restarted query goes on (checkpoint-format 11.3).
struct RecoveryPoint {
  BatchId next_batch{0};
  /// The batch was planned before: it runs again with exactly the offsets, watermark and time of `planned`.
  bool rerun = false;
  std::optional<OffsetLogEntry> start;     ///< entry of the batch before: where `next_batch` begins
  std::optional<OffsetLogEntry> planned;   ///< entry of `next_batch` itself, when rerun
  std::optional<BatchId> last_commit_id;
  std::optional<CommitLogEntry> last_commit;
  int64_t watermark_ms = 0;                ///< in force for `next_batch`

  /// The newest entry: pinned settings come from it. Null for a new query.
  const OffsetLogEntry* newest() const { return rerun ? &*planned : start.has_value() ? &*start : nullptr; }
};

/// The directory of one streaming query: its id, its logs, who uses it.
///
/// Against a second run on the same checkpoint there are three lines of defence, from the friendly to the certain:
/// 1. within a process the query registry compares query ids (which is why Open() takes no lock): the old run is stopped, or
///    the new one refused;
/// 2. among Thalweg processes LockForRun(): a lock on the directory itself that leaves no file, that the kernel drops when
///    its process dies, and that Spark does not see;
/// 3. among all programs, Spark included, create-once of offsets/<n> and commits/<n>: who comes second gets
///    CONCURRENT_STREAM_LOG_UPDATE and must stop at once, before its sink commits. Correctness rests on this one alone.
///
/// Owner: the query's run. Thread: confined to the driver. Blocks: on the disk.
class Checkpoint {
 public:
  /// Makes the directory when it is missing; reads the query's id, or writes `id_if_new` durably.
  /// `root` is a path (data::PathFromText of what the user gave). Borrows `file_system` and `poison` (may be null).
  /// Errors: STREAMING_CHECKPOINT_MISSING_METADATA_FILE, MALFORMED_LOG_ENTRY, IO_ERROR.
  static Result<std::unique_ptr<Checkpoint>> Open(data::FileSystem& file_system, std::string root, QueryId id_if_new,
                                                  CheckpointOptions options = {}, const PoisonFlag* poison = nullptr);

  const QueryId& query_id() const { return query_id_; }
  const CheckpointLayout& layout() const { return layout_; }
  OffsetLog& offsets() { return offsets_; }
  CommitLog& commits() { return commits_; }

  /// Takes sole use until this is destroyed or Unlock(). Errors: CHECKPOINT_IN_USE, IO_ERROR.
  Status LockForRun();
  void Unlock() { lock_.reset(); }

  /// Makes everything that stands in the checkpoint durable. A run that was killed may have left files that are visible and
  /// would not survive the loss of power; a run that goes on from them calls this first. Blocks: on the disk.
  Status MakeDurable() const;
  /// Reads the logs. `sparse`: entries may be missing between others (async progress tracking).
  /// Errors: `batch <n> doesn't exist`; CHECKPOINT_ENTRY_WITHOUT_METADATA; errors of the entries.
  Result<RecoveryPoint> Recover(bool sparse = false) const;
  /// For a query without offsets (`spark.sql.streaming.verifyCheckpointDirectoryEmptyOnStart`): nothing may stand in
  /// offsets/, state/ and commits/; temporary files that a crash left there are removed. The lock must be held. Errors: STATE_STORE_CHECKPOINT_LOCATION_NOT_EMPTY.
  Status RequireEmpty() const;
  /// Removes log entries that no restart needs: ids below `newest` - `batches_to_retain`.
  Status PurgeLogs(BatchId newest, int64_t batches_to_retain);

 private:
  Checkpoint(data::FileSystem& file_system, std::string root, QueryId query_id, const PoisonFlag* poison);

  data::FileSystem& file_system_;
  const CheckpointLayout layout_;
  const QueryId query_id_;
  OffsetLog offsets_;
  CommitLog commits_;
  std::unique_ptr<data::FileLock> lock_;
};

/// The file `metadata`: one JSON object with the query's id. Errors: MALFORMED_LOG_ENTRY.
Result<QueryId> ParseQueryMetadata(std::string_view text);
std::string FormatQueryMetadata(const QueryId& query_id);

}  // namespace thalweg::engine
