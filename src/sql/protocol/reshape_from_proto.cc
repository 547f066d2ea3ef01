// Relations that turn rows into columns and back, and table-valued functions.
#include <spark/connect/expressions.pb.h>
#include <spark/connect/relations.pb.h>

#include "base/string_case.h"
#include "sql/plan/reshape.h"
#include "sql/protocol/literal_proto.h"
#include "sql/protocol/plan_proto.h"
#include "sql/protocol/protocol_errors.h"
#include "sql/protocol/relation_readers.h"

namespace thalweg::sql {

namespace {

namespace pb = ::spark::connect;

}  // namespace

Result<PlanPtr> ReadPivot(const pb::Aggregate& message, PlanReader& reader) {
  if (!message.has_pivot()) return Error("CONNECT_INVALID_PLAN.AGGREGATE_WITH_PIVOT_REQUIRES_PIVOT");
  TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.input()));
  auto pivot = std::make_shared<UnresolvedPivot>(std::move(input));
  TW_ASSIGN_OR_RETURN(pivot->grouping.emplace(), reader.ReadExpressions(message.grouping_expressions()));
  TW_ASSIGN_OR_RETURN(pivot->aggregates, reader.ReadExpressions(message.aggregate_expressions()));
  TW_ASSIGN_OR_RETURN(ExprPtr column, reader.ReadExpression(message.pivot().col()));
  pivot->columns.push_back(std::move(column));
  for (const auto& literal : message.pivot().values()) {
    TW_ASSIGN_OR_RETURN(ExprPtr value, LiteralFromProto(literal));
    pivot->values.push_back(std::move(value));
  }
  pivot->find_values = pivot->values.empty();
  return pivot;
}

Result<PlanPtr> ReadUnpivot(const pb::Unpivot& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.input()));
  auto unpivot = std::make_shared<UnresolvedUnpivot>(std::move(input));
  TW_ASSIGN_OR_RETURN(unpivot->ids.emplace(), reader.ReadExpressions(message.ids()));
  if (message.has_values()) {
    auto& sets = unpivot->sets.emplace();
    for (const auto& value : message.values().values()) {
      TW_ASSIGN_OR_RETURN(ExprPtr column, reader.ReadExpression(value));
      sets.push_back({{std::move(column)}, std::nullopt});
    }
  }
  unpivot->variable = message.variable_column_name();
  unpivot->values = {message.value_column_name()};
  return unpivot;
}

Result<PlanPtr> ReadTranspose(const pb::Transpose& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(PlanPtr input, reader.ReadRelation(message.input()));
  if (message.index_columns_size() > 1) {
    return Error("TRANSPOSE_INVALID_INDEX_COLUMN").With("reason", "Multiple index columns are not supported.");
  }
  ExprPtr index;
  if (message.index_columns_size() == 1) {
    TW_ASSIGN_OR_RETURN(index, reader.ReadExpression(message.index_columns(0)));
  }
  return std::make_shared<UnresolvedTranspose>(std::move(index), std::move(input));
}

Result<PlanPtr> ReadTableFunction(const pb::UnresolvedTableValuedFunction& message, PlanReader& reader) {
  TW_ASSIGN_OR_RETURN(ExprList arguments, reader.ReadExpressions(message.arguments()));
  const std::string name = ToAsciiLower(message.function_name());
  if (name != "range") {
    static constexpr std::string_view kGenerators[] = {"explode", "explode_outer", "posexplode", "posexplode_outer",
                                                       "inline",  "inline_outer",  "stack"};
    if (std::find(std::begin(kGenerators), std::end(kGenerators), name) == std::end(kGenerators)) {
      return Unsupported("table-valued function " + message.function_name());
    }
    ExprList list{UnresolvedFunction::Make({name}, std::move(arguments))};
    return std::make_shared<Project>(std::move(list), std::make_shared<OneRow>());
  }
  std::vector<int64_t> values;
  for (const ExprPtr& argument : arguments) {
    const auto* literal = argument->As<Literal>();
    if (literal == nullptr || literal->value().is_null() || !literal->type().IsIntegral()) {
      return Unsupported("range over anything else than numbers");
    }
    values.push_back(literal->value().AsInt64());
  }
  if (values.empty() || values.size() > 4) return Unsupported("range of " + std::to_string(values.size()) + " arguments");
  const int64_t start = values.size() > 1 ? values[0] : 0;
  const int64_t end = values.size() > 1 ? values[1] : values[0];
  const int64_t step = values.size() > 2 ? values[2] : 1;
  if (step == 0) {
    return Error("INVALID_PARAMETER_VALUE.ZERO_INDEX").With("functionName", "`range`").With("parameter", "`step`");
  }
  const std::optional<int> partitions = values.size() > 3 ? std::optional<int>(static_cast<int>(values[3])) : std::nullopt;
  return std::make_shared<Range>(start, end, step, partitions);
}

}  // namespace thalweg::sql
