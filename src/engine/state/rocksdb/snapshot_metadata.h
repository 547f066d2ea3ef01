#pragma once

// The entry `metadata` of a snapshot's zip file. Do not change: Spark reads and writes it.
//   v1\n{"sstFiles":[{"localFileName":..,"dfsSstFileName":..,"sizeBytes":..}],"numKeys":..,"numInternalKeys":..,
//        "columnFamilyMapping":{..},"columnFamilyTypeMap":{..},"maxColumnFamilyId":..}

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace thalweg::engine {

/// A table file: its name within the database, and the one under which it lies in `SSTs/`.
struct SnapshotSst {
  std::string local_name;
  std::string stored_name;
  int64_t size_bytes = 0;
};

struct SnapshotMetadata {
  std::vector<SnapshotSst> ssts;
  int64_t num_keys = 0;          ///< -1: not counted
  bool column_families = false;  ///< the store has families: joins of format 3, transformWithState
  bool log_files = false;        ///< it needs archived write-ahead logs
};

/// Names are bare: no path leads out of the store. Errors: INTERNAL_ERROR; CANNOT_LOAD_STATE_STORE.CANNOT_READ_CHECKPOINT
/// for another version.
Result<SnapshotMetadata> ParseSnapshotMetadata(std::string_view text);
std::string FormatSnapshotMetadata(const SnapshotMetadata& metadata);

}  // namespace thalweg::engine
