// Splits of files and the reader that goes through the pieces of one.

#include <algorithm>

#include "base/cores.h"
#include "base/log.h"
#include "connectors/file/file_relation.h"
#include "connectors/file/file_settings.h"
#include "connectors/file/partitions.h"
#include "data/io/path.h"

namespace thalweg::connectors {
namespace {

/// What opening a file costs, in bytes that could be read meanwhile.
constexpr int64_t kOpenCostBytes = 128 * 1024;
/// Files up to this size are not cut.
constexpr int64_t kLeastCutBytes = 4 << 20;

/// A piece of a file with the values that its path gives for the plan's path columns.
struct Piece {
  data::FileRange range;
  std::shared_ptr<const std::vector<data::Value>> path_values;
};

class PiecesReader final : public sql::PartitionReader {
 public:
  PiecesReader(std::shared_ptr<const FileReadPlan> plan, std::shared_ptr<const std::vector<Piece>> pieces,
               std::unique_ptr<data::FileReader> reader)
      : plan_(std::move(plan)), pieces_(std::move(pieces)), reader_(std::move(reader)) {}

  Result<sql::ReadStep> Next() override {
    while (true) {
      if (!open_) {
        if (next_ == pieces_->size()) {
          if (reader_->length() > 0) return Give();
          return sql::ReadStep(sql::ReadEnd{});
        }
        if (reader_->length() > 0 && !SamePathValues((*pieces_)[next_], (*pieces_)[next_ - 1])) return Give();
        TW_RETURN_NOT_OK(OpenNext());
        if (!open_) continue;
      }
      Result<bool> more = reader_->Read(data::kChunkRows);
      if (!more.ok()) {
        TW_RETURN_NOT_OK(Failed(more.status()));
        more = false;
      }
      open_ = *more;
      if (reader_->length() >= data::kChunkRows) return Give();
    }
  }

  int64_t bytes_read() const override { return reader_->bytes_read(); }

 private:
  static bool SamePathValues(const Piece& a, const Piece& b) {
    return a.path_values == b.path_values || *a.path_values == *b.path_values;
  }

  Status OpenNext() {
    const Piece& piece = (*pieces_)[next_++];
    const Status status = reader_->Open(*plan_->relation().context.file_system, piece.range);
    open_ = status.ok();
    return open_ ? Status::OK() : Failed(status);
  }

  /// OK when the file is one of those to skip.
  Status Failed(const Status& status) {
    const FileRelation& relation = plan_->relation();
    const std::string& path = (*pieces_)[next_ - 1].range.path;
    if (status.kind() == ErrorKind::kCancelled) return status;
    const bool named = status.condition().starts_with("FAILED_READ_FILE");
    const bool missing = data::IsNotFound(status) || status.condition() == "FAILED_READ_FILE.FILE_NOT_EXIST";
    const bool corrupt = !missing && (named || status.kind() == ErrorKind::kEnvironment);
    if ((missing && relation.ignore_missing_files) || (corrupt && relation.ignore_corrupt_files)) {
      TW_LOG(kWarn, "skipped a data file", {"path", path}, {"reason", status.message()});
      return Status::OK();
    }
    if (named) return status;
    return Error(missing ? "FAILED_READ_FILE.FILE_NOT_EXIST" : "FAILED_READ_FILE.NO_HINT")
        .With("path", data::UriFromPath(path))
        .Because(status);
  }

  Result<sql::ReadStep> Give() {
    const int64_t rows = reader_->length();
    const Piece& piece = (*pieces_)[next_ - 1];
    TW_ASSIGN_OR_RETURN(const std::vector<data::ColumnPtr> read, reader_->Finish());
    std::vector<data::ColumnPtr> columns;
    for (const FileReadPlan::Place& place : plan_->places()) {
      columns.push_back(place.from_path
                            ? data::Column::Constant(plan_->path_columns()[place.index].type,
                                                     (*piece.path_values)[place.index], rows)
                            : read[place.index]);
    }
    return sql::ReadStep(sql::ReadChunk{data::Chunk(std::move(columns), rows)});
  }

  std::shared_ptr<const FileReadPlan> plan_;
  std::shared_ptr<const std::vector<Piece>> pieces_;
  std::unique_ptr<data::FileReader> reader_;
  size_t next_ = 0;
  bool open_ = false;
};

class PiecesSplit final : public sql::InputSplit {
 public:
  PiecesSplit(std::shared_ptr<const FileReadPlan> plan, std::vector<Piece> pieces)
      : plan_(std::move(plan)), pieces_(std::make_shared<const std::vector<Piece>>(std::move(pieces))) {}

