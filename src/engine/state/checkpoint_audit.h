#pragma once

// A checkpoint looked at from outside: what stands in it, and whether a query can go on from it. For tools; writes nothing.

#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/settings.h"
#include "data/io/file_system.h"
#include "engine/checkpoint/offset_log.h"
#include "engine/checkpoint/operator_metadata.h"
#include "engine/state/store_schema.h"

namespace thalweg::engine {

struct StoreSummary {
  StoreMetadata metadata;
  std::optional<StoreSchema> schema;
  std::vector<PartitionId> partitions;  ///< that have a directory
  int64_t newest_version = 0;           ///< the least of the partitions' newest
  int64_t files = 0;
  int64_t bytes = 0;
};
struct OperatorSummary {
  OperatorId id{0};
  std::string name;  ///< empty: no metadata
  std::vector<StoreSummary> stores;
};
struct CheckpointSummary {
  std::string query_id;                        ///< empty: no `metadata`
  std::vector<int64_t> offset_ids, commit_ids;
  std::optional<OffsetLogEntry> newest_offsets;
  std::optional<int64_t> next_batch_watermark_ms;  ///< of the newest commit
  BatchId next_batch{0};
  bool runs_again = false;                     ///< next_batch was planned, but is not committed
  std::vector<OperatorSummary> operators;

  /// The state that the next batch reads.
  StateVersion needed_version() const { return StateVersion(next_batch.value()); }
};

/// Reads logs and descriptions; lists state files. Errors: CHECKPOINT_NOT_FOUND, those of damaged logs and descriptions, IO_ERROR.
Result<CheckpointSummary> SummarizeCheckpoint(data::FileSystem& file_system, const std::string& root);

struct CheckpointFinding {
  bool fatal = false;   ///< a restart would fail or give wrong answers
  std::string where;    ///< below the root
  std::string what;
};
struct CheckpointAudit {
  int64_t log_entries = 0;
  int64_t stores = 0;      ///< store instances that were read
  int64_t entries = 0;     ///< of state that were read
  std::vector<CheckpointFinding> findings;
  bool sound() const;
};

/// Reads everything that a restart needs: log entries, those of the sources, descriptions, and every row of state of the version that the next batch
/// reads: chain of files, structure of rows, and whether each key lies in its partition. `versions_back`: so many versions
/// before it as well, as far as they are retained. Damage is a finding, never an error.
/// Errors: CHECKPOINT_NOT_FOUND, IO_ERROR.
Result<CheckpointAudit> AuditCheckpoint(data::FileSystem& file_system, const std::string& root, const SettingsMap& session,
                                        int64_t versions_back = 0);

}  // namespace thalweg::engine
