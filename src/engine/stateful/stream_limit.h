#pragma once

#include <functional>
#include <memory>

#include "engine/exec/operator.h"
#include "engine/state/state_services.h"

namespace thalweg::engine {

/// The first `limit` rows over the life of a query; what was let through is kept in the one store of the one instance.
/// Rows beyond the limit are read and dropped, so that operators below see all of their input.
/// Source: Spark's StreamingGlobalLimitExec.
struct StreamLimitSpec {
  OperatorId operator_id{0};
  int64_t limit = 0;
  std::shared_ptr<QueryState> state;
};

/// For PhysicalNode::make of a node with one partition.
std::function<Result<std::unique_ptr<Operator>>(PartitionId)> MakeStreamLimit(StreamLimitSpec spec);
/// At most `limit` rows per epoch and instance, reading all: in front of the one above.
std::function<Result<std::unique_ptr<Operator>>(PartitionId)> MakeStreamLocalLimit(int64_t limit);

}  // namespace thalweg::engine
