#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "thalweg/column.h"
#include "thalweg/export.h"

namespace thalweg {

/// Spark's functions, under Spark's names and with Spark's arguments: text stands for a column's name where a column is taken, and
/// values of it are lit("..."). What has no line here is called by name: Call("array_append", {"tags", lit("new")}).
namespace functions {

/// A column by name, with its qualifier if any; "*" and "e.*" are all columns.
THALWEG_API Column col(std::string_view name);
THALWEG_API Column lit(const Column& value);
/// A SQL expression: "a + 1 AS b".
THALWEG_API Column expr(std::string_view sql);
THALWEG_API Column Call(std::string_view function, const ColumnList& arguments, bool distinct = false);
/// when(condition, value) and an otherwise, which is null unless given.
THALWEG_API Column when(const Column& condition, const Column& value, const Column& otherwise = nullptr);

/// `schema` in DDL or JSON; options as of the JSON source.
THALWEG_API Column from_json(const ColumnOrName& text, std::string_view schema, const std::map<std::string, std::string>& options = {});
/// `duration`, `slide`, `start` as intervals: "5 minutes".
THALWEG_API Column window(const ColumnOrName& time, std::string_view duration, std::string_view slide = "", std::string_view start = "");
/// Windows that end `gap` after the last row of their key.
THALWEG_API Column session_window(const ColumnOrName& time, std::string_view gap);
/// The time of a window: the last instant inside.
THALWEG_API Column window_time(const ColumnOrName& window);
/// `pattern` as Spark's date patterns: "yyyy-MM-dd HH:mm".
THALWEG_API Column to_timestamp(const ColumnOrName& text, std::string_view pattern);
THALWEG_API Column to_date(const ColumnOrName& text, std::string_view pattern);
/// count(*).
THALWEG_API Column count();
THALWEG_API Column count_distinct(const ColumnList& columns);

// Aggregates.
THALWEG_API Column count(const ColumnOrName& column);
THALWEG_API Column sum(const ColumnOrName& column);
THALWEG_API Column sum_distinct(const ColumnOrName& column);
THALWEG_API Column avg(const ColumnOrName& column);
THALWEG_API Column min(const ColumnOrName& column);
THALWEG_API Column max(const ColumnOrName& column);
THALWEG_API Column mean(const ColumnOrName& column);
THALWEG_API Column first(const ColumnOrName& column);
THALWEG_API Column last(const ColumnOrName& column);
THALWEG_API Column any_value(const ColumnOrName& column);
THALWEG_API Column median(const ColumnOrName& column);
THALWEG_API Column mode(const ColumnOrName& column);
THALWEG_API Column stddev(const ColumnOrName& column);
THALWEG_API Column stddev_pop(const ColumnOrName& column);
THALWEG_API Column variance(const ColumnOrName& column);
THALWEG_API Column var_pop(const ColumnOrName& column);
THALWEG_API Column skewness(const ColumnOrName& column);
THALWEG_API Column kurtosis(const ColumnOrName& column);
THALWEG_API Column corr(const ColumnOrName& a, const ColumnOrName& b);
THALWEG_API Column covar_pop(const ColumnOrName& a, const ColumnOrName& b);
THALWEG_API Column covar_samp(const ColumnOrName& a, const ColumnOrName& b);
THALWEG_API Column collect_list(const ColumnOrName& column);
THALWEG_API Column collect_set(const ColumnOrName& column);
THALWEG_API Column approx_count_distinct(const ColumnOrName& column);
THALWEG_API Column count_if(const ColumnOrName& column);
THALWEG_API Column bool_and(const ColumnOrName& column);
THALWEG_API Column bool_or(const ColumnOrName& column);
THALWEG_API Column max_by(const ColumnOrName& a, const ColumnOrName& b);
THALWEG_API Column min_by(const ColumnOrName& a, const ColumnOrName& b);
THALWEG_API Column bit_and(const ColumnOrName& column);
THALWEG_API Column bit_or(const ColumnOrName& column);
THALWEG_API Column bit_xor(const ColumnOrName& column);

// Over windows alone: Column::Over.
THALWEG_API Column row_number();
THALWEG_API Column rank();
THALWEG_API Column dense_rank();
THALWEG_API Column percent_rank();
THALWEG_API Column cume_dist();
THALWEG_API Column ntile(int buckets);
THALWEG_API Column lag(const ColumnOrName& column, int rows = 1, const Column& otherwise = nullptr);
THALWEG_API Column lead(const ColumnOrName& column, int rows = 1, const Column& otherwise = nullptr);
THALWEG_API Column nth_value(const ColumnOrName& column, int n, bool ignore_nulls = false);

// Numbers.
THALWEG_API Column abs(const ColumnOrName& column);
THALWEG_API Column ceil(const ColumnOrName& column);
THALWEG_API Column floor(const ColumnOrName& column);
THALWEG_API Column round(const ColumnOrName& column, int scale = 0);
THALWEG_API Column bround(const ColumnOrName& column, int scale = 0);
THALWEG_API Column sqrt(const ColumnOrName& column);
THALWEG_API Column cbrt(const ColumnOrName& column);
THALWEG_API Column exp(const ColumnOrName& column);
THALWEG_API Column ln(const ColumnOrName& column);
THALWEG_API Column log10(const ColumnOrName& column);
THALWEG_API Column log2(const ColumnOrName& column);
THALWEG_API Column pow(const ColumnOrName& a, const ColumnOrName& b);
THALWEG_API Column pmod(const ColumnOrName& a, const ColumnOrName& b);
THALWEG_API Column signum(const ColumnOrName& column);
THALWEG_API Column sin(const ColumnOrName& column);
THALWEG_API Column cos(const ColumnOrName& column);
THALWEG_API Column tan(const ColumnOrName& column);
THALWEG_API Column asin(const ColumnOrName& column);
THALWEG_API Column acos(const ColumnOrName& column);
THALWEG_API Column atan(const ColumnOrName& column);
THALWEG_API Column atan2(const ColumnOrName& a, const ColumnOrName& b);
THALWEG_API Column degrees(const ColumnOrName& column);
THALWEG_API Column radians(const ColumnOrName& column);
THALWEG_API Column hex(const ColumnOrName& column);
THALWEG_API Column unhex(const ColumnOrName& column);
THALWEG_API Column greatest(const ColumnList& columns);
THALWEG_API Column least(const ColumnList& columns);
THALWEG_API Column try_add(const ColumnOrName& a, const ColumnOrName& b);
THALWEG_API Column try_subtract(const ColumnOrName& a, const ColumnOrName& b);
THALWEG_API Column try_multiply(const ColumnOrName& a, const ColumnOrName& b);
THALWEG_API Column try_divide(const ColumnOrName& a, const ColumnOrName& b);

// Text.
THALWEG_API Column lower(const ColumnOrName& column);
THALWEG_API Column upper(const ColumnOrName& column);
THALWEG_API Column initcap(const ColumnOrName& column);
THALWEG_API Column length(const ColumnOrName& column);
THALWEG_API Column trim(const ColumnOrName& column);
THALWEG_API Column ltrim(const ColumnOrName& column);
THALWEG_API Column rtrim(const ColumnOrName& column);
THALWEG_API Column reverse(const ColumnOrName& column);
THALWEG_API Column ascii(const ColumnOrName& column);
THALWEG_API Column base64(const ColumnOrName& column);
THALWEG_API Column unbase64(const ColumnOrName& column);
THALWEG_API Column md5(const ColumnOrName& column);
THALWEG_API Column sha1(const ColumnOrName& column);
THALWEG_API Column sha2(const ColumnOrName& column, int bits);
THALWEG_API Column crc32(const ColumnOrName& column);
THALWEG_API Column concat(const ColumnList& columns);
THALWEG_API Column concat_ws(std::string_view separator, const ColumnList& columns);
THALWEG_API Column substring(const ColumnOrName& column, int start, int length);
THALWEG_API Column substring_index(const ColumnOrName& column, std::string_view delimiter, int count);
THALWEG_API Column split(const ColumnOrName& column, std::string_view pattern);
THALWEG_API Column instr(const ColumnOrName& column, std::string_view part);
THALWEG_API Column lpad(const ColumnOrName& column, int length, std::string_view pad);
THALWEG_API Column rpad(const ColumnOrName& column, int length, std::string_view pad);
THALWEG_API Column repeat(const ColumnOrName& column, int times);
THALWEG_API Column translate(const ColumnOrName& column, std::string_view matching, std::string_view replacement);
THALWEG_API Column regexp_replace(const ColumnOrName& column, std::string_view pattern, std::string_view replacement);
THALWEG_API Column regexp_extract(const ColumnOrName& column, std::string_view pattern, int group);
THALWEG_API Column format_number(const ColumnOrName& column, int digits);
THALWEG_API Column levenshtein(const ColumnOrName& a, const ColumnOrName& b);
THALWEG_API Column soundex(const ColumnOrName& column);

// Dates and times.
THALWEG_API Column current_date();
THALWEG_API Column current_timestamp();
THALWEG_API Column to_date(const ColumnOrName& column);
THALWEG_API Column to_timestamp(const ColumnOrName& column);
THALWEG_API Column date_format(const ColumnOrName& column, std::string_view pattern);
THALWEG_API Column date_trunc(std::string_view unit, const ColumnOrName& column);
THALWEG_API Column trunc(const ColumnOrName& column, std::string_view unit);
THALWEG_API Column date_add(const ColumnOrName& column, int days);
THALWEG_API Column date_sub(const ColumnOrName& column, int days);
THALWEG_API Column add_months(const ColumnOrName& column, int months);
THALWEG_API Column datediff(const ColumnOrName& a, const ColumnOrName& b);
THALWEG_API Column months_between(const ColumnOrName& a, const ColumnOrName& b);
THALWEG_API Column last_day(const ColumnOrName& column);
THALWEG_API Column next_day(const ColumnOrName& column, std::string_view day);
THALWEG_API Column year(const ColumnOrName& column);
THALWEG_API Column quarter(const ColumnOrName& column);
THALWEG_API Column month(const ColumnOrName& column);
THALWEG_API Column dayofmonth(const ColumnOrName& column);
THALWEG_API Column dayofweek(const ColumnOrName& column);
THALWEG_API Column dayofyear(const ColumnOrName& column);
THALWEG_API Column weekofyear(const ColumnOrName& column);
THALWEG_API Column hour(const ColumnOrName& column);
THALWEG_API Column minute(const ColumnOrName& column);
THALWEG_API Column second(const ColumnOrName& column);
THALWEG_API Column unix_timestamp(const ColumnOrName& column);
THALWEG_API Column from_unixtime(const ColumnOrName& column);
THALWEG_API Column timestamp_seconds(const ColumnOrName& column);
THALWEG_API Column timestamp_millis(const ColumnOrName& column);
THALWEG_API Column timestamp_micros(const ColumnOrName& column);
THALWEG_API Column unix_micros(const ColumnOrName& column);
THALWEG_API Column unix_millis(const ColumnOrName& column);
THALWEG_API Column unix_seconds(const ColumnOrName& column);
THALWEG_API Column from_utc_timestamp(const ColumnOrName& column, std::string_view zone);
THALWEG_API Column to_utc_timestamp(const ColumnOrName& column, std::string_view zone);

// Arrays, maps and structs.
THALWEG_API Column array(const ColumnList& columns);
THALWEG_API Column array_contains(const ColumnOrName& column, const Column& value);
THALWEG_API Column array_distinct(const ColumnOrName& column);
THALWEG_API Column array_join(const ColumnOrName& column, std::string_view delimiter);
THALWEG_API Column array_max(const ColumnOrName& column);
THALWEG_API Column array_min(const ColumnOrName& column);
THALWEG_API Column array_position(const ColumnOrName& column, const Column& value);
THALWEG_API Column array_union(const ColumnOrName& a, const ColumnOrName& b);
THALWEG_API Column array_intersect(const ColumnOrName& a, const ColumnOrName& b);
THALWEG_API Column array_except(const ColumnOrName& a, const ColumnOrName& b);
THALWEG_API Column arrays_overlap(const ColumnOrName& a, const ColumnOrName& b);
THALWEG_API Column element_at(const ColumnOrName& column, const Column& value);
THALWEG_API Column flatten(const ColumnOrName& column);
THALWEG_API Column size(const ColumnOrName& column);
THALWEG_API Column slice(const ColumnOrName& column, int start, int length);
THALWEG_API Column sort_array(const ColumnOrName& column);
THALWEG_API Column sequence(const ColumnOrName& a, const ColumnOrName& b);
THALWEG_API Column create_map(const ColumnList& columns);
THALWEG_API Column map_keys(const ColumnOrName& column);
THALWEG_API Column map_values(const ColumnOrName& column);
THALWEG_API Column map_entries(const ColumnOrName& column);
THALWEG_API Column map_from_arrays(const ColumnOrName& a, const ColumnOrName& b);
THALWEG_API Column struct_(const ColumnList& columns);
THALWEG_API Column explode(const ColumnOrName& column);
THALWEG_API Column explode_outer(const ColumnOrName& column);
THALWEG_API Column posexplode(const ColumnOrName& column);

// Others.
THALWEG_API Column coalesce(const ColumnList& columns);
THALWEG_API Column isnull(const ColumnOrName& column);
THALWEG_API Column isnan(const ColumnOrName& column);
THALWEG_API Column nvl(const ColumnOrName& a, const ColumnOrName& b);
THALWEG_API Column nullif(const ColumnOrName& a, const ColumnOrName& b);
THALWEG_API Column hash(const ColumnList& columns);
THALWEG_API Column xxhash64(const ColumnList& columns);
THALWEG_API Column spark_partition_id();
THALWEG_API Column monotonically_increasing_id();
THALWEG_API Column typeof_(const ColumnOrName& column);
THALWEG_API Column get_json_object(const ColumnOrName& column, std::string_view path);
THALWEG_API Column to_json(const ColumnOrName& column);

}  // namespace functions
}  // namespace thalweg
