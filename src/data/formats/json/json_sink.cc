#include "data/formats/json/json_sink.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "base/clock.h"
#include "data/text/datetime.h"
#include "data/text/decimal128.h"
#include "data/text/interval.h"
#include "data/text/numbers.h"

namespace thalweg::data {
namespace {

/// Standard base 64, padding optional at the end; false for other characters.
bool DecodeBase64(std::string_view text, std::string* out) {
  uint32_t bits = 0;
  int count = 0;
  while (!text.empty() && text.back() == '=') text.remove_suffix(1);
  for (const char c : text) {
    int value;
    if (c >= 'A' && c <= 'Z')
      value = c - 'A';
    else if (c >= 'a' && c <= 'z')
      value = c - 'a' + 26;
    else if (c >= '0' && c <= '9')
      value = c - '0' + 52;
    else if (c == '+')
      value = 62;
    else if (c == '/')
      value = 63;
    else if (c == '\n' || c == '\r' || c == ' ' || c == '\t')
      continue;
    else
      return false;
    bits = bits << 6 | static_cast<uint32_t>(value);
    if (++count % 4 != 1)
      out->push_back(static_cast<char>(bits >> (6 - (count - 1) % 4 * 2) & 0xFF));
  }
  return count % 4 != 1;
}

bool NonNumeric(std::string_view text, double* out) {
  if (text == "NaN")
    *out = std::numeric_limits<double>::quiet_NaN();
  else if (text == "INF" || text == "+INF" || text == "Infinity" || text == "+Infinity")
    *out = std::numeric_limits<double>::infinity();
  else if (text == "-INF" || text == "-Infinity")
    *out = -std::numeric_limits<double>::infinity();
  else
    return false;
  return true;
}

BufferPtr OffsetsBuffer(const std::vector<int32_t>& offsets) {
  auto buffer = Buffer::Allocate(static_cast<int64_t>(offsets.size() * sizeof(int32_t)));
  std::memcpy(buffer->mutable_data(), offsets.data(), offsets.size() * sizeof(int32_t));
  return buffer;
}

}  // namespace

JsonSink::JsonSink(DataType type, const JsonOptions& options)
    : type_(std::move(type)), kind_(type_.kind()), nested_(type_.IsNested()),
      exact_(options.exact_text && type_.Is(TypeKind::kString)), options_(options) {}
JsonSink::~JsonSink() = default;

Result<std::unique_ptr<JsonSink>> JsonSink::Make(const DataType& type, const JsonOptions& options) {
  std::unique_ptr<JsonSink> sink(new JsonSink(type, options));
  const auto child = [&](const DataType& child_type) -> Status {
    TW_ASSIGN_OR_RETURN(std::unique_ptr<JsonSink> made, Make(child_type, options));
    sink->children_.push_back(std::move(made));
    return Status::OK();
  };
  switch (type.physical()) {
    case PhysicalType::kNull:
      break;
    case PhysicalType::kBool:
      sink->builder_ = FixedBuilder<uint8_t>(type);
      break;
    case PhysicalType::kInt8:
      sink->builder_ = FixedBuilder<int8_t>(type);
      break;
    case PhysicalType::kInt16:
      sink->builder_ = FixedBuilder<int16_t>(type);
      break;
    case PhysicalType::kInt32:
      sink->builder_ = FixedBuilder<int32_t>(type);
      break;
    case PhysicalType::kInt64:
      sink->builder_ = FixedBuilder<int64_t>(type);
      break;
    case PhysicalType::kFloat:
      sink->builder_ = FixedBuilder<float>(type);
      break;
    case PhysicalType::kDouble:
      sink->builder_ = FixedBuilder<double>(type);
      break;
    case PhysicalType::kInt128:
      sink->builder_ = FixedBuilder<Int128>(type);
      break;
    case PhysicalType::kInterval:
      sink->builder_ = FixedBuilder<CalendarInterval>(type);
      break;
    case PhysicalType::kText:
      sink->builder_.emplace<TextBuilder>(type);
      break;
    case PhysicalType::kList:
      TW_RETURN_NOT_OK(child(type.element()));
      sink->offsets_.push_back(0);
      break;
    case PhysicalType::kMap:
      if (!type.key().Is(TypeKind::kString))
        return Unsupported("JSON maps with keys of type " + type.key().Sql());
      TW_RETURN_NOT_OK(child(type.key()));
      TW_RETURN_NOT_OK(child(type.value()));
      sink->offsets_.push_back(0);
      break;
    case PhysicalType::kStruct:
      if (type.Is(TypeKind::kVariant)) return Unsupported("JSON as VARIANT");
      for (const StructField& field : type.fields()) {
        TW_ASSIGN_OR_RETURN(std::unique_ptr<JsonSink> made, Make(field.type, options));
        sink->fields_.push_back({field.name, std::move(made)});
      }
      for (size_t i = 0; i < sink->fields_.size(); ++i)
        sink->by_name_.emplace(sink->fields_[i].name, static_cast<int>(i));
      break;
  }
  return sink;
}

int JsonSink::FindField(std::string_view name) const {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? -1 : found->second;
}

void JsonSink::AppendNull() {
  ++length_;
  std::visit(
      [&](auto& builder) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(builder)>, std::monostate>)
          builder.AppendNull();
      },
      builder_);
  if (!std::holds_alternative<std::monostate>(builder_)) return;
  validity_.AppendNull();
  if (!offsets_.empty()) offsets_.push_back(offsets_.back());
  for (JsonField& field : fields_) field.sink->AppendNull();
}

