#include <algorithm>

#include "sql/plan/eval_python.h"
#include "sql/plan/window.h"
#include "sql/stateful_shape/rules.h"

namespace thalweg::sql {
namespace {

using Ids = std::set<ExprId>;

void AddReferences(const ExprList& expressions, Ids* ids) {
  for (const ExprPtr& expr : expressions) {
    for (const ExprId id : References(expr)) ids->insert(id);
  }
}

ExprList KeepRequired(const ExprList& list, const Ids& required) {
  ExprList kept;
  for (const ExprPtr& expr : list) {
    if (required.count(ToAttribute(expr)->id()) != 0) kept.push_back(expr);
  }
  return kept;
}

/// A Project that leaves only required columns, when the plan has others.
PlanPtr Narrow(const PlanPtr& plan, const Ids& required) {
  const AttributeList output = plan->output();
  ExprList kept;
  for (const AttributePtr& attribute : output) {
    if (required.count(attribute->id()) != 0) kept.push_back(attribute);
  }
  if (kept.size() == output.size()) return plan;
  if (const auto* project = plan->As<Project>()) {
    return std::make_shared<Project>(KeepRequired(project->list, required), project->child());
  }
  return std::make_shared<Project>(std::move(kept), plan);
}

class Pruner {
 public:
  explicit Pruner(bool leaves) : leaves_(leaves) {}

  /// The plan, which puts out at least the required columns, in the order it had.
  Result<PlanPtr> Prune(const PlanPtr& plan, const Ids& required) {
    if (const auto* window = plan->As<Window>()) return PruneWindow(*window, plan, required);
    switch (plan->kind()) {
      case PlanKind::kProject: return PruneProject(static_cast<const Project&>(*plan), plan, required);
      case PlanKind::kAggregate: return PruneAggregate(static_cast<const Aggregate&>(*plan), plan, required);
      case PlanKind::kJoin: return PruneJoin(plan, required);
      case PlanKind::kUnion: return PruneUnion(static_cast<const Union&>(*plan), plan, required);
      case PlanKind::kExpand: return PruneExpand(static_cast<const Expand&>(*plan), plan, required);
      case PlanKind::kRelation: return PruneRelation(static_cast<const Relation&>(*plan), plan, required);
      case PlanKind::kLocalRelation: return PruneRows(static_cast<const LocalRelation&>(*plan), plan, required);
      case PlanKind::kGenerate: return PruneGenerate(plan, required);
      case PlanKind::kEvalPython: return PruneEvalPython(static_cast<const EvalPython&>(*plan), plan, required);
      case PlanKind::kDeduplicate: return PruneDeduplicate(static_cast<const Deduplicate&>(*plan), plan, required);
      default: return PruneOther(plan, required);
    }
  }

  static Ids All(const PlanPtr& plan) {
    Ids ids;
    for (const AttributePtr& attribute : plan->output()) ids.insert(attribute->id());
    return ids;
  }

 private:
  Result<PlanPtr> WithChild(const PlanPtr& plan, const Ids& needed) {
    TW_ASSIGN_OR_RETURN(PlanPtr child, Prune(plan->child(), needed));
    return child == plan->child() ? plan : plan->WithChildren({std::move(child)});
  }

  Result<PlanPtr> PruneOther(const PlanPtr& plan, const Ids& required) {
    if (plan->keeps_columns()) {
      Ids needed = required;
      AddReferences(plan->expressions(), &needed);
      return WithChild(plan, needed);
    }
    // Everything below is needed as it is (show, commands, distinct rows).
    PlanList children;
    bool changed = false;
    for (const PlanPtr& child : plan->children()) {
      TW_ASSIGN_OR_RETURN(PlanPtr pruned, Prune(child, All(child)));
      changed = changed || pruned != child;
      children.push_back(std::move(pruned));
    }
    return changed ? plan->WithChildren(std::move(children)) : plan;
  }

  Result<PlanPtr> PruneDeduplicate(const Deduplicate& deduplicate, const PlanPtr& plan, const Ids& required) {
    Ids needed = required;
    AddReferences(plan->expressions(), &needed);
    if (deduplicate.within_watermark) {
      for (const AttributePtr& column : plan->output()) {
        if (WatermarkDelayMs(column->metadata_json())) needed.insert(column->id());
      }
    }
    return WithChild(plan, needed);
  }

