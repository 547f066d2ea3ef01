#pragma once

// What offsets/ and commits/ have in common: one typed entry per micro-batch.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/ids.h"
#include "base/invariant.h"
#include "data/logs/numbered_log.h"

namespace thalweg::engine {

/// Typed access to a directory of entries by batch id. Entry: OffsetLogEntry or CommitLogEntry.
/// Thread: confined to the query's driver. Blocks: on the disk.
template <typename Entry>
class EntryLog {
 public:
  /// Borrows; `poison` (may be null) is asked before every write.
  EntryLog(data::FileSystem& file_system, std::string directory, const PoisonFlag* poison = nullptr)
      : log_(file_system, std::move(directory)), poison_(poison) {}

  /// Durable when it returns. Errors: CONCURRENT_STREAM_LOG_UPDATE when the entry exists; those of the entry's format.
  Status Add(BatchId batch_id, const Entry& entry);
  /// Nothing when there is no such entry. Errors: those of the entry's format.
  Result<std::optional<Entry>> Get(BatchId batch_id) const;
  Result<std::optional<BatchId>> LatestId() const;
  Result<std::vector<int64_t>> Ids() const { return log_.Ids(); }
  Status PurgeBefore(BatchId batch_id) { return log_.PurgeBefore(batch_id.value()); }
  std::string PathOf(BatchId batch_id) const { return log_.PathOf(batch_id.value()); }

 private:
  data::NumberedLog log_;
  const PoisonFlag* poison_;
};

}  // namespace thalweg::engine
