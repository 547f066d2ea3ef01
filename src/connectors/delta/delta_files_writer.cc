#include "connectors/delta/delta_files_writer.h"

#include <algorithm>
#include <set>

#include "base/fault_point.h"
#include "base/log.h"
#include "base/text.h"
#include "base/uuid.h"
#include "connectors/delta/delta_schema.h"
#include "connectors/delta/delta_text_limits.h"
#include "data/columnar/column.h"
#include "data/io/atomic_write.h"
#include "data/io/path.h"
#include "data/text/utf8.h"

namespace thalweg::connectors {

using data::Chunk;
using data::ColumnPtr;
using data::StructField;
using data::Value;

namespace {

constexpr size_t kMaxOpenFiles = 128;  // of one task; rows that come later get a second file

Status NullIn(const std::string& column) { return Error("DELTA_NOT_NULL_CONSTRAINT_VIOLATED").With("columnName", column); }

// NOT NULL columns, and NOT NULL fields of structs (also below a null struct).
Status CheckNotNull(const StructField& field, const ColumnPtr& column, const std::string& path) {
  if (!field.nullable && column->has_nulls()) return NullIn(path);
  if (!field.type.Is(data::TypeKind::kStruct)) return Status::OK();
  const bool demands = std::any_of(field.type.fields().begin(), field.type.fields().end(), [](const StructField& child) {
    return !child.nullable || child.type.Is(data::TypeKind::kStruct);
  });
  if (!demands) return Status::OK();
  const ColumnPtr flat = data::Flatten(column);
  for (size_t i = 0; i < field.type.fields().size(); ++i) {
    const StructField& child = field.type.fields()[i];
    const std::string child_path = path + "." + child.name;
    if (!child.nullable && flat->has_nulls()) return NullIn(child_path);
    TW_RETURN_NOT_OK(CheckNotNull(child, flat->child(static_cast<int>(i)), child_path));
  }
  return Status::OK();
}

data::Schema Nullable(const data::Schema& schema) {
  data::Schema out;
  for (const StructField& field : schema) out.push_back({.name = field.name, .type = field.type.AsNullable()});
  return out;
}

/// One open file.
struct OpenFile {
  std::unique_ptr<data::ParquetWriter> writer;
  std::string relative;                  // path below the table, not encoded
  PartitionValues partition_values;
};

class FilesWriter final : public sql::DataWriter {
 public:
  FilesWriter(DeltaWritePlanPtr plan, int32_t task) : plan_(std::move(plan)), task_(task), limits_(plan_->schema) {
    message_->table_path = plan_->table_path;
    for (const std::string& name : plan_->partition_columns) partition_at_.push_back(FindColumn(plan_->schema, name, true));
  }
  ~FilesWriter() override {
    if (!finished_) Abort();
  }

  Status Write(const Chunk& input) override;
  Result<sql::CommitMessagePtr> Finish(std::shared_ptr<Signal>* blocked) override;
  void Abort() override;

 private:
  Result<Chunk> ToTableColumns(const Chunk& input) const;
  Status WriteRows(const std::string& key, const Chunk& rows);
  Result<OpenFile> Create(const Chunk& rows);
  Status CloseFile(OpenFile* file);
  Status CloseAll();
  std::string KeyOf(const std::vector<ColumnPtr>& columns, int64_t row) const;

