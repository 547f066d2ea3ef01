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

ColumnOrName::ColumnOrName(std::string_view name) : column_(internal::NamedColumn(name)) {}
ColumnOrName::ColumnOrName(const char* name) : ColumnOrName(std::string_view(name)) {}
ColumnOrName::ColumnOrName(const std::string& name) : ColumnOrName(std::string_view(name)) {}

ColumnList::ColumnList(std::initializer_list<ColumnOrName> columns) {
  for (const ColumnOrName& one : columns) columns_.push_back(one.column());
}
ColumnList::ColumnList(const std::vector<std::string>& names) {
  for (const std::string& name : names) columns_.push_back(internal::NamedColumn(name));
}

namespace functions {

using internal::CallFunction;

namespace {

std::vector<Column> Joined(const Column& first, const ColumnList& rest) {
  std::vector<Column> all{first};
  all.insert(all.end(), rest.columns().begin(), rest.columns().end());
  return all;
}

}  // namespace

Column col(std::string_view name) { return internal::NamedColumn(name); }
Column lit(const Column& value) { return value; }
Column expr(std::string_view sql) { return internal::SqlExpression(sql); }
Column Call(std::string_view function, const ColumnList& arguments, bool distinct) {
  return CallFunction(function, arguments.columns(), distinct);
}
Column when(const Column& condition, const Column& value, const Column& otherwise) {
  return CallFunction("when", {condition, value, otherwise});
}

Column from_json(const ColumnOrName& text, std::string_view schema, const std::map<std::string, std::string>& options) {
  std::vector<Column> arguments{text.column(), Column(schema)};
  std::vector<Column> pairs;
  for (const auto& [key, value] : options) pairs.insert(pairs.end(), {Column(key), Column(value)});
  if (!pairs.empty()) arguments.push_back(CallFunction("map", pairs));
  return CallFunction("from_json", arguments);
}

Column window(const ColumnOrName& time, std::string_view duration, std::string_view slide, std::string_view start) {
  std::vector<Column> arguments{time.column(), Column(duration)};
  if (!slide.empty() || !start.empty()) arguments.emplace_back(slide.empty() ? duration : slide);
  if (!start.empty()) arguments.emplace_back(start);
  return CallFunction("window", arguments);
}

Column session_window(const ColumnOrName& time, std::string_view gap) { return CallFunction("session_window", {time.column(), Column(gap)}); }
Column window_time(const ColumnOrName& window) { return CallFunction("window_time", {window.column()}); }
Column to_timestamp(const ColumnOrName& text, std::string_view pattern) {
  return CallFunction("to_timestamp", {text.column(), Column(pattern)});
}
Column to_date(const ColumnOrName& text, std::string_view pattern) { return CallFunction("to_date", {text.column(), Column(pattern)}); }
Column count() { return CallFunction("count", {Column(1)}); }
Column count_distinct(const ColumnList& columns) { return CallFunction("count", columns.columns(), true); }

Column count(const ColumnOrName& column) { return CallFunction("count", {column.column()}); }
Column sum(const ColumnOrName& column) { return CallFunction("sum", {column.column()}); }
Column sum_distinct(const ColumnOrName& column) { return CallFunction("sum", {column.column()}, true); }
Column avg(const ColumnOrName& column) { return CallFunction("avg", {column.column()}); }
Column min(const ColumnOrName& column) { return CallFunction("min", {column.column()}); }
Column max(const ColumnOrName& column) { return CallFunction("max", {column.column()}); }
Column mean(const ColumnOrName& column) { return CallFunction("mean", {column.column()}); }
Column first(const ColumnOrName& column) { return CallFunction("first", {column.column()}); }
Column last(const ColumnOrName& column) { return CallFunction("last", {column.column()}); }
Column any_value(const ColumnOrName& column) { return CallFunction("any_value", {column.column()}); }
Column median(const ColumnOrName& column) { return CallFunction("median", {column.column()}); }
Column mode(const ColumnOrName& column) { return CallFunction("mode", {column.column()}); }
Column stddev(const ColumnOrName& column) { return CallFunction("stddev", {column.column()}); }
Column stddev_pop(const ColumnOrName& column) { return CallFunction("stddev_pop", {column.column()}); }
Column variance(const ColumnOrName& column) { return CallFunction("variance", {column.column()}); }
Column var_pop(const ColumnOrName& column) { return CallFunction("var_pop", {column.column()}); }
Column skewness(const ColumnOrName& column) { return CallFunction("skewness", {column.column()}); }
Column kurtosis(const ColumnOrName& column) { return CallFunction("kurtosis", {column.column()}); }
Column corr(const ColumnOrName& a, const ColumnOrName& b) { return CallFunction("corr", {a.column(), b.column()}); }
Column covar_pop(const ColumnOrName& a, const ColumnOrName& b) { return CallFunction("covar_pop", {a.column(), b.column()}); }
Column covar_samp(const ColumnOrName& a, const ColumnOrName& b) { return CallFunction("covar_samp", {a.column(), b.column()}); }
Column collect_list(const ColumnOrName& column) { return CallFunction("collect_list", {column.column()}); }
Column collect_set(const ColumnOrName& column) { return CallFunction("collect_set", {column.column()}); }
Column approx_count_distinct(const ColumnOrName& column) { return CallFunction("approx_count_distinct", {column.column()}); }
Column count_if(const ColumnOrName& column) { return CallFunction("count_if", {column.column()}); }
Column bool_and(const ColumnOrName& column) { return CallFunction("bool_and", {column.column()}); }
Column bool_or(const ColumnOrName& column) { return CallFunction("bool_or", {column.column()}); }
Column max_by(const ColumnOrName& a, const ColumnOrName& b) { return CallFunction("max_by", {a.column(), b.column()}); }
Column min_by(const ColumnOrName& a, const ColumnOrName& b) { return CallFunction("min_by", {a.column(), b.column()}); }
Column bit_and(const ColumnOrName& column) { return CallFunction("bit_and", {column.column()}); }
Column bit_or(const ColumnOrName& column) { return CallFunction("bit_or", {column.column()}); }
Column bit_xor(const ColumnOrName& column) { return CallFunction("bit_xor", {column.column()}); }

Column row_number() { return CallFunction("row_number", {}); }
Column rank() { return CallFunction("rank", {}); }
Column dense_rank() { return CallFunction("dense_rank", {}); }
Column percent_rank() { return CallFunction("percent_rank", {}); }
Column cume_dist() { return CallFunction("cume_dist", {}); }
Column ntile(int buckets) { return CallFunction("ntile", {Column(buckets)}); }
Column lag(const ColumnOrName& column, int rows, const Column& otherwise) { return CallFunction("lag", {column.column(), Column(rows), otherwise}); }
Column lead(const ColumnOrName& column, int rows, const Column& otherwise) { return CallFunction("lead", {column.column(), Column(rows), otherwise}); }
Column nth_value(const ColumnOrName& column, int n, bool ignore_nulls) {
  return CallFunction("nth_value", {column.column(), Column(n), Column(ignore_nulls)});
}

Column abs(const ColumnOrName& column) { return CallFunction("abs", {column.column()}); }
Column ceil(const ColumnOrName& column) { return CallFunction("ceil", {column.column()}); }
Column floor(const ColumnOrName& column) { return CallFunction("floor", {column.column()}); }
Column round(const ColumnOrName& column, int scale) { return CallFunction("round", {column.column(), Column(scale)}); }
Column bround(const ColumnOrName& column, int scale) { return CallFunction("bround", {column.column(), Column(scale)}); }
Column sqrt(const ColumnOrName& column) { return CallFunction("sqrt", {column.column()}); }
Column cbrt(const ColumnOrName& column) { return CallFunction("cbrt", {column.column()}); }
Column exp(const ColumnOrName& column) { return CallFunction("exp", {column.column()}); }
Column ln(const ColumnOrName& column) { return CallFunction("ln", {column.column()}); }
Column log10(const ColumnOrName& column) { return CallFunction("log10", {column.column()}); }
Column log2(const ColumnOrName& column) { return CallFunction("log2", {column.column()}); }
Column pow(const ColumnOrName& a, const ColumnOrName& b) { return CallFunction("power", {a.column(), b.column()}); }
Column pmod(const ColumnOrName& a, const ColumnOrName& b) { return CallFunction("pmod", {a.column(), b.column()}); }
Column signum(const ColumnOrName& column) { return CallFunction("signum", {column.column()}); }
Column sin(const ColumnOrName& column) { return CallFunction("sin", {column.column()}); }
Column cos(const ColumnOrName& column) { return CallFunction("cos", {column.column()}); }
Column tan(const ColumnOrName& column) { return CallFunction("tan", {column.column()}); }
Column asin(const ColumnOrName& column) { return CallFunction("asin", {column.column()}); }
Column acos(const ColumnOrName& column) { return CallFunction("acos", {column.column()}); }
Column atan(const ColumnOrName& column) { return CallFunction("atan", {column.column()}); }
Column atan2(const ColumnOrName& a, const ColumnOrName& b) { return CallFunction("atan2", {a.column(), b.column()}); }
Column degrees(const ColumnOrName& column) { return CallFunction("degrees", {column.column()}); }
Column radians(const ColumnOrName& column) { return CallFunction("radians", {column.column()}); }
Column hex(const ColumnOrName& column) { return CallFunction("hex", {column.column()}); }
Column unhex(const ColumnOrName& column) { return CallFunction("unhex", {column.column()}); }
Column greatest(const ColumnList& columns) { return CallFunction("greatest", columns.columns()); }
Column least(const ColumnList& columns) { return CallFunction("least", columns.columns()); }
Column try_add(const ColumnOrName& a, const ColumnOrName& b) { return CallFunction("try_add", {a.column(), b.column()}); }
Column try_subtract(const ColumnOrName& a, const ColumnOrName& b) { return CallFunction("try_subtract", {a.column(), b.column()}); }
Column try_multiply(const ColumnOrName& a, const ColumnOrName& b) { return CallFunction("try_multiply", {a.column(), b.column()}); }
Column try_divide(const ColumnOrName& a, const ColumnOrName& b) { return CallFunction("try_divide", {a.column(), b.column()}); }

Column lower(const ColumnOrName& column) { return CallFunction("lower", {column.column()}); }
Column upper(const ColumnOrName& column) { return CallFunction("upper", {column.column()}); }
Column initcap(const ColumnOrName& column) { return CallFunction("initcap", {column.column()}); }
Column length(const ColumnOrName& column) { return CallFunction("length", {column.column()}); }
Column trim(const ColumnOrName& column) { return CallFunction("trim", {column.column()}); }
Column ltrim(const ColumnOrName& column) { return CallFunction("ltrim", {column.column()}); }
Column rtrim(const ColumnOrName& column) { return CallFunction("rtrim", {column.column()}); }
Column reverse(const ColumnOrName& column) { return CallFunction("reverse", {column.column()}); }
Column ascii(const ColumnOrName& column) { return CallFunction("ascii", {column.column()}); }
Column base64(const ColumnOrName& column) { return CallFunction("base64", {column.column()}); }
Column unbase64(const ColumnOrName& column) { return CallFunction("unbase64", {column.column()}); }
Column md5(const ColumnOrName& column) { return CallFunction("md5", {column.column()}); }
Column sha1(const ColumnOrName& column) { return CallFunction("sha1", {column.column()}); }
Column sha2(const ColumnOrName& column, int bits) { return CallFunction("sha2", {column.column(), Column(bits)}); }
Column crc32(const ColumnOrName& column) { return CallFunction("crc32", {column.column()}); }
Column concat(const ColumnList& columns) { return CallFunction("concat", columns.columns()); }
Column concat_ws(std::string_view separator, const ColumnList& columns) {
  return CallFunction("concat_ws", Joined(Column(separator), columns));
}
Column substring(const ColumnOrName& column, int start, int length) {
  return CallFunction("substring", {column.column(), Column(start), Column(length)});
}
Column substring_index(const ColumnOrName& column, std::string_view delimiter, int count) {
  return CallFunction("substring_index", {column.column(), Column(delimiter), Column(count)});
}
Column split(const ColumnOrName& column, std::string_view pattern) { return CallFunction("split", {column.column(), Column(pattern)}); }
Column instr(const ColumnOrName& column, std::string_view part) { return CallFunction("instr", {column.column(), Column(part)}); }
Column lpad(const ColumnOrName& column, int length, std::string_view pad) {
  return CallFunction("lpad", {column.column(), Column(length), Column(pad)});
}
Column rpad(const ColumnOrName& column, int length, std::string_view pad) {
  return CallFunction("rpad", {column.column(), Column(length), Column(pad)});
}
Column repeat(const ColumnOrName& column, int times) { return CallFunction("repeat", {column.column(), Column(times)}); }
Column translate(const ColumnOrName& column, std::string_view matching, std::string_view replacement) {
  return CallFunction("translate", {column.column(), Column(matching), Column(replacement)});
}
Column regexp_replace(const ColumnOrName& column, std::string_view pattern, std::string_view replacement) {
  return CallFunction("regexp_replace", {column.column(), Column(pattern), Column(replacement)});
}
Column regexp_extract(const ColumnOrName& column, std::string_view pattern, int group) {
  return CallFunction("regexp_extract", {column.column(), Column(pattern), Column(group)});
}
Column format_number(const ColumnOrName& column, int digits) { return CallFunction("format_number", {column.column(), Column(digits)}); }
Column levenshtein(const ColumnOrName& a, const ColumnOrName& b) { return CallFunction("levenshtein", {a.column(), b.column()}); }
Column soundex(const ColumnOrName& column) { return CallFunction("soundex", {column.column()}); }

Column current_date() { return CallFunction("current_date", {}); }
Column current_timestamp() { return CallFunction("current_timestamp", {}); }
Column to_date(const ColumnOrName& column) { return CallFunction("to_date", {column.column()}); }
Column to_timestamp(const ColumnOrName& column) { return CallFunction("to_timestamp", {column.column()}); }
Column date_format(const ColumnOrName& column, std::string_view pattern) {
  return CallFunction("date_format", {column.column(), Column(pattern)});
}
Column date_trunc(std::string_view unit, const ColumnOrName& column) { return CallFunction("date_trunc", {Column(unit), column.column()}); }
Column trunc(const ColumnOrName& column, std::string_view unit) { return CallFunction("trunc", {column.column(), Column(unit)}); }
Column date_add(const ColumnOrName& column, int days) { return CallFunction("date_add", {column.column(), Column(days)}); }
Column date_sub(const ColumnOrName& column, int days) { return CallFunction("date_sub", {column.column(), Column(days)}); }
Column add_months(const ColumnOrName& column, int months) { return CallFunction("add_months", {column.column(), Column(months)}); }
Column datediff(const ColumnOrName& a, const ColumnOrName& b) { return CallFunction("datediff", {a.column(), b.column()}); }
Column months_between(const ColumnOrName& a, const ColumnOrName& b) { return CallFunction("months_between", {a.column(), b.column()}); }
Column last_day(const ColumnOrName& column) { return CallFunction("last_day", {column.column()}); }
Column next_day(const ColumnOrName& column, std::string_view day) { return CallFunction("next_day", {column.column(), Column(day)}); }
Column year(const ColumnOrName& column) { return CallFunction("year", {column.column()}); }
Column quarter(const ColumnOrName& column) { return CallFunction("quarter", {column.column()}); }
Column month(const ColumnOrName& column) { return CallFunction("month", {column.column()}); }
Column dayofmonth(const ColumnOrName& column) { return CallFunction("dayofmonth", {column.column()}); }
Column dayofweek(const ColumnOrName& column) { return CallFunction("dayofweek", {column.column()}); }
Column dayofyear(const ColumnOrName& column) { return CallFunction("dayofyear", {column.column()}); }
Column weekofyear(const ColumnOrName& column) { return CallFunction("weekofyear", {column.column()}); }
Column hour(const ColumnOrName& column) { return CallFunction("hour", {column.column()}); }
Column minute(const ColumnOrName& column) { return CallFunction("minute", {column.column()}); }
Column second(const ColumnOrName& column) { return CallFunction("second", {column.column()}); }
Column unix_timestamp(const ColumnOrName& column) { return CallFunction("unix_timestamp", {column.column()}); }
Column from_unixtime(const ColumnOrName& column) { return CallFunction("from_unixtime", {column.column()}); }
Column timestamp_seconds(const ColumnOrName& column) { return CallFunction("timestamp_seconds", {column.column()}); }
Column timestamp_millis(const ColumnOrName& column) { return CallFunction("timestamp_millis", {column.column()}); }
Column timestamp_micros(const ColumnOrName& column) { return CallFunction("timestamp_micros", {column.column()}); }
Column unix_micros(const ColumnOrName& column) { return CallFunction("unix_micros", {column.column()}); }
Column unix_millis(const ColumnOrName& column) { return CallFunction("unix_millis", {column.column()}); }
Column unix_seconds(const ColumnOrName& column) { return CallFunction("unix_seconds", {column.column()}); }
Column from_utc_timestamp(const ColumnOrName& column, std::string_view zone) {
  return CallFunction("from_utc_timestamp", {column.column(), Column(zone)});
}
Column to_utc_timestamp(const ColumnOrName& column, std::string_view zone) {
  return CallFunction("to_utc_timestamp", {column.column(), Column(zone)});
}

Column array(const ColumnList& columns) { return CallFunction("array", columns.columns()); }
Column array_contains(const ColumnOrName& column, const Column& value) { return CallFunction("array_contains", {column.column(), value}); }
Column array_distinct(const ColumnOrName& column) { return CallFunction("array_distinct", {column.column()}); }
Column array_join(const ColumnOrName& column, std::string_view delimiter) {
  return CallFunction("array_join", {column.column(), Column(delimiter)});
}
Column array_max(const ColumnOrName& column) { return CallFunction("array_max", {column.column()}); }
Column array_min(const ColumnOrName& column) { return CallFunction("array_min", {column.column()}); }
Column array_position(const ColumnOrName& column, const Column& value) { return CallFunction("array_position", {column.column(), value}); }
Column array_union(const ColumnOrName& a, const ColumnOrName& b) { return CallFunction("array_union", {a.column(), b.column()}); }
Column array_intersect(const ColumnOrName& a, const ColumnOrName& b) { return CallFunction("array_intersect", {a.column(), b.column()}); }
Column array_except(const ColumnOrName& a, const ColumnOrName& b) { return CallFunction("array_except", {a.column(), b.column()}); }
Column arrays_overlap(const ColumnOrName& a, const ColumnOrName& b) { return CallFunction("arrays_overlap", {a.column(), b.column()}); }
Column element_at(const ColumnOrName& column, const Column& value) { return CallFunction("element_at", {column.column(), value}); }
Column flatten(const ColumnOrName& column) { return CallFunction("flatten", {column.column()}); }
Column size(const ColumnOrName& column) { return CallFunction("size", {column.column()}); }
Column slice(const ColumnOrName& column, int start, int length) {
  return CallFunction("slice", {column.column(), Column(start), Column(length)});
}
Column sort_array(const ColumnOrName& column) { return CallFunction("sort_array", {column.column()}); }
Column sequence(const ColumnOrName& a, const ColumnOrName& b) { return CallFunction("sequence", {a.column(), b.column()}); }
Column create_map(const ColumnList& columns) { return CallFunction("map", columns.columns()); }
Column map_keys(const ColumnOrName& column) { return CallFunction("map_keys", {column.column()}); }
Column map_values(const ColumnOrName& column) { return CallFunction("map_values", {column.column()}); }
Column map_entries(const ColumnOrName& column) { return CallFunction("map_entries", {column.column()}); }
Column map_from_arrays(const ColumnOrName& a, const ColumnOrName& b) { return CallFunction("map_from_arrays", {a.column(), b.column()}); }
Column struct_(const ColumnList& columns) { return CallFunction("struct", columns.columns()); }
Column explode(const ColumnOrName& column) { return CallFunction("explode", {column.column()}); }
Column explode_outer(const ColumnOrName& column) { return CallFunction("explode_outer", {column.column()}); }
Column posexplode(const ColumnOrName& column) { return CallFunction("posexplode", {column.column()}); }

Column coalesce(const ColumnList& columns) { return CallFunction("coalesce", columns.columns()); }
Column isnull(const ColumnOrName& column) { return CallFunction("isnull", {column.column()}); }
Column isnan(const ColumnOrName& column) { return CallFunction("isnan", {column.column()}); }
Column nvl(const ColumnOrName& a, const ColumnOrName& b) { return CallFunction("nvl", {a.column(), b.column()}); }
Column nullif(const ColumnOrName& a, const ColumnOrName& b) { return CallFunction("nullif", {a.column(), b.column()}); }
Column hash(const ColumnList& columns) { return CallFunction("hash", columns.columns()); }
Column xxhash64(const ColumnList& columns) { return CallFunction("xxhash64", columns.columns()); }
Column spark_partition_id() { return CallFunction("spark_partition_id", {}); }
Column monotonically_increasing_id() { return CallFunction("monotonically_increasing_id", {}); }
Column typeof_(const ColumnOrName& column) { return CallFunction("typeof", {column.column()}); }
Column get_json_object(const ColumnOrName& column, std::string_view path) {
  return CallFunction("get_json_object", {column.column(), Column(path)});
}
Column to_json(const ColumnOrName& column) { return CallFunction("to_json", {column.column()}); }

}  // namespace functions
}  // namespace thalweg
