#include "sql/plan/window.h"

namespace thalweg::sql {

AttributeList Window::output() const {
  AttributeList output = child()->output();
  for (const ExprPtr& call : calls) output.push_back(ToAttribute(call));
  return output;
}

ExprList Window::expressions() const {
  ExprList all = calls;
  all.insert(all.end(), partition.begin(), partition.end());
  all.insert(all.end(), orders.begin(), orders.end());
  return all;
}

PlanPtr Window::WithExpressions(ExprList e) const {
  auto copy = std::make_shared<Window>(*this);
  auto next = e.begin();
  for (ExprList* list : {&copy->calls, &copy->partition, &copy->orders}) {
    for (ExprPtr& expr : *list) expr = *next++;
  }
  return copy;
}

bool Window::passes_predicate(const ExprPtr& predicate) const {
  AttributeList keys;
  for (const ExprPtr& key : partition) {
    if (key->kind() == ExprKind::kAttribute) keys.push_back(std::static_pointer_cast<const Attribute>(key));
  }
  return predicate->deterministic() && !References(predicate).empty() && RefersOnlyTo(predicate, keys);
}

std::string Window::NodeText() const {
  return "Window [" + JoinPlanTexts(calls) + "], [" + JoinPlanTexts(partition) + "], [" + JoinPlanTexts(orders) + "]";
}

}  // namespace thalweg::sql
