#include "data/formats/csv/csv_file_reader.h"

#include <algorithm>

#include "base/log.h"
#include "data/formats/csv/csv_column.h"
#include "data/formats/csv/csv_records.h"
#include "data/text/utf8.h"

namespace thalweg::data {
namespace {

class CsvFileReader final : public FileReader {
 public:
  CsvFileReader(const CsvOptions& options, bool case_sensitive)
      : options_(options),
        case_sensitive_(case_sensitive),
        records_(options_),
        corrupt_texts_(DataType::String()) {}

  Status Start(const Schema& file_schema, const Schema& columns) {
    for (const StructField& field : file_schema) {
      if (field.name != options_.corrupt_record_column) parsed_.push_back(field);
    }
    for (const StructField& column : columns) {
      if (column.name == options_.corrupt_record_column) {
        corrupt_place_ = static_cast<int>(places_.size());
        places_.push_back(-1);
        continue;
      }
      const auto found = std::find_if(parsed_.begin(), parsed_.end(),
                                      [&](const StructField& field) { return field.name == column.name; });
      if (found == parsed_.end()) return InternalError("no CSV column " + column.name);
      places_.push_back(static_cast<int>(found - parsed_.begin()));
      TW_ASSIGN_OR_RETURN(CsvColumn made, CsvColumn::Make(column, options_));
      builders_.push_back(std::move(made));
    }
    // A record's length is only looked at when all of it is parsed.
    checks_length_ = corrupt_place_ >= 0 || builders_.size() == parsed_.size();
    cuts_ = corrupt_place_ >= 0 || !builders_.empty();
    return Status::OK();
  }

  Status Open(FileSystem& file_system, const FileRange& range) override {
    TW_RETURN_NOT_OK(records_.Open(file_system, range));
    if (!options_.header || range.start > 0) return Status::OK();
    TW_ASSIGN_OR_RETURN(const bool there, records_.Next());
    return there ? CheckHeader(range.path) : Status::OK();
  }

  Result<bool> Read(int64_t rows) override {
    while (length() < rows) {
      TW_ASSIGN_OR_RETURN(const bool more, records_.Next(cuts_));
      if (!more) return false;
      TW_RETURN_NOT_OK(AppendRecord());
    }
    return true;
  }

  int64_t length() const override { return rows_ - static_cast<int64_t>(dropped_.size()); }

  Result<std::vector<ColumnPtr>> Finish() override {
    std::vector<ColumnPtr> columns;
    size_t next = 0;
    for (const int place : places_) columns.push_back(place < 0 ? corrupt_texts_.Finish() : builders_[next++].Finish());
    if (!dropped_.empty()) {
      std::vector<int32_t> kept;
      size_t at = 0;
      for (int32_t row = 0; row < rows_; ++row) {
        if (at < dropped_.size() && dropped_[at] == row)
          ++at;
        else
          kept.push_back(row);
      }
      for (ColumnPtr& column : columns) column = Take(column, kept);
      dropped_.clear();
    }
    rows_ = 0;
    return columns;
  }

  int64_t bytes_read() const override { return records_.bytes_read(); }

 private:
  Status AppendRecord() {
    const CsvTokenizer& fields = records_.fields();
    if (cuts_ && (fields.refused() || static_cast<int64_t>(fields.size()) > options_.max_columns))
      return Error("MALFORMED_CSV_RECORD").With("badRecord", records_.record());
    bool good = !checks_length_ || !cuts_ || fields.size() == parsed_.size();
    size_t next = 0;
    for (const int place : places_) {
      if (place < 0) continue;
      CsvColumn& builder = builders_[next++];
      const auto i = static_cast<size_t>(place);
      if (i >= fields.size() || fields.IsNull(i) || fields.Text(i) == options_.null_value)
        builder.AppendNull();
      else if (!builder.Append(fields.Text(i), fields.IsInPlace(i) ? &records_.block() : nullptr))
        good = false;
    }
    ++rows_;
    if (corrupt_place_ >= 0) {
      if (good) {
        corrupt_texts_.AppendNull();
      } else {
        std::string text;
        AppendValidUtf8(records_.record(), &text);
        corrupt_texts_.Append(text);
      }
    }
    if (good) return Status::OK();
    if (options_.mode == ParseMode::kFailFast)
      return Error("MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION")
          .With("badRecord", records_.record())
          .With("failFastMode", "FAILFAST");
    if (options_.mode == ParseMode::kDropMalformed) dropped_.push_back(static_cast<int32_t>(rows_ - 1));
    return Status::OK();
  }

