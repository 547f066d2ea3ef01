#include "data/formats/json/json_writer.h"

#include <cmath>

#include "data/text/datetime.h"
#include "data/text/interval.h"
#include "data/text/numbers.h"
#include "data/text/utf8.h"

namespace thalweg::data {
namespace {

void AppendBase64(std::string_view bytes, std::string* out) {
  static constexpr char kDigits[] =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t bits = 0;
    const size_t count = std::min<size_t>(3, bytes.size() - i);
    for (size_t j = 0; j < 3; ++j)
      bits = bits << 8 | (j < count ? static_cast<uint8_t>(bytes[i + j]) : 0);
    for (size_t j = 0; j < 4; ++j)
      out->push_back(j <= count ? kDigits[bits >> (18 - 6 * j) & 63] : '=');
  }
}

Status CheckType(const DataType& type) {
  if (type.Is(TypeKind::kVariant)) return Unsupported("VARIANT as JSON");
  if (type.Is(TypeKind::kArray)) return CheckType(type.element());
  if (type.Is(TypeKind::kMap)) return CheckType(type.value());
  if (type.Is(TypeKind::kStruct)) {
    for (const StructField& field : type.fields()) TW_RETURN_NOT_OK(CheckType(field.type));
  }
  return Status::OK();
}

template <typename T>
T ValueAt(const Column& column, int64_t row) {
  return column.values<T>()[column.is_constant() ? 0 : row];
}

/// Scalars that are written the same way as values and as map keys; false for the rest.
bool AppendPlain(const Column& column, int64_t row, std::string* out) {
  switch (column.type().kind()) {
    case TypeKind::kBoolean:
      AppendBoolean(ValueAt<uint8_t>(column, row) != 0, out);
      return true;
    case TypeKind::kByte:
      AppendInt64(ValueAt<int8_t>(column, row), out);
      return true;
    case TypeKind::kShort:
      AppendInt64(ValueAt<int16_t>(column, row), out);
      return true;
    case TypeKind::kInteger:
      AppendInt64(ValueAt<int32_t>(column, row), out);
      return true;
    case TypeKind::kLong:
      AppendInt64(ValueAt<int64_t>(column, row), out);
      return true;
    case TypeKind::kDecimal:
      AppendDecimalScientific(ValueAt<Int128>(column, row), column.type().scale(), out);
      return true;
    default:
      return false;
  }
}

}  // namespace

void AppendJsonString(std::string_view text, std::string* out) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  out->push_back('"');
  for (const char c : text) {
    switch (c) {
      case '"':
        out->append("\\\"");
        break;
      case '\\':
        out->append("\\\\");
        break;
      case '\b':
        out->append("\\b");
        break;
      case '\f':
        out->append("\\f");
        break;
      case '\n':
        out->append("\\n");
        break;
      case '\r':
        out->append("\\r");
        break;
      case '\t':
        out->append("\\t");
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          out->append("\\u00");
          out->push_back(kHex[c >> 4 & 15]);
          out->push_back(kHex[c & 15]);
        } else {
          out->push_back(c);
        }
    }
  }
  out->push_back('"');
}

Result<JsonWriter> JsonWriter::Make(const DataType& type, JsonOptions options) {
  TW_RETURN_NOT_OK(CheckType(type));
  return JsonWriter(std::move(options));
}

void JsonWriter::AppendRow(const Column& column, int64_t row, std::string* out) const {
  AppendValue(column, row, 0, out);
}

void JsonWriter::NewLine(int indent, std::string* out) const {
  if (!options_.pretty) return;
  out->push_back('\n');
  out->append(2 * static_cast<size_t>(indent), ' ');
}

