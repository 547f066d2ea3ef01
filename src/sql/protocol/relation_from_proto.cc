#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl_lite.h>
#include <spark/connect/relations.pb.h>

#include "base/query_context.h"
#include "sql/expr/attribute_name.h"
#include "sql/protocol/delta_proto.h"
#include "sql/protocol/depth_guard.h"
#include "sql/protocol/plan_proto.h"
#include "sql/protocol/protocol_errors.h"
#include "sql/protocol/relation_readers.h"
#include "sql/protocol/type_proto.h"

// Clients before 4.1 still send the deprecated fields.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

namespace thalweg::sql {

namespace {

namespace pb = ::spark::connect;

std::vector<std::string> Strings(const google::protobuf::RepeatedPtrField<std::string>& list) { return {list.begin(), list.end()}; }

Result<PlanPtr> ReadProject(const pb::Project& message, PlanReader& reader) {
  PlanPtr input = std::make_shared<OneRow>();
  if (message.has_input()) {
    TW_ASSIGN_OR_RETURN(input, reader.ReadRelation(message.input()));
  }
  TW_ASSIGN_OR_RETURN(ExprList list, reader.ReadExpressions(message.expressions()));
  return std::make_shared<Project>(std::move(list), std::move(input));
}

Result<JoinType> ReadJoinType(pb::Join::JoinType type) {
  switch (type) {
    case pb::Join::JOIN_TYPE_INNER: return JoinType::kInner;
    case pb::Join::JOIN_TYPE_FULL_OUTER: return JoinType::kFullOuter;
    case pb::Join::JOIN_TYPE_LEFT_OUTER: return JoinType::kLeftOuter;
    case pb::Join::JOIN_TYPE_RIGHT_OUTER: return JoinType::kRightOuter;
    case pb::Join::JOIN_TYPE_LEFT_ANTI: return JoinType::kLeftAnti;
    case pb::Join::JOIN_TYPE_LEFT_SEMI: return JoinType::kLeftSemi;
    case pb::Join::JOIN_TYPE_CROSS: return JoinType::kCross;
    default: return InvalidEnum("spark.connect.Join.JoinType", type);
  }
}

Result<PlanPtr> ReadJoin(const pb::Join& message, PlanReader& reader) {
  if (message.has_join_condition() && message.using_columns_size() > 0) {
    return Error("CONNECT_INVALID_PLAN.USING_COLUMNS_OR_JOIN_CONDITION_SET_IN_JOIN");
  }
  if (message.has_join_data_type()) return Unsupported("Dataset.joinWith");
  TW_ASSIGN_OR_RETURN(JoinType type, ReadJoinType(message.join_type()));
  TW_ASSIGN_OR_RETURN(PlanPtr left, reader.ReadRelation(message.left()));
  TW_ASSIGN_OR_RETURN(PlanPtr right, reader.ReadRelation(message.right()));
  ExprPtr condition;
  if (message.has_join_condition()) {
    TW_ASSIGN_OR_RETURN(condition, reader.ReadExpression(message.join_condition()));
  }
  auto join = std::make_shared<Join>(std::move(left), std::move(right), type, std::move(condition));
  join->using_columns = Strings(message.using_columns());
  return join;
}

Result<PlanPtr> ReadSetOperation(const pb::SetOperation& message, PlanReader& reader) {
  if (!message.has_left_input() || !message.has_right_input()) return Error("CONNECT_INVALID_PLAN.SET_OPERATION_MUST_HAVE_TWO_INPUTS");
  if (message.allow_missing_columns() && !message.by_name()) {
    return Error("CONNECT_INVALID_PLAN.UNION_BY_NAME_ALLOW_MISSING_COL_REQUIRES_BY_NAME");
  }
  TW_ASSIGN_OR_RETURN(PlanPtr left, reader.ReadRelation(message.left_input()));
  TW_ASSIGN_OR_RETURN(PlanPtr right, reader.ReadRelation(message.right_input()));
  const bool all = message.is_all();
  switch (message.set_op_type()) {
    case pb::SetOperation::SET_OP_TYPE_UNION: {
      PlanPtr all_rows = std::make_shared<Union>(PlanList{std::move(left), std::move(right)}, message.by_name(),
                                                 message.allow_missing_columns());
      if (all) return all_rows;
      return std::make_shared<Distinct>(std::move(all_rows));
    }
    case pb::SetOperation::SET_OP_TYPE_EXCEPT:
    case pb::SetOperation::SET_OP_TYPE_INTERSECT: {
      const bool except = message.set_op_type() == pb::SetOperation::SET_OP_TYPE_EXCEPT;
      if (message.by_name()) {
        return except ? Error("CONNECT_INVALID_PLAN.EXCEPT_DOES_NOT_SUPPORT_UNION_BY_NAME")
                      : Error("CONNECT_INVALID_PLAN.INTERSECT_DOES_NOT_SUPPORT_UNION_BY_NAME");
      }
      auto set = std::make_shared<Union>(PlanList{std::move(left), std::move(right)});
      set->op = except ? SetOp::kExcept : SetOp::kIntersect;
      set->all = all;
      return set;
    }
    default: return InvalidEnum("spark.connect.SetOperation.SetOpType", message.set_op_type());
  }
}

Result<PlanPtr> ReadSort(const pb::Sort& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.input()));
  ExprList orders;
  for (const pb::Expression::SortOrder& order : message.order()) {
    TW_ASSIGN_OR_RETURN(ExprPtr read, reader.ReadSortOrder(order));
    orders.push_back(std::move(read));
  }
  return std::make_shared<Sort>(std::move(orders), !message.has_is_global() || message.is_global(), std::move(input));
}

