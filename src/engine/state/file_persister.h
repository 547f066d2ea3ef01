#pragma once

// What every persister has in common whose versions are snapshots and changes in numbered files.

#include <atomic>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "engine/state/row_map.h"
#include "engine/state/state_persister.h"

namespace thalweg::engine {

/// The files of a store by version, with their sizes.
struct StateFiles {
  std::map<int64_t, int64_t> changes;
  std::map<int64_t, int64_t> snapshots;
  bool with_ids = false;  ///< files of the checkpoint-id format, `<version>_<id>.<suffix>`, lie there too

  int64_t newest() const;
  /// The newest snapshot that is not above `version`; 0 when there is none.
  int64_t BaseOf(int64_t version) const;
};

/// The endings of a format's file names.
struct StateFileSuffixes {
  std::string_view changes;
  std::string_view snapshot;
};

/// Loading, the cadence of snapshots, and purging. What the files hold says the format that derives from this.
/// Invariants:
/// - a version is the newest snapshot not above it and every file of changes from there on;
/// - maintenance writes a snapshot only of a version after which another one is durable: the micro-batch that made it is
///   never run again, so no changes below such a snapshot change;
/// - a file is deleted only when no version within the retained ones needs it.
class FilePersister : public StatePersister {
 public:
  Status Load(StateVersion version, const StateVisitor& visitor) override;
  Status Replay(StateVersion snapshot, StateVersion version, const StateVisitor& visitor) override;
  Status ReadChanges(StateVersion version, const StateVisitor& visitor) override;
  void Committed(StateVersion version, int64_t entries) override TW_EXCLUDES(mutex_);
  Result<StateMaintenanceResult> Maintain(int64_t now_ms, bool force) override TW_EXCLUDES(mutex_);
  bool MaintenanceDue(int64_t now_ms) const override TW_EXCLUDES(mutex_);
  Result<StateVersion> NewestVersion() override;
  int64_t newest_snapshot() const override { return newest_snapshot_; }

 protected:
  FilePersister(data::FileSystem& file_system, StateStoreId id, const StateOptions& options, StateRowTypes types,
                StateFileSuffixes suffixes);

  /// The changes that led to a version, in order, as rows. Thread: any. Errors: as Load.
  virtual Status ReadChangesFile(int64_t version, const StateVisitor& visitor) = 0;
  /// Every entry of a snapshot, each key once. Thread: any. Errors: as Load.
  virtual Status ReadSnapshot(int64_t version, const StateVisitor& visitor) = 0;
  /// Writes the snapshot of `version`, from the one of `base` (0: from nothing) and the changes after it, and makes it durable.
  /// Thread: maintenance.
  virtual Status WriteSnapshot(int64_t base, int64_t version) = 0;
  /// Deletes what several snapshots may share and none of `kept` needs; answers how many files. Thread: maintenance.
  virtual Result<int64_t> PurgeShared(const StateFiles& /*kept*/) { return int64_t{0}; }

  /// An absent directory has no files.
  Result<StateFiles> ListFiles() const;
  std::string ChangesPath(int64_t version) const { return Path(version, suffixes_.changes); }
  std::string SnapshotPath(int64_t version) const { return Path(version, suffixes_.snapshot); }
  /// Every entry of `version` by way of the snapshot `base` (0: none).
  Status LoadFrom(int64_t base, int64_t version, const StateVisitor& visitor);
  /// With its side-cars; a missing one is fine.
  Status RemoveStateFile(const std::string& path) const;
  /// body(base, again) with the newest snapshot not above `version`, then, while that one turns out damaged, with older ones and
  /// at last with 0. Errors: the first that body gave.
  Status FromBestBase(const StateFiles& files, int64_t version, const std::function<Status(int64_t, bool)>& body) const;
  /// How often a damaged snapshot was made good by an older one, since the last call. Thread: the strand's.
  int64_t TakeRepairs() { return repairs_.exchange(0); }
  /// The bytes that will make a version appear, whole or as changes: counted once it is Committed.
  void NoteStaged(int64_t version, int64_t bytes, bool snapshot) TW_EXCLUDES(mutex_);

  data::FileSystem& file_system_;
  const StateStoreId id_;
  const StateOptions options_;
  const StateRowTypes types_;
  const std::string directory_;

 private:
  // Bytes of changes since a snapshot, as far as this process knows.
  struct Progress {
    int64_t newest = 0;
    int64_t last_snapshot = 0;
    int64_t snapshot_bytes = 0;
    int64_t delta_bytes = 0;
    int64_t purged_at = 0;  // the newest version when files were last deleted
    int64_t last_run_ms = 0;
    bool known = false;  // whether the directory was looked at
  };
  struct Staged {
    int64_t bytes = 0;
    bool snapshot = false;
  };

  std::string Path(int64_t version, std::string_view suffix) const;
  Status ReadOverlay(int64_t base, int64_t version, RowMap* overlay);
  Status ValidateFirst(std::span<const StateChange> changes);
  Result<int64_t> Purge(StateFiles files);
  bool SnapshotDue(const Progress& progress, int64_t now_ms) const;
  bool PurgeDue(const Progress& progress, int64_t now_ms) const;

  const StateFileSuffixes suffixes_;
  bool validated_ = false;  // the strand's
  mutable std::atomic<int64_t> repairs_{0};
  std::atomic<int64_t> newest_snapshot_{-1};
  mutable Mutex mutex_;
  Progress progress_ TW_GUARDED_BY(mutex_);
  std::map<int64_t, Staged> staged_ TW_GUARDED_BY(mutex_);
};

}  // namespace thalweg::engine
