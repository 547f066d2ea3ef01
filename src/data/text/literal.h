#pragma once

// Values as SQL and plan text. Not for row loops.

#include <string>

#include "data/text/time_zone.h"
#include "data/types/data_type.h"
#include "data/types/value.h"

namespace thalweg::data {

/// SQL text of a literal of that type, as Spark's Literal.sql prints it ("1L", 'it\'s', DATE '2020-01-01').
/// `zone` is the session's, for timestamps.
std::string LiteralSql(const Value& value, const DataType& type, const TimeZone& zone = {});
/// As Spark's Literal.toString prints it in plans.
std::string LiteralPlanText(const Value& value, const DataType& type, const TimeZone& zone = {});
/// As CAST(value AS STRING) with ANSI on; "NULL" for null, nested values as `{1, a}`, `[1, 2]`, `{k -> v}`.
std::string ValueText(const Value& value, const DataType& type, const TimeZone& zone = {});

}  // namespace thalweg::data
