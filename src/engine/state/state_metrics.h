#pragma once

#include <cstdint>
#include <map>
#include <string>

namespace thalweg::engine {

/// Counters of one store over one micro-batch, with Spark's meaning; summed over partitions into progress.
struct StateMetrics {
  int64_t num_rows_total = 0;     ///< entries after the commit
  int64_t num_rows_updated = 0;   ///< keys put in this micro-batch, those removed later in it too
  int64_t num_rows_removed = 0;   ///< keys removed in this micro-batch
  int64_t memory_used_bytes = 0;  ///< of the working set
  int64_t commit_time_ms = 0;     ///< encoding and staging; the shared barrier is not in it
  int64_t loads = 0;              ///< times the store was read from disk ("loadedMapCacheMissCount")
};

/// What a format on disk tells beside these, by Spark's names; numbers of several stores are summed.
using StateFormatMetrics = std::map<std::string, int64_t>;

}  // namespace thalweg::engine
