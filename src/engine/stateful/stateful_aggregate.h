#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "engine/exec/operator.h"
#include "engine/state/state_services.h"
#include "engine/state/state_table.h"
#include "engine/stateful/aggregate_payload.h"

namespace thalweg::engine {

/// GROUP BY over a stream. Input: grouping columns, then the buffers of every aggregate (partial
/// aggregation), partitioned by Murmur3 of the grouping columns. Output: grouping columns, then one
/// column per aggregate. append: groups whose event time the eviction watermark has passed, once,
/// and forgets them. update: groups that this epoch touched. complete: all groups. Late groups are
/// dropped in append and update when a key carries the watermark. Without grouping columns there is
/// one group from the first epoch on, emitted in every epoch. Source: Spark's
/// StateStoreRestoreExec, StateStoreSaveExec.
struct StatefulAggregateSpec {
  OperatorId operator_id{0};
  std::vector<data::DataType> key_types;
  AggregateList aggregates;
  sql::OutputMode mode = sql::OutputMode::kUpdate;
  std::optional<KeyEventTime> event_time;  ///< the grouping column that carries the watermark
  std::shared_ptr<QueryState> state;
};

/// For PhysicalNode::make: one instance per partition.
std::function<Result<std::unique_ptr<Operator>>(PartitionId)> MakeStatefulAggregate(
    StatefulAggregateSpec spec);

}  // namespace thalweg::engine
