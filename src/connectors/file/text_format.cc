#include "connectors/file/file_format.h"
#include "data/formats/text/byte_sink.h"
#include "data/formats/text/text_file_reader.h"
#include "data/formats/text/text_file_writer.h"

namespace thalweg::connectors {
namespace {

class TextFormat final : public FileFormat {
 public:
  std::string short_name() const override { return "text"; }
  std::string display_name() const override { return "Text"; }
  std::vector<std::string> aliases() const override {
    return {"org.apache.spark.sql.execution.datasources.text.TextFileFormat"};
  }
  bool has_fixed_schema() const override { return true; }

  Result<std::optional<data::Schema>> InferSchema(const FormatContext&, const std::vector<FileEntry>&) const override {
    return std::optional(data::Schema{{"value", data::DataType::String()}});
  }

  Status CheckSchema(const FormatContext&, const data::Schema& schema) const override {
    if (schema.size() > 1)
      return Error("_LEGACY_ERROR_TEMP_1290").With("schemaSize", std::to_string(schema.size()));
    for (const data::StructField& field : schema) {
      if (!field.type.Is(data::TypeKind::kString))
        return Error("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE")
            .With("format", "Text")
            .With("columnName", data::QuoteIdentifier(field.name))
            .With("columnType", "\"" + field.type.Sql() + "\"");
    }
    return Status::OK();
  }

  Result<ReaderFactory> NewReaders(const FormatContext& context, const data::Schema&, const data::Schema& columns,
                                   const sql::ScanRequest&) const override {
    TW_ASSIGN_OR_RETURN(const data::TextOptions options, data::TextOptions::Make(context.options));
    return ReaderFactory([columns, options]() -> Result<std::unique_ptr<data::FileReader>> {
      return data::MakeTextFileReader(columns, options);
    });
  }

  Result<std::function<bool(const std::string&)>> Splitting(const FormatContext& context) const override {
    TW_ASSIGN_OR_RETURN(const data::TextOptions options, data::TextOptions::Make(context.options));
    return std::function<bool(const std::string&)>(
        [options](const std::string& path) { return data::CanSplitTextFile(options, path); });
  }

  Result<FileWriters> NewWriters(const FormatContext& context, const data::Schema& schema) const override {
    TW_ASSIGN_OR_RETURN(const data::TextOptions options, data::TextOptions::Make(context.options));
    TW_RETURN_NOT_OK(CheckSchema(context, schema));
    TW_RETURN_NOT_OK(data::ByteSink::CheckCompression(options.compression));
    data::FileSystem* files = context.file_system;
    return FileWriters{[files, options](const std::string& path) {
                         return data::MakeTextFileWriter(*files, path, options);
                       },
                       ".txt" + std::string(data::CompressionExtension(options.compression))};
  }
};

}  // namespace

std::unique_ptr<FileFormat> MakeTextFormat() { return std::make_unique<TextFormat>(); }

}  // namespace thalweg::connectors
