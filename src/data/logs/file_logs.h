#pragma once

// The two logs of files that Spark keeps: what a file source has seen, and what a file sink has written.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "data/logs/compactible_log.h"

namespace thalweg::data {

/// A file that a source has seen.
struct FileSourceEntry {
  std::string uri;           ///< qualified and percent-encoded: PathFromUri() gives the path
  int64_t timestamp_ms = 0;  ///< its modification time
  int64_t log_id = 0;        ///< the entry in which it was listed first (`batchId` in the file)
  friend bool operator==(const FileSourceEntry&, const FileSourceEntry&) = default;
};

/// A file that a sink has written.
struct FileSinkEntry {
  std::string uri;  ///< qualified and percent-encoded
  int64_t size_bytes = 0;
  bool is_directory = false;
  int64_t modification_time_ms = 0;
  int64_t block_replication = 1;
  int64_t block_size_bytes = 33'554'432;  ///< what Spark's local file system says
  std::string action = "add";
  friend bool operator==(const FileSinkEntry&, const FileSinkEntry&) = default;
};

/// One line of either log. Errors: MALFORMED_LOG_ENTRY.
std::string FormatFileSourceEntry(const FileSourceEntry& entry);
Result<FileSourceEntry> ParseFileSourceEntry(std::string_view line);
std::string FormatFileSinkEntry(const FileSinkEntry& entry);
Result<FileSinkEntry> ParseFileSinkEntry(std::string_view line);

/// `sources/<n>` of a file source: ids are the source's own counter, one per discovery. Thread: confined.
class FileSourceLog {
 public:
  static Result<FileSourceLog> Open(FileSystem& file_system, std::string directory, CompactibleLogOptions options,
                                    Clock& clock);
  /// The files of one id get that id. False when the entry exists already.
  Result<bool> Add(int64_t log_id, std::vector<FileSourceEntry> entries);
  /// The files first listed in one entry, also when it has become part of a compaction; nothing when it is unknown.
  Result<std::optional<std::vector<FileSourceEntry>>> Get(int64_t log_id) const;
  /// Files of the ids in (after, up_to], in order. Errors: a missing entry too.
  Result<std::vector<FileSourceEntry>> Range(int64_t after, int64_t up_to) const;
  Result<std::vector<FileSourceEntry>> AllFiles() const;
  Result<std::optional<int64_t>> LatestId() const { return log_.LatestId(); }

 private:
  explicit FileSourceLog(CompactibleLog log) : log_(std::move(log)) {}
  CompactibleLog log_;
};

/// `<output>/_spark_metadata` of a file sink: ids are batch ids. Thread: confined.
class FileSinkLog {
 public:
  /// `retention_ms`: files older than that, by modification time, are dropped at compaction and by AllFiles().
  static Result<FileSinkLog> Open(FileSystem& file_system, std::string directory, CompactibleLogOptions options,
                                  Clock& clock, std::optional<int64_t> retention_ms = std::nullopt);
  /// False when the batch is in the log already: then its files must not be added again.
  Result<bool> Add(int64_t batch_id, const std::vector<FileSinkEntry>& entries);
  /// Every file a reader may see, oldest first.
  Result<std::vector<FileSinkEntry>> AllFiles() const;
  Result<std::optional<int64_t>> LatestId() const { return log_.LatestId(); }

 private:
  FileSinkLog(CompactibleLog log, Clock& clock, std::optional<int64_t> retention_ms)
      : log_(std::move(log)), clock_(&clock), retention_ms_(retention_ms) {}
  CompactibleLog log_;
  Clock* clock_;
  std::optional<int64_t> retention_ms_;
};

}  // namespace thalweg::data
