// Classic checkpoints and the hint file.

#include "base/fault_point.h"
#include "base/string_case.h"
#include "connectors/delta/delta_checkpoint.h"
#include "connectors/delta/delta_log.h"
#include "data/columnar/builder.h"
#include "data/formats/parquet/parquet_writer.h"
#include "data/io/atomic_write.h"
#include "data/io/path.h"
#include "data/text/numbers.h"

namespace thalweg::connectors {

using data::Value;
using data::ValueList;

namespace {

constexpr int64_t kWeekMs = int64_t{7} * 24 * 3600 * 1000;

// delta.deletedFileRetentionDuration: "interval 7 days", "1 week", "36 hours"; a week when absent or not understood.
int64_t RetentionMs(const DeltaMetadata& metadata) {
  std::string text = ToAsciiLower(metadata.Property("delta.deletedFileRetentionDuration").value_or(""));
  if (text.starts_with("interval ")) text.erase(0, 9);
  const size_t blank = text.find(' ');
  int64_t number = 0;
  if (blank == std::string::npos || !data::ParseJavaLong(text.substr(0, blank), &number) || number < 0 || number > 1000000) return kWeekMs;
  std::string unit = text.substr(blank + 1);
  if (unit.ends_with('s')) unit.pop_back();
  const std::pair<std::string_view, int64_t> units[] = {{"week", kWeekMs}, {"day", kWeekMs / 7}, {"hour", 3600000}, {"minute", 60000}, {"second", 1000}};
  for (const auto& [name, ms] : units) {
    if (unit == name) return number * ms;
  }
  return kWeekMs;
}

Value Text(const std::optional<std::string>& text) { return text ? Value(*text) : Value(); }
Value Number(const std::optional<int64_t>& number) { return number ? Value(*number) : Value(); }

Value Map(const PartitionValues& pairs) {
  ValueList list;
  for (const auto& [key, value] : pairs) {
    list.push_back(Value(key));
    list.push_back(Text(value));
  }
  return Value(std::move(list));
}

Value Map(const StringPairs& pairs) {
  ValueList list;
  for (const auto& [key, value] : pairs) {
    list.push_back(Value(key));
    list.push_back(Value(value));
  }
  return Value(std::move(list));
}

Value Strings(const std::vector<std::string>& strings) {
  ValueList list;
  for (const std::string& text : strings) list.push_back(Value(text));
  return Value(std::move(list));
}

Value Vector(const std::optional<DeletionVector>& vector) {
  if (!vector) return Value();
  return Value(ValueList{Value(vector->storage_type), Value(vector->path_or_inline),
                         vector->offset ? Value(*vector->offset) : Value(), Value(vector->size_in_bytes),
                         Value(vector->cardinality)});
}

Value AddValue(const AddFile& add) {
  return Value(ValueList{Value(add.path), Map(add.partition_values), Value(add.size), Value(add.modification_time),
                         Value(false), add.tags.empty() ? Value() : Map(add.tags), Vector(add.deletion_vector),
                         Number(add.base_row_id), Number(add.default_row_commit_version), Text(add.clustering_provider),
                         Text(add.stats)});
}

Value RemoveValue(const RemoveFile& remove) {
  return Value(ValueList{Value(remove.path), Number(remove.deletion_timestamp), Value(false),
                         Value(remove.extended_file_metadata),
                         remove.extended_file_metadata ? Map(remove.partition_values) : Value(), Number(remove.size),
                         Vector(remove.deletion_vector), Number(remove.base_row_id),
                         Number(remove.default_row_commit_version)});
}

Value MetadataValue(const DeltaMetadata& metadata) {
  return Value(ValueList{Value(metadata.id), Text(metadata.name), Text(metadata.description),
                         Value(ValueList{Value(metadata.provider), Map(metadata.options)}), Value(metadata.schema_string),
                         Strings(metadata.partition_columns), Map(metadata.configuration), Number(metadata.created_time)});
}

Value ProtocolValue(const DeltaProtocol& protocol) {
  return Value(ValueList{Value(int32_t{protocol.min_reader_version}), Value(int32_t{protocol.min_writer_version}),
                         protocol.reader_features ? Strings(*protocol.reader_features) : Value(),
                         protocol.writer_features ? Strings(*protocol.writer_features) : Value()});
}

/// Rows of one action each, written in chunks.
class CheckpointRows {
 public:
  CheckpointRows(data::ParquetWriter& writer, const data::Schema& schema) : writer_(writer) {
    for (const auto& field : schema) builders_.push_back(data::ColumnBuilder::Make(field.type));
  }
  Status Add(size_t column, const Value& value) {
    for (size_t i = 0; i < builders_.size(); ++i) {
      i == column ? builders_[i]->AppendValue(value) : builders_[i]->AppendNull();
    }
    ++total_;
    return ++rows_ == data::kChunkRows ? Flush() : Status::OK();
  }
  Status Flush() {
    if (rows_ == 0) return Status::OK();
    std::vector<data::ColumnPtr> columns;
    for (auto& builder : builders_) columns.push_back(builder->Finish());
    const data::Chunk chunk(std::move(columns), rows_);
    rows_ = 0;
    return writer_.Write(chunk);
  }
  int64_t total() const { return total_; }

