#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/io/file_system.h"

namespace thalweg::data {

/// A directory of small files named by ids 0, 1, 2, ...: each is created once, whole and durable, and never changed. What
/// Spark calls HDFSMetadataLog; exclusivity among writers rests on the creation alone. Files whose whole name is no
/// id (side-cars, temporary files, strays) are not seen.
/// Invariant: what Add() returned true for survives a crash.
/// Thread: confined to its owner. Blocks: on the disk. Errors: IO_ERROR.
class NumberedLog {
 public:
  /// Borrows `file_system`. The directory need not exist yet.
  NumberedLog(FileSystem& file_system, std::string directory);

  /// Creates entry `id`; false when it exists already, whoever made it.
  Result<bool> Add(int64_t id, std::string_view bytes);
  /// The bytes of an entry, or nothing when it is not there.
  Result<std::optional<std::string>> Get(int64_t id) const;
  /// Ids of all entries, ascending.
  Result<std::vector<int64_t>> Ids() const;
  /// The largest id, or nothing.
  Result<std::optional<int64_t>> LatestId() const;
  /// Removes entries with smaller, or larger, ids, and their side-cars. Not durable: they may come back in a crash.
  Status PurgeBefore(int64_t id);
  Status PurgeAfter(int64_t id);

  const std::string& directory() const { return directory_; }
  std::string PathOf(int64_t id) const;

 private:
  Status RemoveEntry(int64_t id);

  FileSystem& file_system_;
  const std::string directory_;
  std::optional<int64_t> purged_before_;  // entries below are known to be gone
};

/// The id in a file name, or nothing when the whole name is not an id as PathOf writes it: digits without leading zeros,
/// and a further id must fit behind it.
std::optional<int64_t> ParseLogId(std::string_view name);

}  // namespace thalweg::data
