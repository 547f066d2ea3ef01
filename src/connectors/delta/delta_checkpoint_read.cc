// Checkpoints: classic, multi-part, V2 with Parquet or JSON top file and sidecars.

#include "connectors/delta/delta_checkpoint.h"
#include "connectors/delta/delta_damaged.h"
#include "connectors/delta/delta_log.h"
#include "data/columnar/column.h"
#include "data/formats/parquet/parquet_reader.h"
#include "data/io/path.h"

namespace thalweg::connectors {

using data::Column;
using data::ColumnPtr;
using data::DataType;
using data::StructField;

namespace {

StructField Field(std::string name, DataType type) { return {.name = std::move(name), .type = std::move(type)}; }

DataType TextMap() { return DataType::Map(DataType::String(), DataType::String()); }

DataType VectorType() {
  return DataType::Struct({Field("storageType", DataType::String()), Field("pathOrInlineDv", DataType::String()),
                           Field("offset", DataType::Integer()), Field("sizeInBytes", DataType::Integer()),
                           Field("cardinality", DataType::Long())});
}

/// One action column, by the names of its fields. Missing children read as null.
class Action {
 public:
  explicit Action(const ColumnPtr& column) : column_(data::Flatten(column)) {}

  bool Present(int64_t row) const { return !column_->IsNull(row); }
  std::optional<std::string> Text(std::string_view name, int64_t row) const {
    const Column* child = Child(name);
    if (child == nullptr || child->IsNull(row)) return {};
    return std::string(child->values<data::TextView>()[child->is_constant() ? 0 : static_cast<size_t>(row)].view());
  }
  template <typename T>
  std::optional<T> Number(std::string_view name, int64_t row) const {
    const Column* child = Child(name);
    if (child == nullptr || child->IsNull(row)) return {};
    return child->values<T>()[child->is_constant() ? 0 : static_cast<size_t>(row)];
  }
  std::optional<bool> Flag(std::string_view name, int64_t row) const {
    const auto value = Number<uint8_t>(name, row);
    return value ? std::optional<bool>(*value != 0) : std::nullopt;
  }
  PartitionValues Map(std::string_view name, int64_t row) const {
    PartitionValues out;
    const Column* child = Child(name);
    if (child == nullptr || child->IsNull(row)) return out;
    const auto offsets = child->offsets();
    const Column& keys = *child->child(0);
    const Column& values = *child->child(1);
    for (int32_t i = offsets[static_cast<size_t>(row)]; i < offsets[static_cast<size_t>(row) + 1]; ++i) {
      const auto at = static_cast<size_t>(i);
      std::optional<std::string> value;
      if (!values.IsNull(i)) value = std::string(values.values<data::TextView>()[at].view());
      out.emplace_back(std::string(keys.values<data::TextView>()[at].view()), std::move(value));
    }
    return out;
  }
  StringPairs Pairs(std::string_view name, int64_t row) const {
    StringPairs out;
    for (auto& [key, value] : Map(name, row)) {
      if (value) out.emplace_back(key, *value);
    }
    return out;
  }
  std::optional<std::vector<std::string>> Strings(std::string_view name, int64_t row) const {
    const Column* child = Child(name);
    if (child == nullptr || child->IsNull(row)) return {};
    const auto offsets = child->offsets();
    std::vector<std::string> out;
    for (int32_t i = offsets[static_cast<size_t>(row)]; i < offsets[static_cast<size_t>(row) + 1]; ++i) {
      const Column& element = *child->child(0);
      if (!element.IsNull(i)) out.emplace_back(element.values<data::TextView>()[static_cast<size_t>(i)].view());
    }
    return out;
  }
  std::optional<Action> Struct(std::string_view name, int64_t row) const {
    for (size_t i = 0; i < column_->type().fields().size(); ++i) {
      if (column_->type().fields()[i].name != name) continue;
      Action nested(column_->child(static_cast<int>(i)));
      if (!nested.Present(row)) return {};
      return nested;
    }
    return {};
  }

