// Walking and rewriting expression trees.

#include <algorithm>
#include <unordered_set>

#include "base/invariant.h"
#include "sql/expr/expression.h"

namespace thalweg::sql {
namespace {

using Rule = std::function<Result<ExprPtr>(const ExprPtr&)>;

/// Deeper trees are refused: every walk here recurses.
constexpr int kMaxDepth = 5000;

Status TooDeep() { return Unsupported("expressions nested deeper than 5000 levels"); }

/// The node over rewritten children, or the node itself when none changed.
template <typename F>
Result<ExprPtr> MapChildren(const ExprPtr& expr, F&& rewrite) {
  const ExprList& old = expr->children();
  ExprList children;
  bool changed = false;
  for (size_t i = 0; i < old.size(); ++i) {
    TW_ASSIGN_OR_RETURN(ExprPtr child, rewrite(old[i]));
    if (child != old[i] && !changed) {
      changed = true;
      children.assign(old.begin(), old.begin() + static_cast<ptrdiff_t>(i));
    }
    if (changed) children.push_back(std::move(child));
  }
  if (!changed) return expr;
  return expr->WithChildren(std::move(children));
}

Result<ExprPtr> TransformUpAt(const ExprPtr& expr, const Rule& rule, int depth) {
  if (depth > kMaxDepth) return TooDeep();
  TW_ASSIGN_OR_RETURN(ExprPtr node, MapChildren(expr, [&](const ExprPtr& child) {
                        return TransformUpAt(child, rule, depth + 1);
                      }));
  TW_ASSIGN_OR_RETURN(ExprPtr replaced, rule(node));
  if (replaced == nullptr) return node;
  if (replaced->origin() == nullptr && node->origin() != nullptr && replaced != node) {
    return replaced->WithOrigin(node->origin());
  }
  return replaced;
}

Result<ExprPtr> TransformDownAt(const ExprPtr& expr, const Rule& rule, int depth) {
  if (depth > kMaxDepth) return TooDeep();
  TW_ASSIGN_OR_RETURN(ExprPtr replaced, rule(expr));
  const ExprPtr& node = replaced == nullptr ? expr : replaced;
  return MapChildren(node, [&](const ExprPtr& child) { return TransformDownAt(child, rule, depth + 1); });
}

}  // namespace

Result<ExprPtr> TransformUp(const ExprPtr& expr, const Rule& rule) { return TransformUpAt(expr, rule, 0); }
Result<ExprPtr> TransformDown(const ExprPtr& expr, const Rule& rule) { return TransformDownAt(expr, rule, 0); }

void Visit(const ExprPtr& expr, const std::function<bool(const ExprPtr&)>& visit) {
  std::vector<const ExprPtr*> stack = {&expr};
  while (!stack.empty()) {
    const ExprPtr& node = *stack.back();
    stack.pop_back();
    if (!visit(node)) continue;
    for (auto child = node->children().rbegin(); child != node->children().rend(); ++child) stack.push_back(&*child);
  }
}

bool Contains(const ExprPtr& expr, ExprKind kind) {
  bool found = false;
  Visit(expr, [&](const ExprPtr& node) {
    found = found || node->kind() == kind;
    return !found;
  });
  return found;
}

std::vector<ExprId> References(const ExprPtr& expr) {
  std::vector<ExprId> ids;
  Visit(expr, [&](const ExprPtr& node) {
    if (const auto* attribute = node->As<Attribute>()) {
      if (std::find(ids.begin(), ids.end(), attribute->id()) == ids.end()) ids.push_back(attribute->id());
    }
    return true;
  });
  return ids;
}

AttributePtr ToAttribute(const ExprPtr& named) {
  TW_DCHECK(IsNamed(named));
  if (const auto* alias = named->As<Alias>()) return alias->ToAttribute();
  return std::static_pointer_cast<const Attribute>(named);
}

bool IsNamed(const ExprPtr& expr) {
  return expr->kind() == ExprKind::kAttribute || expr->kind() == ExprKind::kAlias;
}

ExprList SplitBinary(const ExprPtr& expr, std::string_view function_name) {
  ExprList out;
  std::vector<ExprPtr> stack = {expr};
  while (!stack.empty()) {
    const ExprPtr node = stack.back();
    stack.pop_back();
    const auto* call = node->As<Call>();
    if (call != nullptr && call->children().size() == 2 && call->function_name() == function_name) {
      stack.push_back(call->child(1));
      stack.push_back(call->child(0));
    } else {
      out.push_back(node);
    }
  }
  return out;
}

ExprList SplitConjunction(const ExprPtr& condition) { return SplitBinary(condition, "and"); }

bool EqualLists(const ExprList& a, const ExprList& b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](const ExprPtr& x, const ExprPtr& y) {
    return x == y || (x != nullptr && y != nullptr && x->Equals(*y));
  });
}

std::string JoinPlanTexts(const ExprList& list) {
  std::string text;
  for (size_t i = 0; i < list.size(); ++i) {
    if (i > 0) text += ", ";
    text += list[i]->PlanText();
  }
  return text;
}

std::string AttributeText(const std::string& name, ExprId id, const DataType& type, const std::string& metadata_json) {
  std::string text = name + "#" + std::to_string(id.value());
  if (type.Is(data::TypeKind::kLong)) text += "L";
  if (const std::optional<int64_t> delay = WatermarkDelayMs(metadata_json)) {
    text += "-T" + std::to_string(*delay) + "ms";
  }
  return text;
}

}  // namespace thalweg::sql
