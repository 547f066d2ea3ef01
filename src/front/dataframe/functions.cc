#include "thalweg/functions.h"

#include "front/dataframe/nodes.h"

namespace thalweg {
namespace internal {

Column CallFunction(std::string_view name, const std::vector<Column>& arguments, bool distinct) {
  proto::Expression expression;
  auto* call = expression.mutable_unresolved_function();
  call->set_function_name(std::string(name));
  call->set_is_distinct(distinct);
  for (const Column& argument : arguments) *call->add_arguments() = ColumnAccess::Message(argument);
  return ColumnAccess::Make(std::move(expression));
}

Column NamedColumn(std::string_view name) {
  proto::Expression expression;
  if (name == "*") {
    expression.mutable_unresolved_star();
  } else if (name.ends_with(".*")) {
    expression.mutable_unresolved_star()->set_unparsed_target(std::string(name));
  } else {
    expression.mutable_unresolved_attribute()->set_unparsed_identifier(std::string(name));
  }
  return ColumnAccess::Make(std::move(expression));
}

Column SqlExpression(std::string_view sql) {
  proto::Expression expression;
  expression.mutable_expression_string()->set_expression(std::string(sql));
  return ColumnAccess::Make(std::move(expression));
}

}  // namespace internal

namespace functions {

using internal::CallFunction;

Column col(std::string_view name) { return internal::NamedColumn(name); }
Column lit(const Column& value) { return value; }
Column expr(std::string_view sql) { return internal::SqlExpression(sql); }
Column Call(std::string_view function, const std::vector<Column>& arguments, bool distinct) {
  return CallFunction(function, arguments, distinct);
}
Column count(const Column& column) { return CallFunction("count", {column}); }
Column count() { return CallFunction("count", {Column(1)}); }
Column sum(const Column& column) { return CallFunction("sum", {column}); }
Column avg(const Column& column) { return CallFunction("avg", {column}); }
Column min(const Column& column) { return CallFunction("min", {column}); }
Column max(const Column& column) { return CallFunction("max", {column}); }
Column coalesce(const std::vector<Column>& columns) { return CallFunction("coalesce", columns); }
Column when(const Column& condition, const Column& value, const Column& otherwise) {
  return CallFunction("when", {condition, value, otherwise});
}
Column concat(const std::vector<Column>& columns) { return CallFunction("concat", columns); }
Column lower(const Column& column) { return CallFunction("lower", {column}); }
Column upper(const Column& column) { return CallFunction("upper", {column}); }
Column length(const Column& column) { return CallFunction("length", {column}); }
Column from_json(const Column& text, std::string_view schema) { return CallFunction("from_json", {text, Column(schema)}); }
Column to_json(const Column& column) { return CallFunction("to_json", {column}); }
Column struct_(const std::vector<Column>& fields) { return CallFunction("struct", fields); }
Column current_timestamp() { return CallFunction("current_timestamp", {}); }
Column to_timestamp(const Column& text) { return CallFunction("to_timestamp", {text}); }

Column window(const Column& time, std::string_view duration, std::string_view slide, std::string_view start) {
  std::vector<Column> arguments{time, Column(duration)};
  if (!slide.empty() || !start.empty()) arguments.emplace_back(slide.empty() ? duration : slide);
  if (!start.empty()) arguments.emplace_back(start);
  return CallFunction("window", arguments);
}

}  // namespace functions
}  // namespace thalweg
