// The reader. Exceptions of the Parquet library end here: a damaged file gives a Status.

#include "data/formats/parquet/parquet_reader.h"

#include <arrow/array.h>
#include <arrow/record_batch.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/arrow/reader.h>
#include <parquet/exception.h>
#include <parquet/file_reader.h>
#include <parquet/properties.h>

#include <algorithm>

#include "base/no_throw.h"
#include "data/columnar/arrow_bridge.h"
#include "data/formats/parquet/arrow_files.h"
#include "data/formats/parquet/column_adapter.h"
#include "data/formats/parquet/int96_leaf.h"
#include "data/formats/parquet/parquet_schema.h"
#include "data/formats/parquet/row_group_statistics.h"
#include "data/io/path.h"

namespace thalweg::data {

namespace {

constexpr std::string_view kRowMetadata = "org.apache.spark.sql.parquet.row.metadata";

Status DamagedFile(const std::string& path, std::string_view why) {
  return Error("FAILED_READ_FILE.NO_HINT").With("path", UriFromPath(AbsolutePath(path)))
      .Because(InternalError(why)).Kind(ErrorKind::kEnvironment);
}

Status DamagedFooter(const std::string& path, std::string_view why) {
  return Error("FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER").With("path", UriFromPath(AbsolutePath(path)))
      .Because(InternalError(why)).Kind(ErrorKind::kEnvironment);
}

void LeavesOf(const parquet::arrow::SchemaField& field, std::vector<int>* leaves) {
  if (field.is_leaf()) leaves->push_back(field.column_index);
  for (const auto& child : field.children) LeavesOf(child, leaves);
}

/// The field without what `wanted` does not name inside its structs, so that those leaves are never decoded. A struct of
/// which nothing is wanted keeps its first child: somebody has to tell where it is null.
parquet::arrow::SchemaField Pruned(const parquet::arrow::SchemaField& field, const DataType& wanted, bool case_sensitive) {
  parquet::arrow::SchemaField out = field;
  if (field.is_leaf()) return out;
  if (wanted.Is(TypeKind::kArray) && field.field->type()->id() == arrow::Type::LIST && field.children.size() == 1) {
    out.children = {Pruned(field.children[0], wanted.element(), case_sensitive)};
    return out;
  }
  if (!wanted.Is(TypeKind::kStruct) || field.field->type()->id() != arrow::Type::STRUCT || field.children.empty()) return out;
  out.children.clear();
  for (const auto& child : field.children) {
    const int at = FindField(wanted.fields(), child.field->name(), case_sensitive);
    if (at >= 0) out.children.push_back(Pruned(child, wanted.fields()[static_cast<size_t>(at)].type, case_sensitive));
  }
  if (out.children.empty()) out.children.push_back(field.children[0]);
  return out;
}

parquet::ArrowReaderProperties ReaderProperties(int64_t batch_rows) {
  parquet::ArrowReaderProperties properties(/*use_threads=*/false);
  properties.set_coerce_int96_timestamp_unit(arrow::TimeUnit::MICRO);  // nanoseconds reach from 1677 to 2262 only
  properties.set_pre_buffer(false);
  properties.set_batch_size(batch_rows);
  return properties;
}

class File final : public ParquetFile, public std::enable_shared_from_this<File> {
 public:
  File(FileSystem& file_system, std::string path) : file_system_(file_system), path_(std::move(path)) {}

  Status ReadFooter();
  Result<Schema> ReadSchema() const override;
  int64_t num_rows() const override { return metadata_->num_rows(); }
  int num_row_groups() const override { return metadata_->num_row_groups(); }
  int64_t row_group_rows(int i) const override { return metadata_->RowGroup(i)->num_rows(); }
  int64_t row_group_bytes(int i) const override;
  int64_t row_group_offset(int i) const override;
  std::map<std::string, std::string> metadata() const override;
  const std::string& path() const override { return path_; }
  Result<std::unique_ptr<ParquetChunkReader>> NewReader(const ParquetReadRequest& request) const override;

