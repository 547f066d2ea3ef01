// What every node of a plan has in common: state, printed tree, walking and rewriting.

#include "sql/plan/logical_plan.h"

#include <algorithm>

#include "base/invariant.h"

namespace thalweg::sql {
namespace {

using Rule = std::function<Result<PlanPtr>(const PlanPtr&)>;

/// Deeper plans are refused: rewriting recurses, and front ends may be asked for anything.
constexpr int kMaxDepth = 5000;

Status TooDeep() { return Unsupported("plans deeper than 5000 nodes"); }

template <typename F>
Result<PlanPtr> MapChildren(const PlanPtr& plan, F&& rewrite) {
  const PlanList& old = plan->children();
  PlanList children;
  bool changed = false;
  for (size_t i = 0; i < old.size(); ++i) {
    TW_ASSIGN_OR_RETURN(PlanPtr child, rewrite(old[i]));
    if (child != old[i] && !changed) {
      changed = true;
      children.assign(old.begin(), old.begin() + static_cast<ptrdiff_t>(i));
    }
    if (changed) children.push_back(std::move(child));
  }
  if (!changed) return plan;
  return plan->WithChildren(std::move(children));
}

Result<PlanPtr> TransformUpAt(const PlanPtr& plan, const Rule& rule, int depth) {
  if (depth > kMaxDepth) return TooDeep();
  TW_ASSIGN_OR_RETURN(PlanPtr node, MapChildren(plan, [&](const PlanPtr& child) {
                        return TransformUpAt(child, rule, depth + 1);
                      }));
  TW_ASSIGN_OR_RETURN(PlanPtr replaced, rule(node));
  return replaced == nullptr ? node : replaced;
}

Result<PlanPtr> TransformDownAt(const PlanPtr& plan, const Rule& rule, int depth) {
  if (depth > kMaxDepth) return TooDeep();
  TW_ASSIGN_OR_RETURN(PlanPtr replaced, rule(plan));
  const PlanPtr& node = replaced == nullptr ? plan : replaced;
  return MapChildren(node, [&](const PlanPtr& child) { return TransformDownAt(child, rule, depth + 1); });
}

struct PrintItem {
  const LogicalPlan* plan;
  std::string indent;  ///< what stands before the children's own mark
  std::string mark;    ///< "", "+- " or ":- "
};

std::string StatePrefix(const LogicalPlan& plan) {
  std::string prefix;
  if (plan.is_streaming()) prefix += "~";
  if (!plan.resolved()) prefix = "'" + prefix;
  return prefix;
}

}  // namespace

PlanPtr LogicalPlan::WithExpressions(ExprList expressions) const {
  TW_DCHECK(expressions.empty());
  return shared_from_this();
}

PlanPtr LogicalPlan::WithProduced(AttributeList columns) const {
  TW_DCHECK(columns.empty());
  return shared_from_this();
}

bool LogicalPlan::resolved() const {
  std::vector<const LogicalPlan*> stack = {this};
  while (!stack.empty()) {
    const LogicalPlan* plan = stack.back();
    stack.pop_back();
    for (const ExprPtr& expr : plan->expressions()) {
      if (!expr->resolved()) return false;
    }
    if (!plan->node_resolved()) return false;
    for (const PlanPtr& child : plan->children_) stack.push_back(child.get());
  }
  return true;
}

bool LogicalPlan::is_streaming() const {
  std::vector<const LogicalPlan*> stack = {this};
  while (!stack.empty()) {
    const LogicalPlan* plan = stack.back();
    stack.pop_back();
    if (const auto* relation = plan->As<Relation>(); relation != nullptr && relation->streaming) return true;
    if (const auto* source = plan->As<UnresolvedDataSource>(); source != nullptr && source->streaming) return true;
    if (const auto* name = plan->As<UnresolvedRelation>(); name != nullptr && name->streaming) return true;
    for (const PlanPtr& child : plan->children_) stack.push_back(child.get());
  }
  return false;
}

std::string LogicalPlan::TreeText() const {
  std::string out;
  std::vector<PrintItem> stack = {{this, "", ""}};
  while (!stack.empty()) {
    const PrintItem item = std::move(stack.back());
    stack.pop_back();
    std::string text = item.plan->NodeText();
    std::string below = item.indent;
    if (item.mark == "+- ") below += "   ";
    if (item.mark == ":- ") below += ":  ";
    out += item.indent + item.mark;
    // A node may print as several nodes, one below the other (a limit is Spark's global and local one).
    for (size_t begin = 0;;) {
      const size_t end = text.find('\n', begin);
      out += StatePrefix(*item.plan) + text.substr(begin, end - begin) + "\n";
      if (end == std::string::npos) break;
      out += below + "+- ";
      below += "   ";
      begin = end + 1;
    }
    const PlanList& children = item.plan->children();
    for (size_t i = children.size(); i-- > 0;) {
      stack.push_back({children[i].get(), below, i + 1 == children.size() ? "+- " : ":- "});
    }
  }
  return out;
}

data::Schema LogicalPlan::schema() const {
  data::Schema schema;
  for (const AttributePtr& attribute : output()) schema.push_back(attribute->ToField());
  return schema;
}

PlanPtr LogicalPlan::WithPlanId(int64_t plan_id) const {
  std::shared_ptr<LogicalPlan> copy = Clone();
  copy->plan_id_ = plan_id;
  return copy;
}

// --- tools ---

Result<PlanPtr> TransformUp(const PlanPtr& plan, const Rule& rule) { return TransformUpAt(plan, rule, 0); }
Result<PlanPtr> TransformDown(const PlanPtr& plan, const Rule& rule) { return TransformDownAt(plan, rule, 0); }

void Visit(const PlanPtr& plan, const std::function<bool(const PlanPtr&)>& visit) {
  std::vector<PlanPtr> stack = {plan};
  while (!stack.empty()) {
    const PlanPtr node = std::move(stack.back());
    stack.pop_back();
    if (!visit(node)) continue;
    for (auto child = node->children().rbegin(); child != node->children().rend(); ++child) stack.push_back(*child);
  }
}

bool RefersOnlyTo(const ExprPtr& expr, const AttributeList& columns) {
  const std::vector<ExprId> ids = References(expr);
  return std::all_of(ids.begin(), ids.end(), [&](ExprId id) {
    return std::any_of(columns.begin(), columns.end(), [&](const AttributePtr& column) { return column->id() == id; });
  });
}

Result<PlanPtr> TransformExpressions(const PlanPtr& plan, const std::function<Result<ExprPtr>(const ExprPtr&)>& rule) {
  ExprList expressions = plan->expressions();
  bool changed = false;
  for (ExprPtr& expr : expressions) {
    TW_ASSIGN_OR_RETURN(ExprPtr rewritten, TransformUp(expr, rule));
    changed = changed || rewritten != expr;
    expr = std::move(rewritten);
  }
  if (!changed) return plan;
  return plan->WithExpressions(std::move(expressions));
}

}  // namespace thalweg::sql
