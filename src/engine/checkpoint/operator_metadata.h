#pragma once

// state/<operator>/_metadata: which operator wrote a state, and its stores. Bytes that Spark reads; do not change.
// Source: checkpoint-format section 7.1 to 7.3; Spark's OperatorStateMetadata.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "data/io/file_system.h"
#include "engine/checkpoint/checkpoint_layout.h"

namespace thalweg::engine {

struct StoreMetadata {
  std::string store_name = "default";
  int64_t prefix_key_columns = 0;
  int64_t partitions = 0;
  std::vector<std::string> schema_files;  ///< version 2: qualified texts (`file:/...`), oldest first, the last is current
  friend bool operator==(const StoreMetadata&, const StoreMetadata&) = default;
};

struct OperatorMetadata {
  int version = 1;
  OperatorId operator_id;
  std::string operator_name;  ///< "stateStoreSave", "dedupe", "symmetricHashJoin", ...
  std::vector<StoreMetadata> stores;
  std::string properties_json;  ///< version 2: a JSON object as text
  friend bool operator==(const OperatorMetadata&, const OperatorMetadata&) = default;
};

/// Errors: MALFORMED_LOG_FILE, INVALID_LOG_VERSION.*, MALFORMED_LOG_ENTRY.
Result<OperatorMetadata> ParseOperatorMetadata(std::string_view text);
std::string FormatOperatorMetadata(const OperatorMetadata& metadata);

/// The metadata of an operator as of a micro-batch: the newest version 2 file not above it, else the version 1 file, else
/// nothing. Blocks: on the disk.
Result<std::optional<OperatorMetadata>> ReadOperatorMetadata(data::FileSystem& file_system,
                                                             const CheckpointLayout& layout, OperatorId operator_id,
                                                             BatchId at_batch);
/// Writes the file of version 1, or that of version 2 for the first micro-batch of a run. An existing file stays as it is.
Status WriteOperatorMetadata(data::FileSystem& file_system, const CheckpointLayout& layout,
                             const OperatorMetadata& metadata, BatchId first_batch);
/// Ids of the operators that have a directory under state/, ascending.
Result<std::vector<OperatorId>> ListOperators(data::FileSystem& file_system, const CheckpointLayout& layout);

}  // namespace thalweg::engine
