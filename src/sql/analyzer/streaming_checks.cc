// What a streaming query may not do, in Spark's order and words. Source: Spark's UnsupportedOperationChecker.

#include <algorithm>

#include "sql/analyzer/analyzer.h"
#include "sql/analyzer/join_watermark.h"
#include "sql/plan/commands.h"

namespace thalweg::sql {
namespace {

const char* ModeName(OutputMode mode) {
  switch (mode) {
    case OutputMode::kAppend: return "Append";
    case OutputMode::kUpdate: return "Update";
    default: return "Complete";
  }
}

Status Refuse(const std::string& text, const LogicalPlan& plan) {
  return Error("_LEGACY_ERROR_TEMP_3102").With("msg", text + ";\n" + plan.TreeText());
}

Status RefuseMode(OutputMode mode, const char* operation) {
  const char* const name = mode == OutputMode::kAppend ? "append" : mode == OutputMode::kUpdate ? "update" : "complete";
  return Error("STREAMING_OUTPUT_MODE.UNSUPPORTED_OPERATION").With("outputMode", name).With("operation", operation);
}

/// Aggregations over streams: GROUP BY and SELECT DISTINCT.
bool IsStreamingAggregate(const LogicalPlan& plan) {
  return (plan.kind() == PlanKind::kAggregate || plan.kind() == PlanKind::kDistinct) && plan.child()->is_streaming();
}

std::vector<PlanPtr> StreamingAggregates(const PlanPtr& plan) {
  std::vector<PlanPtr> found;
  Visit(plan, [&](const PlanPtr& node) {
    if (IsStreamingAggregate(*node)) found.push_back(node);
    return true;
  });
  return found;
}

/// Grouping columns as the child puts them out, so that their metadata is there.
AttributeList GroupingAttributes(const LogicalPlan& aggregate) {
  const AttributeList input = aggregate.child()->output();
  if (aggregate.kind() == PlanKind::kDistinct) return input;
  AttributeList out;
  for (const ExprPtr& group : static_cast<const Aggregate&>(aggregate).grouping) {
    const auto* attribute = group->As<Attribute>();
    if (attribute == nullptr) continue;
    for (const AttributePtr& column : input) {
      if (column->id() == attribute->id()) out.push_back(column);
    }
  }
  return out;
}

bool AnyWatermarked(const AttributeList& attributes) {
  return std::any_of(attributes.begin(), attributes.end(),
                     [](const AttributePtr& a) { return WatermarkDelayMs(a->metadata_json()).has_value(); });
}

Status CheckOutputMode(const std::vector<PlanPtr>& aggregates, OutputMode mode) {
  if (mode == OutputMode::kComplete) {
    return aggregates.empty() ? RefuseMode(mode, "no streaming aggregations") : Status::OK();
  }
  if (aggregates.empty()) return Status::OK();
  const AttributeList groups = GroupingAttributes(*aggregates[0]);
  if (mode == OutputMode::kAppend) {
    return AnyWatermarked(groups) ? Status::OK() : RefuseMode(mode, "streaming aggregations without watermark");
  }
  const bool session = std::any_of(groups.begin(), groups.end(), [](const AttributePtr& group) {
    return HasMetadataFlag(group->metadata_json(), kSessionWindowFlag);
  });
  return session ? RefuseMode(mode, "session window streaming aggregations") : Status::OK();
}

Status CheckAggregateCalls(const Aggregate& aggregate) {
  bool distinct = false;
  const AggregateFunction* foreign = nullptr;
  for (const ExprPtr& expr : aggregate.aggregates) {
    Visit(expr, [&](const ExprPtr& node) {
      const auto* call = node->As<AggregateCall>();
      distinct = distinct || (call != nullptr && call->distinct());
      if (call != nullptr && !call->bound().function->spark_buffer) foreign = call->bound().function;
      return true;
    });
  }
  // A checkpoint holds what Spark would write, or nothing.
  if (foreign != nullptr) return Unsupported(std::string(foreign->name) + " as the state of a stream");
  if (!distinct) return Status::OK();
  return Refuse(
      "Distinct aggregations are not supported on streaming DataFrames/Datasets. Consider using "
      "approx_count_distinct() instead.",
      aggregate);
}

const char* JoinName(JoinType type) {
  static const char* const kNames[] = {"Inner",     "Cross",    "LeftOuter", "RightOuter",
                                       "FullOuter", "LeftSemi", "LeftAnti"};
  return kNames[static_cast<int>(type)];
}

Status CheckJoinWatermark(const Join& join) {
  if (HasWatermarkedJoinKey(join)) return Status::OK();
  const PlanPtr& left = join.child(0);
  const PlanPtr& right = join.child(1);
  const bool left_bound = FindEventTimeBound(join, left, right).has_value();
  const bool right_bound = FindEventTimeBound(join, right, left).has_value();
  bool enough = left_bound || right_bound;
  if (join.type == JoinType::kLeftOuter || join.type == JoinType::kLeftSemi) enough = left_bound;
  if (join.type == JoinType::kRightOuter) enough = right_bound;
  if (enough) return Status::OK();
  return Refuse(std::string("Stream-stream ") + JoinName(join.type) +
                    " join between two streaming DataFrame/Datasets is not supported without a watermark in the join "
                    "keys, or a watermark on the nullable side and an appropriate range condition",
                join);
}

Status CheckJoin(const Join& join, OutputMode mode) {
  const bool left = join.child(0)->is_streaming();
  const bool right = join.child(1)->is_streaming();
  if (!left && !right) return Status::OK();
  const std::string name = JoinName(join.type);
  const bool outer = join.type == JoinType::kLeftOuter || join.type == JoinType::kRightOuter ||
                     join.type == JoinType::kFullOuter;
  if (left && right && outer && mode != OutputMode::kAppend) {
    return Refuse(name + " join between two streaming DataFrames/Datasets is not supported in " + ModeName(mode) +
                      " output mode, only in Append output mode",
                  join);
  }
  if (left && right && !outer && join.type != JoinType::kLeftAnti && mode == OutputMode::kComplete) {
    return Refuse(name + " join between two streaming DataFrames/Datasets is not supported in " + ModeName(mode) +
                      " output mode, only in Append and Update output modes",
                  join);
  }
  switch (join.type) {
    case JoinType::kInner:
    case JoinType::kCross:
      return Status::OK();
    case JoinType::kFullOuter:
      if (left && !right) {
        return Refuse(
            "FullOuter joins with streaming DataFrames/Datasets on the left and a static DataFrame/Dataset on the right "
            "is not supported",
            join);
      }
      if (!left && right) {
        return Refuse(
            "FullOuter joins with streaming DataFrames/Datasets on the right and a static DataFrame/Dataset on the left "
            "is not supported",
            join);
      }
      return CheckJoinWatermark(join);
    case JoinType::kLeftAnti:
      if (right) return Refuse("LeftAnti joins with a streaming DataFrame/Dataset on the right are not supported", join);
      return Status::OK();
    case JoinType::kLeftOuter:
    case JoinType::kLeftSemi:
      if (!left && right) {
        return Refuse(name + " join with a streaming DataFrame/Dataset on the right and a static DataFrame/Dataset on "
                             "the left is not supported",
                      join);
      }
      return left && right ? CheckJoinWatermark(join) : Status::OK();
    case JoinType::kRightOuter:
      if (left && !right) {
        return Refuse(
            "RightOuter join with a streaming DataFrame/Dataset on the left and a static DataFrame/DataSet on the right "
            "not supported",
            join);
      }
      return left && right ? CheckJoinWatermark(join) : Status::OK();
  }
  return Status::OK();
}

Status CheckSetOperation(const Union& node) {
  const PlanList& children = node.children();
  const auto streams = [](const PlanPtr& child) { return child->is_streaming(); };
  const bool any = std::any_of(children.begin(), children.end(), streams);
  const bool all = std::all_of(children.begin(), children.end(), streams);
  if (node.op == SetOp::kUnion && any && !all) {
    return Refuse("Union between streaming and batch DataFrames/Datasets is not supported", node);
  }
  if (node.op == SetOp::kExcept && children[1]->is_streaming()) {
    return Refuse("Except on a streaming DataFrame/Dataset on the right is not supported", node);
  }
  if (node.op == SetOp::kIntersect && any) {
    return Refuse("Intersect of streaming DataFrames/Datasets is not supported", node);
  }
  return Status::OK();
}

Status CheckExpressions(const LogicalPlan& plan) {
  std::string texts;
  for (const ExprPtr& expr : plan.expressions()) {
    Visit(expr, [&](const ExprPtr& node) {
      const auto* call = node->As<Call>();
      if (call != nullptr && call->function_name() == "monotonically_increasing_id") {
        texts += (texts.empty() ? "" : ", ") + node->Sql();
      }
      return true;
    });
  }
  if (texts.empty()) return Status::OK();
  return Refuse("Expression(s): " + texts + " is not supported with streaming DataFrames/Datasets", plan);
}

Status CheckNode(const PlanPtr& plan, OutputMode mode, bool aggregated) {
  const bool streaming_child = !plan->children().empty() && plan->child()->is_streaming();
  switch (plan->kind()) {
    case PlanKind::kAggregate:
      if (streaming_child) TW_RETURN_NOT_OK(CheckAggregateCalls(static_cast<const Aggregate&>(*plan)));
      break;
    case PlanKind::kCommand:
      return Refuse("Commands like CreateTable*, AlterTable*, Show* are not supported with streaming DataFrames/Datasets",
                    *plan);
    case PlanKind::kJoin: TW_RETURN_NOT_OK(CheckJoin(static_cast<const Join&>(*plan), mode)); break;
    case PlanKind::kDeduplicate:
      if (static_cast<const Deduplicate&>(*plan).within_watermark && streaming_child &&
          !AnyWatermarked(plan->child()->output())) {
        return Refuse(
            "dropDuplicatesWithinWatermark is not supported on streaming DataFrames/DataSets without watermark", *plan);
      }
      break;
    case PlanKind::kUnion: TW_RETURN_NOT_OK(CheckSetOperation(static_cast<const Union&>(*plan))); break;
    case PlanKind::kLimit:
    case PlanKind::kTail:
      if (streaming_child && mode == OutputMode::kUpdate) {
        return Refuse("Limits are not supported on streaming DataFrames/Datasets in Update output mode", *plan);
      }
      break;
    case PlanKind::kOffset: return Refuse("Offset is not supported on streaming DataFrames/Datasets", *plan);
    case PlanKind::kSort: {
      const bool complete = mode == OutputMode::kComplete && !StreamingAggregates(plan->child()).empty();
      if (streaming_child && !(complete && aggregated)) {
        return Refuse(
            "Sorting is not supported on streaming DataFrames/Datasets, unless it is on aggregated DataFrame/Dataset in "
            "Complete output mode",
            *plan);
      }
      break;
    }
    case PlanKind::kSample:
      if (streaming_child) return Refuse("Sampling is not supported on streaming DataFrames/Datasets", *plan);
      break;
    default: break;
  }
  return plan->is_streaming() ? CheckExpressions(*plan) : Status::OK();
}

/// Bottom-up.
Status CheckNodes(const PlanPtr& plan, OutputMode mode, bool aggregated) {
  for (const PlanPtr& child : plan->children()) TW_RETURN_NOT_OK(CheckNodes(child, mode, aggregated));
  return CheckNode(plan, mode, aggregated);
}

bool IsStateful(const PlanPtr& plan) {
  switch (plan->kind()) {
    case PlanKind::kAggregate:
    case PlanKind::kDistinct: return plan->child()->is_streaming();
    case PlanKind::kJoin: return plan->child(0)->is_streaming() && plan->child(1)->is_streaming();
    case PlanKind::kDeduplicate: {
      const auto& dedup = static_cast<const Deduplicate&>(*plan);
      if (!plan->child()->is_streaming()) return false;
      if (dedup.within_watermark) return true;
      const AttributeList input = plan->child()->output();
      AttributeList keys;
      for (const AttributePtr& key : dedup.keys) {
        for (const AttributePtr& column : input) {
          if (column->id() == key->id()) keys.push_back(column);
        }
      }
      return AnyWatermarked(keys);
    }
    default: return false;
  }
}

/// An operator with state above one whose rows may still change.
Status CheckChaining(const PlanPtr& plan, OutputMode mode) {
  if (mode == OutputMode::kAppend) return Status::OK();
  Status failed;
  Visit(plan, [&](const PlanPtr& node) {
    if (!failed.ok()) return false;
    if (!IsStateful(node)) return true;
    for (const PlanPtr& child : node->children()) {
      if (!StreamingAggregates(child).empty()) {
        failed = Refuse(
            "Detected pattern of possible 'correctness' issue due to global watermark. The query contains stateful "
            "operation which can emit rows older than the current watermark plus allowed late record delay, which are "
            "\"late rows\" in downstream stateful operations and these rows can be discarded. Please refer the "
            "programming guide doc for more details. If you understand the possible risk of correctness issue and still "
            "need to run the query, you can disable this check by setting the config "
            "`spark.sql.streaming.statefulOperator.checkCorrectness.enabled` to false.",
            *plan);
      }
    }
    return true;
  });
  return failed;
}

}  // namespace

Status CheckStreamingSupported(const PlanPtr& plan, OutputMode mode) {
  if (!plan->is_streaming()) {
    return Refuse("Queries without streaming sources cannot be executed with writeStream.start()", *plan);
  }
  const std::vector<PlanPtr> aggregates = StreamingAggregates(plan);
  TW_RETURN_NOT_OK(CheckOutputMode(aggregates, mode));
  TW_RETURN_NOT_OK(CheckNodes(plan, mode, !aggregates.empty()));
  return CheckChaining(plan, mode);
}

Status CheckBatchSupported(const PlanPtr& plan) {
  Status failed;
  Visit(plan, [&](const PlanPtr& node) {
    if (!failed.ok()) return false;
    const auto* relation = node->As<Relation>();
    if (relation != nullptr && relation->streaming) {
      failed = Refuse(
          "Queries with streaming sources must be executed with writeStream.start(), or from a streaming table or flow "
          "definition within a Spark Declarative Pipeline.",
          *node);
    }
    if (const auto* dedup = node->As<Deduplicate>(); dedup != nullptr && dedup->within_watermark && !node->is_streaming()) {
      failed = Refuse("dropDuplicatesWithinWatermark is not supported with batch DataFrames/DataSets", *node);
    }
    return true;
  });
  return failed;
}

}  // namespace thalweg::sql
