#include "connectors/file/file_write_plan.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/fault_point.h"
#include "base/log.h"
#include "base/string_case.h"
#include "base/uuid.h"
#include "connectors/file/file_settings.h"
#include "connectors/file/partitions.h"
#include "data/columnar/column.h"
#include "data/io/path.h"
#include "data/text/literal.h"
#include "data/text/utf8.h"

namespace thalweg::connectors {
namespace {

using data::Chunk;
using data::ColumnPtr;

constexpr size_t kMaxOpenFiles = 128;  // of one task; rows that come later get another file

std::string Padded(int64_t number, size_t width) {
  const std::string digits = std::to_string(number);
  return std::string(digits.size() < width ? width - digits.size() : 0, '0') + digits;
}

/// What a value is in the name of its directory; null and the empty text are one.
std::string DirectoryText(const data::Value& value, const data::DataType& type, const data::TimeZone& zone) {
  if (value.is_null()) return "";
  if (type.Is(data::TypeKind::kBinary)) {
    std::string text;
    data::AppendValidUtf8(value.get<std::string>(), &text);
    return text;
  }
  return data::ValueText(value, type, zone);
}

std::string DirectoryName(const FileWritePlan& plan, size_t column, const data::Value& value, const data::DataType& type) {
  return data::EscapePartitionValue(plan.partition_names[column]) + "=" +
         data::EscapePartitionValue(DirectoryText(value, type, plan.zone)) + "/";
}

bool HasEmptyStruct(const data::DataType& type) {
  if (!type.Is(data::TypeKind::kStruct)) return false;
  return type.fields().empty() || std::any_of(type.fields().begin(), type.fields().end(),
                                              [](const data::StructField& field) { return HasEmptyStruct(field.type); });
}

Status Duplicate(const std::string& name, bool case_sensitive) {
  return Error("COLUMN_ALREADY_EXISTS").With("columnName", data::QuoteIdentifier(case_sensitive ? name : ToAsciiLower(name)));
}

Status CheckNames(const data::Schema& schema, bool case_sensitive) {
  for (size_t i = 0; i < schema.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (SameName(schema[i].name, schema[j].name, case_sensitive)) return Duplicate(schema[i].name, case_sensitive);
    }
  }
  return Status::OK();
}

Status FindPartitionColumns(const data::Schema& schema, const std::vector<std::string>& names, bool case_sensitive,
                            FileWritePlan* plan) {
  for (const std::string& name : names) {
    const auto found = std::find_if(schema.begin(), schema.end(), [&](const data::StructField& field) {
      return SameName(field.name, name, case_sensitive);
    });
    if (found == schema.end()) {
      return Error("_LEGACY_ERROR_TEMP_1155").With("col", name).With("schemaCatalog", data::DataType::Struct(schema).SimpleString());
    }
    const data::DataType& type = found->type;
    if (type.IsNested() || type.Is(data::TypeKind::kVariant) || type.Is(data::TypeKind::kCalendarInterval)) {
      return Error("INVALID_PARTITION_COLUMN_DATA_TYPE").With("type", "\"" + type.Sql() + "\"");
    }
    const int at = static_cast<int>(found - schema.begin());
    if (std::find(plan->partition_at.begin(), plan->partition_at.end(), at) != plan->partition_at.end()) return Duplicate(name, case_sensitive);
    plan->partition_at.push_back(at);
    plan->partition_names.push_back(name);
  }
  if (!names.empty() && names.size() == schema.size()) return Error("ALL_PARTITION_COLUMNS_NOT_ALLOWED");
  return Status::OK();
}

/// One open file.
struct OpenFile {
  std::unique_ptr<data::FileWriter> writer;
  WrittenFile written;
};

class FilesWriter final : public sql::DataWriter {
 public:
  FilesWriter(FileWritePlanPtr plan, int32_t task) : plan_(std::move(plan)), task_(task) {}
  ~FilesWriter() override {
    if (!finished_) Abort();
  }

  Status Write(const Chunk& input) override;
  Result<sql::CommitMessagePtr> Finish(std::shared_ptr<Signal>* blocked) override;
  void Abort() override;

 private:
  std::string KeyOf(const std::vector<ColumnPtr>& columns, int64_t row) const;
  std::string DirectoryOf(const Chunk& rows) const;
  Status WriteRows(const std::string& key, const Chunk& rows);
  Result<OpenFile> Create(const std::string& key, const std::string& directory);
  Status CloseFile(OpenFile* file);
  Status CloseAll();