  const std::shared_ptr<parquet::FileMetaData>& footer() const { return metadata_; }
  const parquet::arrow::SchemaManifest& manifest() const { return manifest_; }
  /// A new handle of the file with the footer known.
  Result<std::unique_ptr<parquet::arrow::FileReader>> NewArrowReader(int64_t batch_rows) const;

 private:
  Result<std::shared_ptr<arrow::io::RandomAccessFile>> OpenInput() const;

  FileSystem& file_system_;
  std::string path_;
  std::shared_ptr<parquet::FileMetaData> metadata_;
  parquet::arrow::SchemaManifest manifest_;
};

/// One column of the result: which of the file's, or none.
struct Source {
  StructField wanted;
  int field = -1;          ///< top-level field of the file; -1: null
  int batch_column = -1;   ///< position in Arrow's batches
  int int96_leaf = -1;     ///< the Parquet column, when it is one of INT96 at the top level: not read by Arrow
  DataType file_type;
};

class Reader final : public ParquetChunkReader {
 public:
  Reader(std::shared_ptr<const File> file, const ParquetReadRequest& request)
      : file_(std::move(file)), request_(request) {}

  Status Open();
  Result<std::optional<ParquetChunk>> Next() override;
  int64_t bytes_read() const override { return bytes_read_; }
  int row_groups_read() const override { return static_cast<int>(row_groups_.size()); }
  int row_groups_skipped() const override { return skipped_; }

 private:
  Status BindColumns();
  Status SelectRowGroups();
  bool MayHold(int row_group) const;
  Result<std::optional<ParquetChunk>> NextWithoutArrow();
  Status StartRowGroup();
  Result<Chunk> Convert(const arrow::RecordBatch* batch, int64_t rows);

