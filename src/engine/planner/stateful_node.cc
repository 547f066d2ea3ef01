#include "engine/planner/stateful_node.h"

namespace thalweg::engine {

Result<const sql::StatefulOperatorLayout*> LayoutAt(const PlanContext& context, size_t layout_index, std::string_view name) {
  if (layout_index >= context.layout->operators.size()) return InternalError("the state layout names fewer operators than the plan");
  const sql::StatefulOperatorLayout& layout = context.layout->operators[layout_index];
  if (layout.name != name) return InternalError("the state layout names another operator at this place: " + layout.name);
  return &layout;
}

Result<std::shared_ptr<QueryState>> StateOfRun(const PlanContext& context) {
  if (context.stream->state == nullptr) return InternalError("a stateful plan without state services");
  std::shared_ptr<QueryState> state = context.stream->state->FindQuery(context.stream->run_id);
  if (state == nullptr) return InternalError("the state of this run is not open");
  return state;
}

Status CheckKeys(const sql::StatefulOperatorLayout& layout, const sql::AttributeList& keys) {
  if (layout.stores.empty()) return Status::OK();
  const data::Schema& stored = layout.stores[0].key_schema;
  bool same = stored.size() == keys.size();
  for (size_t i = 0; same && i < keys.size(); ++i) same = stored[i].type.SameType(keys[i]->type());
  return same ? Status::OK() : InternalError("the key columns are not those of the state layout");
}

Result<std::optional<KeyEventTime>> EventTimeOf(const sql::AttributeList& columns) {
  std::optional<KeyEventTime> found;
  for (size_t i = 0; i < columns.size(); ++i) {
    if (!sql::WatermarkDelayMs(columns[i]->metadata_json())) continue;
    if (found && columns[i]->id() != columns[static_cast<size_t>(found->column)]->id()) {
      return Error("_LEGACY_ERROR_TEMP_3077")
          .With("eventTimeCols", "(" + columns[static_cast<size_t>(found->column)]->PlanText() + "," + columns[i]->PlanText() + ")");
    }
    if (!found) found = KeyEventTime{static_cast<int>(i), columns[i]->type().Is(data::TypeKind::kStruct)};
  }
  return found;
}

}  // namespace thalweg::engine