  Result<PlanPtr> PruneProject(const Project& project, const PlanPtr& plan, const Ids& required) {
    ExprList kept = KeepRequired(project.list, required);
    Ids needed;
    AddReferences(kept, &needed);
    PlanPtr child;
    if (project.child()->kind() == PlanKind::kGenerate) {  // this is the Project above it
      AddReferences(project.child()->expressions(), &needed);
      TW_ASSIGN_OR_RETURN(child, WithChild(project.child(), needed));
    } else {
      TW_ASSIGN_OR_RETURN(child, Prune(project.child(), needed));
    }
    if (kept.size() == project.list.size() && child == project.child()) return plan;
    return std::make_shared<Project>(std::move(kept), project.child())->WithChildren({std::move(child)});
  }

  Result<PlanPtr> PruneAggregate(const Aggregate& aggregate, const PlanPtr& plan, const Ids& required) {
    ExprList kept = KeepRequired(aggregate.aggregates, required);
    Ids needed;
    AddReferences(aggregate.grouping, &needed);
    AddReferences(kept, &needed);
    TW_ASSIGN_OR_RETURN(PlanPtr child, Prune(aggregate.child(), needed));
    if (kept.size() == aggregate.aggregates.size() && child == aggregate.child()) return plan;
    return PlanPtr(std::make_shared<Aggregate>(aggregate.grouping, std::move(kept), std::move(child)));
  }

  Result<PlanPtr> PruneJoin(const PlanPtr& plan, const Ids& required) {
    Ids needed = required;
    AddReferences(plan->expressions(), &needed);
    PlanList children;
    bool changed = false;
    for (const PlanPtr& child : plan->children()) {
      TW_ASSIGN_OR_RETURN(PlanPtr pruned, Prune(child, needed));
      pruned = Narrow(pruned, needed);
      changed = changed || pruned != child;
      children.push_back(std::move(pruned));
    }
    return changed ? plan->WithChildren(std::move(children)) : plan;
  }

  Result<PlanPtr> PruneUnion(const Union& node, const PlanPtr& plan, const Ids& required) {
    AttributeList kept;
    std::vector<size_t> ordinals;
    for (size_t i = 0; i < node.attributes.size(); ++i) {
      if (required.count(node.attributes[i]->id()) == 0) continue;
      kept.push_back(node.attributes[i]);
      ordinals.push_back(i);
    }
    if (node.op != SetOp::kUnion || kept.empty()) {  // a union must have a column
      kept = node.attributes;
      ordinals.clear();
      for (size_t i = 0; i < kept.size(); ++i) ordinals.push_back(i);
    }
    PlanList children;
    bool changed = kept.size() != node.attributes.size();
    for (const PlanPtr& child : node.children()) {
      const AttributeList output = child->output();
      Ids needed;
      ExprList list;
      for (const size_t ordinal : ordinals) {
        needed.insert(output[ordinal]->id());
        list.push_back(output[ordinal]);
      }
      TW_ASSIGN_OR_RETURN(PlanPtr pruned, Prune(child, needed));
      const AttributeList now = pruned->output();
      const bool exact = std::equal(now.begin(), now.end(), list.begin(), list.end(),
                                    [](const AttributePtr& a, const ExprPtr& b) { return a->Equals(*b); });
      if (!exact) pruned = std::make_shared<Project>(std::move(list), pruned);
      changed = changed || pruned != child;
      children.push_back(std::move(pruned));
    }
    if (!changed) return plan;
    auto copy = std::make_shared<Union>(node);
    copy->attributes = std::move(kept);
    return copy->WithChildren(std::move(children));
  }

  Result<PlanPtr> PruneExpand(const Expand& expand, const PlanPtr& plan, const Ids& required) {
    auto copy = std::make_shared<Expand>(expand);
    copy->attributes.clear();
    for (ExprList& projection : copy->projections) projection.clear();
    for (size_t i = 0; i < expand.attributes.size(); ++i) {
      if (required.count(expand.attributes[i]->id()) == 0) continue;
      copy->attributes.push_back(expand.attributes[i]);
      for (size_t p = 0; p < expand.projections.size(); ++p) {
        copy->projections[p].push_back(expand.projections[p][i]);
      }
    }
    Ids needed;
    AddReferences(copy->expressions(), &needed);
    TW_ASSIGN_OR_RETURN(PlanPtr child, Prune(expand.child(), needed));
    if (copy->attributes.size() == expand.attributes.size() && child == expand.child()) return plan;
    return copy->WithChildren({std::move(child)});
  }

