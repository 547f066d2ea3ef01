#include "data/text/literal.h"

#include <cmath>

#include "data/text/datetime.h"
#include "data/text/interval.h"
#include "data/text/numbers.h"

namespace thalweg::data {
namespace {

void AppendHexBytes(std::string_view bytes, std::string* out) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  for (const char c : bytes) {
    out->push_back(kHex[static_cast<unsigned char>(c) >> 4]);
    out->push_back(kHex[static_cast<unsigned char>(c) & 15]);
  }
}

// Backslash and quote escaped, in quotes.
void AppendQuotedText(std::string_view text, std::string* out) {
  out->push_back('\'');
  for (const char c : text) {
    if (c == '\\' || c == '\'') out->push_back('\\');
    out->push_back(c);
  }
  out->push_back('\'');
}

// Dates, times and intervals, the same in every form but for what stands around them; false for other types.
bool AppendTemporal(const Value& value, const DataType& type, const TimeZone& zone, std::string* out) {
  switch (type.kind()) {
    case TypeKind::kDate: AppendDate(value.get<int32_t>(), out); return true;
    case TypeKind::kTimestamp: AppendTimestamp(value.get<int64_t>(), zone, out); return true;
    case TypeKind::kTimestampNtz: AppendTimestampNtz(value.get<int64_t>(), out); return true;
    case TypeKind::kTime: AppendTime(value.get<int64_t>(), out); return true;
    case TypeKind::kYearMonthInterval:
      AppendYearMonthInterval(value.get<int32_t>(), type.year_month_start(), type.year_month_end(), IntervalStyle::kAnsi, out);
      return true;
    case TypeKind::kDayTimeInterval:
      AppendDayTimeInterval(value.get<int64_t>(), type.day_time_start(), type.day_time_end(), IntervalStyle::kAnsi, out);
      return true;
    case TypeKind::kCalendarInterval: AppendCalendarInterval(value.get<CalendarInterval>(), out); return true;
    default: return false;
  }
}

void AppendFloating(const Value& value, std::string* out) {
  if (const float* narrow = value.get_if<float>()) {
    AppendFloat(*narrow, out);
  } else {
    AppendDouble(value.get<double>(), out);
  }
}

void AppendLiteralSql(const Value& value, const DataType& type, const TimeZone& zone, std::string* out);

// NAME(item, item) of the values, each of the type that `type_of` names.
template <typename TypeOf>
void AppendCall(std::string_view name, const ValueList& items, const TimeZone& zone, TypeOf type_of, std::string* out) {
  out->append(name).push_back('(');
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out->append(", ");
    AppendLiteralSql(items[i], type_of(i), zone, out);
  }
  out->push_back(')');
}

void AppendStructSql(const ValueList& items, const DataType& type, const TimeZone& zone, std::string* out) {
  out->append("NAMED_STRUCT(");
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out->append(", ");
    AppendQuotedText(type.fields()[i].name, out);
    out->append(", ");
    AppendLiteralSql(items[i], type.fields()[i].type, zone, out);
  }
  out->push_back(')');
}

void AppendFloatingSql(const Value& value, const DataType& type, std::string* out) {
  std::string text;
  AppendFloating(value, &text);
  const bool special = text.back() == 'N' || text.back() == 'y';
  if (special || type.Is(TypeKind::kFloat)) {
    out->append("CAST('").append(text).append("' AS ").append(type.Sql()).push_back(')');
  } else {
    out->append(text).push_back('D');
  }
}

void AppendLiteralSql(const Value& value, const DataType& type, const TimeZone& zone, std::string* out) {
  if (value.is_null()) {
    if (type.Is(TypeKind::kNull)) {
      out->append("NULL");
    } else {
      out->append("CAST(NULL AS ").append(type.Sql()).push_back(')');
    }
    return;
  }
  switch (type.kind()) {
    case TypeKind::kNull: out->append("NULL"); return;
    case TypeKind::kBoolean: AppendBoolean(value.get<bool>(), out); return;
    case TypeKind::kByte: AppendInt64(value.AsInt64(), out); out->push_back('Y'); return;
    case TypeKind::kShort: AppendInt64(value.AsInt64(), out); out->push_back('S'); return;
    case TypeKind::kInteger: AppendInt64(value.AsInt64(), out); return;
    case TypeKind::kLong: AppendInt64(value.AsInt64(), out); out->push_back('L'); return;
    case TypeKind::kFloat:
    case TypeKind::kDouble: return AppendFloatingSql(value, type, out);
    case TypeKind::kDecimal: AppendDecimalScientific(value.get<Int128>(), type.scale(), out); out->append("BD"); return;
    case TypeKind::kString:
      AppendQuotedText(value.get<std::string>(), out);
      if (type.collation() != "UTF8_BINARY") out->append(" collate ").append(type.collation());
      return;
    case TypeKind::kBinary:
      out->append("X'");
      AppendHexBytes(value.get<std::string>(), out);
      out->push_back('\'');
      return;
    case TypeKind::kYearMonthInterval:
    case TypeKind::kDayTimeInterval: (void)AppendTemporal(value, type, zone, out); return;
    case TypeKind::kArray:
      return AppendCall("ARRAY", value.get<ValueList>(), zone, [&](size_t) { return type.element(); }, out);
    case TypeKind::kMap:
      return AppendCall("MAP", value.get<ValueList>(), zone, [&](size_t i) { return i % 2 == 0 ? type.key() : type.value(); }, out);
    case TypeKind::kStruct: return AppendStructSql(value.get<ValueList>(), type, zone, out);
    case TypeKind::kVariant: out->append("VARIANT"); return;
    default: break;
  }
  const std::string_view prefix = type.Is(TypeKind::kDate)           ? "DATE"
                                  : type.Is(TypeKind::kTimestamp)    ? "TIMESTAMP"
                                  : type.Is(TypeKind::kTimestampNtz) ? "TIMESTAMP_NTZ"
                                  : type.Is(TypeKind::kTime)         ? "TIME"
                                                                     : "INTERVAL";
  out->append(prefix).append(" '");
  (void)AppendTemporal(value, type, zone, out);
  out->push_back('\'');
}

