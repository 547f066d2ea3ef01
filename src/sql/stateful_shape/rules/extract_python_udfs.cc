#include <algorithm>

#include "sql/plan/eval_python.h"
#include "sql/stateful_shape/rules.h"

namespace thalweg::sql {
namespace {

bool HasUdf(const ExprPtr& expr) { return Contains(expr, ExprKind::kPythonUdf); }

bool AnyHasUdf(const ExprList& list) { return std::any_of(list.begin(), list.end(), &HasUdf); }

/// One worker can compute it: its arguments are the engine's, or it is applied to the result of a function of the same kind.
/// A chain hands the result on as the first argument: one that is named is not handed on.
bool IsEvaluable(const PythonUdf& udf) {
  const ExprList& arguments = udf.children();
  const bool chains = arguments.size() == 1 && udf.keywords()[0].empty();
  const auto* inner = chains ? arguments[0]->As<PythonUdf>() : nullptr;
  if (inner == nullptr) return !AnyHasUdf(arguments);
  const PythonFunction& a = udf.function();
  const PythonFunction& b = inner->function();
  return a.eval_type == b.eval_type && !a.iterates() && a.python_version == b.python_version && IsEvaluable(*inner);
}

bool SameWorker(const PythonFunction& a, const PythonFunction& b) {
  return a.eval_type == b.eval_type && a.python_version == b.python_version && a.python_path == b.python_path &&
         a.files_directory == b.files_directory;
}

/// The outermost functions that can be computed now, of the kind of the first one, each once.
ExprList CollectEvaluable(const ExprList& expressions) {
  ExprList found;
  for (const ExprPtr& expr : expressions) {
    Visit(expr, [&](const ExprPtr& node) {
      const auto* udf = node->As<PythonUdf>();
      if (udf == nullptr || !IsEvaluable(*udf)) return true;
      if (!found.empty() && !SameWorker(found.front()->As<PythonUdf>()->function(), udf->function())) return true;
      const bool known = std::any_of(found.begin(), found.end(), [&](const ExprPtr& other) { return other->Equals(*udf); });
      if (!known) found.push_back(node);
      return false;
    });
  }
  return found;
}

Result<ExprPtr> Replace(const ExprPtr& expr, const ExprList& udfs, const AttributeList& results) {
  return TransformDown(expr, [&](const ExprPtr& node) -> Result<ExprPtr> {
    if (node->kind() != ExprKind::kPythonUdf) return ExprPtr();
    for (size_t i = 0; i < udfs.size(); ++i) {
      if (results[i] != nullptr && udfs[i]->Equals(*node)) return ExprPtr(results[i]);
    }
    return ExprPtr();
  });
}

/// Functions in the node's expressions become columns of nodes below it, round by round.
Result<PlanPtr> Extract(PlanPtr node) {
  while (true) {
    const ExprList udfs = CollectEvaluable(node->expressions());
    if (udfs.empty()) break;
    AttributeList results(udfs.size());
    PlanList children;
    int found = 0;
    for (const PlanPtr& child : node->children()) {
      ExprList here;
      AttributeList columns;
      const AttributeList input = child->output();
      for (size_t i = 0; i < udfs.size(); ++i) {
        if (results[i] != nullptr || !RefersOnlyTo(udfs[i], input)) continue;
        results[i] = Attribute::Make("pythonUDF" + std::to_string(found++), udfs[i]->type(), true);
        here.push_back(udfs[i]);
        columns.push_back(results[i]);
      }
      children.push_back(here.empty() ? child : std::make_shared<EvalPython>(std::move(here), std::move(columns), child));
    }
    if (found == 0) return Unsupported("Python functions over columns of both sides in " + node->NodeText());
    ExprList expressions = node->expressions();
    for (ExprPtr& expr : expressions) {
      TW_ASSIGN_OR_RETURN(expr, Replace(expr, udfs, results));
    }
    node = node->WithExpressions(std::move(expressions))->WithChildren(std::move(children));
  }
  return node;
}

PlanPtr WithOutput(PlanPtr plan, const AttributeList& output) {
  const AttributeList now = plan->output();
  const bool same = std::equal(now.begin(), now.end(), output.begin(), output.end(),
                               [](const AttributePtr& a, const AttributePtr& b) { return a->id() == b->id(); });
  if (same) return plan;
  return std::make_shared<Project>(ExprList(output.begin(), output.end()), std::move(plan));
}

/// Conjuncts without functions that may run first do: the functions see fewer rows.
Result<PlanPtr> SplitFilter(const Filter& filter, const EvalConfig& config) {
  ExprList first;
  ExprList rest;
  bool may_move = true;
  for (const ExprPtr& conjunct : SplitConjunction(filter.condition)) {
    may_move = may_move && conjunct->deterministic();
    (may_move && !HasUdf(conjunct) ? first : rest).push_back(conjunct);
  }
  if (first.empty() || rest.empty()) return PlanPtr(std::make_shared<Filter>(filter));
  TW_ASSIGN_OR_RETURN(ExprPtr below, Conjunction(first, config));
  TW_ASSIGN_OR_RETURN(ExprPtr above, Conjunction(rest, config));
  return PlanPtr(std::make_shared<Filter>(std::move(above), std::make_shared<Filter>(std::move(below), filter.child())));
}

/// Functions of what an aggregate gives go above it. Source: ExtractPythonUDFFromAggregate.
Result<PlanPtr> SplitAggregate(const Aggregate& aggregate) {
  const auto belongs = [&](const ExprPtr& expr) {
    if (expr->kind() == ExprKind::kAggregate) return true;
    return std::any_of(aggregate.grouping.begin(), aggregate.grouping.end(), [&](const ExprPtr& group) { return group->Equals(*expr); });
  };
  const auto is_over = [&](const ExprPtr& expr) {
    bool over = false;
    Visit(expr, [&](const ExprPtr& node) {
      if (belongs(node)) return false;  // what stands below is computed from the input
      over = over || node->kind() == ExprKind::kPythonUdf;
      return !over;
    });
    return over;
  };
  if (std::none_of(aggregate.aggregates.begin(), aggregate.aggregates.end(), is_over)) return PlanPtr();
  ExprList above;
  ExprList list;
  for (const ExprPtr& expr : aggregate.aggregates) {
    if (!is_over(expr)) {
      list.push_back(expr);
      above.push_back(ToAttribute(expr));
      continue;
    }
    TW_ASSIGN_OR_RETURN(ExprPtr rewritten, TransformDown(expr, [&](const ExprPtr& node) -> Result<ExprPtr> {
                          if (!belongs(node)) return ExprPtr();
                          const ExprPtr alias = Alias::Make(node, "agg");
                          list.push_back(alias);
                          return ExprPtr(ToAttribute(alias));
                        }));
    above.push_back(std::move(rewritten));
  }
  return PlanPtr(std::make_shared<Project>(std::move(above), std::make_shared<Aggregate>(aggregate.grouping, std::move(list), aggregate.child())));
}

const char* JoinTypeText(JoinType type) {
  switch (type) {
    case JoinType::kLeftOuter: return "LEFT OUTER";
    case JoinType::kRightOuter: return "RIGHT OUTER";
    case JoinType::kFullOuter: return "FULL OUTER";
    case JoinType::kLeftSemi: return "LEFT SEMI";
    case JoinType::kLeftAnti: return "LEFT ANTI";
    default: return "INNER";
  }
}

/// Conditions with a function over both sides go above an inner join. Source: ExtractPythonUDFFromJoinCondition.
Result<PlanPtr> SplitJoin(const Join& join, const EvalConfig& config) {
  if (join.condition == nullptr) return PlanPtr();
  const AttributeList left = join.child(0)->output();
  const AttributeList right = join.child(1)->output();
  ExprList kept;
  ExprList above;
  for (const ExprPtr& conjunct : SplitConjunction(join.condition)) {
    bool over_both = false;
    Visit(conjunct, [&](const ExprPtr& node) {
      over_both = over_both || (node->kind() == ExprKind::kPythonUdf && !RefersOnlyTo(node, left) && !RefersOnlyTo(node, right));
      return !over_both;
    });
    (over_both ? above : kept).push_back(conjunct);
  }
  if (above.empty()) return PlanPtr();
  if (join.type != JoinType::kInner && join.type != JoinType::kCross) {
    return Error("UNSUPPORTED_FEATURE.PYTHON_UDF_IN_ON_CLAUSE").With("joinType", JoinTypeText(join.type));
  }
  auto copy = std::make_shared<Join>(join);
  TW_ASSIGN_OR_RETURN(copy->condition, Conjunction(kept, config));
  if (copy->condition == nullptr) copy->type = JoinType::kCross;
  TW_ASSIGN_OR_RETURN(ExprPtr condition, Conjunction(above, config));
  return PlanPtr(std::make_shared<Filter>(std::move(condition), std::move(copy)));
}

class Extractor {
 public:
  explicit Extractor(const EvalConfig& config) : config_(config) {}