  std::shared_ptr<const File> file_;
  ParquetReadRequest request_;
  std::vector<Source> sources_;
  std::vector<int> leaves_;
  std::vector<int> row_groups_;
  std::vector<int64_t> first_rows_;  // of every row group of the file
  int skipped_ = 0;
  size_t next_group_ = 0;
  int64_t position_ = 0;             // row of the file that comes next
  int64_t left_in_group_ = 0;        // without Arrow's batches only
  int64_t bytes_read_ = 0;
  std::unique_ptr<parquet::arrow::FileReader> arrow_;
  std::unique_ptr<arrow::RecordBatchReader> batches_;  // of the current row group; borrows arrow_
  std::shared_ptr<parquet::RowGroupReader> row_group_;  // the current one, when there are INT96 columns
  std::map<int, Int96Leaf> int96_;                      // by Parquet column, of the current row group
};

Result<std::shared_ptr<arrow::io::RandomAccessFile>> File::OpenInput() const {
  auto opened = file_system_.OpenForRead(path_);
  if (!opened.ok() && IsNotFound(opened.status())) {
    return Error("FAILED_READ_FILE.FILE_NOT_EXIST").With("path", UriFromPath(AbsolutePath(path_)))
        .Because(opened.status()).Kind(ErrorKind::kEnvironment);
  }
  if (!opened.ok()) return opened.status();
  TW_ASSIGN_OR_RETURN(const int64_t size, (*opened)->Size());
  return ArrowInput(std::move(*opened), size);
}

Status File::ReadFooter() {
  TW_ASSIGN_OR_RETURN(auto input, OpenInput());
  return NoThrow(
      [&]() -> Status {
        metadata_ = parquet::ReadMetaData(input);
        const auto made = parquet::arrow::SchemaManifest::Make(metadata_->schema(), nullptr, ReaderProperties(1), &manifest_);
        if (!made.ok()) return DamagedFooter(path_, made.ToString());
        int64_t rows = 0;
        for (int i = 0; i < metadata_->num_row_groups(); ++i) {
          const int64_t group_rows = metadata_->RowGroup(i)->num_rows();
          if (group_rows < 0 || __builtin_add_overflow(rows, group_rows, &rows)) {
            return DamagedFooter(path_, "a row group with an impossible number of rows");
          }
        }
        return Status::OK();
      },
      [&](std::string_view why) { return DamagedFooter(path_, why); });
}

Result<std::unique_ptr<parquet::arrow::FileReader>> File::NewArrowReader(int64_t batch_rows) const {
  TW_ASSIGN_OR_RETURN(auto input, OpenInput());
  std::unique_ptr<parquet::arrow::FileReader> reader;
  TW_RETURN_NOT_OK(NoThrow(
      [&]() -> Status {
        parquet::ReaderProperties properties(ProcessPool());
        auto raw = parquet::ParquetFileReader::Open(std::move(input), properties, metadata_);
        auto made = parquet::arrow::FileReader::Make(ProcessPool(), std::move(raw), ReaderProperties(batch_rows));
        if (!made.ok()) return DamagedFile(path_, made.status().ToString());
        reader = std::move(*made);
        return Status::OK();
      },
      [&](std::string_view why) { return DamagedFile(path_, why); }));
  return reader;
}

Result<Schema> File::ReadSchema() const {
  const auto entries = metadata();
  if (const auto found = entries.find(std::string(kRowMetadata)); found != entries.end()) {
    auto type = ParseTypeJson(found->second);
    if (type.ok() && type->Is(TypeKind::kStruct)) {
      Schema schema = type->AsNullable().fields();
      for (StructField& field : schema) field.nullable = true;
      return schema;
    }
  }
  Schema schema;
  for (const auto& field : manifest_.schema_fields) {
    TW_ASSIGN_OR_RETURN(StructField spark_field, FromParquetField(*metadata_->schema(), field));
    spark_field.type = spark_field.type.AsNullable();
    spark_field.nullable = true;
    schema.push_back(std::move(spark_field));
  }
  return schema;
}

int64_t File::row_group_bytes(int i) const {
  const auto group = metadata_->RowGroup(i);
  const int64_t compressed = group->total_compressed_size();
  if (compressed > 0) return compressed;
  int64_t bytes = 0;
  for (int c = 0; c < group->num_columns(); ++c) bytes += group->ColumnChunk(c)->total_compressed_size();
  return bytes;
}

int64_t File::row_group_offset(int i) const {
  const auto group = metadata_->RowGroup(i);
  if (group->num_columns() == 0) return group->file_offset();
  const auto chunk = group->ColumnChunk(0);
  return chunk->has_dictionary_page() ? std::min(chunk->dictionary_page_offset(), chunk->data_page_offset())
                                      : chunk->data_page_offset();
}

std::map<std::string, std::string> File::metadata() const {
  std::map<std::string, std::string> entries;
  const auto& pairs = metadata_->key_value_metadata();
  if (pairs == nullptr) return entries;
  for (int64_t i = 0; i < pairs->size(); ++i) entries[pairs->key(i)] = pairs->value(i);
  return entries;
}

Result<std::unique_ptr<ParquetChunkReader>> File::NewReader(const ParquetReadRequest& request) const {
  auto reader = std::make_unique<Reader>(shared_from_this(), request);
  TW_RETURN_NOT_OK(reader->Open());
  return std::unique_ptr<ParquetChunkReader>(std::move(reader));
}

Status Reader::BindColumns() {
  const auto& manifest = file_->manifest();
  std::vector<StructField> names;
  for (const auto& field : manifest.schema_fields) names.push_back({.name = field.field->name(), .type = {}});
  std::map<int, parquet::arrow::SchemaField> fields;  // of the file, in its order: Arrow's batches have them so
  for (const StructField& column : request_.columns) {
    Source source{.wanted = column, .file_type = {}};
    source.field = column.type.Is(TypeKind::kNull) ? -1 : FindField(names, column.name, request_.case_sensitive);
    if (source.field >= 0) {
      const auto& field = manifest.schema_fields[static_cast<size_t>(source.field)];
      const bool again = fields.contains(source.field);  // asked for twice: whole
      fields.insert_or_assign(source.field, again ? field : Pruned(field, column.type, request_.case_sensitive));
    }
    sources_.push_back(std::move(source));
  }
  for (Source& source : sources_) {
    if (source.field < 0) continue;
    TW_ASSIGN_OR_RETURN(const StructField file_field, FromParquetField(*file_->footer()->schema(), fields.at(source.field)));
    source.file_type = file_field.type;
    if (CanAdapt(source.file_type, source.wanted.type, request_.case_sensitive)) continue;
    return Error("FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH")
        .With("path", UriFromPath(AbsolutePath(file_->path()))).With("column", "[" + source.wanted.name + "]")
        .With("expectedType", source.wanted.type.SimpleString()).With("actualType", source.file_type.SimpleString());
  }
  const auto is_int96 = [&](const parquet::arrow::SchemaField& field) {
    return field.is_leaf() && file_->footer()->schema()->Column(field.column_index)->physical_type() == parquet::Type::INT96;
  };
  for (Source& source : sources_) {
    if (source.field >= 0 && is_int96(fields.at(source.field))) source.int96_leaf = fields.at(source.field).column_index;
  }
  std::erase_if(fields, [&](const auto& entry) { return is_int96(entry.second); });
  for (const auto& [index, field] : fields) LeavesOf(field, &leaves_);
  for (Source& source : sources_) {
    if (source.field < 0 || source.int96_leaf >= 0) continue;
    source.batch_column = static_cast<int>(std::distance(fields.begin(), fields.find(source.field)));
  }
  return Status::OK();
}

bool Reader::MayHold(int row_group) const {
  const auto group = file_->footer()->RowGroup(row_group);
  const auto& manifest = file_->manifest();
  std::vector<StructField> names;
  for (const auto& field : manifest.schema_fields) names.push_back({.name = field.field->name(), .type = {}});
  for (const ColumnPredicate& predicate : request_.predicates) {
    const int at = FindField(names, predicate.column, request_.case_sensitive);
    ColumnRange range;
    if (at < 0) {  // all null
      range.row_count = range.null_count = group->num_rows();
    } else {
      const auto& field = manifest.schema_fields[static_cast<size_t>(at)];
      if (!field.is_leaf()) continue;
      const auto file_field = FromParquetField(*file_->footer()->schema(), field);
      if (!file_field.ok()) continue;
      const bool int96 = file_->footer()->schema()->Column(field.column_index)->physical_type() == parquet::Type::INT96;
      range = RowGroupRange(*group, field.column_index, int96 ? DataType::Null() : file_field->type);
      if (!file_field->type.SameType(predicate.type)) range.min.reset(), range.max.reset();
    }
    if (!MayMatch(predicate, range)) return false;
  }
  return true;
}

Status Reader::SelectRowGroups() {
  int64_t first_row = 0;
  for (int i = 0; i < file_->num_row_groups(); ++i) {
    first_rows_.push_back(first_row);
    first_row += file_->row_group_rows(i);
    const int64_t middle = file_->row_group_offset(i) + file_->row_group_bytes(i) / 2;
    if (middle < request_.split_begin || middle >= request_.split_end) continue;
    if (MayHold(i)) {
      row_groups_.push_back(i);
    } else {
      ++skipped_;
    }
  }
  return Status::OK();
}

Status Reader::Open() {
  const auto damaged = [&](std::string_view why) { return DamagedFile(file_->path(), why); };
  TW_RETURN_NOT_OK(NoThrow([&] { return BindColumns(); }, damaged));
  TW_RETURN_NOT_OK(NoThrow([&] { return SelectRowGroups(); }, damaged));
  const bool reads = !leaves_.empty() || std::any_of(sources_.begin(), sources_.end(), [](const Source& source) { return source.int96_leaf >= 0; });
  if (!reads || row_groups_.empty()) return Status::OK();
  TW_ASSIGN_OR_RETURN(arrow_, file_->NewArrowReader(request_.batch_rows));
  return Status::OK();
}

Status Reader::StartRowGroup() {
  const int group = row_groups_[next_group_++];
  position_ = first_rows_[static_cast<size_t>(group)];
  left_in_group_ = file_->row_group_rows(group);
  const auto metadata = file_->footer()->RowGroup(group);
  int96_.clear();
  for (const Source& source : sources_) {
    if (source.int96_leaf < 0 || int96_.contains(source.int96_leaf)) continue;
    if (int96_.empty()) row_group_ = arrow_->parquet_reader()->RowGroup(group);
    int96_.emplace(source.int96_leaf, Int96Leaf(row_group_->Column(source.int96_leaf)));
    bytes_read_ += metadata->ColumnChunk(source.int96_leaf)->total_compressed_size();
  }
  if (leaves_.empty()) return Status::OK();
  auto made = arrow_->GetRecordBatchReader({group}, leaves_);
  if (!made.ok()) return DamagedFile(file_->path(), made.status().ToString());
  batches_ = std::move(*made);
  for (const int leaf : leaves_) bytes_read_ += metadata->ColumnChunk(leaf)->total_compressed_size();
  return Status::OK();
}

/// `batch` is null when Arrow reads nothing.
Result<Chunk> Reader::Convert(const arrow::RecordBatch* batch, int64_t rows) {
  std::map<int, ColumnPtr> moments;
  for (auto& [leaf, reader] : int96_) {
    TW_ASSIGN_OR_RETURN(moments[leaf], reader.Next(rows));
  }
  std::vector<ColumnPtr> columns;
  for (const Source& source : sources_) {
    if (source.field < 0) {
      columns.push_back(Column::Nulls(source.wanted.type, rows));
      continue;
    }
    ColumnPtr column;
    if (source.int96_leaf >= 0) {
      column = moments.at(source.int96_leaf);
    } else {
      TW_ASSIGN_OR_RETURN(column, ImportArray(batch->column(source.batch_column), source.file_type));
    }
    TW_ASSIGN_OR_RETURN(column, AdaptColumn(column, source.wanted.type, request_.case_sensitive));
    columns.push_back(std::move(column));
  }
  return Chunk(std::move(columns), rows);
}

// Arrow reads nothing: rows are counted from the footer.
Result<std::optional<ParquetChunk>> Reader::NextWithoutArrow() {
  while (left_in_group_ == 0) {
    if (next_group_ == row_groups_.size()) return std::optional<ParquetChunk>{};
    TW_RETURN_NOT_OK(StartRowGroup());
  }
  const int64_t rows = std::min(left_in_group_, request_.batch_rows);
  TW_ASSIGN_OR_RETURN(Chunk chunk, Convert(nullptr, rows));
  ParquetChunk out{.chunk = std::move(chunk), .first_row = position_};
  position_ += rows;
  left_in_group_ -= rows;
  return std::optional<ParquetChunk>(std::move(out));
}

Result<std::optional<ParquetChunk>> Reader::Next() {
  std::optional<ParquetChunk> out;
  TW_RETURN_NOT_OK(NoThrow(
      [&]() -> Status {
        if (leaves_.empty()) {
          TW_ASSIGN_OR_RETURN(out, NextWithoutArrow());
          return Status::OK();
        }
        while (!out) {
          if (batches_ == nullptr) {
            if (next_group_ == row_groups_.size()) return Status::OK();
            TW_RETURN_NOT_OK(StartRowGroup());
          }
          std::shared_ptr<arrow::RecordBatch> batch;
          const auto read = batches_->ReadNext(&batch);
          if (!read.ok()) return DamagedFile(file_->path(), read.ToString());
          if (batch == nullptr) {
            batches_.reset();
            continue;
          }
          if (batch->num_rows() == 0) continue;
          TW_ASSIGN_OR_RETURN(Chunk chunk, Convert(batch.get(), batch->num_rows()));
          out = ParquetChunk{.chunk = std::move(chunk), .first_row = position_};
          position_ += batch->num_rows();
        }
        return Status::OK();
      },
      [&](std::string_view why) { return DamagedFile(file_->path(), why); }));
  return out;
}

}  // namespace

Result<std::shared_ptr<const ParquetFile>> ParquetFile::Open(FileSystem& file_system, const std::string& path) {
  auto file = std::make_shared<File>(file_system, path);
  TW_RETURN_NOT_OK(file->ReadFooter());
  return std::shared_ptr<const ParquetFile>(std::move(file));
}

}  // namespace thalweg::data
