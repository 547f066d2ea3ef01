#include "connectors/file/file_format.h"
#include "data/formats/csv/csv_file_reader.h"
#include "data/formats/csv/csv_file_writer.h"
#include "data/formats/text/byte_sink.h"

namespace thalweg::connectors {
namespace {

class CsvFormat final : public FileFormat {
 public:
  std::string short_name() const override { return "csv"; }
  std::string display_name() const override { return "CSV"; }
  bool writes_duplicate_names() const override { return true; }
  std::vector<std::string> aliases() const override {
    return {"com.databricks.spark.csv", "org.apache.spark.sql.execution.datasources.csv.CSVFileFormat"};
  }

  Result<std::optional<data::Schema>> InferSchema(const FormatContext& context,
                                                  const std::vector<FileEntry>& files) const override {
    if (files.empty()) return std::optional<data::Schema>();
    TW_ASSIGN_OR_RETURN(const data::CsvOptions options, OptionsOf(context));
    std::vector<data::FileRange> whole;
    for (const FileEntry& file : files) whole.push_back({file.path, 0, INT64_MAX, file.size_bytes});
    TW_ASSIGN_OR_RETURN(data::Schema schema,
                        data::InferCsvSchema(*context.file_system, whole, options, context.config->case_sensitive,
                                             context.config->timestamp_ntz_default));
    return std::optional(std::move(schema));
  }

  Status CheckSchema(const FormatContext& context, const data::Schema& schema) const override {
    TW_ASSIGN_OR_RETURN(const data::CsvOptions options, OptionsOf(context));
    return data::CheckCsvSchema(schema, options);
  }

  Result<ReaderFactory> NewReaders(const FormatContext& context, const data::Schema& file_schema,
                                   const data::Schema& columns, const sql::ScanRequest&) const override {
    TW_ASSIGN_OR_RETURN(const data::CsvOptions options, OptionsOf(context));
    if (columns.size() == 1 && columns[0].name == options.corrupt_record_column)
      return Error("UNSUPPORTED_FEATURE.QUERY_ONLY_CORRUPT_RECORD_COLUMN");
    const bool case_sensitive = context.config->case_sensitive;
    return ReaderFactory([file_schema, columns, options, case_sensitive] {
      return data::MakeCsvFileReader(file_schema, columns, options, case_sensitive);
    });
  }

  Result<std::function<bool(const std::string&)>> Splitting(const FormatContext& context) const override {
    TW_ASSIGN_OR_RETURN(const data::CsvOptions options, OptionsOf(context));
    return std::function<bool(const std::string&)>(
        [options](const std::string& path) { return data::CanSplitCsvFile(options, path); });
  }

  Result<FileWriters> NewWriters(const FormatContext& context, const data::Schema& schema) const override {
    TW_ASSIGN_OR_RETURN(const data::CsvOptions options, OptionsOf(context));
    TW_RETURN_NOT_OK(data::CheckCsvSchema(schema, options));
    TW_RETURN_NOT_OK(data::ByteSink::CheckCompression(options.compression));
    data::FileSystem* files = context.file_system;
    return FileWriters{[files, schema, options](const std::string& path) {
                         return data::MakeCsvFileWriter(*files, path, schema, options);
                       },
                       ".csv" + std::string(data::CompressionExtension(options.compression))};
  }

 private:
  static Result<data::CsvOptions> OptionsOf(const FormatContext& context) {
    return data::CsvOptions::Make(context.options, context.config->time_zone);
  }
};

}  // namespace

std::unique_ptr<FileFormat> MakeCsvFormat() { return std::make_unique<CsvFormat>(); }

}  // namespace thalweg::connectors
