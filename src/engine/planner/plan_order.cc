// Sorting and cutting.

#include <algorithm>

#include "engine/exec/operators/limit.h"
#include "engine/exec/operators/sort.h"
#include "engine/planner/plan_context.h"
#include "engine/planner/stream_deduplicate.h"
#include "sql/stateful_shape/state_layout.h"

namespace thalweg::engine {
namespace {

Result<int64_t> ConstantRows(PlanContext& context, const sql::ExprPtr& expression) {
  TW_ASSIGN_OR_RETURN(const sql::Value value, sql::EvaluateConstant(expression, *context.config));
  return value.is_null() ? 0 : std::max<int64_t>(0, value.AsInt64());
}

PhysicalNodePtr SortNode(PhysicalNodePtr input, const std::vector<SortKey>& keys, const std::string& text, int64_t limit, bool single) {
  const sql::AttributeList output = input->output;
  const std::vector<data::DataType> types = TypesOf(output);
  const auto make = single ? &NewSingleNode : &NewMapNode;
  return make(limit == INT64_MAX ? "Sort" : "TakeOrdered", text, std::move(input), output,
              [keys, types, limit](PartitionId) -> Result<std::unique_ptr<Operator>> {
                return std::make_unique<Sort>(keys, types, limit);
              });
}

// Sorts partitions beside each other, then merges them in one.
Result<PhysicalNodePtr> PlanSorted(PlanContext& context, const sql::Sort& sort, int64_t limit) {
  TW_ASSIGN_OR_RETURN(PhysicalNodePtr input, context.Plan(sort.child()));
  const sql::AttributeList output = input->output;
  sql::ExprList expressions;
  for (const auto& order : sort.orders) {
    TW_RETURN_NOT_OK(CheckSortable(order->type()));
    expressions.push_back(order->child());
  }
  TW_ASSIGN_OR_RETURN(KeyedInput keyed, WithKeyColumns(context, std::move(input), expressions));
  std::vector<SortKey> keys;
  for (size_t i = 0; i < sort.orders.size(); ++i) {
    const auto& order = static_cast<const sql::SortOrder&>(*sort.orders[i]);
    keys.push_back({keyed.columns[i], order.type(), order.ascending(), order.nulls_first()});
  }
  std::string text = (limit == INT64_MAX ? "Sort " : "TakeOrdered " + std::to_string(limit) + ", ") + ListText(sort.orders);
  if (limit == INT64_MAX) text += sort.global ? ", true" : ", false";
  const bool widened = keyed.node->output.size() > output.size();
  const bool merges = sort.global && keyed.node->num_partitions > 1;
  PhysicalNodePtr sorted = SortNode(std::move(keyed.node), keys, text, limit, false);
  if (merges) sorted = SortNode(std::move(sorted), keys, text, limit, true);
  if (!widened) return sorted;
  return NewProject(context, std::move(sorted), sql::ExprList(output.begin(), output.end()));
}

PhysicalNodePtr LimitNode(PhysicalNodePtr input, const std::string& name, int64_t limit, int64_t offset) {
  const auto make = name == "LocalLimit" ? &NewMapNode : &NewSingleNode;
  const sql::AttributeList output = input->output;
  const std::string text =
      name + " " + (limit == INT64_MAX ? "" : std::to_string(limit)) + (offset > 0 ? " offset " + std::to_string(offset) : "");
  return make(name, text, std::move(input), output, [limit, offset](PartitionId) -> Result<std::unique_ptr<Operator>> {
    return std::make_unique<Limit>(limit, offset);
  });
}

Result<PhysicalNodePtr> PlanCut(PlanContext& context, const sql::PlanPtr& child, int64_t limit, int64_t offset) {
  const int64_t needed = limit > INT64_MAX - offset ? INT64_MAX : limit + offset;
  const auto* sort = child->As<sql::Sort>();
  if (sort != nullptr && sort->global && needed <= INT32_MAX) {
    TW_ASSIGN_OR_RETURN(PhysicalNodePtr top, PlanSorted(context, *sort, needed));
    return offset == 0 ? top : LimitNode(std::move(top), "GlobalLimit", limit, offset);
  }
  const auto* project = child->As<sql::Project>();
  if (project != nullptr && project->child()->kind() == sql::PlanKind::kSort) {
    TW_ASSIGN_OR_RETURN(PhysicalNodePtr cut, PlanCut(context, project->child(), limit, offset));
    return NewProject(context, std::move(cut), project->list);
  }
  TW_ASSIGN_OR_RETURN(PhysicalNodePtr input, context.Plan(child));
  if (input->num_partitions > 1 && needed != INT64_MAX) input = LimitNode(std::move(input), "LocalLimit", needed, 0);
  return LimitNode(std::move(input), "GlobalLimit", limit, offset);
}

}  // namespace

Result<PhysicalNodePtr> PlanSort(PlanContext& context, const sql::PlanPtr& node) {
  return PlanSorted(context, static_cast<const sql::Sort&>(*node), INT64_MAX);
}

Result<PhysicalNodePtr> PlanLimit(PlanContext& context, const sql::PlanPtr& node) {
  TW_ASSIGN_OR_RETURN(const int64_t limit, ConstantRows(context, static_cast<const sql::Limit&>(*node).limit));
  if (context.stream != nullptr && sql::KeepsState(*node, context.stream->mode)) {
    return PlanStreamLimit(context, node->child(), limit);
  }
  if (const auto* offset = node->child()->As<sql::OffsetRows>()) {
    TW_ASSIGN_OR_RETURN(const int64_t skip, ConstantRows(context, offset->offset));
    return PlanCut(context, offset->child(), limit, skip);
  }
  return PlanCut(context, node->child(), limit, 0);
}

Result<PhysicalNodePtr> PlanOffset(PlanContext& context, const sql::PlanPtr& node) {
  TW_ASSIGN_OR_RETURN(const int64_t skip, ConstantRows(context, static_cast<const sql::OffsetRows&>(*node).offset));
  return PlanCut(context, node->child(), INT64_MAX, skip);
}

Result<PhysicalNodePtr> PlanTail(PlanContext& context, const sql::PlanPtr& node) {
  TW_ASSIGN_OR_RETURN(const int64_t limit, ConstantRows(context, static_cast<const sql::Tail&>(*node).limit));
  TW_ASSIGN_OR_RETURN(PhysicalNodePtr input, context.Plan(node->child()));
  sql::AttributeList output = input->output;
  return PhysicalNodePtr(NewSingleNode("CollectTail", "CollectTail " + std::to_string(limit), std::move(input),
                                       std::move(output), [limit](PartitionId) -> Result<std::unique_ptr<Operator>> {
                                      return std::make_unique<Tail>(limit);
                                    }));
}

}  // namespace thalweg::engine
