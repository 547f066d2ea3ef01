// Statistics as JSON, read: may a file hold a matching row?

#include <simdjson.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>

#include "connectors/delta/delta_stats.h"
#include "data/text/datetime.h"
#include "data/text/numbers.h"

namespace thalweg::connectors {

using data::ColumnPredicate;
using data::ColumnRange;
using data::DataType;
using data::TypeKind;
using data::Value;
using simdjson::dom::element;
using simdjson::dom::object;

namespace {

template <typename T>
std::optional<Value> Integer(const element& json) {
  int64_t number = 0;
  if (json.get(number) != simdjson::SUCCESS || number < std::numeric_limits<T>::min() || number > std::numeric_limits<T>::max()) {
    return {};
  }
  return Value(static_cast<T>(number));
}

std::optional<double> Double(const element& json) {
  double number = 0;
  if (json.get(number) == simdjson::SUCCESS) return number;
  std::string_view text;
  if (json.get(text) != simdjson::SUCCESS || !data::ParseJavaDouble(text, &number)) return {};
  return number;
}

// Through double: a step outwards on either side makes up for what the digits beyond lost.
std::optional<Value> Decimal(const element& json, const DataType& type, bool is_max) {
  int64_t whole = 0;
  std::string text;
  if (json.get(whole) == simdjson::SUCCESS) {
    text = std::to_string(whole);
  } else {
    const auto number = Double(json);
    if (!number) return {};
    const double outwards = std::nextafter(*number, is_max ? std::numeric_limits<double>::infinity()
                                                           : -std::numeric_limits<double>::infinity());
    data::AppendDouble(outwards, &text);
  }
  data::Int128 unscaled = 0;
  if (data::ParseDecimal(text, type.precision(), type.scale(), &unscaled) != data::DecimalOutcome::kOk) return {};
  return Value(unscaled);
}

// Bounds of timestamps are cut to milliseconds: the greatest may be just below the next one.
std::optional<Value> Timestamp(std::string_view text, bool local, bool is_max) {
  int64_t micros = 0;
  const bool parsed = local ? data::ParseTimestampNtz(text, true, &micros) : data::ParseTimestamp(text, {}, 0, &micros);
  if (!parsed) return {};
  return Value(is_max ? std::min(micros, INT64_MAX - 999) + 999 : micros);
}

std::optional<Value> Bound(const element& json, const DataType& type, bool is_max) {
  std::string_view text;
  switch (type.kind()) {
    case TypeKind::kByte: return Integer<int8_t>(json);
    case TypeKind::kShort: return Integer<int16_t>(json);
    case TypeKind::kInteger: return Integer<int32_t>(json);
    case TypeKind::kLong: return Integer<int64_t>(json);
    case TypeKind::kFloat: {
      const auto number = Double(json);
      return number ? std::optional<Value>(Value(static_cast<float>(*number))) : std::nullopt;
    }
    case TypeKind::kDouble: {
      const auto number = Double(json);
      return number ? std::optional<Value>(Value(*number)) : std::nullopt;
    }
    case TypeKind::kDecimal: return Decimal(json, type, is_max);
    default: break;
  }
  if (json.get(text) != simdjson::SUCCESS) return {};
  switch (type.kind()) {
    case TypeKind::kString: return Value(std::string(text));
    case TypeKind::kDate: {
      int32_t days = 0;
      if (!data::ParseDate(text, &days)) return {};
      return Value(days);
    }
    case TypeKind::kTimestamp: return Timestamp(text, false, is_max);
    case TypeKind::kTimestampNtz: return Timestamp(text, true, is_max);
    default: return {};
  }
}

ColumnRange RangeOf(const object& stats, const ColumnPredicate& predicate) {
  ColumnRange range;
  int64_t number = 0;
  if (stats.at_key("numRecords").get(number) == simdjson::SUCCESS) range.row_count = number;
  element found;
  if (stats["minValues"][predicate.column].get(found) == simdjson::SUCCESS) range.min = Bound(found, predicate.type, false);
  if (stats["maxValues"][predicate.column].get(found) == simdjson::SUCCESS) range.max = Bound(found, predicate.type, true);
  if (stats["nullCount"][predicate.column].get(number) == simdjson::SUCCESS) range.null_count = number;
  bool tight = true;
  if (stats.at_key("tightBounds").get(tight) == simdjson::SUCCESS && !tight && range.null_count) {
    const bool tells = *range.null_count == 0 || range.null_count == range.row_count;
    if (!tells) range.null_count.reset();
  }
  return range;
}

}  // namespace

bool FileMayMatch(const AddFile& add, const std::vector<ColumnPredicate>& predicates) {
  if (!add.stats || predicates.empty()) return true;
  thread_local simdjson::dom::parser parser;
  object stats;
  if (parser.parse(*add.stats).get(stats) != simdjson::SUCCESS) return true;
  for (const ColumnPredicate& predicate : predicates) {
    if (!data::MayMatch(predicate, RangeOf(stats, predicate))) return false;
  }
  return true;
}

std::optional<int64_t> StatsRecordCount(const AddFile& add) {
  if (!add.stats) return {};
  constexpr std::string_view kKey = "\"numRecords\":";
  const size_t at = add.stats->find(kKey);
  if (at == std::string::npos) return {};
  int64_t count = 0;
  const char* first = add.stats->data() + at + kKey.size();
  const auto [end, error] = std::from_chars(first, add.stats->data() + add.stats->size(), count);
  if (error != std::errc{} || count < 0) return {};
  return count;
}

}  // namespace thalweg::connectors
