#include "engine/planner/stream_join.h"

#include <algorithm>
#include <array>

#include "engine/planner/stateful_node.h"
#include "engine/stateful/join_state_format.h"
#include "engine/stateful/stream_join.h"
#include "sql/analyzer/join_watermark.h"
#include "sql/stateful_shape/rules.h"

namespace thalweg::engine {
namespace {

using sql::AttributeList;
using sql::ExprList;
using sql::ExprPtr;

struct Kind {
  JoinKind kind;
  const char* text;
};

Result<Kind> StreamKindOf(sql::JoinType type) {
  switch (type) {
    case sql::JoinType::kInner:
    case sql::JoinType::kCross: return Kind{JoinKind::kInner, "Inner"};
    case sql::JoinType::kLeftOuter: return Kind{JoinKind::kLeftOuter, "LeftOuter"};
    case sql::JoinType::kRightOuter: return Kind{JoinKind::kRightOuter, "RightOuter"};
    case sql::JoinType::kFullOuter: return Kind{JoinKind::kFullOuter, "FullOuter"};
    case sql::JoinType::kLeftSemi: return Kind{JoinKind::kLeftSemi, "LeftSemi"};
    case sql::JoinType::kLeftAnti: break;
  }
  return InternalError("an anti join of two streams");
}

bool IsWatermarked(const sql::Attribute& attribute) {
  return sql::WatermarkDelayMs(attribute.metadata_json()).has_value();
}

KeyEventTime EventTimeAt(size_t column, const data::DataType& type) {
  return {static_cast<int>(column), type.Is(data::TypeKind::kStruct)};
}

/// The key whose event time rules both sides: the first of the left ones that has a watermark, else of the right ones.
std::optional<size_t> EventTimeKey(const ExprList& left, const AttributeList& left_columns, const ExprList& right,
                                   const AttributeList& right_columns) {
  const auto find = [](const ExprList& keys, const AttributeList& columns) -> std::optional<size_t> {
    for (size_t i = 0; i < keys.size(); ++i) {
      const auto* key = keys[i]->As<sql::Attribute>();
      if (key == nullptr) continue;
      const auto at = Position(columns, key->id());
      if (at && IsWatermarked(*columns[static_cast<size_t>(*at)])) return i;
    }
    return std::nullopt;
  };
  const auto found = find(left, left_columns);
  return found ? found : find(right, right_columns);
}

/// When rows of a side are given up by a range of the condition. Source: StreamingJoinHelper.getStateValueWatermark.
std::optional<JoinExpiry> RangeExpiry(const sql::Join& join, size_t side, const AttributeList& columns) {
  if (std::none_of(columns.begin(), columns.end(), [](const auto& column) { return IsWatermarked(*column); })) return std::nullopt;
  JoinExpiry expiry;
  std::optional<int> column;
  for (const sql::EventTimeBound& bound : sql::FindEventTimeBounds(join, join.child(side), join.child(1 - side))) {
    const auto at = Position(columns, bound.attribute->id());
    // Conjuncts about another time than the first one's do not say when a row of that time expires.
    if (!at || (column && *at != *column)) continue;
    column = at;
    expiry.ranges.push_back({bound.offset_us, bound.inclusive});
  }
  if (!column) return std::nullopt;
  expiry.time = EventTimeAt(static_cast<size_t>(*column), columns[static_cast<size_t>(*column)]->type());
  return expiry;
}

/// What of the condition is left beside equal keys: filters of either side, and what needs both.
struct Conditions {
  std::array<ExprList, 2> sides;
  ExprList both;
};

Conditions SplitConditions(const sql::Join& join, const AttributeList& left, const AttributeList& right) {
  Conditions conditions;
  if (join.condition == nullptr) return conditions;
  const auto only = [](const ExprPtr& expression, const AttributeList& columns) {
    return !sql::References(expression).empty() && RefersOnlyTo(expression, columns);
  };
  for (const ExprPtr& conjunct : sql::SplitConjunction(join.condition)) {
    const sql::Join one(join.child(0), join.child(1), join.type, conjunct);
    if (conjunct->deterministic() && !sql::EquiKeys(one).empty()) continue;
    if (conjunct->deterministic() && only(conjunct, left)) {
      conditions.sides[0].push_back(conjunct);
    } else if (conjunct->deterministic() && only(conjunct, right)) {
      conditions.sides[1].push_back(conjunct);
    } else {
      conditions.both.push_back(conjunct);
    }
  }
  return conditions;
}

/// Conjuncts as one program over `input`.
Result<std::shared_ptr<const sql::Program>> CompileAll(PlanContext& context, const ExprList& conjuncts, const AttributeList& input) {
  TW_ASSIGN_OR_RETURN(const ExprPtr all, sql::Conjunction(conjuncts, *context.config));
  return context.Compile({all}, input);
}

Result<std::optional<JoinCondition>> PairCondition(PlanContext& context, const ExprList& conjuncts, const AttributeList& left,
                                                   const AttributeList& right) {
  if (conjuncts.empty()) return std::optional<JoinCondition>{};
  JoinCondition condition;
  AttributeList input;
  for (const bool is_left : {true, false}) {
    const AttributeList& columns = is_left ? left : right;
    std::vector<int>& picked = is_left ? condition.left_columns : condition.right_columns;
    for (const ExprPtr& conjunct : conjuncts) {
      for (const ExprId id : sql::References(conjunct)) {
        const auto at = Position(columns, id);
        if (!at || std::find(picked.begin(), picked.end(), *at) != picked.end()) continue;
        picked.push_back(*at);
        input.push_back(columns[static_cast<size_t>(*at)]);
      }
    }
  }
  TW_ASSIGN_OR_RETURN(condition.program, CompileAll(context, conjuncts, input));
  return std::optional<JoinCondition>(std::move(condition));
}

/// What is on disk depends on the columns: the optimizer must not have changed them.
Status CheckColumns(const sql::StatefulOperatorLayout& layout, const std::string& side, const AttributeList& columns) {
  for (const sql::StateStoreLayout& store : layout.stores) {
    if (store.name != side + kKeyWithIndexToValue) continue;
    bool same = store.value_schema.size() == columns.size() + 1;
    for (size_t i = 0; same && i < columns.size(); ++i) same = store.value_schema[i].type.SameType(columns[i]->type());
    if (!same) return InternalError("the columns of the " + side + " join side are not those of the state layout");
  }
  return Status::OK();
}

std::string JoinText(const Kind& kind, const ExprList& left, const ExprList& right, const ExprList& rest, int64_t id) {
  std::string text = "StreamingSymmetricHashJoin " + ListText(left) + ", " + ListText(right) + ", " + kind.text;
  for (size_t i = 0; i < rest.size(); ++i) text += (i > 0 ? " AND " : ", ") + rest[i]->PlanText();
  return text + ", operatorId=" + std::to_string(id);
}

/// The watermark below which no row comes out: rows of either side may wait until their side's bound.
std::function<int64_t(int64_t)> OutputWatermark(const StreamJoinSpec& spec) {
  return [left = spec.sides[0].expiry, right = spec.sides[1].expiry](int64_t input_ms) {
    int64_t least = input_ms;
    for (const auto* expiry : {&left, &right}) {
      if (*expiry) least = std::min(least, (*expiry)->BoundMs(input_ms));
    }
    return least;
  };
}

}  // namespace

Result<PhysicalNodePtr> PlanStreamJoin(PlanContext& context, const sql::Join& join) {
  TW_ASSIGN_OR_RETURN(const sql::StatefulOperatorLayout* found, LayoutAt(context, context.next_stateful++, "symmetricHashJoin"));
  const sql::StatefulOperatorLayout& layout = *found;
  TW_ASSIGN_OR_RETURN(const Kind kind, StreamKindOf(join.type));
  StreamJoinSpec spec;
  spec.operator_id = OperatorId(layout.id);
  spec.kind = kind.kind;
  TW_ASSIGN_OR_RETURN(spec.state, StateOfRun(context));
  const std::array<const ExprList*, 2> keys = {&layout.partitioning, &layout.right_partitioning};
  for (const ExprPtr& key : *keys[0]) spec.key_types.push_back(key->type());

  // Left before right: the order in which sources and operators below are numbered.
  std::array<AttributeList, 2> columns;
  std::vector<PhysicalInput> inputs(2);
  for (const size_t side : {0, 1}) {
    TW_ASSIGN_OR_RETURN(PhysicalNodePtr input, context.Plan(join.child(side)));
    columns[side] = input->output;
    TW_RETURN_NOT_OK(CheckColumns(layout, side == 0 ? "left" : "right", columns[side]));
    TW_ASSIGN_OR_RETURN(KeyedInput keyed, WithKeyColumns(context, std::move(input), *keys[side]));
    spec.sides[side].types = TypesOf(columns[side]);
    spec.sides[side].key_columns = keyed.columns;
    TW_ASSIGN_OR_RETURN(spec.sides[side].late, EventTimeOf(columns[side]));
    const bool single = context.shuffle_partitions == 1;
    inputs[side] = {keyed.node, single ? Distribution::kSingle : Distribution::kHash, keyed.columns, 0};
  }
  const Conditions conditions = SplitConditions(join, columns[0], columns[1]);
  TW_ASSIGN_OR_RETURN(spec.condition, PairCondition(context, conditions.both, columns[0], columns[1]));
  const auto time_key = EventTimeKey(*keys[0], columns[0], *keys[1], columns[1]);
  for (const size_t side : {0, 1}) {
    if (!conditions.sides[side].empty()) {
      TW_ASSIGN_OR_RETURN(spec.sides[side].filter, CompileAll(context, conditions.sides[side], inputs[side].node->output));
    }
    if (time_key) {
      spec.sides[side].expiry = JoinExpiry{true, EventTimeAt(*time_key, spec.key_types[*time_key]), {}};
    } else {
      spec.sides[side].expiry = RangeExpiry(join, side, columns[side]);
    }
  }
  const bool expires = spec.sides[0].expiry || spec.sides[1].expiry;
  auto output_watermark = OutputWatermark(spec);
  std::string text = JoinText(kind, *keys[0], *keys[1], conditions.both, layout.id);
  auto node = NewNode("StreamingSymmetricHashJoin", std::move(text), std::move(inputs), join.output(), context.shuffle_partitions,
                      MakeStreamJoin(std::move(spec)));
  node->stateful_id = layout.id;
  node->stateful_name = layout.name;
  node->evicts_by_watermark = expires;
  node->output_watermark = std::move(output_watermark);
  return PhysicalNodePtr(std::move(node));
}

}  // namespace thalweg::engine
