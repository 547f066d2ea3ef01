// The reader. Exceptions of the ORC library end here: a damaged file gives a Status.

#include "data/formats/orc/orc_file_reader.h"

#include <arrow/adapters/orc/adapter.h>
#include <arrow/record_batch.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/no_throw.h"
#include "data/columnar/arrow_bridge.h"
#include "data/columnar/chunk.h"
#include "data/formats/orc/hybrid_calendar.h"
#include "data/formats/orc/orc_footer.h"
#include "data/formats/orc/orc_schema.h"
#include "data/formats/parquet/arrow_files.h"
#include "data/formats/parquet/column_adapter.h"
#include "data/io/path.h"

namespace thalweg::data {

namespace {

using arrow::adapters::orc::ORCFileReader;

Status DamagedOrc(const std::string& path, std::string_view why) {
  const Status cause = why.find("out of range for nanosecond resolution") == std::string_view::npos
                           ? InternalError(why)
                           : Unsupported("timestamps before 1677-09-21 or after 2262-04-11 in ORC files");
  return Error("FAILED_READ_FILE.NO_HINT").With("path", UriFromPath(AbsolutePath(path))).Because(cause).Kind(ErrorKind::kEnvironment);
}

Status DamagedOrcFooter(const std::string& path, std::string_view why) {
  return Error("FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER").With("path", UriFromPath(AbsolutePath(path)))
      .Because(InternalError(why)).Kind(ErrorKind::kEnvironment);
}

/// An open file whose footer was read.
struct OpenedOrc {
  std::unique_ptr<ORCFileReader> reader;  ///< none: a file without bytes is one without columns and rows
  std::shared_ptr<arrow::Schema> schema;
  int64_t size_bytes = 0;
};

Status CheckStripes(const std::string& path, ORCFileReader* reader) {
  int64_t rows = 0;
  for (int64_t i = 0; i < reader->NumberOfStripes(); ++i) {
    const auto stripe = reader->GetStripeInformation(i);
    if (stripe.num_rows < 0 || stripe.offset < 0 || stripe.length < 0 || stripe.first_row_id != rows ||
        __builtin_add_overflow(rows, stripe.num_rows, &rows)) {
      return DamagedOrcFooter(path, "a stripe of impossible size");
    }
  }
  return rows == reader->NumberOfRows() ? Status::OK() : DamagedOrcFooter(path, "the rows of the stripes are not those of the file");
}

Result<OpenedOrc> OpenOrcFile(FileSystem& file_system, const std::string& path) {
  auto opened = file_system.OpenForRead(path);
  if (!opened.ok() && IsNotFound(opened.status())) {
    return Error("FAILED_READ_FILE.FILE_NOT_EXIST").With("path", UriFromPath(AbsolutePath(path)))
        .Because(opened.status()).Kind(ErrorKind::kEnvironment);
  }
  if (!opened.ok()) return opened.status();
  OpenedOrc file;
  file.schema = arrow::schema({});
  TW_ASSIGN_OR_RETURN(file.size_bytes, (*opened)->Size());
  if (file.size_bytes == 0) return file;
  TW_RETURN_NOT_OK(NoThrow(
      [&]() -> Status {
        auto reader = ORCFileReader::Open(ArrowInput(std::move(*opened), file.size_bytes), ProcessPool());
        if (!reader.ok()) return DamagedOrcFooter(path, reader.status().ToString());
        file.reader = std::move(*reader);
        TW_RETURN_NOT_OK(CheckStripes(path, file.reader.get()));
        auto schema = file.reader->ReadSchema();
        if (!schema.ok()) return DamagedOrcFooter(path, schema.status().ToString());
        file.schema = std::move(*schema);
        return Status::OK();
      },
      [&](std::string_view why) { return DamagedOrcFooter(path, why); }));
  return file;
}

/// One column of the result: which of the file's, or none.
struct OrcSource {
  int batch_column = -1;   ///< -1: null
  DataType stored;
  DataType type;
};

class OrcReader final : public FileReader {
 public:
  explicit OrcReader(OrcReadRequest request) : request_(std::move(request)) {}

  Status Open(FileSystem& file_system, const FileRange& range) override;
  Result<bool> Read(int64_t rows) override;
  int64_t length() const override { return rows_; }
  Result<std::vector<ColumnPtr>> Finish() override;
  int64_t bytes_read() const override { return bytes_read_; }

