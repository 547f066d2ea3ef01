#pragma once

#include <string_view>
#include <vector>

#include "thalweg/column.h"

namespace thalweg {

/// Spark's functions, under Spark's names. What has no line here is called by name: Call("levenshtein", {a, b}).
namespace functions {

/// A column by name, with its qualifier if any; "*" and "e.*" are all columns.
Column col(std::string_view name);
Column lit(const Column& value);
/// A SQL expression: "a + 1 AS b".
Column expr(std::string_view sql);
Column Call(std::string_view function, const std::vector<Column>& arguments, bool distinct = false);

Column count(const Column& column);
/// count(*).
Column count();
Column sum(const Column& column);
Column avg(const Column& column);
Column min(const Column& column);
Column max(const Column& column);
Column coalesce(const std::vector<Column>& columns);
/// when(condition, value) and an otherwise.
Column when(const Column& condition, const Column& value, const Column& otherwise);
Column concat(const std::vector<Column>& columns);
Column lower(const Column& column);
Column upper(const Column& column);
Column length(const Column& column);
/// `schema` in DDL or JSON.
Column from_json(const Column& text, std::string_view schema);
Column to_json(const Column& column);
Column struct_(const std::vector<Column>& fields);
/// `duration`, `slide`, `start` as intervals: "5 minutes".
Column window(const Column& time, std::string_view duration, std::string_view slide = "", std::string_view start = "");
Column current_timestamp();
Column to_timestamp(const Column& text);

}  // namespace functions
}  // namespace thalweg