// Inside arrays, maps and structs a plan shows Spark's internal values: dates as days, timestamps as microseconds.
void AppendInternal(const Value& value, const DataType& type, const TimeZone& zone, std::string* out);

void AppendInternalList(const ValueList& items, size_t begin, size_t step, const DataType& element, const TimeZone& zone,
                        std::string* out) {
  out->push_back('[');
  for (size_t i = begin; i < items.size(); i += step) {
    if (i > begin) out->push_back(',');
    AppendInternal(items[i], element, zone, out);
  }
  out->push_back(']');
}

void AppendInternal(const Value& value, const DataType& type, const TimeZone& zone, std::string* out) {
  if (value.is_null()) {
    out->append("null");
    return;
  }
  switch (type.kind()) {
    case TypeKind::kBoolean: return AppendBoolean(value.get<bool>(), out);
    case TypeKind::kFloat:
    case TypeKind::kDouble: return AppendFloating(value, out);
    case TypeKind::kDecimal: return AppendDecimalScientific(value.get<Int128>(), type.scale(), out);
    case TypeKind::kString: out->append(value.get<std::string>()); return;
    case TypeKind::kBinary:
      out->append("0x");
      return AppendHexBytes(value.get<std::string>(), out);
    case TypeKind::kCalendarInterval: return AppendCalendarInterval(value.get<CalendarInterval>(), out);
    case TypeKind::kArray: return AppendInternalList(value.get<ValueList>(), 0, 1, type.element(), zone, out);
    case TypeKind::kMap:
      out->append("keys: ");
      AppendInternalList(value.get<ValueList>(), 0, 2, type.key(), zone, out);
      out->append(", values: ");
      return AppendInternalList(value.get<ValueList>(), 1, 2, type.value(), zone, out);
    case TypeKind::kStruct: {
      const ValueList& items = value.get<ValueList>();
      out->push_back('[');
      for (size_t i = 0; i < items.size(); ++i) {
        if (i > 0) out->push_back(',');
        AppendInternal(items[i], type.fields()[i].type, zone, out);
      }
      out->push_back(']');
      return;
    }
    case TypeKind::kVariant: out->append("VARIANT"); return;
    default: AppendInt64(value.AsInt64(), out);
  }
}

void AppendValueText(const Value& value, const DataType& type, const TimeZone& zone, std::string* out);

void AppendNested(const Value& value, const DataType& type, const TimeZone& zone, std::string* out) {
  if (value.is_null()) {
    out->append("null");
  } else {
    AppendValueText(value, type, zone, out);
  }
}

void AppendValueText(const Value& value, const DataType& type, const TimeZone& zone, std::string* out) {
  if (value.is_null()) {
    out->append("NULL");
    return;
  }
  if (AppendTemporal(value, type, zone, out)) return;
  switch (type.kind()) {
    case TypeKind::kBoolean: return AppendBoolean(value.get<bool>(), out);
    case TypeKind::kFloat:
    case TypeKind::kDouble: return AppendFloating(value, out);
    case TypeKind::kDecimal: return AppendDecimal(value.get<Int128>(), type.scale(), out);
    case TypeKind::kString:
    case TypeKind::kBinary: out->append(value.get<std::string>()); return;
    case TypeKind::kNull: out->append("NULL"); return;
    case TypeKind::kVariant: out->append("VARIANT"); return;
    case TypeKind::kArray:
    case TypeKind::kMap:
    case TypeKind::kStruct: break;
    default: return AppendInt64(value.AsInt64(), out);
  }
  const ValueList& items = value.get<ValueList>();
  const bool is_map = type.Is(TypeKind::kMap);
  const bool is_array = type.Is(TypeKind::kArray);
  out->push_back(is_array ? '[' : '{');
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out->append(is_map && i % 2 == 1 ? " -> " : ", ");
    AppendNested(items[i], is_array ? type.element() : is_map ? (i % 2 == 0 ? type.key() : type.value()) : type.fields()[i].type,
                 zone, out);
  }
  out->push_back(is_array ? ']' : '}');
}

}  // namespace

std::string LiteralSql(const Value& value, const DataType& type, const TimeZone& zone) {
  std::string out;
  AppendLiteralSql(value, type, zone, &out);
  return out;
}

std::string LiteralPlanText(const Value& value, const DataType& type, const TimeZone& zone) {
  std::string out;
  if (!value.is_null() && AppendTemporal(value, type, zone, &out)) return out;
  if (!value.is_null() && type.Is(TypeKind::kMap)) out.append("map(");
  AppendInternal(value, type, zone, &out);
  if (!value.is_null() && type.Is(TypeKind::kMap)) out.push_back(')');
  return out;
}

std::string ValueText(const Value& value, const DataType& type, const TimeZone& zone) {
  std::string out;
  AppendValueText(value, type, zone, &out);
  return out;
}

}  // namespace thalweg::data
