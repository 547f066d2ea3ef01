#include <spark/connect/expressions.pb.h>
#include <spark/connect/relations.pb.h>

#include "base/query_context.h"
#include "sql/expr/attribute_name.h"
#include "sql/expr/named_argument.h"
#include "sql/protocol/depth_guard.h"
#include "sql/protocol/literal_proto.h"
#include "sql/protocol/plan_proto.h"
#include "sql/protocol/protocol_errors.h"
#include "sql/protocol/python_udf_proto.h"
#include "sql/protocol/type_proto.h"
#include "sql/protocol/window_from_proto.h"

namespace thalweg::sql {

namespace {

namespace pb = ::spark::connect;

Origin OriginOf(const pb::Expression& expression) {
  if (!expression.has_common() || !expression.common().origin().has_python_origin()) return nullptr;
  const pb::PythonOrigin& python = expression.common().origin().python_origin();
  return std::make_shared<const QueryContext>(MakeDataFrameContext(python.fragment(), python.call_site()));
}

Result<ExprPtr> ReadAttribute(const pb::Expression::UnresolvedAttribute& message) {
  TW_ASSIGN_OR_RETURN(std::vector<std::string> name, ParseAttributeName(message.unparsed_identifier()));
  std::optional<int64_t> plan_id;
  if (message.has_plan_id()) plan_id = message.plan_id();
  return UnresolvedAttribute::Make(std::move(name), plan_id, message.is_metadata_column());
}

Result<ExprPtr> ReadStar(const pb::Expression::UnresolvedStar& message) {
  if (!message.has_unparsed_target()) {
    return UnresolvedStar::Make({}, message.has_plan_id() ? std::optional<int64_t>(message.plan_id()) : std::nullopt);
  }
  if (message.has_plan_id()) return Error("CONNECT_INVALID_PLAN.UNRESOLVED_STAR_WITH_BOTH_TARGET_AND_PLAN_ID");
  const std::string& target = message.unparsed_target();
  if (!target.ends_with(".*")) return Error("CONNECT_INVALID_PLAN.UNRESOLVED_STAR_TARGET_INVALID").With("target", target);
  TW_ASSIGN_OR_RETURN(std::vector<std::string> name, ParseAttributeName(std::string_view(target).substr(0, target.size() - 2)));
  return UnresolvedStar::Make(std::move(name));
}

Result<ExprPtr> ReadFunction(const pb::Expression::UnresolvedFunction& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(ExprList arguments, reader.ReadExpressions(message.arguments()));
  std::vector<std::string> name{message.function_name()};
  if (message.is_user_defined_function()) {
    TW_ASSIGN_OR_RETURN(name, reader.environment().ParseName(message.function_name()));
  }
  return UnresolvedFunction::Make(std::move(name), std::move(arguments), message.is_distinct(), nullptr, message.is_internal());
}

Result<ExprPtr> ReadAlias(const pb::Expression::Alias& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(ExprPtr child, reader.ReadExpression(message.expr()));
  if (message.name_size() == 1) {
    std::optional<std::string> metadata;
    if (message.has_metadata() && !message.metadata().empty()) metadata = message.metadata();
    return Alias::Make(std::move(child), message.name(0), NewExprId(), std::move(metadata));
  }
  if (message.name_size() == 0) return InvalidPlan("An alias has no name.");
  if (message.has_metadata()) return Error("CONNECT_INVALID_PLAN.ALIAS_WITH_MULTIPLE_IDENTIFIERS_AND_METADATA");
  return Alias::MakeMulti(std::move(child), {message.name().begin(), message.name().end()});
}

Result<EvalMode> ReadEvalMode(pb::Expression::Cast::EvalMode mode) {
  switch (mode) {
    // The analyzer turns the user's ANSI cast into a legacy one where the session says so.
    case pb::Expression::Cast::EVAL_MODE_UNSPECIFIED:
    case pb::Expression::Cast::EVAL_MODE_ANSI: return EvalMode::kAnsi;
    case pb::Expression::Cast::EVAL_MODE_LEGACY: return EvalMode::kLegacy;
    case pb::Expression::Cast::EVAL_MODE_TRY: return EvalMode::kTry;
    default: return InvalidEnum("spark.connect.Expression.Cast.EvalMode", mode);
  }
}

Result<ExprPtr> ReadCast(const pb::Expression::Cast& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(ExprPtr child, reader.ReadExpression(message.expr()));
  TW_ASSIGN_OR_RETURN(EvalMode mode, ReadEvalMode(message.eval_mode()));
  data::DataType type;
  switch (message.cast_to_type_case()) {
    case pb::Expression::Cast::kType: {
      TW_ASSIGN_OR_RETURN(type, TypeFromProto(message.type()));
      break;
    }
    case pb::Expression::Cast::kTypeStr: {
      TW_ASSIGN_OR_RETURN(type, data::ParseTypeDdl(message.type_str()));
      break;
    }
    case pb::Expression::Cast::CAST_TO_TYPE_NOT_SET: return OneOfNotSet(message.GetTypeName(), "CASTTOTYPE_NOT_SET");
  }
  return Cast::Make(std::move(child), std::move(type), mode, true);
}

Result<ExprPtr> ReadExtract(const pb::Expression::UnresolvedExtractValue& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(ExprPtr child, reader.ReadExpression(message.child()));
  TW_ASSIGN_OR_RETURN(ExprPtr extraction, reader.ReadExpression(message.extraction()));
  return UnresolvedExtract::Make(std::move(child), std::move(extraction));
}

/// Column.withField and, without a value, dropFields: the analyzer makes a new struct.
Result<ExprPtr> ReadUpdateFields(const pb::Expression::UpdateFields& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(ExprPtr base, reader.ReadExpression(message.struct_expression()));
  ExprList arguments{std::move(base), Literal::String(message.field_name())};
  if (!message.has_value_expression()) return UnresolvedFunction::Make({"drop_field"}, std::move(arguments), false, nullptr, true);
  TW_ASSIGN_OR_RETURN(ExprPtr value, reader.ReadExpression(message.value_expression()));
  arguments.push_back(std::move(value));
  return UnresolvedFunction::Make({"with_field"}, std::move(arguments), false, nullptr, true);
}

Result<ExprPtr> ReadCallFunction(const pb::CallFunction& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(std::vector<std::string> name, reader.environment().ParseName(message.function_name()));
  TW_ASSIGN_OR_RETURN(ExprList arguments, reader.ReadExpressions(message.arguments()));
  return UnresolvedFunction::Make(std::move(name), std::move(arguments));
}

Result<ExprPtr> ReadVariant(const pb::Expression& message, PlanReader& reader) {
  switch (message.expr_type_case()) {
    case pb::Expression::kLiteral: return LiteralFromProto(message.literal());
    case pb::Expression::kUnresolvedAttribute: return ReadAttribute(message.unresolved_attribute());
    case pb::Expression::kUnresolvedFunction: return ReadFunction(message.unresolved_function(), reader);
    case pb::Expression::kExpressionString:
      return reader.environment().ParseExpression(message.expression_string().expression());
    case pb::Expression::kUnresolvedStar: return ReadStar(message.unresolved_star());
    case pb::Expression::kAlias: return ReadAlias(message.alias(), reader);
    case pb::Expression::kCast: return ReadCast(message.cast(), reader);
    case pb::Expression::kUnresolvedRegex:
      return UnresolvedRegex::Make(message.unresolved_regex().col_name(),
                                   message.unresolved_regex().has_plan_id()
                                       ? std::optional<int64_t>(message.unresolved_regex().plan_id())
                                       : std::nullopt);
    case pb::Expression::kSortOrder: return reader.ReadSortOrder(message.sort_order());
    case pb::Expression::kUnresolvedExtractValue: return ReadExtract(message.unresolved_extract_value(), reader);
    case pb::Expression::kCallFunction: return ReadCallFunction(message.call_function(), reader);
    case pb::Expression::kLambdaFunction:
    case pb::Expression::kUnresolvedNamedLambdaVariable: return Unsupported("lambda functions (higher-order functions)");
    case pb::Expression::kWindow: return WindowFromProto(message.window(), reader);
    case pb::Expression::kUpdateFields: return ReadUpdateFields(message.update_fields(), reader);
    case pb::Expression::kCommonInlineUserDefinedFunction:
      return PythonUdfFromProto(message.common_inline_user_defined_function(), reader);
    case pb::Expression::kNamedArgumentExpression: {
      TW_ASSIGN_OR_RETURN(ExprPtr value, reader.ReadExpression(message.named_argument_expression().value()));
      return NamedArgument(message.named_argument_expression().key(), std::move(value));
    }
    case pb::Expression::kMergeAction: return Unsupported("MERGE INTO actions");
    case pb::Expression::kTypedAggregateExpression: return Unsupported("typed aggregate expressions");
    case pb::Expression::kSubqueryExpression: return Unsupported("subquery expressions");
    case pb::Expression::kDirectShufflePartitionId: return Unsupported("DataFrame.repartitionById");
    case pb::Expression::kExtension:
      return Error("CONNECT_INVALID_PLAN.NO_HANDLER_FOR_EXTENSION").With("extensionTypeUrl", message.extension().type_url());
    case pb::Expression::EXPR_TYPE_NOT_SET: break;
  }
  return OneOfNotSet(message.GetTypeName(), "EXPRTYPE_NOT_SET");
}

}  // namespace

Result<ExprPtr> PlanReader::ReadExpression(const pb::Expression& message) {
  const DepthGuard guard(*this);
  if (guard.too_deep()) return PlanTooDeep();
  Result<ExprPtr> read = ReadVariant(message, *this);
  Origin origin = OriginOf(message);
  if (origin == nullptr) return read;
  if (!read.ok()) return read.status().WithQueryContext(*origin);
  return (*read)->WithOrigin(std::move(origin));
}

Result<ExprPtr> PlanReader::ReadSortOrder(const pb::Expression::SortOrder& message) {
  TW_ASSIGN_OR_RETURN(ExprPtr child, ReadExpression(message.child()));
  const bool ascending = message.direction() != pb::Expression::SortOrder::SORT_DIRECTION_DESCENDING;
  bool nulls_first = ascending;
  if (message.null_ordering() == pb::Expression::SortOrder::SORT_NULLS_FIRST) nulls_first = true;
  if (message.null_ordering() == pb::Expression::SortOrder::SORT_NULLS_LAST) nulls_first = false;
  return SortOrder::Make(std::move(child), ascending, nulls_first);
}

}  // namespace thalweg::sql
