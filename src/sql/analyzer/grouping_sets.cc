// ROLLUP, CUBE, GROUPING SETS, and grouping() and grouping_id() over them. Source: Spark's ResolveGroupingAnalytics.

#include <algorithm>

#include "sql/analyzer/resolver.h"

namespace thalweg::sql {
namespace {

constexpr const char* kGroupingId = "spark_grouping_id";

/// Stand for the functions until the sets they ask about are known.
const ScalarFunction kGrouping{.name = "grouping"};
const ScalarFunction kGroupingIdOf{.name = "grouping_id"};

const Call* AsGrouping(const ExprPtr& expr) {
  const auto* call = expr->As<Call>();
  const bool found = call != nullptr && (call->bound().function == &kGrouping || call->bound().function == &kGroupingIdOf);
  return found ? call : nullptr;
}

/// Which grouping expressions each set keeps; bit i stands for expression i.
Result<std::vector<uint64_t>> SetMasks(Aggregate::Grouping kind, const std::vector<ExprList>& sets, ExprList* grouping) {
  const auto index_of = [&](const ExprPtr& expr) {
    for (size_t i = 0; i < grouping->size(); ++i) {
      if ((*grouping)[i]->Equals(*expr)) return i;
    }
    grouping->push_back(expr);
    return grouping->size() - 1;
  };
  std::vector<uint64_t> masks;
  if (kind == Aggregate::Grouping::kSets) {
    for (const ExprList& set : sets) {
      uint64_t mask = 0;
      for (const ExprPtr& expr : set) mask |= uint64_t{1} << std::min<size_t>(index_of(expr), 63);  // more are refused below
      masks.push_back(mask);
    }
  }
  const size_t count = grouping->size();
  if (count > (kind == Aggregate::Grouping::kCube ? 12 : 63)) {
    return Error("GROUPING_SIZE_LIMIT_EXCEEDED").With("maxSize", kind == Aggregate::Grouping::kCube ? 12 : 63);
  }
  if (kind == Aggregate::Grouping::kRollup) {
    for (size_t kept = count + 1; kept-- > 0;) masks.push_back((uint64_t{1} << kept) - 1);
  } else if (kind == Aggregate::Grouping::kCube) {
    for (uint64_t mask = uint64_t{1} << count; mask-- > 0;) masks.push_back(mask);
  }
  return masks;
}

/// Every place where a set was named before.
bool NamesOneTwice(const std::vector<uint64_t>& masks) {
  for (size_t i = 0; i < masks.size(); ++i) {
    if (std::find(masks.begin() + static_cast<ptrdiff_t>(i) + 1, masks.end(), masks[i]) != masks.end()) return true;
  }
  return false;
}

std::string PlanTexts(const ExprList& list) {
  std::string text;
  for (const ExprPtr& expr : list) text += (text.empty() ? "" : ",") + expr->PlanText();
  return text;
}

/// grouping(x): whether the set leaves x out; grouping_id(): all those bits, the first column's highest.
Result<ExprPtr> Answer(Resolver& resolver, const Call& call, const GroupingColumns& columns) {
  const ExprList& arguments = call.children();
  if (call.bound().function == &kGroupingIdOf) {
    const bool same = arguments.empty() ||
                      (arguments.size() == columns.expressions.size() &&
                       std::equal(arguments.begin(), arguments.end(), columns.expressions.begin(),
                                  [&](const ExprPtr& a, const ExprPtr& b) { return columns.Same(a, b); }));
    if (same) return ExprPtr(columns.id);
    return Error("GROUPING_ID_COLUMN_MISMATCH")
        .With("groupingIdColumn", PlanTexts(arguments))
        .With("groupByColumns", PlanTexts(columns.expressions));
  }
  for (size_t i = 0; i < columns.expressions.size(); ++i) {
    if (arguments.size() != 1 || !columns.Same(arguments[0], columns.expressions[i])) continue;
    const auto shift = static_cast<int32_t>(columns.expressions.size() - 1 - i);
    TW_ASSIGN_OR_RETURN(ExprPtr bit, resolver.Call("shiftright", {columns.id, Literal::Integer(shift)}));
    TW_ASSIGN_OR_RETURN(bit, resolver.Call("&", {std::move(bit), Literal::Long(1)}));
    return ExprPtr(Cast::Make(std::move(bit), DataType::Byte(), EvalMode::kAnsi));
  }
  return Error("GROUPING_COLUMN_MISMATCH")
      .With("grouping", PlanTexts(arguments))
      .With("groupingColumns", PlanTexts(columns.expressions));
}

}  // namespace

ExprPtr MakeGrouping(const std::string& name, const ExprList& arguments) {
  if (name != "grouping" && name != "grouping_id") return nullptr;
  if (name == "grouping" && arguments.size() != 1) return nullptr;
  auto bound = std::make_shared<BoundScalar>();
  bound->function = name == "grouping" ? &kGrouping : &kGroupingIdOf;
  bound->type = name == "grouping" ? DataType::Byte() : DataType::Long();
  bound->nullable = false;
  return Call::Make(std::move(bound), arguments);
}

Status RefuseGrouping(const ExprList& expressions) {
  for (const ExprPtr& expr : expressions) {
    bool found = false;
    Visit(expr, [&](const ExprPtr& node) {
      found = found || AsGrouping(node) != nullptr;
      return !found;
    });
    if (found) return At(Error("UNSUPPORTED_GROUPING_EXPRESSION"), expr);
  }
  return Status::OK();
}

bool GroupingColumns::Same(const ExprPtr& argument, const ExprPtr& expression) const {
  if (argument->Equals(*expression)) return true;
  // Above the aggregation a column may be meant by its expanded form.
  for (size_t i = 0; i < expressions.size(); ++i) {
    if (expressions[i] == expression) return columns[i]->Equals(*argument);
  }
  return false;
}

Result<ExprPtr> GroupingColumns::Rewrite(Resolver& resolver, const ExprPtr& expr, bool in_aggregate) const {
  if (const Call* call = AsGrouping(expr)) {
    Result<ExprPtr> answer = Answer(resolver, *call, *this);
    return answer.ok() ? answer : At(answer.status(), expr);
  }
  // Aggregate functions see the rows as they were.
  const bool inside = in_aggregate || expr->kind() == ExprKind::kAggregate;
  for (size_t i = 0; i < expressions.size() && !inside; ++i) {
    if (expressions[i]->Equals(*expr)) return ExprPtr(columns[i]);
  }
  if (expr->children().empty()) return expr;
  ExprList children;
  for (const ExprPtr& below : expr->children()) {
    if (expr->kind() == ExprKind::kWindowCall && children.empty() && below->kind() == ExprKind::kAggregate) {
      // The function of a window sees groups.
      ExprList arguments;
      for (const ExprPtr& argument : below->children()) {
        TW_ASSIGN_OR_RETURN(ExprPtr rewritten, Rewrite(resolver, argument, inside));
        arguments.push_back(std::move(rewritten));
      }
      children.push_back(below->WithChildren(std::move(arguments)));
      continue;
    }
    TW_ASSIGN_OR_RETURN(ExprPtr rewritten, Rewrite(resolver, below, inside));
    children.push_back(std::move(rewritten));
  }
  return expr->WithChildren(std::move(children));
}

std::optional<GroupingColumns> GroupingColumnsOf(const Aggregate& aggregate) {
  const auto* expand = aggregate.child()->As<Expand>();
  if (expand == nullptr || expand->child()->kind() != PlanKind::kProject) return std::nullopt;
  GroupingColumns out;
  for (const ExprPtr& group : aggregate.grouping) {
    const AttributePtr column = ToAttribute(group);
    if (column->name() == kGroupingId) {
      out.id = column;
      break;
    }
    out.columns.push_back(column);
  }
  const ExprList& list = static_cast<const Project&>(*expand->child()).list;
  if (out.id == nullptr || list.size() < out.columns.size()) return std::nullopt;
  for (size_t i = list.size() - out.columns.size(); i < list.size(); ++i) {
    const auto* alias = list[i]->As<Alias>();
    if (alias == nullptr) return std::nullopt;
    out.expressions.push_back(alias->child());
  }
  return out;
}

Status Resolver::ExpandGroupingSets(Aggregate::Grouping kind, const std::vector<ExprList>& sets, ExprList* grouping,
                                    ExprList* list, PlanPtr* child) {
  TW_ASSIGN_OR_RETURN(const std::vector<uint64_t> masks, SetMasks(kind, sets, grouping));
  const AttributeList input = (*child)->output();
  ExprList project(input.begin(), input.end());
  ExprList given;         // what a set groups by, below the Expand
  AttributeList output = input;
  GroupingColumns columns;
  columns.expressions = *grouping;
  for (const ExprPtr& group : *grouping) {
    const auto* attribute = group->As<Attribute>();
    const auto alias = Alias::Make(group, attribute == nullptr ? AutoName(group) : attribute->name());
    project.push_back(alias);
    given.push_back(alias->ToAttribute());
    const uint64_t bit = uint64_t{1} << columns.columns.size();
    const bool left_out = std::any_of(masks.begin(), masks.end(), [&](uint64_t mask) { return (mask & bit) == 0; });
    output.push_back(
        Attribute::Make(alias->name(), alias->type(), left_out || group->nullable(), NewExprId(), {}, alias->metadata_json()));
    columns.columns.push_back(output.back());
  }
  columns.id = Attribute::Make(kGroupingId, DataType::Long(), false);
  output.push_back(columns.id);
  // Sets named twice stay apart by their number.
  const bool numbered = NamesOneTwice(masks);
  if (numbered) output.push_back(Attribute::Make("_gen_grouping_pos", DataType::Integer(), false));
  std::vector<ExprList> projections;
  for (const uint64_t mask : masks) {
    ExprList projection(input.begin(), input.end());
    int64_t id = 0;
    for (size_t i = 0; i < given.size(); ++i) {
      const bool kept = (mask >> i & 1) != 0;
      projection.push_back(kept ? given[i] : Literal::Null(given[i]->type()));
      id = id * 2 + (kept ? 0 : 1);
    }
    projection.push_back(Literal::Long(id));
    if (numbered) projection.push_back(Literal::Integer(static_cast<int32_t>(projections.size())));
    projections.push_back(std::move(projection));
  }
  *child = std::make_shared<Expand>(std::move(projections), output,
                                    std::make_shared<Project>(std::move(project), *child));
  for (ExprPtr& expr : *list) {
    TW_ASSIGN_OR_RETURN(ExprPtr rewritten, columns.Rewrite(*this, expr));
    const auto* attribute = expr->As<Attribute>();
    expr = attribute == nullptr || rewritten == expr ? std::move(rewritten) : Alias::Make(rewritten, attribute->name());
  }
  grouping->assign(output.begin() + static_cast<ptrdiff_t>(input.size()), output.end());
  return Status::OK();
}

}  // namespace thalweg::sql