void JsonSink::AppendText(std::string_view text) {
  std::get<TextBuilder>(builder_).Append(text);
  ++length_;
}

void JsonSink::AppendTextIn(std::string_view text, const std::shared_ptr<Buffer>& block) {
  TextBuilder& builder = std::get<TextBuilder>(builder_);
  if (text.size() > TextView::kInline && held_block_ != block.get()) {
    builder.AddTextBuffer(block);
    held_block_ = block.get();
  }
  builder.AppendView(TextView(text.data(), static_cast<uint32_t>(text.size())));
  ++length_;
}

bool JsonSink::AppendBoolean(bool value) {
  if (kind_ == TypeKind::kBoolean) return Put<uint8_t>(value);
  if (!is_string()) return Fail();
  AppendText(value ? "true" : "false");
  return true;
}

bool JsonSink::AppendInteger(int64_t value) {
  switch (kind_) {
    case TypeKind::kByte:  // Jackson takes an unsigned byte too
      return value >= -128 && value <= 255 ? Put<int8_t>(static_cast<int8_t>(value)) : Fail();
    case TypeKind::kShort:
      return value >= INT16_MIN && value <= INT16_MAX ? Put<int16_t>(static_cast<int16_t>(value))
                                                      : Fail();
    case TypeKind::kInteger:
      return value >= INT32_MIN && value <= INT32_MAX ? Put<int32_t>(static_cast<int32_t>(value))
                                                      : Fail();
    case TypeKind::kLong:
      return Put<int64_t>(value);
    case TypeKind::kFloat:
      return Put<float>(static_cast<float>(value));
    case TypeKind::kDouble:
      return Put<double>(static_cast<double>(value));
    case TypeKind::kTimestamp: {
      int64_t micros = 0;
      return __builtin_mul_overflow(value, int64_t{1000000}, &micros) ? Fail()
                                                                      : Put<int64_t>(micros);
    }
    case TypeKind::kDecimal: {
      Int128 unscaled = 0;
      return DecimalFromInt64(value, type_.precision(), type_.scale(), &unscaled)
                 ? Put<Int128>(unscaled)
                 : Fail();
    }
    case TypeKind::kString: {
      char digits[24];
      const auto end = std::to_chars(digits, digits + sizeof(digits), value).ptr;
      AppendText({digits, static_cast<size_t>(end - digits)});
      return true;
    }
    default:
      return Fail();
  }
}

bool JsonSink::AppendFraction(double value) {
  if (is_string()) {
    std::string text;
    AppendDouble(value, &text);
    AppendText(text);
    return true;
  }
  if (kind_ == TypeKind::kDouble) return Put<double>(value);
  if (kind_ == TypeKind::kFloat) return Put<float>(static_cast<float>(value));
  return Fail();
}

bool JsonSink::AppendNumber(std::string_view text, bool fraction) {
  if (is_string() && !fraction) {  // as an integer of any size is written
    AppendText(text == "-0" ? "0" : text);
    return true;
  }
  if (kind_ == TypeKind::kDecimal) {
    Int128 unscaled = 0;
    return ParseDecimal(text, type_.precision(), type_.scale(), &unscaled) == DecimalOutcome::kOk
               ? Put<Int128>(unscaled)
               : Fail();
  }
  if (is_string() || kind_ == TypeKind::kDouble || kind_ == TypeKind::kFloat) {
    double value = 0;
    if (!NonNumeric(text, &value)) {
      if (kind_ == TypeKind::kFloat) {
        float single = 0;
        return ParseFloat(text, &single) ? Put<float>(single) : Fail();
      }
      if (!ParseDouble(text, &value)) return Fail();
    }
    return AppendFraction(value);
  }
  int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (fraction || parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size())
    return Fail();
  return AppendInteger(value);
}

