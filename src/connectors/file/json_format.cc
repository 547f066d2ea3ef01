#include <algorithm>

#include "connectors/file/file_format.h"
#include "connectors/file/partitions.h"
#include "data/formats/json/json_file_reader.h"
#include "data/formats/json/json_inference.h"
#include "data/formats/json/json_file_writer.h"
#include "data/formats/json/json_writer.h"
#include "data/formats/text/byte_sink.h"

namespace thalweg::connectors {
namespace {

bool HasInterval(const data::DataType& type) {
  if (type.Is(data::TypeKind::kCalendarInterval)) return true;
  if (type.Is(data::TypeKind::kArray)) return HasInterval(type.element());
  if (type.Is(data::TypeKind::kMap)) return HasInterval(type.key()) || HasInterval(type.value());
  return type.Is(data::TypeKind::kStruct) && std::any_of(type.fields().begin(), type.fields().end(),
                                                         [](const data::StructField& field) { return HasInterval(field.type); });
}

class JsonFormat final : public FileFormat {
 public:
  std::string short_name() const override { return "json"; }
  std::string display_name() const override { return "JSON"; }
  std::vector<std::string> aliases() const override {
    return {"org.apache.spark.sql.json", "org.apache.spark.sql.execution.datasources.json.JsonFileFormat"};
  }

  Result<std::optional<data::Schema>> InferSchema(const FormatContext& context,
                                                  const std::vector<FileEntry>& files) const override {
    if (files.empty()) return std::optional<data::Schema>();
    TW_ASSIGN_OR_RETURN(data::JsonOptions options, OptionsOf(context));
    options.case_sensitive = context.config->case_sensitive;
    std::vector<data::FileRange> whole;
    for (const FileEntry& file : files) whole.push_back({file.path, 0, INT64_MAX, file.size_bytes});
    TW_ASSIGN_OR_RETURN(data::Schema schema, data::InferJsonSchema(*context.file_system, whole, options,
                                                                   context.config->timestamp_ntz_default));
    return std::optional(std::move(schema));
  }

  Result<ReaderFactory> NewReaders(const FormatContext& context, const data::Schema&, const data::Schema& columns,
                                   const sql::ScanRequest&) const override {
    TW_ASSIGN_OR_RETURN(const data::JsonOptions options, OptionsOf(context));
    if (columns.size() == 1 && columns[0].name == options.corrupt_record_column)
      return Error("UNSUPPORTED_FEATURE.QUERY_ONLY_CORRUPT_RECORD_COLUMN");
    return ReaderFactory([columns, options] { return data::MakeJsonFileReader(columns, options); });
  }

  Result<std::function<bool(const std::string&)>> Splitting(const FormatContext& context) const override {
    TW_ASSIGN_OR_RETURN(const data::JsonOptions options, OptionsOf(context));
    return std::function<bool(const std::string&)>(
        [options](const std::string& path) { return data::CanSplitJsonFile(options, path); });
  }

  Result<FileWriters> NewWriters(const FormatContext& context, const data::Schema& schema) const override {
    TW_ASSIGN_OR_RETURN(const data::JsonOptions options, OptionsOf(context));
    for (const data::StructField& field : schema) {
      if (!HasInterval(field.type)) continue;
      return Error("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE")
          .With("format", display_name())
          .With("columnName", data::QuoteIdentifier(field.name))
          .With("columnType", "\"" + field.type.Sql() + "\"");
    }
    TW_RETURN_NOT_OK(data::JsonWriter::Make(data::DataType::Struct(schema), options).status());
    TW_RETURN_NOT_OK(data::ByteSink::CheckCompression(options.compression));
    data::FileSystem* files = context.file_system;
    return FileWriters{[files, schema, options](const std::string& path) {
                         return data::MakeJsonFileWriter(*files, path, schema, options);
                       },
                       ".json" + std::string(data::CompressionExtension(options.compression))};
  }

 private:
  static Result<data::JsonOptions> OptionsOf(const FormatContext& context) {
    return data::JsonOptions::Make(context.options, context.config->time_zone);
  }
};

}  // namespace

std::unique_ptr<FileFormat> MakeJsonFormat() { return std::make_unique<JsonFormat>(); }

}  // namespace thalweg::connectors