Result<PlanPtr> ReadDeduplicate(const pb::Deduplicate& message, PlanReader& reader) {
  if (!message.has_input()) return Error("CONNECT_INVALID_PLAN.DEDUPLICATE_NEEDS_INPUT");
  if (message.all_columns_as_keys() && message.column_names_size() > 0) {
    return Error("CONNECT_INVALID_PLAN.DEDUPLICATE_ALL_COLUMNS_AND_SUBSET");
  }
  if (!message.all_columns_as_keys() && message.column_names_size() == 0) {
    return Error("CONNECT_INVALID_PLAN.DEDUPLICATE_REQUIRES_COLUMNS_OR_ALL");
  }
  TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.input()));
  auto deduplicate = std::make_shared<Deduplicate>(std::move(input));
  deduplicate->column_names = Strings(message.column_names());
  deduplicate->all_columns = message.all_columns_as_keys();
  deduplicate->within_watermark = message.within_watermark();
  return deduplicate;
}

Result<PlanPtr> ReadDrop(const pb::Drop& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.input()));
  TW_ASSIGN_OR_RETURN(ExprList columns, reader.ReadExpressions(message.columns()));
  return std::make_shared<DropColumns>(std::move(columns), Strings(message.column_names()), std::move(input));
}

Result<PlanPtr> ReadWithColumns(const pb::WithColumns& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.input()));
  ExprList aliases;
  for (const pb::Expression::Alias& alias : message.aliases()) {
    if (alias.name_size() != 1) return Error("CONNECT_INVALID_PLAN.WITH_COLUMNS_REQUIRE_SINGLE_NAME_PART").With("got", alias.name_size());
    TW_ASSIGN_OR_RETURN(ExprPtr child, reader.ReadExpression(alias.expr()));
    std::optional<std::string> metadata;
    if (alias.has_metadata() && !alias.metadata().empty()) metadata = alias.metadata();
    aliases.push_back(Alias::Make(std::move(child), alias.name(0), NewExprId(), std::move(metadata)));
  }
  return std::make_shared<WithColumns>(std::move(aliases), std::move(input));
}

Result<PlanPtr> ReadRenamed(const pb::WithColumnsRenamed& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.input()));
  std::vector<std::pair<std::string, std::string>> renames;
  for (const auto& rename : message.renames()) renames.emplace_back(rename.col_name(), rename.new_col_name());
  const std::map<std::string, std::string> old(message.rename_columns_map().begin(), message.rename_columns_map().end());
  renames.insert(renames.end(), old.begin(), old.end());
  return std::make_shared<WithColumnsRenamed>(std::move(renames), std::move(input));
}

