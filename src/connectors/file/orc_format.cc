#include "connectors/file/file_format.h"
#include "connectors/file/file_settings.h"
#include "connectors/file/schema_merge.h"
#include "data/formats/orc/orc_file_reader.h"
#include "data/formats/orc/orc_file_writer.h"

namespace thalweg::connectors {
namespace {

class OrcFormat final : public FileFormat {
 public:
  std::string short_name() const override { return "orc"; }
  std::string display_name() const override { return "ORC"; }
  std::vector<std::string> aliases() const override {
    return {"org.apache.spark.sql.orc", "org.apache.spark.sql.hive.orc", "org.apache.spark.sql.execution.datasources.orc.OrcFileFormat"};
  }

  /// That of the first file that has columns, or of all of them with `mergeSchema`.
  Result<std::optional<data::Schema>> InferSchema(const FormatContext& context, const std::vector<FileEntry>& files) const override {
    TW_RETURN_NOT_OK(CheckReader(context));
    TW_ASSIGN_OR_RETURN(const bool merge, data::BoolOption(context.options, "mergeSchema", context.settings->Get(kOrcMergeSchema)));
    TW_ASSIGN_OR_RETURN(const bool ignore_corrupt, data::BoolOption(context.options, "ignoreCorruptFiles", context.settings->Get(kIgnoreCorruptFiles)));
    data::Schema merged;
    for (const FileEntry& file : files) {
      const Result<data::Schema> schema = data::ReadOrcSchema(*context.file_system, file.path);
      if (!schema.ok() && ignore_corrupt && schema.status().kind() == ErrorKind::kEnvironment) continue;
      TW_RETURN_NOT_OK(schema.status());
      TW_RETURN_NOT_OK(MergeSchema(*schema, context.config->case_sensitive, &merged));
      if (!merge && !merged.empty()) break;
    }
    if (merged.empty()) return std::optional<data::Schema>();
    return std::optional(std::move(merged));
  }

  Result<ReaderFactory> NewReaders(const FormatContext& context, const data::Schema& file_schema, const data::Schema& columns,
                                   const sql::ScanRequest&) const override {
    TW_RETURN_NOT_OK(CheckReader(context));
    const data::OrcReadRequest request{.columns = columns, .table = file_schema, .case_sensitive = context.config->case_sensitive};
    return ReaderFactory([request]() -> Result<std::unique_ptr<data::FileReader>> { return data::MakeOrcFileReader(request); });
  }

  /// By stripes.
  Result<std::function<bool(const std::string&)>> Splitting(const FormatContext&) const override {
    return std::function<bool(const std::string&)>([](const std::string&) { return true; });
  }

  Result<FileWriters> NewWriters(const FormatContext& context, const data::Schema& schema) const override {
    const std::string compression = data::TextOption(
        context.options, "compression", data::TextOption(context.options, "orc.compress", context.settings->Get(kOrcCompression)));
    TW_ASSIGN_OR_RETURN(const std::string codec, data::OrcCodecSuffix(compression));
    TW_RETURN_NOT_OK(data::CheckOrcTypes(schema));
    data::FileSystem* files = context.file_system;
    return FileWriters{[files, schema, compression](const std::string& path) { return data::MakeOrcFileWriter(*files, path, schema, compression); },
                       (codec.empty() ? "" : "." + codec) + ".orc"};
  }

 private:
  static Status CheckReader(const FormatContext& context) {
    if (context.settings->Get(kOrcReader)) return Status::OK();
    return Unsupported("reading ORC files while " + std::string(kOrcReader.key) + " is false, since a damaged one can end the process");
  }
};

}  // namespace

std::unique_ptr<FileFormat> MakeOrcFormat() { return std::make_unique<OrcFormat>(); }

}  // namespace thalweg::connectors
