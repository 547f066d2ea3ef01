#include "data/text/literal.h"

#include <gtest/gtest.h>

#include <limits>

namespace thalweg::data {
namespace {

using T = DataType;

struct Case {
  Value value;
  DataType type;
  const char* sql;
  const char* plan;
  const char* text;
};

Value List(std::vector<Value> items) { return Value(ValueList(std::move(items))); }

// Recorded from Spark 4.2.0: `sql` of the folded literal, its form in the optimized plan, and CAST(... AS STRING).
std::vector<Case> Cases() {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const float low = -std::numeric_limits<float>::infinity();
  const T a_map = T::Map(T::Integer(), T::Map(T::String(), T::Date()));
  return {
      {Value(int32_t{-5}), T::Integer(), "-5", "-5", "-5"},
      {Value(int8_t{-5}), T::Byte(), "-5Y", "-5", "-5"},
      {Value(int16_t{1}), T::Short(), "1S", "1", "1"},
      {Value(int64_t{1}), T::Long(), "1L", "1", "1"},
      {Value(1e10), T::Double(), "1.0E10D", "1.0E10", "1.0E10"},
      {Value(1e10F), T::Float(), "CAST('1.0E10' AS FLOAT)", "1.0E10", "1.0E10"},
      {Value(nan), T::Double(), "CAST('NaN' AS DOUBLE)", "NaN", "NaN"},
      {Value(low), T::Float(), "CAST('-Infinity' AS FLOAT)", "-Infinity", "-Infinity"},
      {Value(Int128{150}), T::Decimal(3, 2), "1.50BD", "1.50", "1.50"},
      {Value(Int128{0}), T::Decimal(38, 18), "0E-18BD", "0E-18", "0.000000000000000000"},
      {Value(std::string("it's \\ x")), T::String(), "'it\\'s \\\\ x'", "it's \\ x", "it's \\ x"},
      {Value(std::string("x")), T::String("UNICODE"), "'x' collate UNICODE", "x", "x"},
      {Value(true), T::Boolean(), "true", "true", "true"},
      {Value(), T::Null(), "NULL", "null", "NULL"},
      {Value(), T::Integer(), "CAST(NULL AS INT)", "null", "NULL"},
      {Value(std::string("\n\xFF")), T::Binary(), "X'0AFF'", "0x0AFF", "\n\xFF"},
      {Value(int32_t{18292}), T::Date(), "DATE '2020-01-31'", "2020-01-31", "2020-01-31"},
      {Value(int64_t{1580472000500000}), T::Timestamp(), "TIMESTAMP '2020-01-31 12:00:00.5'", "2020-01-31 12:00:00.5",
       "2020-01-31 12:00:00.5"},
      {Value(int64_t{1580472000000000}), T::TimestampNtz(), "TIMESTAMP_NTZ '2020-01-31 12:00:00'", "2020-01-31 12:00:00",
       "2020-01-31 12:00:00"},
      {Value(int64_t{45296500000000}), T::Time(), "TIME '12:34:56.5'", "12:34:56.5", "12:34:56.5"},
      {Value(int64_t{93600000000}), T::DayTimeInterval(DayTimeField::kDay, DayTimeField::kHour),
       "INTERVAL '1 02' DAY TO HOUR", "INTERVAL '1 02' DAY TO HOUR", "INTERVAL '1 02' DAY TO HOUR"},
      {Value(int64_t{-300000000}), T::DayTimeInterval(DayTimeField::kMinute, DayTimeField::kMinute), "INTERVAL '-05' MINUTE",
       "INTERVAL '-05' MINUTE", "INTERVAL '-05' MINUTE"},
      {Value(int32_t{13}), T::YearMonthInterval(YearMonthField::kMonth, YearMonthField::kMonth), "INTERVAL '13' MONTH",
       "INTERVAL '13' MONTH", "INTERVAL '13' MONTH"},
      {Value(CalendarInterval{14, 3, 14706500000}), T::CalendarInterval(),
       "INTERVAL '1 years 2 months 3 days 4 hours 5 minutes 6.5 seconds'", "1 years 2 months 3 days 4 hours 5 minutes 6.5 seconds",
       "1 years 2 months 3 days 4 hours 5 minutes 6.5 seconds"},
      {List({Value(int32_t{1}), Value(int32_t{2}), Value()}), T::Array(T::Integer()), "ARRAY(1, 2, CAST(NULL AS INT))",
       "[1,2,null]", "[1, 2, null]"},
      {List({Value(std::string("a")), Value(int32_t{1}), Value(std::string("b")), Value()}), T::Map(T::String(), T::Integer()),
       "MAP('a', 1, 'b', CAST(NULL AS INT))", "map(keys: [a,b], values: [1,null])", "{a -> 1, b -> null}"},
      {List({Value(int32_t{1}), List({Value(std::string("a")), Value(int32_t{18262})})}), a_map,
       "MAP(1, MAP('a', DATE '2020-01-01'))", "map(keys: [1], values: [keys: [a], values: [18262]])",
       "{1 -> {a -> 2020-01-01}}"},
      {List({Value(int32_t{1}), Value(std::string("x")), Value()}),
       T::Struct({{"a", T::Integer()}, {"b", T::String()}, {"c", T::Null()}}), "NAMED_STRUCT('a', 1, 'b', 'x', 'c', NULL)",
       "[1,x,null]", "{1, x, null}"},
      {List({Value(int64_t{1577836800000000})}), T::Array(T::Timestamp()), "ARRAY(TIMESTAMP '2020-01-01 00:00:00')",
       "[1577836800000000]", "[2020-01-01 00:00:00]"},
      {List({List({Value(1.5)})}), T::Struct({{"a", T::Array(T::Double())}}), "NAMED_STRUCT('a', ARRAY(1.5D))", "[[1.5]]",
       "{[1.5]}"},
  };
}

TEST(Literal, PrintsAsSparkDoes) {
  for (const Case& c : Cases()) {
    EXPECT_EQ(LiteralSql(c.value, c.type), c.sql);
    EXPECT_EQ(LiteralPlanText(c.value, c.type), c.plan);
    EXPECT_EQ(ValueText(c.value, c.type), c.text);
  }
}

TEST(Literal, TimestampsFollowTheZone) {
  const TimeZone zone = TimeZone::Parse("America/Los_Angeles").ValueOrDie();
  EXPECT_EQ(LiteralSql(Value(int64_t{0}), DataType::Timestamp(), zone), "TIMESTAMP '1969-12-31 16:00:00'");
}

}  // namespace
}  // namespace thalweg::data