Result<PlanPtr> ReadRepartition(const pb::Repartition& message, PlanReader& reader) {
  if (message.num_partitions() < 1) return Error("CONNECT_INVALID_PLAN.ASSERTION_FAILURE").With("message", "Number of partitions must be positive.");
  TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.input()));
  return std::make_shared<Repartition>(message.num_partitions(), message.shuffle(), ExprList{}, std::move(input));
}

Result<PlanPtr> ReadRepartitionBy(const pb::RepartitionByExpression& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.input()));
  TW_ASSIGN_OR_RETURN(ExprList keys, reader.ReadExpressions(message.partition_exprs()));
  std::optional<int> partitions;
  if (message.has_num_partitions()) {
    if (message.num_partitions() < 1) return InvalidPlan("Number of partitions must be positive.");
    partitions = message.num_partitions();
  }
  return std::make_shared<Repartition>(partitions, true, std::move(keys), std::move(input));
}

Result<PlanPtr> ReadShow(const pb::ShowString& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.input()));
  return std::make_shared<ShowString>(message.num_rows(), message.truncate(), message.vertical(), std::move(input));
}

Result<PlanPtr> ReadHtml(const pb::HtmlString& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.input()));
  auto show = std::make_shared<ShowString>(message.num_rows(), message.truncate(), false, std::move(input));
  show->html = true;
  show->text = Attribute::Make("html_string", data::DataType::String(), false);
  return show;
}

Result<PlanPtr> ReadToSchema(const pb::ToSchema& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.input()));
  TW_ASSIGN_OR_RETURN(data::DataType type, TypeFromProto(message.schema()));
  if (!type.Is(data::TypeKind::kStruct)) {
    return Error("CONNECT_INVALID_PLAN.INVALID_SCHEMA_NON_STRUCT_TYPE").With("inputSchema", type.SimpleString()).With("dataType", type.Sql());
  }
  return std::make_shared<ToSchema>(type.fields(), std::move(input));
}

Result<PlanPtr> ReadHint(const pb::Hint& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.input()));
  TW_ASSIGN_OR_RETURN(ExprList parameters, reader.ReadExpressions(message.parameters()));
  return std::make_shared<Hint>(message.name(), std::move(parameters), std::move(input));
}

Result<PlanPtr> ReadMetrics(const pb::CollectMetrics& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.input()));
  TW_ASSIGN_OR_RETURN(ExprList metrics, reader.ReadExpressions(message.metrics()));
  return std::make_shared<CollectMetrics>(message.name(), std::move(metrics), std::move(input));
}

Result<PlanPtr> ReadWatermark(const pb::WithWatermark& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.input()));
  TW_ASSIGN_OR_RETURN(std::vector<std::string> name, ParseAttributeName(message.event_time()));
  return std::make_shared<EventTimeWatermark>(UnresolvedAttribute::Make(std::move(name)), message.delay_threshold(), std::move(input));
}

Result<PlanPtr> ReadAliased(const pb::SubqueryAlias& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.input()));
  std::vector<std::string> name = Strings(message.qualifier());
  name.push_back(message.alias());
  return std::make_shared<SubqueryAlias>(std::move(name), std::move(input));
}

template <typename Node, typename Message>
Result<PlanPtr> ReadCounted(const Message& message, int32_t count, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.input()));
  return std::make_shared<Node>(Literal::Integer(count), std::move(input));
}

Result<PlanPtr> ReadRange(const pb::Range& message) {
  if (message.step() == 0) return InvalidPlan("The step of a range must not be 0.");
  std::optional<int> partitions;
  if (message.has_num_partitions()) {
    if (message.num_partitions() < 1) return InvalidPlan("Number of partitions must be positive.");
    partitions = message.num_partitions();
  }
  return std::make_shared<Range>(message.start(), message.end(), message.step(), partitions);
}

