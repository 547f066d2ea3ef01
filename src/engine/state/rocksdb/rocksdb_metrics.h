#pragma once

// What Spark's RocksDB provider tells of a micro-batch, as far as there is such a thing here.

#include <chrono>
#include <cstdint>

#include "base/clock.h"
#include "engine/state/state_metrics.h"

namespace thalweg::engine {

/// Adds the time until the end of its scope. Thread: confined.
class SpentTime {
 public:
  explicit SpentTime(std::chrono::nanoseconds* total) : total_(total) {}
  ~SpentTime() { *total_ += SystemClock::Get().NowMonotonic() - begin_; }
  SpentTime(const SpentTime&) = delete;
  SpentTime& operator=(const SpentTime&) = delete;

 private:
  std::chrono::nanoseconds* const total_;
  const std::chrono::nanoseconds begin_ = SystemClock::Get().NowMonotonic();
};

/// What a database did to write its tables.
struct TableWork {
  std::chrono::nanoseconds flush{0};
  std::chrono::nanoseconds merge{0};
  int64_t flushed_bytes = 0;
  int64_t merge_read_bytes = 0;
  int64_t merge_written_bytes = 0;
};

/// What it took to stage one snapshot.
struct StagingWork {
  int64_t gets = 0;                           ///< to know how many keys there are
  TableWork tables;
  std::chrono::nanoseconds image{0};          ///< finding out what the snapshot consists of
  std::chrono::nanoseconds stage_tables{0};
  std::chrono::nanoseconds stage_archive{0};
  int64_t new_tables = 0;
  int64_t new_table_bytes = 0;
  int64_t shared_tables = 0;
  int64_t table_bytes = 0;                    ///< of new and shared ones
  int64_t archive_bytes = 0;                  ///< unpacked
};

/// Counters of one store over one micro-batch. Queries read their working set, not RocksDB: what is counted is the work of
/// loading and of the commit.
struct RocksDbMetrics {
  std::chrono::nanoseconds load{0};           ///< all of it: the next two are within
  std::chrono::nanoseconds load_snapshot{0};
  std::chrono::nanoseconds replay{0};
  int64_t snapshots_loaded = 0;
  int64_t changelogs_replayed = 0;
  int64_t snapshots_repaired = 0;
  int64_t puts = 0;
  int64_t put_bytes = 0;
  std::chrono::nanoseconds put{0};            ///< with the gets
  std::chrono::nanoseconds changelog{0};
  StagingWork staging;

  /// Adds all names that Spark has, those without a meaning here as 0. docs/internals/state.md lists them.
  void PutInto(StateFormatMetrics* custom) const;
};

}  // namespace thalweg::engine
