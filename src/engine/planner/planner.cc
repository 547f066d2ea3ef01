#include "engine/planner/planner.h"

#include <algorithm>
#include <utility>

#include "engine/exec/operators/sink_writer.h"
#include "engine/planner/plan_context.h"

namespace thalweg::engine {
namespace {

// The sink's writers as the root: one per partition of the last stage. What they take is the sink's word.
PhysicalNodePtr NewSinkWriter(PhysicalNodePtr input, sql::StreamingWrite& write) {
  const MakeWriter make = [&write](PartitionId partition, BatchId epoch) { return write.NewWriter(partition, epoch); };
  sql::AttributeList output = input->output;
  return NewMapNode("WriteStream", "WriteStream " + write.Description(), std::move(input), std::move(output),
                    [make](PartitionId) -> Result<std::unique_ptr<Operator>> { return std::make_unique<SinkWriter>(make); });
}

}  // namespace

Result<std::shared_ptr<const PhysicalPlan>> PlanBatch(const sql::PlanPtr& plan, const BatchPlanOptions& options) {
  auto physical = std::make_shared<PhysicalPlan>();
  PlanContext context;
  context.config = options.config;
  context.parallelism = std::max(1, options.parallelism);
  context.shuffle_partitions = context.parallelism;
  context.plan = physical.get();
  context.python = options.python;
  TW_ASSIGN_OR_RETURN(physical->root, context.Plan(plan));
  physical->output = plan->output();
  TW_RETURN_NOT_OK(CheckChanges(*physical, sql::ChangelogMode::kInsertOnly));
  return std::shared_ptr<const PhysicalPlan>(std::move(physical));
}

Result<std::shared_ptr<const PhysicalPlan>> PlanStream(const sql::ShapedPlan& shaped, const StreamPlanOptions& options) {
  auto physical = std::make_shared<PhysicalPlan>();
  PlanContext context;
  context.config = options.config;
  context.parallelism = std::max(1, options.parallelism);
  context.shuffle_partitions = std::max(1, options.shuffle_partitions);
  context.stream = &options;
  context.layout = &shaped.layout;
  context.plan = physical.get();
  context.python = options.python;
  TW_ASSIGN_OR_RETURN(physical->root, context.Plan(shaped.plan));
  // Sources and stateful operators are numbered by place: none may have been lost or added.
  if (context.next_source != shaped.layout.sources.size()) return InternalError("the plan has other sources than its state layout");
  if (context.next_stateful != shaped.layout.operators.size()) {
    return InternalError("the plan has other stateful operators than its state layout");
  }
  physical->output = shaped.plan->output();
  TW_RETURN_NOT_OK(CheckChanges(*physical, options.sink_accepts));
  if (options.write != nullptr) physical->root = NewSinkWriter(physical->root, *options.write);
  return std::shared_ptr<const PhysicalPlan>(std::move(physical));
}

}  // namespace thalweg::engine