  /// Names of the header against those of the schema: an error without enforceSchema, else a warning.
  Status CheckHeader(const std::string& path) const {
    const CsvTokenizer& header = records_.fields();
    Schema expected;
    if (checks_length_ || builders_.empty()) {
      expected = parsed_;
    } else {
      for (const int place : places_) expected.push_back(parsed_[static_cast<size_t>(place)]);
    }
    std::string problem;
    if (checks_length_ && header.size() != parsed_.size()) {
      problem = "Number of column in CSV header is not equal to number of fields in the schema:\n Header length: " +
                std::to_string(header.size()) + ", schema size: " + std::to_string(parsed_.size());
    }
    for (size_t i = 0; i < expected.size() && problem.empty(); ++i) {
      const size_t at = checks_length_ || builders_.empty() ? i : static_cast<size_t>(places_[i]);
      const std::string_view found = at < header.size() ? header.Text(at) : std::string_view();
      std::string name(found), wanted = expected[i].name;
      if (!case_sensitive_) {
        name.clear();
        wanted.clear();
        AppendLower(found, &name);
        AppendLower(expected[i].name, &wanted);
      }
      if (name == wanted) continue;
      std::string names, fields;
      for (size_t j = 0; j < header.size(); ++j) names += (j > 0 ? ", " : "") + std::string(header.Text(j));
      for (size_t j = 0; j < expected.size(); ++j) fields += (j > 0 ? ", " : "") + expected[j].name;
      problem = "CSV header does not conform to the schema.\n Header: " + names + "\n Schema: " + fields +
                "\nExpected: " + expected[i].name + " but found: " + std::string(found);
    }
    if (problem.empty()) return Status::OK();
    problem += "\nCSV file: " + path;
    if (!options_.enforce_schema) return Error("ILLEGAL_ARGUMENT").With("message", problem);
    TW_LOG(kDebug, "a CSV header does not conform to the schema", {"problem", problem});
    return Status::OK();
  }

  CsvOptions options_;
  bool case_sensitive_;
  CsvRecords records_;
  Schema parsed_;                    // what a record holds, by position
  std::vector<int> places_;          // of each column asked for, in `parsed_`; -1: the record itself
  std::vector<CsvColumn> builders_;  // of those that are not -1
  int corrupt_place_ = -1;
  TextBuilder corrupt_texts_;
  bool checks_length_ = true;
  bool cuts_ = true;
  int64_t rows_ = 0;
  std::vector<int32_t> dropped_;
};

}  // namespace

Result<std::unique_ptr<FileReader>> MakeCsvFileReader(const Schema& file_schema, const Schema& columns,
                                                      const CsvOptions& options, bool case_sensitive) {
  auto reader = std::make_unique<CsvFileReader>(options, case_sensitive);
  TW_RETURN_NOT_OK(reader->Start(file_schema, columns));
  return std::unique_ptr<FileReader>(std::move(reader));
}

Status CheckCsvSchema(const Schema& schema, const CsvOptions& options) {
  for (const StructField& field : schema) TW_RETURN_NOT_OK(CsvColumn::Make(field, options).status());
  return Status::OK();
}

bool CanSplitCsvFile(const CsvOptions& options, const std::string& path) {
  return !options.multi_line && options.encoding.empty() && CompressionOfName(path) == Compression::kNone &&
         options.line_separator.value_or("").size() <= 1;
}

}  // namespace thalweg::data