  FileWritePlanPtr plan_;
  const int32_t task_;
  std::map<std::string, OpenFile> open_;  // by the texts of the partition values
  std::map<std::string, int> counters_;   // files that a key had before
  std::shared_ptr<FilesMessage> message_ = std::make_shared<FilesMessage>();
  bool finished_ = false;
};

std::string FilesWriter::KeyOf(const std::vector<ColumnPtr>& columns, int64_t row) const {
  std::string key;
  for (const ColumnPtr& column : columns) {
    const std::string text = DirectoryText(column->GetValue(row), column->type(), plan_->zone);
    key += std::to_string(text.size()) + ":" + text;
  }
  return key;
}

Status FilesWriter::Write(const Chunk& input) {
  if (input.num_rows() == 0) return Status::OK();
  const Chunk chunk = input.Dense();
  if (plan_->partition_at.empty()) return WriteRows("", chunk);
  std::vector<ColumnPtr> keys;
  bool constant = true;
  for (const int at : plan_->partition_at) {
    keys.push_back(chunk.column(at));
    constant = constant && keys.back()->is_constant();
  }
  if (constant) return WriteRows(KeyOf(keys, 0), chunk);
  std::map<std::string, std::vector<int32_t>> groups;
  for (int64_t row = 0; row < chunk.num_rows(); ++row) groups[KeyOf(keys, row)].push_back(static_cast<int32_t>(row));
  for (auto& [key, rows] : groups) {
    Chunk part = chunk;
    part.set_selection(std::make_shared<const std::vector<int32_t>>(std::move(rows)));
    TW_RETURN_NOT_OK(WriteRows(key, part.Dense()));
  }
  return Status::OK();
}

std::string FilesWriter::DirectoryOf(const Chunk& rows) const {
  std::string directory;
  for (size_t i = 0; i < plan_->partition_at.size(); ++i) {
    const ColumnPtr& column = rows.column(plan_->partition_at[i]);
    directory += DirectoryName(*plan_, i, column->GetValue(0), column->type());
  }
  return directory;
}

Result<OpenFile> FilesWriter::Create(const std::string& key, const std::string& directory) {
  const std::string id = plan_->job_id.empty() ? Uuid::MakeRandom().ToString() : plan_->job_id;
  OpenFile file;
  file.written.relative = directory + "part-" + Padded(task_, 5) + "-" + id + (plan_->partition_at.empty() ? "-c" : ".c") +
                          Padded(counters_[key]++, 3) + plan_->writers.extension;
  const std::string path = data::JoinPath(plan_->staging, file.written.relative);
  auto made = plan_->writers.make(path);
  if (!made.ok() && data::IsNotFound(made.status())) {
    TW_RETURN_NOT_OK(plan_->file_system->MakeDirectories(data::ParentPath(path)));
    made = plan_->writers.make(path);
  }
  if (!made.ok()) return made.status();
  file.writer = std::move(*made);
  message_->files.push_back(file.written);
  return file;
}

Status FilesWriter::WriteRows(const std::string& key, const Chunk& rows) {
  std::vector<ColumnPtr> columns;
  for (const int at : plan_->data_at) columns.push_back(rows.column(at));
  const Chunk data(std::move(columns), rows.num_rows());
  const int64_t limit = plan_->max_records_per_file;
  for (int64_t done = 0; done < rows.num_rows();) {
    auto found = open_.find(key);
    if (found == open_.end()) {
      if (open_.size() >= kMaxOpenFiles) TW_RETURN_NOT_OK(CloseAll());
      TW_ASSIGN_OR_RETURN(OpenFile file, Create(key, DirectoryOf(rows)));
      found = open_.emplace(key, std::move(file)).first;
    }
    OpenFile& file = found->second;
    int64_t count = rows.num_rows() - done;
    if (limit > 0) count = std::min(count, limit - file.written.rows);
    TW_RETURN_NOT_OK(file.writer->Write(count == rows.num_rows() ? data : data.Slice(done, count)));
    done += count;
    file.written.rows += count;
    if (limit > 0 && file.written.rows >= limit) {
      TW_RETURN_NOT_OK(CloseFile(&file));
      open_.erase(found);
    }
  }
  return Status::OK();
}

Status FilesWriter::CloseFile(OpenFile* file) {
  TW_RETURN_NOT_OK(file->writer->Close());
  for (WrittenFile& written : message_->files) {
    if (written.relative == file->written.relative) written.rows = file->written.rows;
  }
  return Status::OK();
}

Status FilesWriter::CloseAll() {
  for (auto& [key, file] : open_) TW_RETURN_NOT_OK(CloseFile(&file));
  open_.clear();
  return Status::OK();
}

Result<sql::CommitMessagePtr> FilesWriter::Finish(std::shared_ptr<Signal>*) {
  // The first task leaves a file also without rows: the schema of the result (Parquet), or its header.
  if (message_->files.empty() && task_ == 0 && plan_->partition_at.empty()) {
    TW_ASSIGN_OR_RETURN(OpenFile file, Create("", ""));
    open_.emplace("", std::move(file));
  }
  TW_RETURN_NOT_OK(CloseAll());
  TW_FAULT_POINT("file write: files closed");
  finished_ = true;
  return sql::CommitMessagePtr(message_);
}

void FilesWriter::Abort() {
  finished_ = true;
  open_.clear();
  RemoveFiles(*plan_, {message_});
}

}  // namespace