bool JsonSink::AppendString(std::string_view text) {
  if (is_string()) {
    AppendText(text);
    return true;
  }
  if (kind_ == TypeKind::kBinary) {
    std::string bytes;
    if (!DecodeBase64(text, &bytes)) return Fail();
    AppendText(bytes);
    return true;
  }
  if (text.empty()) return Fail();
  switch (kind_) {
    case TypeKind::kFloat:
    case TypeKind::kDouble: {
      double value = 0;
      return NonNumeric(text, &value) ? AppendFraction(value) : Fail();
    }
    case TypeKind::kDecimal: {
      Int128 unscaled = 0;
      return ParseDecimal(text, type_.precision(), type_.scale(), &unscaled) == DecimalOutcome::kOk
                 ? Put<Int128>(unscaled)
                 : Fail();
    }
    default:
      return AppendTemporal(text);
  }
}

bool JsonSink::AppendTemporal(std::string_view text) {
  int64_t long_value = 0;
  int32_t int_value = 0;
  switch (kind_) {
    case TypeKind::kTimestamp: {
      const bool good =
          options_.timestamp_format
              ? options_.timestamp_format->ParseTimestamp(text, options_.time_zone, &long_value)
              : ParsePlainTimestamp(text, options_.time_zone, &long_value) ||
                    ParseTimestamp(text, options_.time_zone, SystemClock::Get().NowMicros(),
                               &long_value);
      return good ? Put<int64_t>(long_value) : Fail();
    }
    case TypeKind::kTimestampNtz: {
      const bool good =
          options_.timestamp_ntz_format
              ? options_.timestamp_ntz_format->ParseTimestampNtz(text, false, &long_value)
              : ParseTimestampNtz(text, false, &long_value);
      return good ? Put<int64_t>(long_value) : Fail();
    }
    case TypeKind::kDate: {
      const bool good = options_.date_format ? options_.date_format->ParseDate(text, &int_value)
                                             : ParseDate(text, &int_value);
      return good ? Put<int32_t>(int_value) : Fail();
    }
    case TypeKind::kTime:
      return ParseTime(text, &long_value) ? Put<int64_t>(long_value) : Fail();
    case TypeKind::kYearMonthInterval:
      return ParseYearMonthInterval(text, type_.year_month_start(), type_.year_month_end(),
                                    &int_value) == IntervalOutcome::kOk
                 ? Put<int32_t>(int_value)
                 : Fail();
    case TypeKind::kDayTimeInterval:
      return ParseDayTimeInterval(text, type_.day_time_start(), type_.day_time_end(),
                                  &long_value) == IntervalOutcome::kOk
                 ? Put<int64_t>(long_value)
                 : Fail();
    case TypeKind::kCalendarInterval: {
      CalendarInterval interval;
      return ParseCalendarInterval(text, &interval) ? Put<CalendarInterval>(interval) : Fail();
    }
    default:
      return Fail();
  }
}

void JsonSink::CloseList() {
  offsets_.push_back(static_cast<int32_t>(children_[0]->length()));
  validity_.AppendValid();
  ++length_;
}

void JsonSink::CloseListAsNull() {
  offsets_.push_back(static_cast<int32_t>(children_[0]->length()));
  validity_.AppendNull();
  ++length_;
}

void JsonSink::CloseStruct() {
  validity_.AppendValid();
  ++length_;
}

ColumnPtr JsonSink::Finish() {
  const int64_t rows = std::exchange(length_, 0);
  held_block_ = nullptr;
  if (auto* text = std::get_if<TextBuilder>(&builder_)) return text->Finish();
  ColumnPtr fixed;
  std::visit(
      [&](auto& builder) {
        using Builder = std::decay_t<decltype(builder)>;
        if constexpr (!std::is_same_v<Builder, std::monostate> &&
                      !std::is_same_v<Builder, TextBuilder>)
          fixed = builder.Finish();
      },
      builder_);
  if (fixed != nullptr) return fixed;
  if (kind_ == TypeKind::kNull) {
    validity_.Finish();
    return Column::Nulls(type_, rows);
  }
  Column::Parts parts;
  parts.type = type_;
  parts.length = rows;
  parts.null_count = validity_.null_count();
  parts.validity = validity_.Finish();
  if (!offsets_.empty()) {
    parts.values = OffsetsBuffer(offsets_);
    offsets_.assign(1, 0);
  }
  for (const auto& child : children_) parts.children.push_back(child->Finish());
  for (const JsonField& field : fields_) parts.children.push_back(field.sink->Finish());
  return Column::Make(std::move(parts));
}

}  // namespace thalweg::data
