#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "data/logs/numbered_log.h"

namespace thalweg::data {

struct CompactibleLogOptions {
  int64_t compact_interval = 10;        ///< for a log that has no `.compact` file yet
  int64_t min_batches_to_retain = 100;  ///< of the files, not of the entries
  int64_t cleanup_delay_ms = 600'000;   ///< an expired file is removed this long after its last modification
  bool deletion = true;
  /// Whether a line is kept by the next compaction; absent: every line is.
  std::function<bool(std::string_view line)> retain;
};

/// A numbered log that stays short: every k-th file, `<id>.compact`, repeats all lines that went before, so that a reader
/// needs the last such file and what follows. Spark's CompactibleFileStreamLog, version 1. Lines are the caller's.
/// Thread: confined to its owner. Blocks: on the disk.
/// Errors: IO_ERROR; MALFORMED_LOG_FILE, INVALID_LOG_VERSION.*; `batch <n> doesn't exist` when a file is missing.
class CompactibleLog {
 public:
  /// Looks at what is there: the interval of an existing log is read off its files. Borrows file system and clock.
  static Result<CompactibleLog> Open(FileSystem& file_system, std::string directory, CompactibleLogOptions options,
                                     Clock& clock);

  /// Creates entry `id` (the latest id + 1), compacting when its turn comes; false when it exists already.
  Result<bool> Add(int64_t id, const std::vector<std::string>& lines);
  /// The lines of the file of one id, in a compact file all of them; nothing when it is not there.
  Result<std::optional<std::vector<std::string>>> Get(int64_t id) const;
  /// All lines of the log, oldest first.
  Result<std::vector<std::string>> AllLines() const;
  Result<std::optional<int64_t>> LatestId() const;
  int64_t compact_interval() const { return compact_interval_; }
  std::string PathOf(int64_t id) const;

 private:
  CompactibleLog(FileSystem& file_system, std::string directory, CompactibleLogOptions options, Clock& clock,
                 int64_t compact_interval);
  /// Lines of the files that hold everything up to and including `last_id`.
  Result<std::vector<std::string>> LinesUpTo(int64_t last_id) const;
  Status RemoveExpired(int64_t current_id);

  FileSystem* file_system_;
  std::string directory_;
  CompactibleLogOptions options_;
  Clock* clock_;
  int64_t compact_interval_;
};

/// Whether entry `id` is a compaction.
bool IsCompactionId(int64_t id, int64_t interval);
/// The last compaction at or before `id`, or nothing.
std::optional<int64_t> LastCompactionId(int64_t id, int64_t interval);
/// The interval of a log whose newest compaction is `compact_id`, when `wanted` is asked for: one that makes
/// `compact_id` a compaction.
int64_t DeriveCompactInterval(int64_t wanted, int64_t compact_id);

}  // namespace thalweg::data