Result<FileWritePlan> PlanFileWrite(const FileFormat& format, const FormatContext& context, Clock* clock, std::string target,
                                    const data::Schema& schema, const std::vector<std::string>& partition_columns) {
  FileWritePlan plan;
  plan.file_system = context.file_system;
  plan.clock = clock;
  plan.staging = plan.target = std::move(target);
  const bool case_sensitive = context.config->case_sensitive;
  if (schema.empty() || HasEmptyStruct(data::DataType::Struct(schema))) {
    return Error("EMPTY_SCHEMA_NOT_SUPPORTED_FOR_DATASOURCE").With("format", format.display_name());
  }
  if (!format.writes_duplicate_names()) TW_RETURN_NOT_OK(CheckNames(schema, case_sensitive));
  TW_RETURN_NOT_OK(FindPartitionColumns(schema, partition_columns, case_sensitive, &plan));
  data::Schema data_schema;
  for (size_t i = 0; i < schema.size(); ++i) {
    const bool in_path = std::find(plan.partition_at.begin(), plan.partition_at.end(), static_cast<int>(i)) != plan.partition_at.end();
    if (in_path) continue;
    plan.data_at.push_back(static_cast<int>(i));
    data_schema.push_back({.name = schema[i].name, .type = schema[i].type.AsNullable(), .metadata_json = schema[i].metadata_json});
  }
  TW_ASSIGN_OR_RETURN(plan.writers, format.NewWriters(context, data_schema));
  TW_ASSIGN_OR_RETURN(plan.zone, data::TimeZone::Parse(data::TextOption(context.options, "timeZone", context.config->time_zone)));
  TW_ASSIGN_OR_RETURN(plan.max_records_per_file, data::IntOption(context.options, "maxRecordsPerFile",
                                                                 context.settings->Get(kMaxRecordsPerFile)));
  return plan;
}

Result<std::string> PartitionDirectory(const FileWritePlan& plan, const data::Schema& schema,
                                       const std::vector<std::pair<std::string, data::Value>>& values) {
  std::string directory;
  for (size_t i = 0; i < values.size(); ++i) {
    const auto value = std::find_if(values.begin(), values.end(), [&](const auto& entry) {
      return i < plan.partition_names.size() && SameName(entry.first, plan.partition_names[i], false);
    });
    if (value == values.end()) return Unsupported("overwriting a partition by an inner column of its directory");
    directory += DirectoryName(plan, i, value->second, schema[static_cast<size_t>(plan.partition_at[i])].type);
  }
  if (!directory.empty()) directory.pop_back();
  return directory;
}

std::unique_ptr<sql::DataWriter> NewFilesWriter(FileWritePlanPtr plan, int32_t task) {
  return std::make_unique<FilesWriter>(std::move(plan), task);
}

std::vector<std::string> PathsOf(const std::vector<sql::CommitMessagePtr>& messages, const std::string& root) {
  std::vector<std::string> paths;
  for (const sql::CommitMessagePtr& message : messages) {
    for (const WrittenFile& file : static_cast<const FilesMessage&>(*message).files) paths.push_back(data::JoinPath(root, file.relative));
  }
  return paths;
}

std::vector<std::string> DirectoriesOf(const std::vector<std::string>& files, const std::string& root) {
  std::set<std::string> directories = {root};
  for (const std::string& file : files) {
    std::string directory = data::ParentPath(file);
    while (directory.size() > root.size() && directories.insert(directory).second) directory = data::ParentPath(directory);
  }
  return {directories.begin(), directories.end()};
}

void RemoveFiles(const FileWritePlan& plan, const std::vector<sql::CommitMessagePtr>& messages) {
  for (const std::string& path : PathsOf(messages, plan.staging)) {
    const Status removed = plan.file_system->Remove(path);
    if (!removed.ok() && !data::IsNotFound(removed)) TW_LOG(kWarn, "written file not removed", {"path", path}, {"error", removed});
  }
}

}  // namespace thalweg::connectors