 private:
  const Column* Child(std::string_view name) const {
    const auto& fields = column_->type().fields();
    for (size_t i = 0; i < fields.size(); ++i) {
      if (fields[i].name == name) return column_->child(static_cast<int>(i)).get();
    }
    return nullptr;
  }
  ColumnPtr column_;
};

Status Unusable(const char* what) { return DeltaDamaged(std::string("a checkpoint with an unusable ") + what); }

std::optional<DeletionVector> ReadVector(const Action& action, int64_t row) {
  const auto nested = action.Struct("deletionVector", row);
  if (!nested) return {};
  DeletionVector vector;
  vector.storage_type = nested->Text("storageType", row).value_or("");
  vector.path_or_inline = nested->Text("pathOrInlineDv", row).value_or("");
  vector.offset = nested->Number<int32_t>("offset", row);
  vector.size_in_bytes = nested->Number<int32_t>("sizeInBytes", row).value_or(0);
  vector.cardinality = nested->Number<int64_t>("cardinality", row).value_or(0);
  return vector;
}

Status ReadAdds(const Action& action, int64_t rows, DeltaCommit* out) {
  for (int64_t row = 0; row < rows; ++row) {
    if (!action.Present(row)) continue;
    auto add = std::make_shared<AddFile>();
    auto path = action.Text("path", row);
    const auto size = action.Number<int64_t>("size", row);
    if (!path || path->empty() || !size || *size < 0 || *size > kMaxDeltaFileBytes) return Unusable("add");
    add->path = std::move(*path);
    add->partition_values = action.Map("partitionValues", row);
    add->size = *size;
    add->modification_time = action.Number<int64_t>("modificationTime", row).value_or(0);
    add->data_change = false;
    add->stats = action.Text("stats", row);
    add->tags = action.Pairs("tags", row);
    add->deletion_vector = ReadVector(action, row);
    add->base_row_id = action.Number<int64_t>("baseRowId", row);
    add->default_row_commit_version = action.Number<int64_t>("defaultRowCommitVersion", row);
    add->clustering_provider = action.Text("clusteringProvider", row);
    out->adds.push_back(std::move(add));
  }
  return Status::OK();
}

Status ReadRemoves(const Action& action, int64_t rows, DeltaCommit* out) {
  for (int64_t row = 0; row < rows; ++row) {
    if (!action.Present(row)) continue;
    RemoveFile remove;
    auto path = action.Text("path", row);
    if (!path || path->empty()) return Unusable("remove");
    remove.path = std::move(*path);
    remove.deletion_timestamp = action.Number<int64_t>("deletionTimestamp", row);
    remove.data_change = false;
    remove.extended_file_metadata = action.Flag("extendedFileMetadata", row).value_or(false);
    remove.partition_values = action.Map("partitionValues", row);
    remove.size = action.Number<int64_t>("size", row);
    remove.deletion_vector = ReadVector(action, row);
    remove.base_row_id = action.Number<int64_t>("baseRowId", row);
    remove.default_row_commit_version = action.Number<int64_t>("defaultRowCommitVersion", row);
    out->removes.push_back(std::move(remove));
  }
  return Status::OK();
}

Status ReadMetadata(const Action& action, int64_t rows, DeltaCommit* out) {
  for (int64_t row = 0; row < rows; ++row) {
    if (!action.Present(row)) continue;
    DeltaMetadata metadata;
    const auto id = action.Text("id", row);
    if (!id) return Unusable("metaData");
    metadata.id = *id;
    metadata.name = action.Text("name", row);
    metadata.description = action.Text("description", row);
    if (const auto format = action.Struct("format", row)) {
      metadata.provider = format->Text("provider", row).value_or("parquet");
      metadata.options = format->Pairs("options", row);
    }
    metadata.schema_string = action.Text("schemaString", row).value_or("");
    metadata.partition_columns = action.Strings("partitionColumns", row).value_or(std::vector<std::string>{});
    metadata.configuration = action.Pairs("configuration", row);
    metadata.created_time = UsableMillis(action.Number<int64_t>("createdTime", row));
    out->metadata = std::move(metadata);
  }
  return Status::OK();
}

Status ReadProtocol(const Action& action, int64_t rows, DeltaCommit* out) {
  for (int64_t row = 0; row < rows; ++row) {
    if (!action.Present(row)) continue;
    DeltaProtocol protocol;
    const auto reader = action.Number<int32_t>("minReaderVersion", row);
    const auto writer = action.Number<int32_t>("minWriterVersion", row);
    if (!reader || !writer) return Unusable("protocol");
    protocol.min_reader_version = *reader;
    protocol.min_writer_version = *writer;
    if (*reader == 3) protocol.reader_features = action.Strings("readerFeatures", row);
    if (*writer == 7) protocol.writer_features = action.Strings("writerFeatures", row);
    out->protocol = std::move(protocol);
  }
  return Status::OK();
}

Status ReadOthers(const Action& txn, const Action& domain, int64_t rows, DeltaCommit* out) {
  for (int64_t row = 0; row < rows; ++row) {
    if (txn.Present(row)) {
      const auto app_id = txn.Text("appId", row);
      const auto version = txn.Number<int64_t>("version", row);
      if (!app_id || !version) return Unusable("txn");
      out->transactions.push_back({*app_id, *version, txn.Number<int64_t>("lastUpdated", row)});
    }
    if (domain.Present(row)) {
      const auto name = domain.Text("domain", row);
      if (!name) return Unusable("domainMetadata");
      out->domains.push_back({*name, domain.Text("configuration", row).value_or(""), false});
    }
  }
  return Status::OK();
}

Status ReadParquetPart(data::FileSystem& file_system, const std::string& path, DeltaCommit* out) {
  TW_ASSIGN_OR_RETURN(const auto file, data::ParquetFile::Open(file_system, path));
  data::ParquetReadRequest request;
  request.columns = DeltaCheckpointSchema(true);
  request.case_sensitive = true;
  TW_ASSIGN_OR_RETURN(const auto reader, file->NewReader(request));
  while (true) {
    TW_ASSIGN_OR_RETURN(const auto next, reader->Next());
    if (!next) return Status::OK();
    const data::Chunk& chunk = next->chunk;
    const int64_t rows = chunk.num_rows();
    const Action txn(chunk.column(0));
    TW_RETURN_NOT_OK(ReadAdds(Action(chunk.column(1)), rows, out));
    TW_RETURN_NOT_OK(ReadRemoves(Action(chunk.column(2)), rows, out));
    TW_RETURN_NOT_OK(ReadMetadata(Action(chunk.column(3)), rows, out));
    TW_RETURN_NOT_OK(ReadProtocol(Action(chunk.column(4)), rows, out));
    TW_RETURN_NOT_OK(ReadOthers(txn, Action(chunk.column(5)), rows, out));
    const Action sidecar(chunk.column(6));
    for (int64_t row = 0; row < rows; ++row) {
      if (!sidecar.Present(row)) continue;
      const auto path_text = sidecar.Text("path", row);
      if (!path_text) return Unusable("sidecar");
      out->sidecars.push_back(*path_text);
    }
  }
}

}  // namespace

data::Schema DeltaCheckpointSchema(bool sidecars) {
  const DataType text = DataType::String();
  const DataType number = DataType::Long();
  data::Schema schema = {
      Field("txn", DataType::Struct({Field("appId", text), Field("version", number), Field("lastUpdated", number)})),
      Field("add", DataType::Struct({Field("path", text), Field("partitionValues", TextMap()), Field("size", number),
                                     Field("modificationTime", number), Field("dataChange", DataType::Boolean()),
                                     Field("tags", TextMap()), Field("deletionVector", VectorType()),
                                     Field("baseRowId", number), Field("defaultRowCommitVersion", number),
                                     Field("clusteringProvider", text), Field("stats", text)})),
      Field("remove", DataType::Struct({Field("path", text), Field("deletionTimestamp", number),
                                        Field("dataChange", DataType::Boolean()),
                                        Field("extendedFileMetadata", DataType::Boolean()),
                                        Field("partitionValues", TextMap()), Field("size", number),
                                        Field("deletionVector", VectorType()), Field("baseRowId", number),
                                        Field("defaultRowCommitVersion", number)})),
      Field("metaData",
            DataType::Struct({Field("id", text), Field("name", text), Field("description", text),
                              Field("format", DataType::Struct({Field("provider", text), Field("options", TextMap())})),
                              Field("schemaString", text), Field("partitionColumns", DataType::Array(text)),
                              Field("configuration", TextMap()), Field("createdTime", number)})),
      Field("protocol", DataType::Struct({Field("minReaderVersion", DataType::Integer()),
                                          Field("minWriterVersion", DataType::Integer()),
                                          Field("readerFeatures", DataType::Array(text)),
                                          Field("writerFeatures", DataType::Array(text))})),
      Field("domainMetadata", DataType::Struct({Field("domain", text), Field("configuration", text),
                                                Field("removed", DataType::Boolean())}))};
  if (sidecars) schema.push_back(Field("sidecar", DataType::Struct({Field("path", text)})));
  return schema;
}

Result<DeltaCommit> ReadDeltaCheckpoint(data::FileSystem& file_system, const std::string& log_path,
                                        const DeltaLogListing::Checkpoint& checkpoint) {
  DeltaCommit out;
  for (const std::string& path : checkpoint.paths) {
    if (path.ends_with(".json")) {
      TW_ASSIGN_OR_RETURN(const std::string text, file_system.ReadWhole(path));
      TW_ASSIGN_OR_RETURN(out, ParseDeltaCommit(text, path));
    } else {
      TW_RETURN_NOT_OK(ReadParquetPart(file_system, path, &out));
    }
  }
  const std::vector<std::string> sidecars = std::move(out.sidecars);
  out.sidecars.clear();
  for (const std::string& sidecar : sidecars) {
    TW_ASSIGN_OR_RETURN(std::string path, data::PathFromUri(sidecar));
    if (!path.starts_with("/")) path = data::JoinPath(data::JoinPath(log_path, "_sidecars"), path);
    TW_RETURN_NOT_OK(ReadParquetPart(file_system, path, &out));
  }
  return out;
}

}  // namespace thalweg::connectors