void JsonWriter::AppendValue(const Column& column, int64_t row, int indent,
                             std::string* out) const {
  if (column.IsNull(row) || column.type().Is(TypeKind::kNull)) {
    out->append("null");
    return;
  }
  if (column.encoding() == Encoding::kDictionary)
    return AppendValue(*column.dictionary(), column.indices()[row], indent, out);
  if (AppendPlain(column, row, out)) return;
  std::string text;
  const DataType& type = column.type();
  switch (type.kind()) {
    case TypeKind::kFloat: {
      const float value = ValueAt<float>(column, row);
      AppendFloat(value, &text);
      if (std::isfinite(value))
        out->append(text);
      else
        AppendJsonString(text, out);
      return;
    }
    case TypeKind::kDouble: {
      const double value = ValueAt<double>(column, row);
      AppendDouble(value, &text);
      if (std::isfinite(value))
        out->append(text);
      else
        AppendJsonString(text, out);
      return;
    }
    case TypeKind::kString: {
      const std::string_view value =
          column.values<TextView>()[column.is_constant() ? 0 : row].view();
      if (IsValidUtf8(value)) return AppendJsonString(value, out);
      AppendValidUtf8(value, &text);
      break;
    }
    case TypeKind::kBinary:
      AppendBase64(column.values<TextView>()[column.is_constant() ? 0 : row].view(), &text);
      break;
    case TypeKind::kDate:
      if (options_.date_format)
        options_.date_format->FormatDate(ValueAt<int32_t>(column, row), &text);
      else
        AppendDate(ValueAt<int32_t>(column, row), &text);
      break;
    case TypeKind::kTimestamp:
      options_.write_timestamp_format.FormatTimestamp(ValueAt<int64_t>(column, row),
                                                      options_.time_zone, &text);
      break;
    case TypeKind::kTimestampNtz:
      if (!options_.write_timestamp_ntz_format.FormatTimestampNtz(ValueAt<int64_t>(column, row),
                                                                  &text))
        AppendTimestampNtz(ValueAt<int64_t>(column, row), &text);
      break;
    case TypeKind::kTime:
      AppendTime(ValueAt<int64_t>(column, row), &text);
      break;
    case TypeKind::kYearMonthInterval:
      AppendYearMonthInterval(ValueAt<int32_t>(column, row), type.year_month_start(),
                              type.year_month_end(), IntervalStyle::kAnsi, &text);
      break;
    case TypeKind::kDayTimeInterval:
      AppendDayTimeInterval(ValueAt<int64_t>(column, row), type.day_time_start(),
                            type.day_time_end(), IntervalStyle::kAnsi, &text);
      break;
    case TypeKind::kCalendarInterval:
      AppendCalendarInterval(ValueAt<CalendarInterval>(column, row), &text);
      break;
    case TypeKind::kArray:
      return AppendArray(column, row, indent, out);
    case TypeKind::kMap:
      return AppendMap(column, row, indent, out);
    case TypeKind::kStruct:
      return AppendStruct(column, row, indent, out);
    default:
      break;
  }
  AppendJsonString(text, out);
}

void JsonWriter::AppendStruct(const Column& column, int64_t row, int indent,
                              std::string* out) const {
  out->push_back('{');
  bool first = true;
  for (int i = 0; i < column.num_children(); ++i) {
    const Column& child = *column.child(i);
    const int64_t at = column.is_constant() ? 0 : row;
    if (options_.ignore_null_fields && (child.IsNull(at) || child.type().Is(TypeKind::kNull)))
      continue;
    if (!first) out->push_back(',');
    first = false;
    NewLine(indent + 1, out);
    AppendJsonString(column.type().fields()[i].name, out);
    out->append(options_.pretty ? " : " : ":");
    AppendValue(child, at, indent + 1, out);
  }
  if (!first)
    NewLine(indent, out);
  else if (options_.pretty)
    out->push_back(' ');
  out->push_back('}');
}

void JsonWriter::AppendArray(const Column& column, int64_t row, int indent,
                             std::string* out) const {
  const auto offsets = column.offsets();
  const int64_t at = column.is_constant() ? 0 : row;
  out->push_back('[');
  for (int64_t i = offsets[at]; i < offsets[at + 1]; ++i) {
    if (i > offsets[at])
      out->append(options_.pretty ? ", " : ",");
    else if (options_.pretty)
      out->push_back(' ');
    AppendValue(*column.child(0), i, indent, out);
  }
  if (options_.pretty) out->push_back(' ');
  out->push_back(']');
}

/// Keys are what Java's toString makes of Spark's internal values: times as numbers, texts as they are.
void JsonWriter::AppendKey(const Column& column, int64_t row, std::string* out) const {
  if (column.encoding() == Encoding::kDictionary) return AppendKey(*column.dictionary(), column.indices()[row], out);
  std::string key;
  switch (column.type().kind()) {
    case TypeKind::kFloat:
      AppendFloat(ValueAt<float>(column, row), &key);
      break;
    case TypeKind::kDouble:
      AppendDouble(ValueAt<double>(column, row), &key);
      break;
    case TypeKind::kDate:
    case TypeKind::kYearMonthInterval:
      AppendInt64(ValueAt<int32_t>(column, row), &key);
      break;
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampNtz:
    case TypeKind::kTime:
    case TypeKind::kDayTimeInterval:
      AppendInt64(ValueAt<int64_t>(column, row), &key);
      break;
    default:
      if (AppendPlain(column, row, &key)) break;
      AppendValue(column, row, 0, &key);
      if (key.starts_with('"')) {
        out->append(key);
        return;
      }
  }
  AppendJsonString(key, out);
}

void JsonWriter::AppendMap(const Column& column, int64_t row, int indent, std::string* out) const {
  const auto offsets = column.offsets();
  const int64_t at = column.is_constant() ? 0 : row;
  out->push_back('{');
  bool first = true;
  for (int64_t i = offsets[at]; i < offsets[at + 1]; ++i) {
    if (!first) out->push_back(',');
    first = false;
    NewLine(indent + 1, out);
    AppendKey(*column.child(0), i, out);
    out->append(options_.pretty ? " : " : ":");
    AppendValue(*column.child(1), i, indent + 1, out);
  }
  if (!first)
    NewLine(indent, out);
  else if (options_.pretty)
    out->push_back(' ');
  out->push_back('}');
}

}  // namespace thalweg::data