// What is not there yet, by the name a user knows it by.
const char* MissingRelation(pb::Relation::RelTypeCase kind) {
  switch (kind) {
    case pb::Relation::kMapPartitions: return "Python functions over partitions (mapInPandas, mapInArrow, foreachPartition)";
    case pb::Relation::kParse: return "reading CSV, JSON or XML from a DataFrame of strings";
    case pb::Relation::kGroupMap: return "Python functions over groups (applyInPandas, applyInArrow, transformWithState)";
    case pb::Relation::kCoGroupMap: return "Python functions over co-groups (cogroup().applyInPandas, applyInArrow)";
    case pb::Relation::kApplyInPandasWithState: return "applyInPandasWithState";
    case pb::Relation::kCommonInlineUserDefinedTableFunction: return "user-defined table functions";
    case pb::Relation::kAsOfJoin: return "as-of joins";
    case pb::Relation::kCommonInlineUserDefinedDataSource: return "inline user-defined data sources";
    case pb::Relation::kLateralJoin: return "DataFrame.lateralJoin";
    case pb::Relation::kRelationChanges: return "reading the changes of a table (read.changes, readStream.changes)";
    case pb::Relation::kNearestByJoin: return "DataFrame.nearestByJoin";
    case pb::Relation::kMlRelation: return "pyspark.ml";
    default: return nullptr;
  }
}

Result<PlanPtr> ReadVariant(const pb::Relation& message, PlanReader& reader) {
  switch (message.rel_type_case()) {
    case pb::Relation::kRead: return ReadTableOrSource(message.read(), reader);
    case pb::Relation::kProject: return ReadProject(message.project(), reader);
    case pb::Relation::kFilter: {
      TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.filter().input()));
      TW_ASSIGN_OR_RETURN(ExprPtr condition, reader.ReadExpression(message.filter().condition()));
      return std::make_shared<Filter>(std::move(condition), std::move(input));
    }
    case pb::Relation::kJoin: return ReadJoin(message.join(), reader);
    case pb::Relation::kSetOp: return ReadSetOperation(message.set_op(), reader);
    case pb::Relation::kSort: return ReadSort(message.sort(), reader);
    case pb::Relation::kLimit: return ReadCounted<Limit>(message.limit(), message.limit().limit(), reader);
    case pb::Relation::kOffset: return ReadCounted<OffsetRows>(message.offset(), message.offset().offset(), reader);
    case pb::Relation::kTail: return ReadCounted<Tail>(message.tail(), message.tail().limit(), reader);
    case pb::Relation::kAggregate: return ReadAggregate(message.aggregate(), reader);
    case pb::Relation::kSql: return ReadSql(message.sql(), reader);
    case pb::Relation::kLocalRelation: return ReadLocalRelation(message.local_relation());
    case pb::Relation::kSample: return ReadSample(message.sample(), reader);
    case pb::Relation::kDeduplicate: return ReadDeduplicate(message.deduplicate(), reader);
    case pb::Relation::kRange: return ReadRange(message.range());
    case pb::Relation::kSubqueryAlias: return ReadAliased(message.subquery_alias(), reader);
    case pb::Relation::kRepartition: return ReadRepartition(message.repartition(), reader);
    case pb::Relation::kToDf: {
      TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.to_df().input()));
      return std::make_shared<ToDf>(Strings(message.to_df().column_names()), std::move(input));
    }
    case pb::Relation::kWithColumnsRenamed: return ReadRenamed(message.with_columns_renamed(), reader);
    case pb::Relation::kShowString: return ReadShow(message.show_string(), reader);
    case pb::Relation::kHtmlString: return ReadHtml(message.html_string(), reader);
    case pb::Relation::kDrop: return ReadDrop(message.drop(), reader);
    case pb::Relation::kWithColumns: return ReadWithColumns(message.with_columns(), reader);
    case pb::Relation::kHint: return ReadHint(message.hint(), reader);
    case pb::Relation::kToSchema: return ReadToSchema(message.to_schema(), reader);
    case pb::Relation::kRepartitionByExpression: return ReadRepartitionBy(message.repartition_by_expression(), reader);
    case pb::Relation::kCollectMetrics: return ReadMetrics(message.collect_metrics(), reader);
    case pb::Relation::kWithWatermark: return ReadWatermark(message.with_watermark(), reader);
    case pb::Relation::kCachedLocalRelation: return ReadCachedLocalRelation(message.cached_local_relation(), reader);
    case pb::Relation::kChunkedCachedLocalRelation:
      return ReadChunkedLocalRelation(message.chunked_cached_local_relation(), reader);
    case pb::Relation::kCachedRemoteRelation:
      return reader.environment().CachedRemoteRelation(message.cached_remote_relation().relation_id());
    case pb::Relation::kWithRelations: return ReadWithRelations(message.with_relations(), reader);
    case pb::Relation::kFillNa: return ReadFillNa(message.fill_na(), reader);
    case pb::Relation::kDropNa: return ReadDropNa(message.drop_na(), reader);
    case pb::Relation::kReplace: return ReadReplace(message.replace(), reader);
    case pb::Relation::kUnpivot: return ReadUnpivot(message.unpivot(), reader);
    case pb::Relation::kTranspose: return ReadTranspose(message.transpose(), reader);
    case pb::Relation::kUnresolvedTableValuedFunction: return ReadTableFunction(message.unresolved_table_valued_function(), reader);
    case pb::Relation::kDescribe: return ReadDescribe(message.describe(), reader);
    case pb::Relation::kSummary: return ReadSummary(message.summary(), reader);
    case pb::Relation::kCov: return ReadCov(message.cov(), reader);
    case pb::Relation::kCorr: return ReadCorr(message.corr(), reader);
    case pb::Relation::kCrosstab: return ReadCrosstab(message.crosstab(), reader);
    case pb::Relation::kApproxQuantile: return ReadApproxQuantile(message.approx_quantile(), reader);
    case pb::Relation::kFreqItems: return ReadFreqItems(message.freq_items(), reader);
    case pb::Relation::kSampleBy: return ReadSampleBy(message.sample_by(), reader);
    case pb::Relation::kCatalog: return reader.environment().CatalogCall(message.catalog());
    case pb::Relation::kExtension:
      if (bool runs = false; IsDeltaRelation(message.extension(), &runs)) return DeltaRelationFromProto(message.extension(), reader);
      return Error("CONNECT_INVALID_PLAN.NO_HANDLER_FOR_EXTENSION").With("extensionTypeUrl", message.extension().type_url());
    case pb::Relation::kUnknown:
    case pb::Relation::REL_TYPE_NOT_SET: break;
    default:
      if (const char* missing = MissingRelation(message.rel_type_case())) return Unsupported(missing);
      break;
  }
  return OneOfNotSet(message.GetTypeName(), "RELTYPE_NOT_SET");
}

