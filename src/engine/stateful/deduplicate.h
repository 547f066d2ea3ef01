#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/exec/operator.h"
#include "engine/state/state_services.h"
#include "engine/state/state_table.h"

namespace thalweg::engine {

/// The first row of each key over the life of a query. Input: rows partitioned by Murmur3 of the key columns. Output: those
/// whose key is new, at once and unchanged. Late rows are dropped when a column carries the watermark, key or not.
/// A key is forgotten when its own event time, or within the watermark the time until which its first row counts, is at or
/// before the eviction watermark, after the rows of the epoch were looked at. Progress: numDroppedDuplicateRows.
/// Source: Spark's StreamingDeduplicateExec, StreamingDeduplicateWithinWatermarkExec.
struct DeduplicateSpec {
  OperatorId operator_id{0};
  std::vector<int> key_columns;  ///< of the input
  std::vector<data::DataType> key_types;
  std::optional<KeyEventTime> late_by;   ///< the input column that carries the watermark
  std::optional<KeyEventTime> event_time;  ///< of the key, where that carries the watermark; not within the watermark
  /// dropDuplicatesWithinWatermark: how long a row counts, in us after its event time (null counts as 0). Needs late_by.
  std::optional<int64_t> within_us;
  std::shared_ptr<QueryState> state;
};

/// For PhysicalNode::make: one instance per partition.
std::function<Result<std::unique_ptr<Operator>>(PartitionId)> MakeDeduplicate(DeduplicateSpec spec);

}  // namespace thalweg::engine
