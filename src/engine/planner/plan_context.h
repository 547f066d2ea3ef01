#pragma once

// What the functions that plan nodes share. Internal to this room.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/exec/physical_plan.h"
#include "engine/planner/planner.h"
#include "sql/expr/evaluator.h"
#include "sql/plan/logical_plan.h"

namespace thalweg::engine {

/// One planning run. Owner: the stack of PlanBatch or PlanStream.
struct PlanContext {
  std::shared_ptr<const sql::EvalConfig> config;
  int parallelism = 1;
  int shuffle_partitions = 1;                   ///< instances behind an exchange by keys
  const StreamPlanOptions* stream = nullptr;    ///< null: batch
  const sql::StateLayout* layout = nullptr;     ///< streams
  PhysicalPlan* plan = nullptr;
  std::shared_ptr<const SessionPython> python;  ///< null: Python functions are refused
  size_t next_source = 0;                       ///< streaming leaves and stateful nodes are met in the layout's order
  size_t next_stateful = 0;

  /// Plans a node by the operator table. Errors: UNSUPPORTED_FEATURE.THALWEG.
  Result<PhysicalNodePtr> Plan(const sql::PlanPtr& node);
  Result<std::shared_ptr<const sql::Program>> Compile(const sql::ExprList& expressions, const sql::AttributeList& input) const {
    return sql::Program::Compile(expressions, input, config);
  }
};

using MakeOperator = std::function<Result<std::unique_ptr<Operator>>(PartitionId)>;

/// A node with as many partitions as its first input, connected by kSame unless said otherwise.
std::shared_ptr<PhysicalNode> NewNode(std::string name, std::string text, std::vector<PhysicalInput> inputs,
                                      sql::AttributeList output, int partitions, MakeOperator make);
/// The same over one input in the same task.
std::shared_ptr<PhysicalNode> NewMapNode(std::string name, std::string text, PhysicalNodePtr input, sql::AttributeList output,
                                         MakeOperator make);
/// One instance over all partitions of the input.
std::shared_ptr<PhysicalNode> NewSingleNode(std::string name, std::string text, PhysicalNodePtr input, sql::AttributeList output,
                                            MakeOperator make);
/// The node, which hands changes of its inputs' rows on, up to `accepts`: what does rows one by one and knows of no others.
std::shared_ptr<PhysicalNode> PassingChanges(std::shared_ptr<PhysicalNode> node, sql::ChangelogMode accepts);
/// Last step of planning: every operator takes the changes that its inputs give, and the sink those of the root.
/// Errors: UNSUPPORTED_FEATURE.CHANGES_OF_ROWS.
Status CheckChanges(const PhysicalPlan& plan, sql::ChangelogMode sink_accepts);
/// The input in one partition: itself, or a node that gathers.
PhysicalNodePtr Gathered(PhysicalNodePtr input);
/// The position of an attribute in a list; nullopt when it is not there.
std::optional<int> Position(const sql::AttributeList& list, ExprId id);
std::vector<data::DataType> TypesOf(const sql::AttributeList& list);
/// True for expressions whose value may differ from epoch to epoch over the same rows.
bool Varies(const sql::ExprList& expressions);
/// "[a#1, b#2L]".
std::string ListText(const sql::ExprList& expressions);
std::string ListText(const sql::AttributeList& attributes);

/// A projection; columns are picked without evaluation where every expression is an attribute.
Result<PhysicalNodePtr> NewProject(PlanContext& context, PhysicalNodePtr input, const sql::ExprList& list);

/// `input` with every key as a column: the input itself where all keys are attributes, else a projection that adds columns.
struct KeyedInput {
  PhysicalNodePtr node;
  std::vector<int> columns;   ///< by key
};
Result<KeyedInput> WithKeyColumns(PlanContext& context, PhysicalNodePtr input, const sql::ExprList& keys);

/// Rows that a plan gives, when there is a guess.
std::optional<int64_t> EstimatedRows(PlanContext& context, const sql::PlanPtr& plan);

using PlanFunction = Result<PhysicalNodePtr> (*)(PlanContext& context, const sql::PlanPtr& node);
/// Null for kinds without an operator.
PlanFunction FindPlanFunction(sql::PlanKind kind);

// plan_leaves.cc
Result<PhysicalNodePtr> PlanLocalRelation(PlanContext& context, const sql::PlanPtr& node);
Result<PhysicalNodePtr> PlanOneRow(PlanContext& context, const sql::PlanPtr& node);
Result<PhysicalNodePtr> PlanRange(PlanContext& context, const sql::PlanPtr& node);
Result<PhysicalNodePtr> PlanRelation(PlanContext& context, const sql::PlanPtr& node);
// plan_rows.cc
Result<PhysicalNodePtr> PlanProject(PlanContext& context, const sql::PlanPtr& node);
Result<PhysicalNodePtr> PlanFilter(PlanContext& context, const sql::PlanPtr& node);
Result<PhysicalNodePtr> PlanGenerate(PlanContext& context, const sql::PlanPtr& node);
Result<PhysicalNodePtr> PlanExpand(PlanContext& context, const sql::PlanPtr& node);
Result<PhysicalNodePtr> PlanChildAlone(PlanContext& context, const sql::PlanPtr& node);
Result<PhysicalNodePtr> PlanUnion(PlanContext& context, const sql::PlanPtr& node);
Result<PhysicalNodePtr> PlanRepartition(PlanContext& context, const sql::PlanPtr& node);
Result<PhysicalNodePtr> PlanSample(PlanContext& context, const sql::PlanPtr& node);
Result<PhysicalNodePtr> PlanShowString(PlanContext& context, const sql::PlanPtr& node);
Result<PhysicalNodePtr> PlanEventTimeWatermark(PlanContext& context, const sql::PlanPtr& node);
// plan_python.cc
Result<PhysicalNodePtr> PlanEvalPython(PlanContext& context, const sql::PlanPtr& node);
/// The same with those columns of the input only that `wanted` asks for.
Result<PhysicalNodePtr> NewEvalPython(PlanContext& context, const sql::PlanPtr& node, const std::function<bool(ExprId)>& wanted);
// plan_order.cc
Result<PhysicalNodePtr> PlanSort(PlanContext& context, const sql::PlanPtr& node);
Result<PhysicalNodePtr> PlanLimit(PlanContext& context, const sql::PlanPtr& node);
Result<PhysicalNodePtr> PlanOffset(PlanContext& context, const sql::PlanPtr& node);
Result<PhysicalNodePtr> PlanTail(PlanContext& context, const sql::PlanPtr& node);
// plan_aggregate.cc
Result<PhysicalNodePtr> PlanAggregate(PlanContext& context, const sql::PlanPtr& node);
Result<PhysicalNodePtr> PlanDistinct(PlanContext& context, const sql::PlanPtr& node);
Result<PhysicalNodePtr> PlanDeduplicate(PlanContext& context, const sql::PlanPtr& node);
Result<PhysicalNodePtr> PlanCollectMetrics(PlanContext& context, const sql::PlanPtr& node);
// plan_join.cc
Result<PhysicalNodePtr> PlanJoin(PlanContext& context, const sql::PlanPtr& node);

}  // namespace thalweg::engine