// Equal messages give equal bytes, maps of options included.
std::string DeterministicBytes(const pb::Relation& message) {
  std::string bytes;
  google::protobuf::io::StringOutputStream stream(&bytes);
  google::protobuf::io::CodedOutputStream out(&stream);
  out.SetSerializationDeterministic(true);
  message.SerializeToCodedStream(&out);
  out.Trim();
  return bytes;
}

}  // namespace

Result<PlanPtr> PlanReader::ReadRelation(const pb::Relation& message) {
  const DepthGuard guard(*this);
  if (guard.too_deep()) return PlanTooDeep();
  Result<PlanPtr> plan = ReadVariant(message, *this);
  if (!message.has_common()) return plan;
  const pb::RelationCommon& common = message.common();
  if (!plan.ok() && common.origin().has_python_origin()) {
    const pb::PythonOrigin& python = common.origin().python_origin();
    return plan.status().WithQueryContext(MakeDataFrameContext(python.fragment(), python.call_site()));
  }
  if (!plan.ok() || !common.has_plan_id()) return plan;
  if (const auto* source = (*plan)->As<UnresolvedDataSource>(); source != nullptr && source->streaming && !source->schema_text) {
    plan = environment().SourceOfFrame(DeterministicBytes(message), *plan);
    TW_RETURN_NOT_OK(plan.status());
  }
  return (*plan)->WithPlanId(common.plan_id());
}

}  // namespace thalweg::sql
