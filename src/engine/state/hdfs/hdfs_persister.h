#pragma once

#include <map>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "engine/state/hdfs/state_file_format.h"
#include "engine/state/row_map.h"
#include "engine/state/state_persister.h"

namespace thalweg::engine {

/// Spark's HDFSBackedStateStoreProvider: `<version>.delta` and `<version>.snapshot` in the store's directory.
/// Invariants:
/// - a version is the newest snapshot not above it and every delta from there on;
/// - a snapshot is written only of a version after which another one is durable: the micro-batch that made it is never run
///   again, so no delta below a snapshot changes;
/// - a file is deleted only when no version within the retained ones needs it.
class HdfsPersister final : public StatePersister {
 public:
  HdfsPersister(data::FileSystem& file_system, StateStoreId id, const StateOptions& options, StateRowTypes types,
                StateCodecKind codec);

  Status Load(StateVersion version, const StateVisitor& visitor) override;
  Status Replay(StateVersion snapshot, StateVersion version, const StateVisitor& visitor) override;
  Status ReadChanges(StateVersion version, const StateVisitor& visitor) override;
  Result<std::unique_ptr<StateChangeWriter>> BeginChanges(StateVersion version) override;
  void Committed(StateVersion version, int64_t entries) override TW_EXCLUDES(mutex_);
  Result<StateMaintenanceResult> Maintain(int64_t now_ms, bool force) override TW_EXCLUDES(mutex_);
  bool MaintenanceDue(int64_t now_ms) const override TW_EXCLUDES(mutex_);
  Result<StateVersion> NewestVersion() override;

 private:
  // Sizes by version; an absent directory has no files.
  struct Files {
    std::map<int64_t, int64_t> deltas;
    std::map<int64_t, int64_t> snapshots;
    int64_t newest() const;
  };
  // Bytes of changes since a snapshot, as far as this process knows.
  struct Progress {
    int64_t newest = 0;
    int64_t last_snapshot = 0;
    int64_t snapshot_bytes = 0;
    int64_t delta_bytes = 0;
    int64_t purged_at = 0;     // the newest version when files were last deleted
    int64_t last_run_ms = 0;
    bool known = false;        // whether the directory was looked at
  };
  class Writer;

  Result<Files> ListFiles() const;
  std::string Path(int64_t version, bool snapshot) const;
  StateFileSource Source(int64_t version, bool snapshot) const;
  Status ReadFile(int64_t version, bool snapshot, const StateVisitor& visitor) const;
  Status LoadFrom(int64_t base, int64_t version, const StateVisitor& visitor) const;
  Status ReadOverlay(int64_t base, int64_t version, RowMap* overlay) const;
  Status ValidateFirst(std::span<const StateChange> changes);
  Status WriteSnapshot(int64_t version);
  Result<int64_t> Purge(const Files& files) const;
  bool SnapshotDue(const Progress& progress, int64_t now_ms) const;
  bool PurgeDue(const Progress& progress, int64_t now_ms) const;
  void NoteDelta(int64_t version, int64_t bytes) TW_EXCLUDES(mutex_);

  data::FileSystem& file_system_;
  const StateStoreId id_;
  const StateOptions options_;
  const StateRowTypes types_;
  const StateCodecKind codec_;
  const std::string directory_;
  bool validated_ = false;  // the strand's
  mutable Mutex mutex_;
  Progress progress_ TW_GUARDED_BY(mutex_);
  std::map<int64_t, int64_t> staged_bytes_ TW_GUARDED_BY(mutex_);
};

}  // namespace thalweg::engine
