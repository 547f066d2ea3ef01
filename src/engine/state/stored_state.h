#pragma once

// State as it stands in a checkpoint, for readers and tools: nothing is written, no query need run.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "base/settings.h"
#include "data/io/file_system.h"
#include "engine/checkpoint/checkpoint_layout.h"
#include "engine/checkpoint/operator_metadata.h"
#include "engine/state/state_persister.h"
#include "engine/state/store_schema.h"

namespace thalweg::engine {

/// The newest committed micro-batch, or nothing. Blocks: on the disk.
Result<std::optional<BatchId>> NewestCommit(data::FileSystem& file_system, const CheckpointLayout& layout);

/// How the stores of a micro-batch are written: what its offset log entry pins laid over `session`.
/// Errors: STDS_OFFSET_LOG_UNAVAILABLE, STDS_OFFSET_METADATA_LOG_UNAVAILABLE, those of the entry.
Result<StateOptions> StoredStateOptions(data::FileSystem& file_system, const CheckpointLayout& layout, BatchId batch_id,
                                        const SettingsMap& session);

/// Numbers of the partition directories of an operator, ascending; none when there is no such operator.
Result<std::vector<PartitionId>> StoredPartitions(data::FileSystem& file_system, const CheckpointLayout& layout,
                                                  OperatorId operator_id);

/// The versions of one store. `types` as StateStoreProvider::Open. Errors: those of FindStateStoreProvider.
Result<std::unique_ptr<StatePersister>> OpenStoredState(data::FileSystem& file_system, const StateStoreId& id,
                                                        const StateOptions& options, StateRowTypes types);

}  // namespace thalweg::engine