  Result<std::unique_ptr<sql::PartitionReader>> Open(const sql::EvalConfig&) const override {
    TW_ASSIGN_OR_RETURN(std::unique_ptr<data::FileReader> reader, plan_->readers()());
    return std::unique_ptr<sql::PartitionReader>(std::make_unique<PiecesReader>(plan_, pieces_, std::move(reader)));
  }
  int64_t estimated_bytes() const override {
    int64_t bytes = 0;
    for (const Piece& piece : *pieces_) bytes += Bytes(piece.range);
    return bytes;
  }
  std::string Describe() const override {
    return std::to_string(pieces_->size()) + " files from " + pieces_->front().range.path;
  }
  static int64_t Bytes(const data::FileRange& range) {
    return range.length == INT64_MAX ? range.file_size : range.length;
  }

 private:
  std::shared_ptr<const FileReadPlan> plan_;
  std::shared_ptr<const std::vector<Piece>> pieces_;
};

}  // namespace

Result<std::shared_ptr<const FileReadPlan>> FileReadPlan::Make(FileRelationPtr relation,
                                                               const sql::ScanRequest& request) {
  auto plan = std::make_shared<FileReadPlan>();
  plan->self_ = plan;
  plan->relation_ = std::move(relation);
  const FileRelation& files = *plan->relation_;
  data::Schema from_files;
  for (const std::string& name : request.columns) {
    const auto named = [&](const data::StructField& field) { return field.name == name; };
    const auto in_path = std::find_if(files.partition_schema.begin(), files.partition_schema.end(), named);
    const auto in_file = std::find_if(files.data_schema.begin(), files.data_schema.end(), named);
    if (in_path != files.partition_schema.end()) {
      plan->places_.push_back({true, static_cast<int>(plan->path_columns_.size())});
      plan->path_columns_.push_back(*in_path);
      plan->columns_.push_back(*in_path);
    } else if (in_file != files.data_schema.end()) {
      plan->places_.push_back({false, static_cast<int>(from_files.size())});
      from_files.push_back(*in_file);
      plan->columns_.push_back(*in_file);
    } else {
      return InternalError("no column '" + name + "' in files of " + files.format->short_name());
    }
  }
  TW_ASSIGN_OR_RETURN(plan->readers_,
                      files.format->NewReaders(files.context, files.data_schema, from_files, request));
  TW_ASSIGN_OR_RETURN(plan->can_split_, files.format->Splitting(files.context));
  return std::shared_ptr<const FileReadPlan>(std::move(plan));
}

Result<std::vector<sql::InputSplitPtr>> FileReadPlan::PlanSplits(const std::vector<FileEntry>& files,
                                                                 const std::vector<std::string>& roots) const {
  const int64_t cores = AvailableCores();
  int64_t total = 0;
  for (const FileEntry& file : files) total += file.size_bytes + kOpenCostBytes;
  const int64_t most = std::min(relation_->settings.Get(kMaxPartitionBytes),
                                std::max(kOpenCostBytes, (total + cores - 1) / cores));
  std::vector<Piece> pieces;
  std::shared_ptr<const std::vector<data::Value>> last_values;
  for (const FileEntry& file : files) {
    auto values = std::make_shared<std::vector<data::Value>>();
    if (!path_columns_.empty()) {
      const PathPartitions partitions = PartitionsOfPath(file.path, roots);
      for (const data::StructField& column : path_columns_) {
        data::Value value;
        for (const auto& [name, text] : partitions) {
          if (!SameName(name, column.name, relation_->case_sensitive())) continue;
          TW_ASSIGN_OR_RETURN(value, ParsePartitionValue(text, column, relation_->zone));
        }
        values->push_back(std::move(value));
      }
    }
    if (last_values == nullptr || *last_values != *values) last_values = std::move(values);
    const bool cut = file.size_bytes > std::max(most, kLeastCutBytes) && can_split_(file.path);
    for (int64_t start = 0; start == 0 || (cut && start < file.size_bytes); start += most) {
      const bool to_end = !cut || start + most >= file.size_bytes;
      pieces.push_back({{file.path, start, to_end ? INT64_MAX : most, file.size_bytes - start}, last_values});
    }
  }
  std::vector<sql::InputSplitPtr> splits;
  std::vector<Piece> together;
  int64_t together_bytes = 0;
  const auto close = [&] {
    if (!together.empty()) splits.push_back(std::make_shared<PiecesSplit>(self_.lock(), std::move(together)));
    together = {};
    together_bytes = 0;
  };
  for (Piece& piece : pieces) {
    const int64_t bytes = PiecesSplit::Bytes(piece.range);
    if (together_bytes + bytes > most) close();
    together_bytes += bytes + kOpenCostBytes;
    together.push_back(std::move(piece));
  }
  close();
  return splits;
}

}  // namespace thalweg::connectors