 private:
  Status BindFields();
  int FieldOf(const StructField& column, const std::vector<StructField>& names, bool positional) const;
  Status ReadBatch();
  Status StartStripe();
  Result<Chunk> Convert(const arrow::RecordBatch& batch) const;
  void Keep(Chunk chunk);

  OrcReadRequest request_;
  std::string path_;
  OpenedOrc file_;
  bool proleptic_ = false;
  std::vector<OrcSource> sources_;
  std::vector<int> fields_;            // of the file, ascending
  std::vector<int64_t> stripes_;       // of the range
  size_t next_stripe_ = 0;
  std::shared_ptr<arrow::RecordBatchReader> batches_;  // of the current stripe; borrows file_.reader
  std::vector<Chunk> chunks_;
  int64_t rows_ = 0;
  int64_t bytes_read_ = 0;
};

Status OrcReader::Open(FileSystem& file_system, const FileRange& range) {
  path_ = range.path;
  batches_.reset();
  sources_.clear();
  fields_.clear();
  stripes_.clear();
  next_stripe_ = 0;
  TW_ASSIGN_OR_RETURN(file_, OpenOrcFile(file_system, range.path));
  if (file_.reader == nullptr) return Status::OK();
  return NoThrow(
      [&]() -> Status {
        TW_RETURN_NOT_OK(BindFields());
        proleptic_ = SaysProleptic(file_.reader->GetSerializedFileTail());
        const int64_t end = range.length == INT64_MAX ? INT64_MAX : range.start + range.length;
        for (int64_t i = 0; i < file_.reader->NumberOfStripes(); ++i) {
          const auto stripe = file_.reader->GetStripeInformation(i);
          if (stripe.offset >= range.start && stripe.offset < end) stripes_.push_back(i);
        }
        return Status::OK();
      },
      [&](std::string_view why) { return DamagedOrc(path_, why); });
}

/// Position in the file of a wanted column, -1 when it has none.
int OrcReader::FieldOf(const StructField& column, const std::vector<StructField>& names, bool positional) const {
  if (column.type.Is(TypeKind::kNull)) return -1;
  if (!positional) return FindField(names, column.name, request_.case_sensitive);
  const int at = FindField(request_.table, column.name, /*case_sensitive=*/true);
  return at < static_cast<int>(names.size()) ? at : -1;
}

Status OrcReader::BindFields() {
  std::vector<StructField> names;
  bool positional = !request_.table.empty() && file_.schema->num_fields() > 0;
  for (const auto& field : file_.schema->fields()) {
    names.push_back({.name = field->name(), .type = {}});
    positional = positional && field->name().starts_with("_col");
  }
  if (positional && names.size() > request_.table.size()) {
    return Error("FAILED_READ_FILE.NO_HINT").With("path", UriFromPath(AbsolutePath(path_)))
        .Because(Unsupported("reading an ORC file with more columns than the table, whose names tell nothing"));
  }
  std::vector<int> at;
  for (const StructField& column : request_.columns) {
    at.push_back(FieldOf(column, names, positional));
    if (at.back() >= 0) fields_.push_back(at.back());
  }
  std::sort(fields_.begin(), fields_.end());
  fields_.erase(std::unique(fields_.begin(), fields_.end()), fields_.end());
  for (size_t i = 0; i < at.size(); ++i) {
    OrcSource source;
    if (at[i] >= 0) {
      TW_ASSIGN_OR_RETURN(OrcField field, FromOrcField(*file_.schema->field(at[i])));
      source.batch_column = static_cast<int>(std::lower_bound(fields_.begin(), fields_.end(), at[i]) - fields_.begin());
      source.stored = std::move(field.stored);
      source.type = std::move(field.field.type);
      const StructField& wanted = request_.columns[i];
      if (!CanReadOrc(source.type, wanted.type, request_.case_sensitive)) {
        return Error("FAILED_READ_FILE.NO_HINT").With("path", UriFromPath(AbsolutePath(path_)))
            .Because(Unsupported("reading the ORC column " + QuoteIdentifier(wanted.name) + " of type " + source.type.Sql() + " as " + wanted.type.Sql()));
      }
    }
    sources_.push_back(std::move(source));
  }
  return Status::OK();
}

Status OrcReader::StartStripe() {
  const auto stripe = file_.reader->GetStripeInformation(stripes_[next_stripe_++]);
  if (fields_.empty()) {  // rows are counted
    std::vector<ColumnPtr> columns;
    for (const StructField& column : request_.columns) columns.push_back(Column::Nulls(column.type, stripe.num_rows));
    Keep(Chunk(std::move(columns), stripe.num_rows));
    return Status::OK();
  }
  if (stripe.num_rows == 0) return Status::OK();
  bytes_read_ += stripe.length;
  const auto sought = file_.reader->Seek(stripe.first_row_id);
  if (!sought.ok()) return DamagedOrc(path_, sought.ToString());
  auto made = file_.reader->NextStripeReader(kChunkRows, fields_);
  if (!made.ok()) return DamagedOrc(path_, made.status().ToString());
  batches_ = std::move(*made);
  return Status::OK();
}

Status OrcReader::ReadBatch() {
  if (batches_ == nullptr) return StartStripe();
  std::shared_ptr<arrow::RecordBatch> batch;
  const auto read = batches_->ReadNext(&batch);
  if (!read.ok()) return DamagedOrc(path_, read.ToString());
  if (batch == nullptr) {
    batches_.reset();
    return Status::OK();
  }
  const auto valid = batch->Validate();
  if (!valid.ok()) return DamagedOrc(path_, valid.ToString());
  TW_ASSIGN_OR_RETURN(Chunk chunk, Convert(*batch));
  Keep(std::move(chunk));
  return Status::OK();
}

void OrcReader::Keep(Chunk chunk) {
  if (chunk.num_rows() == 0) return;
  rows_ += chunk.num_rows();
  chunks_.push_back(std::move(chunk));
}

Result<Chunk> OrcReader::Convert(const arrow::RecordBatch& batch) const {
  std::vector<ColumnPtr> columns;
  for (size_t i = 0; i < sources_.size(); ++i) {
    const OrcSource& source = sources_[i];
    const DataType& wanted = request_.columns[i].type;
    if (source.batch_column < 0) {
      columns.push_back(Column::Nulls(wanted, batch.num_rows()));
      continue;
    }
    TW_ASSIGN_OR_RETURN(ColumnPtr column, ImportArray(batch.column(source.batch_column), source.stored));
    if (!proleptic_) column = FromHybridCalendar(column);
    TW_ASSIGN_OR_RETURN(column, AdaptColumn(Retyped(column, source.type), wanted, request_.case_sensitive));
    columns.push_back(std::move(column));
  }
  return Chunk(std::move(columns), batch.num_rows());
}

Result<bool> OrcReader::Read(int64_t rows) {
  const Status status = NoThrow(
      [&]() -> Status {
        while (rows_ < rows && (batches_ != nullptr || next_stripe_ < stripes_.size())) TW_RETURN_NOT_OK(ReadBatch());
        return Status::OK();
      },
      [&](std::string_view why) { return DamagedOrc(path_, why); });
  TW_RETURN_NOT_OK(status);
  return batches_ != nullptr || next_stripe_ < stripes_.size();
}

Result<std::vector<ColumnPtr>> OrcReader::Finish() {
  rows_ = 0;
  std::vector<Chunk> chunks = std::exchange(chunks_, {});
  if (chunks.size() == 1) return chunks[0].columns();
  std::vector<DataType> types;
  for (const StructField& column : request_.columns) types.push_back(column.type);
  return ConcatChunks(chunks, types).columns();
}

}  // namespace

Result<Schema> ReadOrcSchema(FileSystem& file_system, const std::string& path) {
  TW_ASSIGN_OR_RETURN(const OpenedOrc file, OpenOrcFile(file_system, path));
  Schema schema;
  for (const auto& field : file.schema->fields()) {
    TW_ASSIGN_OR_RETURN(OrcField read, FromOrcField(*field));
    schema.push_back(std::move(read.field));
  }
  return schema;
}

std::unique_ptr<FileReader> MakeOrcFileReader(OrcReadRequest request) { return std::make_unique<OrcReader>(std::move(request)); }

}  // namespace thalweg::data
