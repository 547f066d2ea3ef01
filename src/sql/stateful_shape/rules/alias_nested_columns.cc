#include <algorithm>
#include <map>

#include "sql/expr/extract.h"
#include "sql/stateful_shape/rules.h"

namespace thalweg::sql {
namespace {

/// The column at the bottom of a chain of field extractions; null when the expression is none.
const Attribute* RootOf(const ExprPtr& expr) {
  const Expr* node = expr.get();
  if (StructFieldOrdinal(*node) < 0) return nullptr;
  while (StructFieldOrdinal(*node) >= 0) node = node->child(0).get();
  return node->As<Attribute>();
}

size_t LeafCount(const DataType& type) {
  if (!type.Is(data::TypeKind::kStruct)) return 1;
  size_t count = 0;
  for (const data::StructField& field : type.fields()) count += LeafCount(field.type);
  return count;
}

/// What the expressions want of nested columns: maximal chains by root; roots that are wanted whole are dropped.
struct Wanted {
  std::map<ExprId, ExprList> chains;
  std::vector<ExprId> whole;

  void Add(const ExprPtr& expr) {
    if (const Attribute* root = RootOf(expr)) {
      ExprList& list = chains[root->id()];
      const bool known = std::any_of(list.begin(), list.end(), [&](const ExprPtr& e) { return e->Equals(*expr); });
      if (!known) list.push_back(expr);
      return;
    }
    if (const auto* attribute = expr->As<Attribute>()) whole.push_back(attribute->id());
    for (const ExprPtr& child : expr->children()) Add(child);
  }
};

Result<PlanPtr> AliasBelow(const Project& project, const Join& join) {
  Wanted wanted;
  for (const ExprPtr& expr : project.list) wanted.Add(expr);
  if (join.condition != nullptr) wanted.Add(join.condition);
  for (const ExprId id : wanted.whole) wanted.chains.erase(id);
  PlanList sides = join.children();
  ExprList aliases;
  for (PlanPtr& side : sides) {
    ExprList list;
    bool changed = false;
    for (const AttributePtr& column : side->output()) {
      const auto chains = wanted.chains.find(column->id());
      size_t leaves = 0;
      if (chains != wanted.chains.end()) {
        for (const ExprPtr& chain : chains->second) leaves += LeafCount(chain->type());
      }
      // Only worth it when something of the struct is left behind.
      if (chains == wanted.chains.end() || leaves >= LeafCount(column->type())) {
        list.push_back(column);
        continue;
      }
      for (const ExprPtr& chain : chains->second) {
        const std::string field = chain->child(1)->As<Literal>()->value().get<std::string>();
        aliases.push_back(Alias::Make(chain, "_extract_" + field));
        list.push_back(aliases.back());
      }
      changed = true;
    }
    if (changed) side = std::make_shared<Project>(std::move(list), side);
  }
  if (aliases.empty()) return PlanPtr();
  const auto replace = [&](const ExprPtr& node) -> Result<ExprPtr> {
    for (const ExprPtr& alias : aliases) {
      if (alias->child()->Equals(*node)) return ExprPtr(ToAttribute(alias));
    }
    return ExprPtr();
  };
  PlanPtr below = join.WithChildren(std::move(sides));
  ExprList expressions = below->expressions();
  for (ExprPtr& expr : expressions) {
    TW_ASSIGN_OR_RETURN(expr, TransformDown(expr, replace));
  }
  if (!expressions.empty()) below = below->WithExpressions(std::move(expressions));
  ExprList list = project.list;
  for (ExprPtr& expr : list) {
    TW_ASSIGN_OR_RETURN(expr, TransformDown(expr, replace));
  }
  return PlanPtr(std::make_shared<Project>(std::move(list), std::move(below)));
}

}  // namespace

Result<PlanPtr> AliasNestedColumns(const PlanPtr& plan) {
  return TransformUp(plan, [](const PlanPtr& node) -> Result<PlanPtr> {
    const auto* project = node->As<Project>();
    const auto* join = project == nullptr ? nullptr : project->child()->As<Join>();
    if (join == nullptr || !join->child(0)->is_streaming() || !join->child(1)->is_streaming()) return PlanPtr();
    return AliasBelow(*project, *join);
  });
}

}  // namespace thalweg::sql
