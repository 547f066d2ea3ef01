#include "engine/state/rocksdb/rocksdb_metrics.h"

#include <string>

namespace thalweg::engine {
namespace {

int64_t Millis(std::chrono::nanoseconds spent) { return std::chrono::duration_cast<std::chrono::milliseconds>(spent).count(); }

// Families, the block cache and iterators are Spark's instance at work; here the working set does that.
constexpr const char* kWithoutMeaning[] = {
    "rocksdbForceSnapshotCount",        "rocksdbGetLatency",
    "rocksdbNumExternalColumnFamilies", "rocksdbNumInternalColFamiliesKeys",
    "rocksdbNumInternalColumnFamilies", "rocksdbPinnedBlocksMemoryUsage",
    "rocksdbReadBlockCacheHitCount",    "rocksdbReadBlockCacheMissCount",
    "rocksdbTotalBytesRead",            "rocksdbTotalBytesReadThroughIterator",
    "rocksdbWriterStallLatencyMs",
};

}  // namespace

void RocksDbMetrics::PutInto(StateFormatMetrics* custom) const {
  const auto add = [custom](const char* name, int64_t value) { (*custom)[name] += value; };
  for (const char* name : kWithoutMeaning) add(name, 0);
  add("rocksdbLoadLatencyMs", Millis(load));
  add("rocksdbLoadFromSnapshotLatencyMs", Millis(load_snapshot));
  add("rocksdbReplayChangeLogLatencyMs", Millis(replay));
  add("rocksdbNumLoadedFromDfs", snapshots_loaded);
  add("rocksdbNumReplayChangelogFiles", changelogs_replayed);
  add("rocksdbNumSnapshotsAutoRepaired", snapshots_repaired);
  add("rocksdbGetCount", staging.gets);
  add("rocksdbPutCount", puts);
  add("rocksdbPutLatency", Millis(put));
  add("rocksdbTotalBytesWritten", put_bytes);
  add("rocksdbChangeLogWriterCommitLatencyMs", Millis(changelog));
  add("rocksdbCommitFlushLatency", Millis(staging.tables.flush));
  add("rocksdbCommitCompactLatency", Millis(staging.tables.merge));
  add("rocksdbTotalCompactionLatencyMs", Millis(staging.tables.merge));
  add("rocksdbTotalBytesWrittenByFlush", staging.tables.flushed_bytes);
  add("rocksdbTotalBytesReadByCompaction", staging.tables.merge_read_bytes);
  add("rocksdbTotalBytesWrittenByCompaction", staging.tables.merge_written_bytes);
  add("rocksdbCommitCheckpointLatency", Millis(staging.image));
  add("rocksdbCommitFileSyncLatencyMs", Millis(staging.stage_tables + staging.stage_archive));
  add("rocksdbSaveZipFilesLatencyMs", Millis(staging.stage_archive));
  add("rocksdbFilesCopied", staging.new_tables);
  add("rocksdbFilesReused", staging.shared_tables);
  add("rocksdbBytesCopied", staging.new_table_bytes);
  add("rocksdbSstFileSize", staging.table_bytes);
  add("rocksdbZipFileBytesUncompressed", staging.archive_bytes);
}

}  // namespace thalweg::engine
