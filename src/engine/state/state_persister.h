#pragma once

// The only layer that knows files. A provider makes persisters; StateStore and StateTable sit on top of one each.

#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "base/ids.h"
#include "base/memory.h"
#include "base/status.h"
#include "data/io/atomic_write.h"
#include "data/io/file_system.h"
#include "data/types/data_type.h"
#include "engine/state/state_metrics.h"
#include "engine/state/state_options.h"
#include "engine/state/state_store_id.h"

namespace thalweg::engine {

/// One entry, or the removal of one. Bytes are UnsafeRows; they live for the call that gets them.
struct StateChange {
  std::string_view key;
  std::string_view value;
  bool removed = false;
};

/// Takes entries, some thousand at a time.
using StateVisitor = std::function<Status(std::span<const StateChange>)>;

/// The changes that lead to one version, on their way to disk. Thread: confined to the strand of its partition.
class StateChangeWriter {
 public:
  virtual ~StateChangeWriter() = default;
  /// In this order; of one key the last change counts.
  virtual Status Append(std::span<const StateChange> changes) = 0;
  /// Stages what makes the version appear. Nothing is visible before the group is published. Blocks: on the disk.
  virtual Status Finish(data::DurableGroup& group) = 0;
};

/// What maintenance did to one store.
struct StateMaintenanceResult {
  bool snapshot_written = false;
  bool behind = false;  ///< a snapshot was long due: deltas come faster than maintenance folds them
  int64_t files_deleted = 0;
};

/// The versions of one store on disk. Thread: Load and BeginChanges from the strand; Maintain from the maintenance
/// thread at the same time; every other call from any.
class StatePersister {
 public:
  virtual ~StatePersister() = default;

  /// Every entry of a version, each key once, in no order. Version 0 is empty. A visit without entries means: forget what
  /// came so far and begin again (a damaged snapshot was given up for an older one).
  /// Errors: CANNOT_LOAD_STATE_STORE.*, CANNOT_LOAD_STATE_STORE.{KEY,VALUE}_ROW_FORMAT_VALIDATION_FAILURE,
  /// STATE_STORE_ROW_CHECKSUM_VERIFICATION_FAILED.
  virtual Status Load(StateVersion version, const StateVisitor& visitor) = 0;
  /// The same by way of one snapshot, that of version `snapshot`, and the changes after it, whatever else there is.
  /// Errors: as Load; STATE_STORE_PROVIDER_DOES_NOT_SUPPORT_FINE_GRAINED_STATE_REPLAY unless overridden.
  virtual Status Replay(StateVersion snapshot, StateVersion version, const StateVisitor& visitor);
  /// The changes that made `version` out of the one before, in order (the state reader's change feed).
  virtual Status ReadChanges(StateVersion version, const StateVisitor& visitor) = 0;
  /// Starts `version`. A version that exists already is replaced when the group is published.
  virtual Result<std::unique_ptr<StateChangeWriter>> BeginChanges(StateVersion version) = 0;
  /// Tells that `version` is durable and holds so many entries: what the cadence of snapshots goes by.
  virtual void Committed(StateVersion version, int64_t entries) = 0;
  /// Writes a snapshot when one is due (or `force`), then deletes what no retained version needs. Blocks: on the disk.
  virtual Result<StateMaintenanceResult> Maintain(int64_t now_ms, bool force) = 0;
  /// Whether Maintain would do something now; cheap.
  virtual bool MaintenanceDue(int64_t now_ms) const = 0;
  /// The newest version on disk, 0 when there is none.
  virtual Result<StateVersion> NewestVersion() = 0;

  /// Adds what this format tells of the micro-batch that was just committed: all of its names, each time. The next call tells of
  /// the next micro-batch. `store`: counters of the store, or of the two that are one side of a join. Thread: the strand's.
  virtual void Report(const StateMetrics& store, StateFormatMetrics* custom) = 0;
  /// The newest snapshot that this object made durable; -1: none yet. Thread: any.
  virtual int64_t newest_snapshot() const = 0;
  /// The strand has ended: what it held in memory is given back. Maintenance may go on. Thread: the strand's.
  virtual void StrandEnded() {}
};

/// Who pays for what a persister holds in memory while it writes; null: nobody.
struct StateMemory {
  MemoryAccount* strand = nullptr;       ///< until StrandEnded
  MemoryAccount* maintenance = nullptr;  ///< must outlive the persister
};

/// The types of a store's rows, for the structural check of the first row; no key types: no check.
struct StateRowTypes {
  std::vector<data::DataType> key;
  std::vector<data::DataType> value;
  bool check_value = true;  ///< deduplication's void values are exempt
  int prefix_columns = 0;   ///< leading key columns that the format may keep apart for scans (Spark's numColsPrefixKey)
};

/// A format of state on disk. Thread: immutable.
class StateStoreProvider {
 public:
  virtual ~StateStoreProvider() = default;
  virtual std::string_view class_name() const = 0;  ///< as the checkpoint pins it
  virtual Result<std::unique_ptr<StatePersister>> Open(data::FileSystem& file_system, const StateStoreId& id,
                                                       const StateOptions& options, StateRowTypes types,
                                                       StateMemory memory = {}) const = 0;
};

/// The provider of a class name, in whatever package. Errors: UNSUPPORTED_FEATURE.THALWEG for names we do not know.
Result<const StateStoreProvider*> FindStateStoreProvider(std::string_view class_name);

}  // namespace thalweg::engine
