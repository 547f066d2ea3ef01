#include "engine/planner/stream_aggregate.h"

#include "engine/stateful/stateful_aggregate.h"

namespace thalweg::engine {

Result<PhysicalNodePtr> PlanStatefulAggregate(PlanContext& context, PhysicalNodePtr partial, const sql::AggregateParts& parts,
                                              size_t layout_index) {
  const StreamPlanOptions& stream = *context.stream;
  if (layout_index >= context.layout->operators.size()) return InternalError("the state layout names fewer operators than the plan");
  const sql::StatefulOperatorLayout& layout = context.layout->operators[layout_index];
  if (layout.name != "stateStoreSave") return Unsupported("session windows on a stream");
  const sql::AttributeList keys = parts.KeyAttributes();
  // What is on disk depends on these: the optimizer must not have changed them.
  if (!layout.stores.empty()) {
    const data::Schema& stored = layout.stores[0].key_schema;
    bool same = stored.size() == keys.size();
    for (size_t i = 0; same && i < keys.size(); ++i) same = stored[i].type.SameType(keys[i]->type());
    if (!same) return InternalError("the grouping columns are not those of the state layout");
  }
  StatefulAggregateSpec spec;
  spec.operator_id = OperatorId(layout.id);
  spec.key_types = TypesOf(keys);
  for (const auto& call : parts.calls) spec.aggregates.push_back(call->bound_ptr());
  spec.mode = stream.mode;
  if (stream.state == nullptr) return InternalError("a stateful plan without state services");
  spec.state = stream.state->FindQuery(stream.run_id);
  if (spec.state == nullptr) return InternalError("the state of this run is not open");
  std::vector<int> key_columns;
  for (size_t i = 0; i < keys.size(); ++i) {
    key_columns.push_back(static_cast<int>(i));
    if (keys[i]->metadata_json().find("spark.watermarkDelayMs") != std::string::npos && !spec.event_time) {
      spec.event_time = KeyEventTime{static_cast<int>(i), keys[i]->type().Is(data::TypeKind::kStruct)};
    }
  }
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
  if (stream.mode == sql::OutputMode::kUpdate) node->changelog = ChangelogMode::kUpsert;
  return PhysicalNodePtr(std::move(node));
}

}  // namespace thalweg::engine
