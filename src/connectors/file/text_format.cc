#include "connectors/file/file_format.h"
#include "data/formats/text/text_file_reader.h"

namespace thalweg::connectors {
namespace {

class TextFormat final : public FileFormat {
 public:
  std::string short_name() const override { return "text"; }
  std::vector<std::string> aliases() const override {
    return {"org.apache.spark.sql.execution.datasources.text.TextFileFormat"};
  }
  bool has_fixed_schema() const override { return true; }

  Result<std::optional<data::Schema>> InferSchema(const FormatContext&, const std::vector<FileEntry>&) const override {
    return std::optional(data::Schema{{"value", data::DataType::String()}});
  }

  Status CheckSchema(const FormatContext&, const data::Schema& schema) const override {
    if (schema.size() > 1)
      return Error("ILLEGAL_ARGUMENT")
          .With("message", "Text data source supports only a single column, and you have " +
                               std::to_string(schema.size()) + " columns.");
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
};

}  // namespace

std::unique_ptr<FileFormat> MakeTextFormat() { return std::make_unique<TextFormat>(); }

}  // namespace thalweg::connectors