 private:
  data::ParquetWriter& writer_;
  std::vector<std::unique_ptr<data::ColumnBuilder>> builders_;
  int64_t rows_ = 0;
  int64_t total_ = 0;
};

Result<int64_t> WriteRows(data::FileSystem& disk, const std::string& path, const DeltaSnapshot& snapshot, int64_t now_ms,
                          int64_t* bytes) {
  const data::Schema schema = DeltaCheckpointSchema(false);
  TW_ASSIGN_OR_RETURN(const auto writer, data::ParquetWriter::Make(disk, path, schema, {.statistics_columns = 0}));
  CheckpointRows rows(*writer, schema);
  TW_RETURN_NOT_OK(rows.Add(4, ProtocolValue(snapshot.protocol())));
  TW_RETURN_NOT_OK(rows.Add(3, MetadataValue(snapshot.metadata())));
  for (const auto& [app_id, txn] : snapshot.transactions()) {
    TW_RETURN_NOT_OK(rows.Add(0, Value(ValueList{Value(app_id), Value(txn.version), Number(txn.last_updated)})));
  }
  for (const auto& [name, domain] : snapshot.domains()) {
    TW_RETURN_NOT_OK(rows.Add(5, Value(ValueList{Value(name), Value(domain.configuration), Value(false)})));
  }
  const auto files = snapshot.files();
  const int64_t retention_ms = RetentionMs(snapshot.metadata());
  for (const auto& [key, remove] : files->tombstones()) {
    if (remove.deletion_timestamp.value_or(0) <= now_ms - retention_ms) continue;
    TW_RETURN_NOT_OK(rows.Add(2, RemoveValue(remove)));
  }
  for (const AddFilePtr& add : files->live()) TW_RETURN_NOT_OK(rows.Add(1, AddValue(*add)));
  TW_RETURN_NOT_OK(rows.Flush());
  TW_ASSIGN_OR_RETURN(const data::ParquetFileSummary summary, writer->Close());
  *bytes = summary.bytes;
  return rows.total();
}

}  // namespace

Status WriteDeltaCheckpoint(DeltaLog& log, const DeltaSnapshot& snapshot) {
  data::FileSystem& disk = log.file_system();
  std::string path = log.CommitPath(snapshot.version());
  path.replace(path.size() - 4, 4, "checkpoint.parquet");
  const std::string temporary = data::TemporaryPathFor(path);
  int64_t bytes = 0;
  auto rows = WriteRows(disk, temporary, snapshot, log.clock().NowMillis(), &bytes);
  if (!rows.ok()) {
    Ignore(disk.Remove(temporary), "the first error is the one to tell");
    return rows.status();
  }
  TW_FAULT_POINT("delta checkpoint: written");
  TW_RETURN_NOT_OK(disk.SyncFile(temporary));
  TW_RETURN_NOT_OK(data::RemoveChecksumSidecars(disk, path));
  TW_RETURN_NOT_OK(disk.Rename(temporary, path, data::RenameMode::kReplace));
  TW_RETURN_NOT_OK(disk.SyncDirectory(log.log_path()));
  TW_FAULT_POINT("delta checkpoint: visible");
  std::string hint = "{\"version\":" + std::to_string(snapshot.version()) + ",\"size\":" + std::to_string(*rows) +
                     ",\"sizeInBytes\":" + std::to_string(bytes) +
                     ",\"numOfAddFiles\":" + std::to_string(snapshot.files()->num_live()) + "}";
  return data::AtomicWriteFile(disk, data::JoinPath(log.log_path(), "_last_checkpoint"), hint,
                               {.overwrite = true, .durable = false});
}

}  // namespace thalweg::connectors