  DeltaWritePlanPtr plan_;
  const int32_t task_;
  const TextLimits limits_;
  std::vector<int> partition_at_;
  std::map<std::string, OpenFile> open_;  // by the values' texts
  std::shared_ptr<DeltaFilesMessage> message_ = std::make_shared<DeltaFilesMessage>();
  bool finished_ = false;
};

Result<Chunk> FilesWriter::ToTableColumns(const Chunk& input) const {
  Chunk chunk = input;
  if (plan_->program != nullptr) {
    sql::EpochContext epoch;
    sql::EvalContext context{.config = plan_->config.get(), .epoch = &epoch, .partition = task_};
    TW_ASSIGN_OR_RETURN(chunk, plan_->program->Run(input, context));
  }
  chunk = chunk.Dense();
  for (size_t i = 0; i < plan_->schema.size(); ++i) {
    TW_RETURN_NOT_OK(CheckNotNull(plan_->schema[i], chunk.column(static_cast<int>(i)), plan_->schema[i].name));
  }
  TW_RETURN_NOT_OK(limits_.Check(chunk));
  return chunk;
}

// The values of the partition columns in one row as one text; null and the empty string are one.
std::string FilesWriter::KeyOf(const std::vector<ColumnPtr>& columns, int64_t row) const {
  std::string key;
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto text = PartitionValueText(columns[i]->GetValue(row), columns[i]->type());
    key += text ? "+" + std::to_string(text->size()) + ":" + *text : "-";
  }
  return key;
}

Status FilesWriter::Write(const Chunk& input) {
  if (input.num_rows() == 0) return Status::OK();
  TW_ASSIGN_OR_RETURN(const Chunk chunk, ToTableColumns(input));
  if (partition_at_.empty()) return WriteRows("", chunk);
  std::vector<ColumnPtr> keys;
  bool constant = true;
  for (const int at : partition_at_) {
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

Result<OpenFile> FilesWriter::Create(const Chunk& rows) {
  OpenFile file;
  std::string directory;
  for (size_t i = 0; i < partition_at_.size(); ++i) {
    const ColumnPtr& column = rows.column(partition_at_[i]);
    const Value value = column->GetValue(0);
    std::optional<std::string> text = PartitionValueText(value, column->type());
    // The log is JSON, and a directory's name is text too: bytes of a BINARY or a damaged STRING have no place there.
    if (text && !data::IsValidUtf8(*text)) return Error("TASK_WRITE_FAILED").With("path", plan_->table_path);
    file.partition_values.emplace_back(plan_->partition_columns[i], std::move(text));
    directory += data::EscapePartitionValue(plan_->partition_columns[i]) + "=" +
                 data::EscapePartitionValue(PartitionDirectoryText(value, column->type(), plan_->stats.zone)) + "/";
  }
  const std::string suffix = plan_->codec_suffix.empty() ? "" : plan_->codec_suffix + ".";
  file.relative = directory + "part-" + ZeroPadded(task_, 5) + "-" + Uuid::MakeRandom().ToString() +
                  (partition_at_.empty() ? "-c000." : ".c000.") + suffix + "parquet";
  const std::string path = data::JoinPath(plan_->table_path, file.relative);
  auto made = data::ParquetWriter::Make(*plan_->file_system, path, Nullable(plan_->schema), plan_->parquet);
  if (!made.ok() && data::IsNotFound(made.status())) {
    TW_RETURN_NOT_OK(data::MakeMissingDirectories(*plan_->file_system, data::ParentPath(path), &message_->changed_directories));
    made = data::ParquetWriter::Make(*plan_->file_system, path, Nullable(plan_->schema), plan_->parquet);
  }
  if (!made.ok()) return made.status();
  file.writer = std::move(*made);
  message_->paths.push_back(path);
  return file;
}

Status FilesWriter::WriteRows(const std::string& key, const Chunk& rows) {
  int64_t done = 0;
  while (done < rows.num_rows()) {
    auto found = open_.find(key);
    if (found == open_.end()) {
      if (open_.size() >= kMaxOpenFiles) TW_RETURN_NOT_OK(CloseAll());
      TW_ASSIGN_OR_RETURN(OpenFile file, Create(rows));
      found = open_.emplace(key, std::move(file)).first;
    }
    OpenFile& file = found->second;
    int64_t count = rows.num_rows() - done;
    if (plan_->max_records_per_file > 0) count = std::min(count, plan_->max_records_per_file - file.writer->rows_written());
    TW_RETURN_NOT_OK(file.writer->Write(done == 0 && count == rows.num_rows() ? rows : rows.Slice(done, count)));
    done += count;
    if (plan_->max_records_per_file > 0 && file.writer->rows_written() >= plan_->max_records_per_file) {
      TW_RETURN_NOT_OK(CloseFile(&file));
      open_.erase(found);
    }
  }
  return Status::OK();
}

Status FilesWriter::CloseFile(OpenFile* file) {
  TW_ASSIGN_OR_RETURN(const data::ParquetFileSummary summary, file->writer->Close());
  AddFile add;
  add.path = data::EncodeUriPath(file->relative);
  add.partition_values = std::move(file->partition_values);
  add.size = summary.bytes;
  add.modification_time = plan_->clock->NowMillis();
  add.stats = DeltaStatsJson(summary, plan_->stats);
  message_->adds.push_back(std::move(add));
  message_->rows += summary.rows;
  message_->bytes += summary.bytes;
  return Status::OK();
}

Status FilesWriter::CloseAll() {
  for (auto& [key, file] : open_) TW_RETURN_NOT_OK(CloseFile(&file));
  open_.clear();
  return Status::OK();
}

Result<sql::CommitMessagePtr> FilesWriter::Finish(std::shared_ptr<Signal>*) {
  TW_RETURN_NOT_OK(CloseAll());
  TW_FAULT_POINT("delta write: files closed");
  finished_ = true;
  return sql::CommitMessagePtr(message_);
}

void FilesWriter::Abort() {
  finished_ = true;
  open_.clear();
  RemoveDeltaFiles(*plan_->file_system, {message_});
}

}  // namespace

std::unique_ptr<sql::DataWriter> NewDeltaFilesWriter(DeltaWritePlanPtr plan, int32_t task) {
  return std::make_unique<FilesWriter>(std::move(plan), task);
}

DeltaFilesMessage JoinDeltaFiles(const std::vector<sql::CommitMessagePtr>& messages) {
  DeltaFilesMessage all;
  for (const sql::CommitMessagePtr& message : messages) {
    const auto& written = static_cast<const DeltaFilesMessage&>(*message);
    all.adds.insert(all.adds.end(), written.adds.begin(), written.adds.end());
    all.paths.insert(all.paths.end(), written.paths.begin(), written.paths.end());
    all.table_path = written.table_path;
    all.rows += written.rows;
    all.bytes += written.bytes;
  }
  return all;
}

Status SyncDeltaFiles(data::FileSystem& file_system, const std::vector<sql::CommitMessagePtr>& messages) {
  std::vector<std::string> files;
  std::set<std::string> directories;
  for (const sql::CommitMessagePtr& message : messages) {
    const auto& written = static_cast<const DeltaFilesMessage&>(*message);
    const std::string& table_path = written.table_path;
    directories.insert(written.changed_directories.begin(), written.changed_directories.end());
    for (const std::string& path : written.paths) {
      files.push_back(path);
      // New partition directories are names in their parents too.
      std::string directory = data::ParentPath(path);
      for (; directory.size() >= table_path.size(); directory = data::ParentPath(directory)) directories.insert(directory);
    }
  }
  if (files.empty()) return Status::OK();
  return file_system.SyncMany(files, std::vector<std::string>(directories.begin(), directories.end()));
}

void RemoveDeltaFiles(data::FileSystem& file_system, const std::vector<sql::CommitMessagePtr>& messages) {
  for (const sql::CommitMessagePtr& message : messages) {
    for (const std::string& path : static_cast<const DeltaFilesMessage&>(*message).paths) {
      const Status removed = file_system.Remove(path);
      if (!removed.ok() && !data::IsNotFound(removed)) TW_LOG(kWarn, "delta file not removed", {"path", path}, {"error", removed});
    }
  }
}

}  // namespace thalweg::connectors
