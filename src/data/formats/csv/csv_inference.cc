#include <algorithm>
#include <optional>

#include "base/clock.h"
#include "base/random.h"
#include "base/string_case.h"
#include "data/formats/csv/csv_file_reader.h"
#include "data/formats/csv/csv_records.h"
#include "data/formats/json/json_inference.h"
#include "data/text/datetime.h"
#include "data/text/decimal128.h"
#include "data/text/numbers.h"

namespace thalweg::data {
namespace {

/// The type of one column, value by value: a chain of ever wider types is tried from the one so far on.
class ColumnTyping {
 public:
  ColumnTyping(const CsvOptions& options, const std::optional<DateTimePattern>& date_format, bool timestamp_ntz)
      : options_(&options), date_format_(&date_format), timestamp_ntz_(timestamp_ntz) {}

  void Add(std::string_view text) {
    if (text.empty() || text == options_->null_value || type_.Is(TypeKind::kString)) return;
    type_ = Merge(type_, From(text));
  }
  DataType Finish() const { return type_.Is(TypeKind::kNull) ? DataType::String() : type_; }

 private:
  DataType From(std::string_view text) const {
    switch (type_.kind()) {
      case TypeKind::kNull:
      case TypeKind::kInteger:
        return Whole(text);
      case TypeKind::kLong:
        return Long(text);
      case TypeKind::kDecimal:
        return Decimal(text);
      case TypeKind::kDouble:
        return Double(text);
      case TypeKind::kDate:
        return Date(text);
      case TypeKind::kTimestampNtz:
        return TimestampNtz(text);
      case TypeKind::kTimestamp:
        return Timestamp(text);
      default:
        return Boolean(text);
    }
  }
  DataType Whole(std::string_view text) const {
    int64_t value = 0;
    if (!ParseJavaLong(text, &value)) return Decimal(text);
    return value >= INT32_MIN && value <= INT32_MAX ? DataType::Integer() : DataType::Long();
  }
  DataType Long(std::string_view text) const {
    int64_t value = 0;
    return ParseJavaLong(text, &value) ? DataType::Long() : Decimal(text);
  }
  /// Whole numbers beyond 64 bits.
  DataType Decimal(std::string_view text) const {
    Int128 unscaled = 0;
    int scale = 0;
    const bool bare = text.front() > ' ' && text.back() > ' ';
    if (bare && ParseDecimalExact(text, &unscaled, &scale) && scale == 0)
      return DataType::Decimal(DecimalDigits(unscaled), 0);
    return Double(text);
  }
  DataType Double(std::string_view text) const {
    double value = 0;
    if (ParseJavaDouble(text, &value) || text == options_->nan_value || text == options_->positive_infinity ||
        text == options_->negative_infinity)
      return DataType::Double();
    return options_->prefer_date ? Date(text) : TimestampNtz(text);
  }
  DataType Date(std::string_view text) const {
    int32_t days = 0;
    return (*date_format_)->ParseDate(text, &days) ? DataType::Date() : TimestampNtz(text);
  }
  DataType TimestampNtz(std::string_view text) const {
    int64_t micros = 0;
    if (timestamp_ntz_ && (options_->timestamp_ntz_format
                               ? options_->timestamp_ntz_format->ParseTimestampNtz(text, false, &micros)
                               : ParseTimestampNtz(text, false, &micros)))
      return DataType::TimestampNtz();
    return Timestamp(text);
  }
  DataType Timestamp(std::string_view text) const {
    int64_t micros = 0;
    const bool good = options_->timestamp_format
                          ? options_->timestamp_format->ParseTimestamp(text, options_->time_zone, &micros)
                          : ParseTimestamp(text, options_->time_zone, SystemClock::Get().NowMicros(), &micros);
    return good ? DataType::Timestamp() : Boolean(text);
  }
  static DataType Boolean(std::string_view text) {
    return EqualsIgnoreCase(text, "true") || EqualsIgnoreCase(text, "false") ? DataType::Boolean()
                                                                             : DataType::String();
  }
  static DataType Merge(const DataType& a, const DataType& b) {
    if (a.Is(TypeKind::kDate) && (b.Is(TypeKind::kTimestamp) || b.Is(TypeKind::kTimestampNtz))) return b;
    if (b.Is(TypeKind::kDate) && (a.Is(TypeKind::kTimestamp) || a.Is(TypeKind::kTimestampNtz))) return a;
    return MergeInferredTypes(a, b);
  }

  const CsvOptions* options_;
  const std::optional<DateTimePattern>* date_format_;
  bool timestamp_ntz_;
  DataType type_;
};

}  // namespace

Result<Schema> InferCsvSchema(FileSystem& file_system, const std::vector<FileRange>& files, const CsvOptions& options,
                              bool case_sensitive, bool timestamp_ntz) {
  std::optional<DateTimePattern> date_format = options.date_format;
  if (!date_format) {
    TW_ASSIGN_OR_RETURN(date_format, DateTimePattern::Compile("yyyy-MM-dd", DateTimePattern::Purpose::kParse));
  }
  CsvRecords records(options);
  std::vector<std::string> names;
  std::vector<ColumnTyping> columns;
  std::string header;
  Random random(1);
  for (const FileRange& file : files) {
    TW_RETURN_NOT_OK(records.Open(file_system, file));
    bool first_of_file = true;
    while (true) {
      TW_ASSIGN_OR_RETURN(const bool more, records.Next());
      if (!more) break;
      if (names.empty()) {
        names = CsvColumnNames(records.fields(), options, case_sensitive);
        columns.assign(names.size(), ColumnTyping(options, date_format, timestamp_ntz));
        if (options.header) header = records.record();
        if (!options.infer_schema) break;
      }
      // The header stands in every file; lines like it count for none.
      const bool is_header = options.header && (options.multi_line ? first_of_file : records.record() == header);
      first_of_file = false;
      if (is_header || (options.sampling_ratio < 1.0 && random.NextDouble() >= options.sampling_ratio)) continue;
      const CsvTokenizer& fields = records.fields();
      for (size_t i = 0; i < std::min(columns.size(), fields.size()); ++i) {
        if (!fields.IsNull(i)) columns[i].Add(fields.Text(i));
      }
    }
    if (!options.infer_schema && !names.empty()) break;
  }
  Schema schema;
  for (size_t i = 0; i < names.size(); ++i)
    schema.push_back({names[i], options.infer_schema ? columns[i].Finish() : DataType::String()});
  return schema;
}

}  // namespace thalweg::data
