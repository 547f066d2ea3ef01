#pragma once

#include <optional>
#include <string>

#include "base/ids.h"
#include "data/io/file_system.h"
#include "engine/checkpoint/checkpoint_layout.h"
#include "sql/datasource/data_source.h"

namespace thalweg::connectors {

enum class JoinSide { kNone, kLeft, kRight };

/// What `format("statestore")` is asked for, complete and checked.
struct StateReaderOptions {
  std::string root;              ///< of the checkpoint, a path
  BatchId batch_id{0};           ///< state after it; with a change feed its last batch
  OperatorId operator_id{0};
  std::string store_name = "default";
  JoinSide join_side = JoinSide::kNone;
  std::optional<BatchId> change_start;              ///< a change feed from this batch on
  std::optional<BatchId> snapshot_start;            ///< state by way of the snapshot after this batch, and
  std::optional<PartitionId> snapshot_partition;    ///< of this partition alone
  std::optional<std::string> state_variable;        ///< transformWithState
  bool registered_timers = false;

  /// As Spark prints them in messages.
  std::string ToString() const;
};

/// The path of the checkpoint. Errors: STDS_REQUIRED_OPTION_UNSPECIFIED.
Result<std::string> CheckpointPath(const sql::LoadRequest& request);
/// An option that is a whole number. Errors: STDS_INVALID_OPTION_VALUE.WITH_MESSAGE.
Result<std::optional<int64_t>> WholeNumber(const sql::OptionMap& options, std::string_view name);
/// Errors: STDS_REQUIRED_OPTION_UNSPECIFIED, STDS_CONFLICT_OPTIONS, STDS_INVALID_OPTION_VALUE.*, STDS_COMMITTED_BATCH_UNAVAILABLE.
Result<StateReaderOptions> ReadStateReaderOptions(data::FileSystem& file_system, const sql::LoadRequest& request);
/// The newest committed micro-batch. Errors: STDS_COMMITTED_BATCH_UNAVAILABLE.
Result<BatchId> LastCommittedBatch(data::FileSystem& file_system, const engine::CheckpointLayout& layout);

}  // namespace thalweg::connectors
