// Aggregations, samples, and the relations of DataFrame.na.
#include <spark/connect/expressions.pb.h>
#include <spark/connect/relations.pb.h>

#include "data/text/numbers.h"
#include "sql/protocol/literal_proto.h"
#include "sql/protocol/plan_proto.h"
#include "sql/protocol/protocol_errors.h"
#include "sql/protocol/relation_readers.h"

#include <strings.h>

namespace thalweg::sql {

namespace {

namespace pb = ::spark::connect;

ExprPtr Function(std::string name, ExprList arguments) {
  return UnresolvedFunction::Make({std::move(name)}, std::move(arguments));
}

bool SameName(const std::string& a, const std::string& b) { return ::strcasecmp(a.c_str(), b.c_str()) == 0; }

bool IsFloating(const data::DataType& type) {
  return type.Is(data::TypeKind::kFloat) || type.Is(data::TypeKind::kDouble);
}

ExprPtr ColumnOf(const data::StructField& field) { return UnresolvedAttribute::Make({field.name}); }

// Whether a column is chosen; an empty list chooses all.
bool Chosen(const google::protobuf::RepeatedPtrField<std::string>& columns, const data::StructField& field) {
  if (columns.empty()) return true;
  for (const std::string& column : columns) {
    if (SameName(column, field.name)) return true;
  }
  return false;
}

Status CheckColumns(const google::protobuf::RepeatedPtrField<std::string>& columns, const data::Schema& schema) {
  for (const std::string& column : columns) {
    bool found = false;
    for (const data::StructField& field : schema) found = found || SameName(column, field.name);
    if (found) continue;
    std::string names;
    for (const data::StructField& field : schema) names += (names.empty() ? "" : ", ") + field.name;
    return Error("CONNECT_INVALID_PLAN.UNRESOLVED_COLUMN_AMONG_FIELD_NAMES").With("colName", column).With("fieldNames", names);
  }
  return Status::OK();
}

// Whether fillna(value) touches a column: numbers fill numbers, texts texts, booleans booleans.
bool FillMatches(const data::DataType& value, const data::DataType& column) {
  if (value.Is(data::TypeKind::kString)) return column.Is(data::TypeKind::kString);
  if (value.Is(data::TypeKind::kBoolean)) return column.Is(data::TypeKind::kBoolean);
  return value.IsNumeric() && column.IsNumeric();
}

ExprPtr FillColumn(const data::StructField& field, const ExprPtr& value) {
  ExprPtr column = ColumnOf(field);
  if (IsFloating(field.type)) {
    column = Function("when", {Function("isnan", {column}), Literal::Null(field.type), column});
  }
  ExprPtr filled = Function("coalesce", {std::move(column), Cast::Make(value, field.type, EvalMode::kAnsi)});
  return Alias::Make(std::move(filled), field.name);
}

ExprPtr IsPresent(const data::StructField& field) {
  ExprPtr present = Function("isnotnull", {ColumnOf(field)});
  if (!IsFloating(field.type)) return present;
  return Function("and", {present, Function("not", {Function("isnan", {ColumnOf(field)})})});
}

ExprPtr ReplaceColumn(const data::StructField& field, const std::vector<std::pair<TypedValue, TypedValue>>& pairs) {
  ExprList arguments;
  for (const auto& [from, to] : pairs) {
    if (!FillMatches(from.type, field.type)) continue;
    ExprPtr old_value = Cast::Make(Literal::Make(from.value, from.type), field.type, EvalMode::kAnsi);
    arguments.push_back(Function("==", {ColumnOf(field), std::move(old_value)}));
    arguments.push_back(Cast::Make(Literal::Make(to.value, to.type), field.type, EvalMode::kAnsi));
  }
  if (arguments.empty()) return ColumnOf(field);
  arguments.push_back(ColumnOf(field));
  return Alias::Make(Function("when", std::move(arguments)), field.name);
}

}  // namespace

Result<PlanPtr> ReadAggregate(const pb::Aggregate& message, PlanReader& reader) {
  if (!message.has_input()) return Error("CONNECT_INVALID_PLAN.AGGREGATE_NEEDS_PLAN_INPUT");
  if (message.group_type() == pb::Aggregate::GROUP_TYPE_PIVOT) return ReadPivot(message, reader);
  TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.input()));
  TW_ASSIGN_OR_RETURN(ExprList grouping, reader.ReadExpressions(message.grouping_expressions()));
  TW_ASSIGN_OR_RETURN(ExprList aggregates, reader.ReadExpressions(message.aggregate_expressions()));
  ExprList output = grouping;
  output.insert(output.end(), aggregates.begin(), aggregates.end());
  auto aggregate = std::make_shared<Aggregate>(std::move(grouping), std::move(output), std::move(input));
  switch (message.group_type()) {
    case pb::Aggregate::GROUP_TYPE_GROUPBY: break;
    case pb::Aggregate::GROUP_TYPE_ROLLUP: aggregate->grouping_kind = Aggregate::Grouping::kRollup; break;
    case pb::Aggregate::GROUP_TYPE_CUBE: aggregate->grouping_kind = Aggregate::Grouping::kCube; break;
    case pb::Aggregate::GROUP_TYPE_GROUPING_SETS:
      aggregate->grouping_kind = Aggregate::Grouping::kSets;
      for (const auto& set : message.grouping_sets()) {
        TW_ASSIGN_OR_RETURN(ExprList read, reader.ReadExpressions(set.grouping_set()));
        aggregate->grouping_sets.push_back(std::move(read));
      }
      break;
    default: return InvalidEnum("spark.connect.Aggregate.GroupType", message.group_type());
  }
  return aggregate;
}

