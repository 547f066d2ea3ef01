#include "engine/planner/stream_deduplicate.h"

#include "engine/planner/stateful_node.h"
#include "engine/stateful/deduplicate.h"
#include "engine/stateful/stream_limit.h"

namespace thalweg::engine {

Result<PhysicalNodePtr> PlanStreamDeduplicate(PlanContext& context, const sql::Deduplicate& node) {
  // State ids are given from the sink down, so before the input is planned.
  const char* const name = node.within_watermark ? "dedupeWithinWatermark" : "dedupe";
  TW_ASSIGN_OR_RETURN(const sql::StatefulOperatorLayout* layout, LayoutAt(context, context.next_stateful++, name));
  TW_ASSIGN_OR_RETURN(PhysicalNodePtr input, context.Plan(node.child()));
  DeduplicateSpec spec;
  spec.operator_id = OperatorId(layout->id);
  sql::AttributeList keys;
  for (const auto& key : node.keys) {
    const auto position = Position(input->output, key->id());
    if (!position) return InternalError("a deduplication key is not in the rows");
    spec.key_columns.push_back(*position);
    keys.push_back(input->output[*position]);
  }
  TW_RETURN_NOT_OK(CheckKeys(*layout, keys));
  spec.key_types = TypesOf(keys);
  TW_ASSIGN_OR_RETURN(spec.late_by, EventTimeOf(input->output));
  if (node.within_watermark) {
    if (!spec.late_by) return InternalError("dropDuplicatesWithinWatermark without a watermark");
    spec.within_us = *sql::WatermarkDelayMs(input->output[spec.late_by->column]->metadata_json()) * 1000;
  } else {
    TW_ASSIGN_OR_RETURN(spec.event_time, EventTimeOf(keys));
  }
  TW_ASSIGN_OR_RETURN(spec.state, StateOfRun(context));
  const sql::AttributeList output = input->output;
  PhysicalInput by_keys = {std::move(input), Distribution::kHash, spec.key_columns, 0};
  if (keys.empty()) by_keys.distribution = Distribution::kSingle;
  const std::string kind = node.within_watermark ? "StreamingDeduplicateWithinWatermark" : "StreamingDeduplicate";
  auto physical = NewNode(kind, kind + "(keys=" + ListText(keys) + ", operatorId=" + std::to_string(layout->id) + ")",
                          {std::move(by_keys)}, output, keys.empty() ? 1 : context.shuffle_partitions,
                          MakeDeduplicate(std::move(spec)));
  physical->stateful_id = layout->id;
  physical->stateful_name = layout->name;
  physical->evicts_by_watermark = true;
  return PhysicalNodePtr(std::move(physical));
}

Result<PhysicalNodePtr> PlanStreamLimit(PlanContext& context, const sql::PlanPtr& child, int64_t limit) {
  TW_ASSIGN_OR_RETURN(const sql::StatefulOperatorLayout* layout, LayoutAt(context, context.next_stateful++, "globalLimit"));
  TW_ASSIGN_OR_RETURN(PhysicalNodePtr input, context.Plan(child));
  const sql::AttributeList output = input->output;
  if (input->num_partitions > 1) {
    input = NewMapNode("LocalLimit", "LocalLimit " + std::to_string(limit), std::move(input), output, MakeStreamLocalLimit(limit));
  }
  StreamLimitSpec spec{OperatorId(layout->id), limit, nullptr};
  TW_ASSIGN_OR_RETURN(spec.state, StateOfRun(context));
  auto physical = NewNode("GlobalLimit", "GlobalLimit " + std::to_string(limit) + ", operatorId=" + std::to_string(layout->id),
                          {{std::move(input), Distribution::kSingle, {}, 0}}, output, 1, MakeStreamLimit(std::move(spec)));
  physical->stateful_id = layout->id;
  physical->stateful_name = layout->name;
  return PhysicalNodePtr(std::move(physical));
}

}  // namespace thalweg::engine
