#pragma once

#include <memory>
#include <optional>
#include <set>
#include <string>

#include "engine/state/file_persister.h"
#include "engine/state/rocksdb/rocksdb_metrics.h"
#include "engine/state/rocksdb/row_encoding.h"
#include "engine/state/rocksdb/snapshot_builder.h"
#include "engine/state/state_codec.h"

namespace thalweg::engine {

/// Spark's RocksDBStateStoreProvider: `<version>.zip` with table files in `SSTs/`, and `<version>.changelog`.
/// With changelog checkpointing a commit writes a changelog, and maintenance makes snapshots of them. Without, which is the
/// default, every commit writes a snapshot: a database goes along with the strand, and a commit adds its new table files.
/// Stores without column families and checkpoint ids only: the others answer UNSUPPORTED_FEATURE.THALWEG.
/// Invariants: those of FilePersister, and
/// - a table file is named by a UUID and never changes; it is deleted when no snapshot on disk names it and none is being staged;
/// - where a snapshot of a version lies already, the version is written again as a snapshot: it would hide a changelog.
class RocksDbPersister final : public FilePersister {
 public:
  RocksDbPersister(data::FileSystem& file_system, StateStoreId id, const StateOptions& options, StateRowTypes types,
                   StateCodecKind codec, StateMemory memory = {});
  ~RocksDbPersister() override;

  Status Load(StateVersion version, const StateVisitor& visitor) override;
  Result<std::unique_ptr<StateChangeWriter>> BeginChanges(StateVersion version) override;
  void Committed(StateVersion version, int64_t entries) override TW_EXCLUDES(tables_mutex_);
  void Report(const StateMetrics& store, StateFormatMetrics* custom) override TW_EXCLUDES(metrics_mutex_);
  void StrandEnded() override { database_.reset(); }

 private:
  class ChangelogWriter;
  class SnapshotWriter;

  Status ReadChangesFile(int64_t version, const StateVisitor& visitor) override;
  Status ReadSnapshot(int64_t version, const StateVisitor& visitor) override;
  Status WriteSnapshot(int64_t base, int64_t version) override;
  Result<int64_t> PurgeShared(const StateFiles& kept) override TW_EXCLUDES(tables_mutex_);
  Status ReplayChangelog(int64_t version, const StateVisitor& visitor, std::chrono::nanoseconds* replay) const;
  Status ScanSnapshot(int64_t version, const StateVisitor& visitor, std::chrono::nanoseconds* load) const;

  Status CheckIds(const StateFiles& files) const;
  /// Records of a changelog as they stand: encoded keys and values.
  Status ReadRecords(int64_t version, const StateVisitor& visitor) const;
  /// A database that holds `version`, made from the snapshot `base` (0: from nothing) and the changelogs after it.
  Result<std::unique_ptr<SnapshotBuilder>> BuildFrom(int64_t base, int64_t version, MemoryAccount* memory) const;
  /// The database of the strand, at `version`.
  Status TakeDatabaseTo(int64_t version);
  Status StageSnapshot(SnapshotBuilder& builder, int64_t version, data::DurableGroup& group)
      TW_EXCLUDES(tables_mutex_, metrics_mutex_);
  /// change(metrics) on those of the micro-batch; what maintenance does is in no report.
  template <typename Change>
  void Count(const Change& change) TW_EXCLUDES(metrics_mutex_) {
    MutexLock lock(metrics_mutex_);
    change(metrics_);
  }
  /// The table files that a snapshot on disk names.
  Result<std::set<std::string>> TablesOf(int64_t version) TW_EXCLUDES(tables_mutex_);

  const StateCodecKind codec_;
  const RocksDbRowEncoding encoding_;
  const StateMemory memory_;
  mutable VerifiedTables verified_;
  // The strand's.
  std::unique_ptr<SnapshotBuilder> database_;
  int64_t database_version_ = -1;  // -1: it must not be used
  std::optional<int64_t> newest_snapshot_;  // on disk when the first version was begun

  Mutex tables_mutex_;
  std::map<int64_t, std::set<std::string>> tables_ TW_GUARDED_BY(tables_mutex_);  // of snapshots, as far as known
  std::map<int64_t, std::set<std::string>> staged_tables_ TW_GUARDED_BY(tables_mutex_);

  Mutex metrics_mutex_;
  RocksDbMetrics metrics_ TW_GUARDED_BY(metrics_mutex_);
};

}  // namespace thalweg::engine
