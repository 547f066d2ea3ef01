#include "data/formats/csv/csv_column.h"

#include <algorithm>
#include <limits>

#include "base/clock.h"
#include "base/string_case.h"
#include "data/text/datetime.h"
#include "data/text/interval.h"
#include "data/text/numbers.h"
#include "data/text/utf8.h"

namespace thalweg::data {

Result<CsvColumn> CsvColumn::Make(const StructField& field, const CsvOptions& options) {
  const DataType& type = field.type;
  switch (type.kind()) {
    case TypeKind::kBoolean:
      return CsvColumn(type, options, FixedBuilder<uint8_t>(type));
    case TypeKind::kByte:
      return CsvColumn(type, options, FixedBuilder<int8_t>(type));
    case TypeKind::kShort:
      return CsvColumn(type, options, FixedBuilder<int16_t>(type));
    case TypeKind::kInteger:
    case TypeKind::kDate:
    case TypeKind::kYearMonthInterval:
      return CsvColumn(type, options, FixedBuilder<int32_t>(type));
    case TypeKind::kLong:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampNtz:
    case TypeKind::kTime:
    case TypeKind::kDayTimeInterval:
      return CsvColumn(type, options, FixedBuilder<int64_t>(type));
    case TypeKind::kFloat:
      return CsvColumn(type, options, FixedBuilder<float>(type));
    case TypeKind::kDouble:
      return CsvColumn(type, options, FixedBuilder<double>(type));
    case TypeKind::kDecimal:
      return CsvColumn(type, options, FixedBuilder<Int128>(type));
    case TypeKind::kString:
    case TypeKind::kBinary:
      return CsvColumn(type, options, TextBuilder(type));
    default:
      return Error("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE")
          .With("format", "CSV")
          .With("columnName", QuoteIdentifier(field.name))
          .With("columnType", "\"" + type.Sql() + "\"");
  }
}

void CsvColumn::AppendNull() {
  std::visit([](auto& builder) { builder.AppendNull(); }, builder_);
}

template <typename T>
bool CsvColumn::AppendWhole(std::string_view text) {
  int64_t value = 0;
  const bool good = ParseJavaLong(text, &value) && value >= std::numeric_limits<T>::min() &&
                    value <= std::numeric_limits<T>::max();
  return Put<T>(good, static_cast<T>(value));
}

bool CsvColumn::AppendFraction(std::string_view text) {
  double value = 0;
  bool good = true;
  if (text == options_->nan_value)
    value = std::numeric_limits<double>::quiet_NaN();
  else if (text == options_->positive_infinity)
    value = std::numeric_limits<double>::infinity();
  else if (text == options_->negative_infinity)
    value = -std::numeric_limits<double>::infinity();
  else if (kind_ == TypeKind::kDouble)
    good = ParseJavaDouble(text, &value);
  else {
    float single = 0;
    const bool read = ParseJavaFloat(text, &single);
    return Put<float>(read, single);
  }
  return kind_ == TypeKind::kDouble ? Put<double>(good, value) : Put<float>(good, static_cast<float>(value));
}

bool CsvColumn::AppendTemporal(std::string_view text) {
  int64_t wide = 0;
  int32_t narrow = 0;
  switch (kind_) {
    case TypeKind::kDate: {
      const bool good =
          options_->date_format ? options_->date_format->ParseDate(text, &narrow) : ParseDate(text, &narrow);
      return Put<int32_t>(good, narrow);
    }
    case TypeKind::kTimestamp: {
      const bool good = options_->timestamp_format
                            ? options_->timestamp_format->ParseTimestamp(text, options_->time_zone, &wide)
                            : ParsePlainTimestamp(text, options_->time_zone, &wide) ||
                    ParseTimestamp(text, options_->time_zone, SystemClock::Get().NowMicros(), &wide);
      return Put<int64_t>(good, wide);
    }
    case TypeKind::kTimestampNtz: {
      const bool good = options_->timestamp_ntz_format
                            ? options_->timestamp_ntz_format->ParseTimestampNtz(text, false, &wide)
                            : ParseTimestampNtz(text, false, &wide);
      return Put<int64_t>(good, wide);
    }
    case TypeKind::kTime: {
      const bool good = ParseTime(text, &wide);
      return Put<int64_t>(good, wide);
    }
    case TypeKind::kYearMonthInterval: {
      const bool good = ParseYearMonthInterval(text, type_.year_month_start(), type_.year_month_end(), &narrow) ==
                        IntervalOutcome::kOk;
      return Put<int32_t>(good, narrow);
    }
    default: {
      const bool good =
          ParseDayTimeInterval(text, type_.day_time_start(), type_.day_time_end(), &wide) == IntervalOutcome::kOk;
      return Put<int64_t>(good, wide);
    }
  }
}

/// Long texts stay in their block; what is not UTF-8 is repaired, as Java decodes it.
void CsvColumn::AppendText(std::string_view text, const std::shared_ptr<Buffer>* block) {
  auto& builder = std::get<TextBuilder>(builder_);
  if (!IsValidUtf8(text)) {
    repaired_.clear();
    AppendValidUtf8(text, &repaired_);
    builder.Append(repaired_);
    return;
  }
  if (block == nullptr) {
    builder.Append(text);
    return;
  }
  if (text.size() > TextView::kInline && held_block_ != block->get()) {
    builder.AddTextBuffer(*block);
    held_block_ = block->get();
  }
  builder.AppendView(TextView(text.data(), static_cast<uint32_t>(text.size())));
}

bool CsvColumn::Append(std::string_view text, const std::shared_ptr<Buffer>* block) {
  switch (kind_) {
    case TypeKind::kString:
    case TypeKind::kBinary:
      AppendText(text, block);
      return true;
    case TypeKind::kBoolean:
      return Put<uint8_t>(EqualsIgnoreCase(text, "true") || EqualsIgnoreCase(text, "false"), text.size() == 4);
    case TypeKind::kByte:
      return AppendWhole<int8_t>(text);
    case TypeKind::kShort:
      return AppendWhole<int16_t>(text);
    case TypeKind::kInteger:
      return AppendWhole<int32_t>(text);
    case TypeKind::kLong:
      return AppendWhole<int64_t>(text);
    case TypeKind::kFloat:
    case TypeKind::kDouble:
      return AppendFraction(text);
    case TypeKind::kDecimal: {
      // Java's BigDecimal takes no blanks; Spark takes commas out first.
      std::string without_commas;
      if (text.find(',') != std::string_view::npos) {
        without_commas = text;
        std::erase(without_commas, ',');
        text = without_commas;
      }
      Int128 unscaled = 0;
      const bool good =
          !text.empty() && text.front() > ' ' && text.back() > ' ' &&
          ParseDecimal(text, type_.precision(), type_.scale(), &unscaled) == DecimalOutcome::kOk;
      return Put<Int128>(good, unscaled);
    }
    default:
      return AppendTemporal(text);
  }
}

ColumnPtr CsvColumn::Finish() {
  held_block_ = nullptr;
  return std::visit([](auto& builder) { return builder.Finish(); }, builder_);
}

}  // namespace thalweg::data