  Result<PlanPtr> Visit(const PlanPtr& node) {
    if (node->kind() == PlanKind::kEvalPython || !AnyHasUdf(node->expressions())) return PlanPtr();
    const AttributeList output = node->output();
    PlanPtr split;
    if (const auto* filter = node->As<Filter>()) {
      TW_ASSIGN_OR_RETURN(split, SplitFilter(*filter, config_));
    } else if (const auto* aggregate = node->As<Aggregate>()) {
      TW_ASSIGN_OR_RETURN(split, SplitAggregate(*aggregate));
      if (split != nullptr) {
        TW_ASSIGN_OR_RETURN(PlanPtr below, Extract(split->child()));
        split = split->WithChildren({std::move(below)});
      }
    } else if (const auto* join = node->As<Join>()) {
      TW_ASSIGN_OR_RETURN(split, SplitJoin(*join, config_));
      if (split != nullptr) {
        TW_ASSIGN_OR_RETURN(PlanPtr below, Extract(split->child()));
        split = split->WithChildren({WithOutput(std::move(below), output)});
      }
    }
    TW_ASSIGN_OR_RETURN(PlanPtr extracted, Extract(split == nullptr ? node : split));
    return WithOutput(std::move(extracted), output);
  }

 private:
  const EvalConfig& config_;
};

}  // namespace

Result<PlanPtr> ExtractPythonUdfs(const PlanPtr& plan, const EvalConfig& config) {
  Extractor extractor(config);
  return TransformUp(plan, [&](const PlanPtr& node) { return extractor.Visit(node); });
}

}  // namespace thalweg::sql
