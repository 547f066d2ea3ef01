#include "data/formats/csv/csv_line_writer.h"

#include <algorithm>

#include "data/text/datetime.h"
#include "data/text/interval.h"
#include "data/text/numbers.h"

namespace thalweg::data {
namespace {

template <typename T>
T CellOf(const Column& column, int64_t row) {
  return column.values<T>()[column.is_constant() ? 0 : static_cast<size_t>(row)];
}

/// `[01 02 03]`.
void AppendBinary(std::string_view bytes, std::string* out) {
  static constexpr char kHex[] = "0123456789ABCDEF";
  out->push_back('[');
  for (size_t i = 0; i < bytes.size(); ++i) {
    if (i > 0) out->push_back(' ');
    out->push_back(kHex[static_cast<unsigned char>(bytes[i]) >> 4]);
    out->push_back(kHex[static_cast<unsigned char>(bytes[i]) & 15]);
  }
  out->push_back(']');
}

bool IsBlank(char c) { return static_cast<unsigned char>(c) <= ' '; }

}  // namespace

void AppendCsvValue(const Column& column, int64_t row, const CsvOptions& options, std::string* out) {
  const DataType& type = column.type();
  switch (type.kind()) {
    case TypeKind::kBoolean: return AppendBoolean(CellOf<uint8_t>(column, row) != 0, out);
    case TypeKind::kByte: return AppendInt64(CellOf<int8_t>(column, row), out);
    case TypeKind::kShort: return AppendInt64(CellOf<int16_t>(column, row), out);
    case TypeKind::kInteger: return AppendInt64(CellOf<int32_t>(column, row), out);
    case TypeKind::kLong: return AppendInt64(CellOf<int64_t>(column, row), out);
    case TypeKind::kFloat: return AppendFloat(CellOf<float>(column, row), out);
    case TypeKind::kDouble: return AppendDouble(CellOf<double>(column, row), out);
    case TypeKind::kDecimal: return AppendDecimalScientific(CellOf<Int128>(column, row), type.scale(), out);
    case TypeKind::kString: out->append(CellOf<TextView>(column, row).view()); return;
    case TypeKind::kBinary: return AppendBinary(CellOf<TextView>(column, row).view(), out);
    case TypeKind::kDate: return options.write_date_format.FormatDate(CellOf<int32_t>(column, row), out);
    case TypeKind::kTimestamp:
      options.write_timestamp_format.FormatTimestamp(CellOf<int64_t>(column, row), options.time_zone, out);
      return;
    case TypeKind::kTimestampNtz:
      if (!options.write_timestamp_ntz_format.FormatTimestampNtz(CellOf<int64_t>(column, row), out))
        AppendTimestampNtz(CellOf<int64_t>(column, row), out);
      return;
    case TypeKind::kTime: return AppendTime(CellOf<int64_t>(column, row), out);
    case TypeKind::kYearMonthInterval:
      return AppendYearMonthInterval(CellOf<int32_t>(column, row), type.year_month_start(), type.year_month_end(),
                                     IntervalStyle::kAnsi, out);
    case TypeKind::kDayTimeInterval:
      return AppendDayTimeInterval(CellOf<int64_t>(column, row), type.day_time_start(), type.day_time_end(),
                                   IntervalStyle::kAnsi, out);
    default: return;  // refused before
  }
}

CsvLineWriter::CsvLineWriter(const CsvOptions& options)
    : options_(options),
      comment_(options.comment == '\0' ? '#' : options.comment),
      separator_(options.line_separator.value_or("\n")),
      line_ends_("\n\r" + separator_) {}

void CsvLineWriter::AppendRow(const Chunk& chunk, int64_t row, std::string* out) {
  const size_t start = out->size();
  for (int i = 0; i < chunk.num_columns(); ++i) {
    if (i > 0) out->append(options_.delimiter);
    const Column& column = *chunk.column(i);
    if (column.IsNull(row) || column.type().Is(TypeKind::kNull)) {
      AppendField(static_cast<size_t>(i), options_.null_value, true, out);
    } else if (column.type().Is(TypeKind::kString)) {
      AppendText(static_cast<size_t>(i), CellOf<TextView>(column, row).view(), out);
    } else {
      scratch_.clear();
      AppendCsvValue(column, row, options_, &scratch_);
      AppendText(static_cast<size_t>(i), scratch_, out);
    }
  }
  EndLine(start, out);
}

void CsvLineWriter::AppendHeader(const Schema& schema, std::string* out) {
  const size_t start = out->size();
  for (size_t i = 0; i < schema.size(); ++i) {
    if (i > 0) out->append(options_.delimiter);
    AppendText(i, schema[i].name, out);
  }
  EndLine(start, out);
}

void CsvLineWriter::EndLine(size_t start, std::string* out) const {
  if (out->size() > start) out->append(separator_);
}

void CsvLineWriter::AppendText(size_t index, std::string_view text, std::string* out) const {
  const bool trims = options_.trim_leading_blanks || options_.trim_trailing_blanks;
  const bool empty = text.empty() || (trims && std::all_of(text.begin(), text.end(), IsBlank));
  AppendField(index, empty ? std::string_view(options_.write_empty_value) : text, empty, out);
}

void CsvLineWriter::AppendField(size_t index, std::string_view text, bool fixed, std::string* out) const {
  const char quote = options_.quote;
  if (options_.trim_leading_blanks) {
    while (!text.empty() && IsBlank(text.front())) text.remove_prefix(1);
  }
  const bool marked = !text.empty() && (text.front() == quote || (index == 0 && text.front() == comment_));
  bool quoted = options_.quote_all || marked;
  if (quoted && fixed && text.size() >= 2 && text.front() == quote && text.back() == quote) {
    out->append(text);
    return;
  }
  if (!quoted) {
    quoted = text.find(options_.delimiter) != std::string_view::npos || text.find_first_of(line_ends_) != std::string_view::npos ||
             (options_.escape_quotes && text.find(quote) != std::string_view::npos);
  }
  if (options_.trim_trailing_blanks) {
    while (!text.empty() && IsBlank(text.back())) text.remove_suffix(1);
  }
  if (quoted) {
    AppendQuoted(text, out);
  } else {
    out->append(text);
  }
}

void CsvLineWriter::AppendQuoted(std::string_view text, std::string* out) const {
  out->push_back(options_.quote);
  for (const char c : text) {
    if (c == options_.quote) {
      out->push_back(options_.escape);
    } else if (c == options_.escape && options_.escape_of_escape != '\0') {
      out->push_back(options_.escape_of_escape);
    }
    out->push_back(c);
  }
  out->push_back(options_.quote);
}

}  // namespace thalweg::data
