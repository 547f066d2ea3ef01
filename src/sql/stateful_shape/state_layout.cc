#include "sql/stateful_shape/state_layout.h"

#include <algorithm>

#include "sql/analyzer/join_watermark.h"
#include "sql/expr/function.h"
#include "sql/functions/registry.h"
#include "sql/plan/aggregate_parts.h"

namespace thalweg::sql {
namespace {

using data::Schema;
using data::StructField;

Schema SchemaOf(const AttributeList& attributes) {
  Schema schema;
  for (const AttributePtr& attribute : attributes) schema.push_back(attribute->ToField());
  return schema;
}

/// Attributes as the child puts them out: names, metadata and nullability of the plan, not of the reference.
AttributeList Current(const AttributeList& attributes, const PlanPtr& child) {
  const AttributeList output = child->output();
  AttributeList current;
  for (const AttributePtr& attribute : attributes) {
    const auto found = std::find_if(output.begin(), output.end(),
                                    [&](const AttributePtr& o) { return o->id() == attribute->id(); });
    if (found == output.end()) {
      current.push_back(attribute);
    } else {
      current.push_back((*found)->name() == attribute->name()
                            ? *found
                            : Attribute::Make(attribute->name(), (*found)->type(), (*found)->nullable(), (*found)->id(), {},
                                              (*found)->metadata_json()));
    }
  }
  return current;
}

ExprList AsExpressions(const AttributeList& attributes) { return ExprList(attributes.begin(), attributes.end()); }

bool IsSession(const AttributePtr& attribute) { return HasMetadataFlag(attribute->metadata_json(), kSessionWindowFlag); }

Result<StatefulOperatorLayout> AggregateLayout(const Aggregate& aggregate) {
  TW_ASSIGN_OR_RETURN(const AggregateParts parts, SplitAggregate(aggregate));
  StatefulOperatorLayout layout;
  layout.name = "stateStoreSave";
  const AttributeList keys = Current(parts.KeyAttributes(), aggregate.child());
  Schema buffers;
  for (const auto& call : parts.calls) {
    for (const BufferField& field : call->bound().buffer) buffers.push_back({field.name, field.type, field.nullable, "{}"});
  }
  StateStoreLayout store;
  store.name = "default";
  const auto session = std::find_if(keys.begin(), keys.end(), IsSession);
  if (session == keys.end()) {
    store.key_schema = SchemaOf(keys);
    store.value_schema = std::move(buffers);
    layout.partitioning = AsExpressions(keys);
    layout.stores.push_back(std::move(store));
    return layout;
  }
  layout.name = "sessionWindowStateStoreSaveExec";
  layout.state_format_version = 1;
  AttributeList others;
  for (const AttributePtr& key : keys) {
    if (!IsSession(key)) others.push_back(key);
  }
  if (others.empty()) {
    return Error("_LEGACY_ERROR_TEMP_3102")
        .With("msg", "Global aggregation with session window in streaming query is not supported.");
  }
  store.key_schema = SchemaOf(others);
  store.key_schema.push_back({"sessionStartTime", (*session)->type().fields()[0].type, false, "{}"});
  store.value_schema = SchemaOf(keys);
  store.value_schema.insert(store.value_schema.end(), buffers.begin(), buffers.end());
  store.prefix_key_columns = static_cast<int>(others.size());
  layout.partitioning = AsExpressions(others);
  layout.stores.push_back(std::move(store));
  return layout;
}

StatefulOperatorLayout DeduplicateLayout(const Deduplicate& dedup) {
  StatefulOperatorLayout layout;
  layout.name = dedup.within_watermark ? "dedupeWithinWatermark" : "dedupe";
  const AttributeList keys = Current(dedup.keys, dedup.child());
  StateStoreLayout store;
  store.name = "default";
  store.key_schema = SchemaOf(keys);
  if (dedup.within_watermark) {
    store.value_schema.push_back({"expiresAtMicros", DataType::Long(), false, "{}"});
  } else {
    store.value_schema.push_back({"__dummy__", DataType::Null(), true, "{}"});
  }
  layout.stores.push_back(std::move(store));
  layout.partitioning = AsExpressions(keys);
  return layout;
}

StatefulOperatorLayout LimitLayout() {
  StatefulOperatorLayout layout;
  layout.name = "globalLimit";
  StateStoreLayout store;
  store.name = "default";
  store.key_schema.push_back({"key", DataType::Null(), true, "{}"});
  store.value_schema.push_back({"value", DataType::Long(), true, "{}"});
  layout.stores.push_back(std::move(store));
  return layout;
}

/// The side's columns; what a filter directly on the side's rows has found present is not nullable.
Schema SideSchema(const PlanPtr& side) {
  Schema schema = SchemaOf(side->output());
  std::vector<ExprId> present;
  for (PlanPtr node = side; node->kind() == PlanKind::kFilter || node->kind() == PlanKind::kProject; node = node->child()) {
    if (const auto* project = node->As<Project>()) {
      // Spark leaves out projects that only drop columns; above any other the columns are what the plan says.
      const bool drops = std::all_of(project->list.begin(), project->list.end(),
                                     [](const ExprPtr& e) { return e->kind() == ExprKind::kAttribute; });
      if (!drops) break;
      continue;
    }
    const auto* filter = node->As<Filter>();
    for (const ExprPtr& conjunct : SplitConjunction(filter->condition)) {
      const auto* call = conjunct->As<Call>();
      if (call == nullptr || call->function_name() != "isnotnull") continue;
      for (const ExprId id : References(call->child())) {
        if (call->child()->kind() == ExprKind::kAttribute) present.push_back(id);
      }
    }
  }
  const AttributeList output = side->output();
  for (size_t i = 0; i < output.size(); ++i) {
    if (std::find(present.begin(), present.end(), output[i]->id()) != present.end()) schema[i].nullable = false;
  }
  return schema;
}

/// What stands for null in a null-safe key. Source: Literal.default.
ExprPtr DefaultOf(const DataType& type) {
  switch (type.physical()) {
    case data::PhysicalType::kBool: return Literal::Make(Value(false), type);
    case data::PhysicalType::kInt8: return Literal::Make(Value(int8_t{0}), type);
    case data::PhysicalType::kInt16: return Literal::Make(Value(int16_t{0}), type);
    case data::PhysicalType::kInt32: return Literal::Make(Value(int32_t{0}), type);
    case data::PhysicalType::kInt64: return Literal::Make(Value(int64_t{0}), type);
    case data::PhysicalType::kFloat: return Literal::Make(Value(0.0F), type);
    case data::PhysicalType::kDouble: return Literal::Make(Value(0.0), type);
    case data::PhysicalType::kInt128: return Literal::Make(Value(data::Int128{0}), type);
    case data::PhysicalType::kText: return Literal::Make(Value(std::string()), type);
    default: return nullptr;
  }
}

/// Keys as they are hashed and stored: a null-safe one is a value without null and whether it was one.
/// Source: ExtractEquiJoinKeys.
Result<std::vector<std::pair<ExprPtr, ExprPtr>>> StoredKeys(const Join& join, const EvalConfig& config) {
  std::vector<std::pair<ExprPtr, ExprPtr>> stored;
  if (join.condition == nullptr) return stored;
  for (const ExprPtr& conjunct : SplitConjunction(join.condition)) {
    const Join one(join.child(0), join.child(1), join.type, conjunct);
    for (const auto& [left, right] : EquiKeys(one)) {
      if (conjunct->As<Call>()->function_name() != "<=>") {
        stored.emplace_back(left, right);
        continue;
      }
      const ExprPtr otherwise = DefaultOf(left->type());
      if (otherwise == nullptr) return Unsupported("null-safe stream join keys of type " + left->type().Sql());
      const BindContext context{config};
      std::pair<ExprPtr, ExprPtr> value;
      std::pair<ExprPtr, ExprPtr> absent;
      for (const bool is_left : {true, false}) {
        const ExprPtr& key = is_left ? left : right;
        TW_ASSIGN_OR_RETURN(ExprPtr present, BindBuiltin("coalesce", {key, otherwise}, context));
        TW_ASSIGN_OR_RETURN(ExprPtr is_null, BindBuiltin("isnull", {key}, context));
        (is_left ? value.first : value.second) = std::move(present);
        (is_left ? absent.first : absent.second) = std::move(is_null);
      }
      stored.push_back(std::move(value));
      stored.push_back(std::move(absent));
    }
  }
  return stored;
}

Result<StatefulOperatorLayout> JoinLayout(const Join& join, const EvalConfig& config) {
  TW_ASSIGN_OR_RETURN(const auto keys, StoredKeys(join, config));
  if (keys.empty()) return Error("_LEGACY_ERROR_TEMP_1181");
  StatefulOperatorLayout layout;
  layout.name = "symmetricHashJoin";
  for (const auto& [left, right] : keys) {
    layout.partitioning.push_back(left);
    layout.right_partitioning.push_back(right);
  }
  for (const bool is_left : {true, false}) {
    Schema key_schema;
    for (size_t i = 0; i < keys.size(); ++i) {
      const ExprPtr& key = is_left ? keys[i].first : keys[i].second;
      key_schema.push_back({"field" + std::to_string(i), key->type(), key->nullable(), "{}"});
    }
    const std::string side = is_left ? "left" : "right";
    StateStoreLayout counts;
    counts.name = side + "-keyToNumValues";
    counts.key_schema = key_schema;
    counts.value_schema.push_back({"value", DataType::Long(), true, "{}"});
    layout.stores.push_back(std::move(counts));
    StateStoreLayout rows;
    rows.name = side + "-keyWithIndexToValue";
    rows.key_schema = key_schema;
    rows.key_schema.push_back({"index", DataType::Long(), true, "{}"});
    rows.value_schema = SideSchema(join.child(is_left ? 0 : 1));
    rows.value_schema.push_back({"matched", DataType::Boolean(), true, "{}"});
    layout.stores.push_back(std::move(rows));
  }
  return layout;
}

bool HasStreamingAggregate(const PlanPtr& plan) {
  bool found = false;
  Visit(plan, [&](const PlanPtr& node) {
    found = found || (node->kind() == PlanKind::kAggregate && node->is_streaming());
    return !found;
  });
  return found;
}

bool ChildStreams(const LogicalPlan& node, OutputMode) { return node.child()->is_streaming(); }

bool BothStream(const LogicalPlan& node, OutputMode) { return node.child(0)->is_streaming() && node.child(1)->is_streaming(); }

/// Rows are only ever appended: how many were let through must be remembered.
bool LimitsAppendedRows(const LogicalPlan& node, OutputMode mode) {
  return node.child()->is_streaming() && (mode == OutputMode::kAppend || !HasStreamingAggregate(node.child()));
}

/// A kind of node that may keep state: when it does, and what it keeps then.
struct StatefulKind {
  PlanKind kind;
  bool (*keeps_state)(const LogicalPlan& node, OutputMode mode);
  Result<StatefulOperatorLayout> (*layout)(const LogicalPlan& node, const EvalConfig& config);
};

constexpr StatefulKind kStatefulKinds[] = {
    {PlanKind::kAggregate, &ChildStreams,
     [](const LogicalPlan& node, const EvalConfig&) { return AggregateLayout(static_cast<const Aggregate&>(node)); }},
    {PlanKind::kDeduplicate, &ChildStreams,
     [](const LogicalPlan& node, const EvalConfig&) -> Result<StatefulOperatorLayout> {
       return DeduplicateLayout(static_cast<const Deduplicate&>(node));
     }},
    {PlanKind::kJoin, &BothStream,
     [](const LogicalPlan& node, const EvalConfig& config) { return JoinLayout(static_cast<const Join&>(node), config); }},
    {PlanKind::kLimit, &LimitsAppendedRows,
     [](const LogicalPlan&, const EvalConfig&) -> Result<StatefulOperatorLayout> { return LimitLayout(); }},
};

/// Null for nodes that keep nothing.
const StatefulKind* FindStatefulKind(const LogicalPlan& node, OutputMode mode) {
  const auto* found = std::find_if(std::begin(kStatefulKinds), std::end(kStatefulKinds),
                                   [&](const StatefulKind& stateful) { return stateful.kind == node.kind(); });
  return found != std::end(kStatefulKinds) && found->keeps_state(node, mode) ? found : nullptr;
}

}  // namespace

bool KeepsState(const LogicalPlan& node, OutputMode mode) { return FindStatefulKind(node, mode) != nullptr; }

Result<StateLayout> LayoutOf(const PlanPtr& plan, OutputMode mode, const EvalConfig& config) {
  StateLayout layout;
  Status failed;
  Visit(plan, [&](const PlanPtr& node) {
    if (!failed.ok()) return false;
    if (const auto* relation = node->As<Relation>(); relation != nullptr && relation->streaming) {
      layout.sources.push_back(relation);
    }
    const StatefulKind* stateful = FindStatefulKind(*node, mode);
    if (stateful == nullptr) return true;
    Result<StatefulOperatorLayout> one = stateful->layout(*node, config);
    if (!one.ok()) {
      failed = std::move(one).status();
      return false;
    }
    one->id = static_cast<int64_t>(layout.operators.size());
    one->node = node.get();
    layout.operators.push_back(*std::move(one));
    return true;
  });
  TW_RETURN_NOT_OK(failed);
  return layout;
}

}  // namespace thalweg::sql
