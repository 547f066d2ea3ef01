// Joins. Equal keys make a hash join: the smaller side is built, and where its unmatched rows are not wanted it is sent to
// every instance, which share one table, so that the other side stays where it is. Without equal keys: a nested loop. Updates of
// a stream's rows go through (the other side is static); change kinds would be lost.

#include <algorithm>

#include "engine/exec/operators/hash_join.h"
#include "engine/exec/operators/nested_loop_join.h"
#include "engine/planner/plan_context.h"
#include "engine/planner/stream_join.h"

namespace thalweg::engine {
namespace {

using sql::AttributeList;
using sql::ExprList;
using sql::ExprPtr;

/// A built side that is larger than this is not sent to every instance when there are several: both sides are partitioned and
/// the tables are built beside each other.
constexpr int64_t kSharedBuildRows = 8'000'000;

JoinKind KindOf(sql::JoinType type) {
  switch (type) {
    case sql::JoinType::kInner:
    case sql::JoinType::kCross: return JoinKind::kInner;
    case sql::JoinType::kLeftOuter: return JoinKind::kLeftOuter;
    case sql::JoinType::kRightOuter: return JoinKind::kRightOuter;
    case sql::JoinType::kFullOuter: return JoinKind::kFullOuter;
    case sql::JoinType::kLeftSemi: return JoinKind::kLeftSemi;
    case sql::JoinType::kLeftAnti: return JoinKind::kLeftAnti;
  }
  return JoinKind::kInner;
}

std::string KindText(JoinKind kind) {
  switch (kind) {
    case JoinKind::kInner: return "Inner";
    case JoinKind::kLeftOuter: return "LeftOuter";
    case JoinKind::kRightOuter: return "RightOuter";
    case JoinKind::kFullOuter: return "FullOuter";
    case JoinKind::kLeftSemi: return "LeftSemi";
    case JoinKind::kLeftAnti: return "LeftAnti";
  }
  return "";
}

struct EquiKeys {
  ExprList left, right;
  std::vector<bool> null_safe;
  ExprList rest;  ///< conjuncts that are no equality of the two sides
};

EquiKeys SplitCondition(const ExprPtr& condition, const AttributeList& left, const AttributeList& right) {
  EquiKeys keys;
  if (condition == nullptr) return keys;
  for (const ExprPtr& conjunct : sql::SplitConjunction(condition)) {
    const auto* call = conjunct->As<sql::Call>();
    const bool equal = call != nullptr && call->function_name() == "==";
    const bool null_safe = call != nullptr && call->function_name() == "<=>";
    bool taken = false;
    for (const int side : {0, 1}) {
      if (taken || !(equal || null_safe) || !conjunct->deterministic()) break;
      const ExprPtr& a = call->child(static_cast<size_t>(side));
      const ExprPtr& b = call->child(static_cast<size_t>(1 - side));
      if (!RefersOnlyTo(a, left) || !RefersOnlyTo(b, right) || sql::References(a).empty() || sql::References(b).empty()) continue;
      if (!a->type().SameType(b->type()) || !KeyLayout::Make({a->type()}).ok()) continue;
      keys.left.push_back(a);
      keys.right.push_back(b);
      keys.null_safe.push_back(null_safe);
      taken = true;
    }
    if (!taken) keys.rest.push_back(conjunct);
  }
  return keys;
}

/// The conjuncts as a program over the columns they name, which must be true together.
Result<std::optional<JoinCondition>> ConditionOf(PlanContext& context, const ExprList& conjuncts, const ExprPtr& whole,
                                                 const AttributeList& left, const AttributeList& right) {
  if (conjuncts.empty()) return std::optional<JoinCondition>{};
  // The equalities hold anyway for pairs that are asked about: the whole condition is as good as the rest of it.
  JoinCondition condition;
  AttributeList input;
  for (const ExprId id : sql::References(whole)) {
    if (const auto position = Position(left, id)) {
      condition.left_columns.push_back(*position);
      input.push_back(left[*position]);
    }
  }
  for (const ExprId id : sql::References(whole)) {
    if (const auto position = Position(right, id)) {
      condition.right_columns.push_back(*position);
      input.push_back(right[*position]);
    }
  }
  TW_ASSIGN_OR_RETURN(condition.program, context.Compile({whole}, input));
  return std::optional<JoinCondition>(std::move(condition));
}

std::vector<int> AllColumns(size_t count) {
  std::vector<int> columns(count);
  for (size_t i = 0; i < count; ++i) columns[i] = static_cast<int>(i);
  return columns;
}

bool EmitsUnmatched(JoinKind kind, int port) {
  return kind == JoinKind::kFullOuter || kind == (port == 0 ? JoinKind::kLeftOuter : JoinKind::kRightOuter);
}

bool IsSemi(JoinKind kind) { return kind == JoinKind::kLeftSemi || kind == JoinKind::kLeftAnti; }

/// Which side is built: the static one beside a stream; else the smaller one, the right one when nothing is known.
int BuildPort(PlanContext& context, const sql::Join& join, JoinKind kind) {
  const bool left_streams = join.child(0)->is_streaming();
  const bool right_streams = join.child(1)->is_streaming();
  if (left_streams != right_streams) return left_streams ? 1 : 0;
  if (IsSemi(kind)) return 1;
  const auto left = EstimatedRows(context, join.child(0));
  const auto right = EstimatedRows(context, join.child(1));
  if (!left || !right) return left && *left < 10'000 && kind == JoinKind::kInner ? 0 : 1;
  // Unmatched rows of the built side cost the sharing of the table: only a much smaller one is worth it.
  const bool left_costs = EmitsUnmatched(kind, 0) && !EmitsUnmatched(kind, 1);
  const bool right_costs = EmitsUnmatched(kind, 1) && !EmitsUnmatched(kind, 0);
  if (left_costs) return *left * 4 < *right ? 0 : 1;
  if (right_costs) return *right * 4 < *left ? 1 : 0;
  return *left < *right ? 0 : 1;
}

Result<PhysicalNodePtr> PlanHashJoin(PlanContext& context, const sql::Join& join, JoinKind kind, const EquiKeys& keys,
                                     PhysicalNodePtr left, PhysicalNodePtr right) {
  auto params = std::make_shared<HashJoinParams>();
  params->kind = kind;
  params->build_port = BuildPort(context, join, kind);
  const AttributeList left_output = left->output;
  const AttributeList right_output = right->output;
  TW_ASSIGN_OR_RETURN(KeyedInput left_keyed, WithKeyColumns(context, std::move(left), keys.left));
  TW_ASSIGN_OR_RETURN(KeyedInput right_keyed, WithKeyColumns(context, std::move(right), keys.right));
  params->left_keys = left_keyed.columns;
  params->right_keys = right_keyed.columns;
  params->null_safe = keys.null_safe;
  std::vector<data::DataType> key_types;
  for (const ExprPtr& key : keys.left) key_types.push_back(key->type());
  TW_ASSIGN_OR_RETURN(KeyLayout layout, KeyLayout::Make(std::move(key_types)));
  params->layout = std::make_shared<const KeyLayout>(std::move(layout));
  params->left_types = TypesOf(left_keyed.node->output);
  params->right_types = TypesOf(right_keyed.node->output);
  params->left_output = AllColumns(left_output.size());
  if (!IsSemi(kind)) params->right_output = AllColumns(right_output.size());
  TW_ASSIGN_OR_RETURN(params->condition, ConditionOf(context, keys.rest, join.condition, left_output, right_output));

  const int build = params->build_port;
  std::vector<PhysicalInput> inputs(2);
  inputs[0] = {left_keyed.node, Distribution::kSame, {}, 0};
  inputs[1] = {right_keyed.node, Distribution::kSame, {}, 0};
  const int probe_partitions = inputs[1 - build].node->num_partitions;
  const auto build_rows = EstimatedRows(context, join.child(static_cast<size_t>(build)));
  const bool shareable = !EmitsUnmatched(kind, build) && !(IsSemi(kind) && build == 0);
  int partitions = probe_partitions;
  if (shareable && probe_partitions > 1 && (build_rows.value_or(0) <= kSharedBuildRows || context.stream != nullptr)) {
    inputs[build].distribution = Distribution::kBroadcast;
    params->shared = std::make_shared<SharedJoinTable>();
  } else if (probe_partitions == 1) {
    if (inputs[build].node->num_partitions > 1) inputs[build].distribution = Distribution::kSingle;
  } else {
    partitions = context.shuffle_partitions;
    inputs[0] = {left_keyed.node, partitions == 1 ? Distribution::kSingle : Distribution::kHash, left_keyed.columns, 0};
    inputs[1] = {right_keyed.node, partitions == 1 ? Distribution::kSingle : Distribution::kHash, right_keyed.columns, 0};
  }
  std::string text = "HashJoin " + ListText(keys.left) + ", " + ListText(keys.right) + ", " + KindText(kind) +
                     (build == 1 ? ", BuildRight" : ", BuildLeft");
  if (params->condition) {
    for (size_t i = 0; i < keys.rest.size(); ++i) text += (i > 0 ? " AND " : ", ") + keys.rest[i]->PlanText();
  }
  std::shared_ptr<const HashJoinParams> fixed = params;
  auto node = NewNode("HashJoin", text, std::move(inputs), join.output(), partitions,
                      [fixed](PartitionId) -> Result<std::unique_ptr<Operator>> { return std::make_unique<HashJoin>(fixed); });
  return PhysicalNodePtr(PassingChanges(std::move(node), sql::ChangelogMode::kUpsert));
}

Result<PhysicalNodePtr> PlanNestedLoopJoin(PlanContext& context, const sql::Join& join, JoinKind kind, PhysicalNodePtr left,
                                           PhysicalNodePtr right) {
  auto params = std::make_shared<NestedLoopJoinParams>();
  params->kind = kind;
  params->left_types = TypesOf(left->output);
  params->right_types = TypesOf(right->output);
  params->left_output = AllColumns(left->output.size());
  if (!IsSemi(kind)) params->right_output = AllColumns(right->output.size());
  const ExprList conjuncts = join.condition != nullptr ? ExprList{join.condition} : ExprList{};
  TW_ASSIGN_OR_RETURN(params->condition, ConditionOf(context, conjuncts, join.condition, left->output, right->output));
  if (EmitsUnmatched(kind, 1)) left = Gathered(std::move(left));
  const int partitions = left->num_partitions;
  std::vector<PhysicalInput> inputs(2);
  inputs[0] = {std::move(left), Distribution::kSame, {}, 0};
  const bool same = partitions == 1 && right->num_partitions == 1;
  inputs[1] = {std::move(right), same ? Distribution::kSame : Distribution::kBroadcast, {}, 0};
  std::string text = "NestedLoopJoin " + KindText(kind);
  if (join.condition != nullptr) text += ", " + join.condition->PlanText();
  std::shared_ptr<const NestedLoopJoinParams> fixed = params;
  auto node = NewNode("NestedLoopJoin", text, std::move(inputs), join.output(), partitions,
                      [fixed](PartitionId) -> Result<std::unique_ptr<Operator>> { return std::make_unique<NestedLoopJoin>(fixed); });
  return PhysicalNodePtr(PassingChanges(std::move(node), sql::ChangelogMode::kUpsert));
}

}  // namespace

Result<PhysicalNodePtr> PlanJoin(PlanContext& context, const sql::PlanPtr& node) {
  const auto& join = static_cast<const sql::Join&>(*node);
  const bool left_streams = join.child(0)->is_streaming();
  const bool right_streams = join.child(1)->is_streaming();
  if (context.stream != nullptr && left_streams && right_streams) return PlanStreamJoin(context, join);
  const JoinKind kind = KindOf(join.type);
  TW_ASSIGN_OR_RETURN(PhysicalNodePtr left, context.Plan(join.child(0)));
  TW_ASSIGN_OR_RETURN(PhysicalNodePtr right, context.Plan(join.child(1)));
  const EquiKeys keys = SplitCondition(join.condition, left->output, right->output);
  if (keys.left.empty()) return PlanNestedLoopJoin(context, join, kind, std::move(left), std::move(right));
  return PlanHashJoin(context, join, kind, keys, std::move(left), std::move(right));
}

}  // namespace thalweg::engine