Result<PlanPtr> ReadSample(const pb::Sample& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.input()));
  if (!message.has_seed()) return Unsupported("a sample without a seed");
  const double fraction = message.upper_bound() - message.lower_bound();
  constexpr double kRounding = 1e-6;
  if (fraction < -kRounding || (!message.with_replacement() && fraction > 1 + kRounding)) {
    std::string text;
    data::AppendDouble(fraction, &text);
    return Error("ILLEGAL_ARGUMENT")
        .With("message", "requirement failed: Sampling fraction (" + text + ") must be " +
                             (message.with_replacement() ? "nonnegative with replacement"
                                                         : "on interval [0, 1] without replacement"));
  }
  if (message.deterministic_order()) {
    // randomSplit: every split must see the rows in one order.
    TW_ASSIGN_OR_RETURN(const data::Schema schema, reader.environment().SchemaOf(input));
    ExprList orders;
    for (const data::StructField& field : schema) {
      if (field.type.IsOrderable()) orders.push_back(SortOrder::Make(ColumnOf(field), true, true));
    }
    if (!orders.empty()) input = std::make_shared<Sort>(std::move(orders), false, std::move(input));
  }
  return std::make_shared<Sample>(message.lower_bound(), message.upper_bound(), message.with_replacement(), message.seed(),
                                  std::move(input));
}

Result<PlanPtr> ReadFillNa(const pb::NAFill& message, PlanReader& reader) {
  if (message.values_size() == 0) return Error("CONNECT_INVALID_PLAN.NA_FILL_VALUES_EMPTY");
  if (message.values_size() > 1 && message.values_size() != message.cols_size()) {
    return Error("CONNECT_INVALID_PLAN.NA_FILL_VALUES_LENGTH_MISMATCH");
  }
  TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.input()));
  TW_ASSIGN_OR_RETURN(const data::Schema schema, reader.environment().SchemaOf(input));
  TW_RETURN_NOT_OK(CheckColumns(message.cols(), schema));
  std::vector<TypedValue> values;
  for (const auto& literal : message.values()) {
    TW_ASSIGN_OR_RETURN(TypedValue value, ValueFromProto(literal));
    values.push_back(std::move(value));
  }
  ExprList list;
  for (const data::StructField& field : schema) {
    const TypedValue* value = nullptr;
    if (values.size() == 1) {
      if (Chosen(message.cols(), field) && FillMatches(values[0].type, field.type)) value = &values[0];
    } else {
      for (int i = 0; i < message.cols_size(); ++i) {
        if (SameName(message.cols(i), field.name)) value = &values[i];
      }
    }
    list.push_back(value == nullptr ? ColumnOf(field) : FillColumn(field, Literal::Make(value->value, value->type)));
  }
  return std::make_shared<Project>(std::move(list), std::move(input));
}

Result<PlanPtr> ReadDropNa(const pb::NADrop& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.input()));
  TW_ASSIGN_OR_RETURN(const data::Schema schema, reader.environment().SchemaOf(input));
  TW_RETURN_NOT_OK(CheckColumns(message.cols(), schema));
  ExprPtr condition;
  for (const data::StructField& field : schema) {
    if (!Chosen(message.cols(), field)) continue;
    ExprPtr term = IsPresent(field);
    if (message.has_min_non_nulls()) {
      term = Function("when", {std::move(term), Literal::Integer(1), Literal::Integer(0)});
      condition = condition ? Function("+", {std::move(condition), std::move(term)}) : std::move(term);
    } else {
      condition = condition ? Function("and", {std::move(condition), std::move(term)}) : std::move(term);
    }
  }
  if (condition == nullptr) return input;
  if (message.has_min_non_nulls()) condition = Function(">=", {std::move(condition), Literal::Integer(message.min_non_nulls())});
  return std::make_shared<Filter>(std::move(condition), std::move(input));
}

Result<PlanPtr> ReadReplace(const pb::NAReplace& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.input()));
  TW_ASSIGN_OR_RETURN(const data::Schema schema, reader.environment().SchemaOf(input));
  TW_RETURN_NOT_OK(CheckColumns(message.cols(), schema));
  std::vector<std::pair<TypedValue, TypedValue>> pairs;
  for (const auto& replacement : message.replacements()) {
    TW_ASSIGN_OR_RETURN(TypedValue from, ValueFromProto(replacement.old_value()));
    TW_ASSIGN_OR_RETURN(TypedValue to, ValueFromProto(replacement.new_value()));
    pairs.emplace_back(std::move(from), std::move(to));
  }
  ExprList list;
  for (const data::StructField& field : schema) {
    list.push_back(Chosen(message.cols(), field) ? ReplaceColumn(field, pairs) : ColumnOf(field));
  }
  return std::make_shared<Project>(std::move(list), std::move(input));
}

}  // namespace thalweg::sql
