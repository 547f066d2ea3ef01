#include "engine/planner/stream_aggregate.h"

#include "engine/planner/stateful_node.h"
#include "engine/stateful/stateful_aggregate.h"

namespace thalweg::engine {

Result<PhysicalNodePtr> PlanStatefulAggregate(PlanContext& context, PhysicalNodePtr partial, const sql::AggregateParts& parts,
                                              size_t layout_index) {
  const StreamPlanOptions& stream = *context.stream;
  if (layout_index < context.layout->operators.size() &&
      context.layout->operators[layout_index].name == "sessionWindowStateStoreSaveExec") {
    return Unsupported("session windows on a stream");
  }
  TW_ASSIGN_OR_RETURN(const sql::StatefulOperatorLayout* found, LayoutAt(context, layout_index, "stateStoreSave"));
  const sql::StatefulOperatorLayout& layout = *found;
  const sql::AttributeList keys = parts.KeyAttributes();
  TW_RETURN_NOT_OK(CheckKeys(layout, keys));
  StatefulAggregateSpec spec;
  spec.operator_id = OperatorId(layout.id);
  spec.key_types = TypesOf(keys);
  for (const auto& call : parts.calls) spec.aggregates.push_back(call->bound_ptr());
  spec.mode = stream.mode;
  TW_ASSIGN_OR_RETURN(spec.state, StateOfRun(context));
  TW_ASSIGN_OR_RETURN(spec.event_time, EventTimeOf(keys));
  std::vector<int> key_columns;
  for (size_t i = 0; i < keys.size(); ++i) key_columns.push_back(static_cast<int>(i));
  sql::AttributeList output = keys;
  output.insert(output.end(), parts.results.begin(), parts.results.end());
  const int partitions = keys.empty() ? 1 : context.shuffle_partitions;
  PhysicalInput input = {std::move(partial), Distribution::kHash, key_columns, 0};
  if (keys.empty()) input.distribution = Distribution::kSingle;
  std::string text = "StatefulAggregate(keys=" + ListText(keys) + ", functions=[";
  for (size_t i = 0; i < parts.calls.size(); ++i) text += (i > 0 ? ", " : "") + parts.calls[i]->PlanText();
  text += "], operatorId=" + std::to_string(layout.id) + ")";
  auto node = NewNode("StatefulAggregate", text, {std::move(input)}, std::move(output), partitions,
                      MakeStatefulAggregate(std::move(spec)));
  node->stateful_id = layout.id;
  node->stateful_name = layout.name;
  node->evicts_by_watermark = stream.mode != sql::OutputMode::kComplete;
  if (stream.mode == sql::OutputMode::kUpdate) node->changelog = sql::ChangelogMode::kUpsert;
  return PhysicalNodePtr(std::move(node));
}

}  // namespace thalweg::engine
