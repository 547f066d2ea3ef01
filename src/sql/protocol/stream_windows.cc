#include "sql/protocol/stream_windows.h"

#include <spark/connect/expressions.pb.h>

#include "base/string_case.h"
#include "data/types/data_type.h"

namespace thalweg::sql {

namespace {

namespace pb = ::spark::connect;

// As Spark prints it: in capitals.
std::string Text(const pb::Expression& expression) {
  switch (expression.expr_type_case()) {
    case pb::Expression::kUnresolvedAttribute: return ToAsciiUpper(expression.unresolved_attribute().unparsed_identifier());
    case pb::Expression::kUnresolvedFunction: {
      std::string arguments;
      for (const pb::Expression& argument : expression.unresolved_function().arguments()) {
        arguments += (arguments.empty() ? "" : ", ") + Text(argument);
      }
      return ToAsciiUpper(expression.unresolved_function().function_name()) + "(" + arguments + ")";
    }
    default: return "...";
  }
}

std::string Text(const pb::Expression::SortOrder& order) {
  const bool descending = order.direction() == pb::Expression::SortOrder::SORT_DIRECTION_DESCENDING;
  const bool last = order.null_ordering() == pb::Expression::SortOrder::SORT_NULLS_LAST ||
                    (order.null_ordering() == pb::Expression::SortOrder::SORT_NULLS_UNSPECIFIED && descending);
  return Text(order.child()) + (descending ? " DESC" : " ASC") + (last ? " NULLS LAST" : " NULLS FIRST");
}

std::string SpecText(const pb::Expression::Window& window) {
  std::string keys, orders;
  for (const pb::Expression& key : window.partition_spec()) keys += (keys.empty() ? "PARTITION BY " : ", ") + Text(key);
  for (const pb::Expression::SortOrder& order : window.order_spec()) orders += (orders.empty() ? "ORDER BY " : ", ") + Text(order);
  return "(" + keys + (keys.empty() || orders.empty() ? "" : " ") + orders + ")";
}

}  // namespace

Status CheckStreamWindows(const LogicalPlan& input, const pb::Expression& expression, const std::string& column) {
  if (expression.has_alias()) {
    const pb::Expression::Alias& alias = expression.alias();
    return CheckStreamWindows(input, alias.expr(), alias.name_size() == 1 ? alias.name(0) : column);
  }
  if (!expression.has_window() || !input.is_streaming()) return Status::OK();
  const std::string function = Text(expression.window().window_function());
  return Error("NON_TIME_WINDOW_NOT_SUPPORTED_IN_STREAMING")
      .With("windowFunc", function)
      .With("columnName", data::QuoteIdentifier(column.empty() ? function : column))
      .With("windowSpec", SpecText(expression.window()));
}

}  // namespace thalweg::sql
