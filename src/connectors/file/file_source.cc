#include "connectors/file/file_source.h"

#include "base/string_case.h"
#include "connectors/file/file_relation.h"
#include "connectors/file/file_sink.h"
#include "connectors/file/file_stream.h"
#include "connectors/file/file_write.h"
#include "data/io/path.h"
#include "sql/datasource/output_modes.h"

namespace thalweg::connectors {
namespace {

class FileScan final : public sql::Scan {
 public:
  explicit FileScan(std::shared_ptr<const FileReadPlan> plan) : plan_(std::move(plan)) {}

  data::Schema schema() const override { return plan_->columns(); }

  std::string Describe() const override {
    std::string columns, roots;
    for (const data::StructField& column : plan_->columns()) columns += (columns.empty() ? "" : ",") + column.name;
    for (const std::string& path : files().paths)
      roots += (roots.empty() ? "" : ", ") + data::QualifiedPathText(path);
    return "FileScan " + files().format->short_name() + " [" + columns + "] InMemoryFileIndex[" + roots + "]";
  }

  /// The listing stands; sizes are looked up again, since files may have been written anew in place.
  Result<std::vector<sql::InputSplitPtr>> PlanSplits() override {
    std::vector<FileEntry> now = files().listing.files;
    for (FileEntry& file : now) {
      const Result<data::FileInfo> info = files().context.file_system->Stat(file.path);
      if (info.ok()) file.size_bytes = info->size_bytes;
    }
    return plan_->PlanSplits(now, files().listing.roots);
  }

  Result<sql::LeafVersion> Version() override {
    std::string text;
    for (const FileEntry& file : files().listing.files) {
      const Result<data::FileInfo> info = files().context.file_system->Stat(file.path);
      text += info.ok() ? std::to_string(info->size_bytes) + "@" + std::to_string(info->modification_time_ms) : "gone";
      text += ";";
    }
    return sql::LeafVersion{std::move(text)};
  }

  std::vector<std::string> InputFiles() const override {
    std::vector<std::string> uris;
    for (const FileEntry& file : files().listing.files) uris.push_back(data::UriFromPath(file.path));
    return uris;
  }

 private:
  const FileRelation& files() const { return plan_->relation(); }
  std::shared_ptr<const FileReadPlan> plan_;
};

class FileTable final : public sql::Table {
 public:
  explicit FileTable(FileRelationPtr relation) : relation_(std::move(relation)) {}

  std::string name() const override { return relation_->format->short_name(); }
  data::Schema schema() const override { return relation_->schema(); }
  std::vector<std::string> partition_columns() const override {
    std::vector<std::string> names;
    for (const data::StructField& column : relation_->partition_schema) names.push_back(column.name);
    return names;
  }
  sql::TableCapabilities capabilities() const override {
    sql::TableCapabilities capabilities;
    capabilities.batch_read = capabilities.micro_batch_read = true;
    return capabilities;
  }

  Result<std::unique_ptr<sql::Scan>> NewScan(const sql::ScanRequest& request,
                                             std::shared_ptr<const sql::EvalConfig>) override {
    TW_ASSIGN_OR_RETURN(auto plan, FileReadPlan::Make(relation_, request));
    return std::unique_ptr<sql::Scan>(std::make_unique<FileScan>(std::move(plan)));
  }
  Result<std::unique_ptr<sql::MicroBatchStream>> NewMicroBatchStream(const sql::StreamContext& context) override {
    return MakeFileStream(relation_, context);
  }

 private:
  FileRelationPtr relation_;
};

/// What a query writes to.
class FileTarget final : public sql::Table, public sql::DeclaresOutputModes {
 public:
  FileTarget(std::shared_ptr<const FileFormat> format, FormatContext context, Clock* clock, std::string path,
             data::Schema schema)
      : format_(std::move(format)),
        context_(std::move(context)),
        clock_(clock),
        path_(std::move(path)),
        schema_(std::move(schema)) {}
  std::string name() const override { return format_->short_name(); }
  data::Schema schema() const override { return schema_; }
  sql::TableCapabilities capabilities() const override {
    sql::TableCapabilities capabilities;
    capabilities.batch_write = capabilities.streaming_write = true;
    return capabilities;
  }
  Status CheckOutputMode(sql::OutputMode mode) const override { return CheckFileSinkMode(*format_, mode); }
  Result<std::unique_ptr<sql::BatchWrite>> NewBatchWrite(const sql::WriteRequest& request) override {
    return MakeFileWrite(*format_, context_, clock_, path_, request);
  }
  Result<std::variant<std::unique_ptr<sql::StreamingWrite>, std::unique_ptr<sql::BatchSink>>> NewStreamingWrite(
      const sql::StreamWriteRequest& request) override {
    using Made = std::variant<std::unique_ptr<sql::StreamingWrite>, std::unique_ptr<sql::BatchSink>>;
    TW_ASSIGN_OR_RETURN(std::unique_ptr<sql::StreamingWrite> sink, MakeFileSink(*format_, context_, clock_, path_, request));
    return Made(std::move(sink));
  }

 private:
  std::shared_ptr<const FileFormat> format_;
  FormatContext context_;
  Clock* clock_;
  std::string path_;
  data::Schema schema_;
};

class FileDataSource final : public sql::DataSource {
 public:
  FileDataSource(std::shared_ptr<const FileFormat> format, const sql::ConnectorServices& services)
      : format_(std::move(format)), services_(services) {}
  std::string short_name() const override { return format_->short_name(); }
  std::vector<std::string> aliases() const override { return format_->aliases(); }
  Result<sql::TablePtr> Load(const sql::LoadRequest& request) const override {
    if (request.for_write) {
      if (request.paths.empty()) return Error("_LEGACY_ERROR_TEMP_2047");
      TW_ASSIGN_OR_RETURN(const std::string path, data::PathFromText(request.paths[0]));
      return sql::TablePtr(std::make_shared<FileTarget>(format_, ContextOf(services_, request), services_.clock,
                                                        data::AbsolutePath(path), request.schema.value_or(data::Schema())));
    }
    TW_ASSIGN_OR_RETURN(FileRelationPtr relation, MakeFileRelation(format_, services_, request));
    return sql::TablePtr(std::make_shared<FileTable>(std::move(relation)));
  }

 private:
  std::shared_ptr<const FileFormat> format_;
  sql::ConnectorServices services_;
};

/// A format that Spark has and we do not read.
class MissingFormat final : public sql::DataSource {
 public:
  explicit MissingFormat(std::string name) : name_(std::move(name)) {}
  std::string short_name() const override { return name_; }
  Result<sql::TablePtr> Load(const sql::LoadRequest&) const override { return Unsupported("files of format " + name_); }

 private:
  std::string name_;
};

}  // namespace

std::vector<std::shared_ptr<const sql::DataSource>> MakeFileDataSources(const sql::ConnectorServices& services) {
  std::vector<std::shared_ptr<const sql::DataSource>> sources;
  const auto add = [&](std::unique_ptr<FileFormat> format) {
    sources.push_back(std::make_shared<FileDataSource>(std::move(format), services));
  };
  add(MakeCsvFormat());
  add(MakeJsonFormat());
  add(MakeOrcFormat());
  add(MakeParquetFormat());
  add(MakeTextFormat());
  for (const char* name : {"avro", "xml", "binaryFile"})
    sources.push_back(std::make_shared<MissingFormat>(name));
  return sources;
}

}  // namespace thalweg::connectors