  /// The array itself is most often only exploded: repeating it beside each of its elements would be quadratic. A Project right
  /// above says which columns are repeated.
  Result<PlanPtr> PruneGenerate(const PlanPtr& plan, const Ids& required) {
    Ids needed = required;
    AddReferences(plan->expressions(), &needed);
    TW_ASSIGN_OR_RETURN(const PlanPtr pruned, WithChild(plan, needed));
    return Narrow(pruned, required);
  }

  /// Results that nobody wants are not computed; columns that are arguments alone end here.
  Result<PlanPtr> PruneEvalPython(const EvalPython& eval, const PlanPtr& plan, const Ids& required) {
    ExprList udfs;
    AttributeList results;
    for (size_t i = 0; i < eval.udfs.size(); ++i) {
      if (required.count(eval.results[i]->id()) == 0) continue;
      udfs.push_back(eval.udfs[i]);
      results.push_back(eval.results[i]);
    }
    if (udfs.empty()) return Prune(eval.child(), required);
    Ids needed = required;
    AddReferences(udfs, &needed);
    TW_ASSIGN_OR_RETURN(PlanPtr child, Prune(eval.child(), needed));
    if (udfs.size() == eval.udfs.size() && child == eval.child()) return plan;
    return PlanPtr(std::make_shared<EvalPython>(std::move(udfs), std::move(results), std::move(child)));
  }

  /// The rows stay the same without a call, and so without the node.
  Result<PlanPtr> PruneWindow(const Window& window, const PlanPtr& plan, const Ids& required) {
    ExprList calls = KeepRequired(window.calls, required);
    if (calls.empty()) return Prune(window.child(), required);
    Ids needed = required;
    AddReferences(calls, &needed);
    AddReferences(window.partition, &needed);
    AddReferences(window.orders, &needed);
    TW_ASSIGN_OR_RETURN(PlanPtr child, Prune(window.child(), needed));
    if (calls.size() == window.calls.size() && child == window.child()) return plan;
    return PlanPtr(std::make_shared<Window>(std::move(calls), window.partition, window.orders, std::move(child)));
  }

  Result<PlanPtr> PruneRelation(const Relation& relation, const PlanPtr& plan, const Ids& required) {
    if (!leaves_) return plan;
    AttributeList kept;
    for (const AttributePtr& attribute : relation.attributes) {
      if (required.count(attribute->id()) != 0) kept.push_back(attribute);
    }
    if (kept.size() == relation.attributes.size()) return plan;
    auto copy = std::make_shared<Relation>(relation);
    copy->attributes = std::move(kept);
    return PlanPtr(std::move(copy));
  }

  Result<PlanPtr> PruneRows(const LocalRelation& relation, const PlanPtr& plan, const Ids& required) {
    if (!leaves_) return plan;
    AttributeList kept;
    std::vector<int> ordinals;
    for (size_t i = 0; i < relation.attributes.size(); ++i) {
      if (required.count(relation.attributes[i]->id()) == 0) continue;
      kept.push_back(relation.attributes[i]);
      ordinals.push_back(static_cast<int>(i));
    }
    if (kept.size() == relation.attributes.size()) return plan;
    std::vector<data::Chunk> chunks;
    for (const data::Chunk& chunk : relation.chunks) {
      std::vector<data::ColumnPtr> columns;
      for (const int ordinal : ordinals) columns.push_back(chunk.column(ordinal));
      data::Chunk narrow(std::move(columns), chunk.physical_rows());
      narrow.set_selection(chunk.selection());
      narrow.set_change_kinds(chunk.change_kinds());
      chunks.push_back(std::move(narrow));
    }
    return PlanPtr(std::make_shared<LocalRelation>(std::move(kept), std::move(chunks)));
  }

  bool leaves_;
};

}  // namespace

Result<PlanPtr> PruneColumns(const PlanPtr& plan, bool leaves) { return Pruner(leaves).Prune(plan, Pruner::All(plan)); }

}  // namespace thalweg::sql
