// Actions as JSON lines.

#include "connectors/delta/delta_actions.h"

#include "data/text/utf8.h"

namespace thalweg::connectors {

namespace {

void Key(std::string_view key, std::string* out) {
  if (out->back() != '{') *out += ',';
  AppendJsonText(key, out);
  *out += ':';
}

void Text(std::string_view key, std::string_view value, std::string* out) {
  Key(key, out);
  AppendJsonText(value, out);
}

void Number(std::string_view key, int64_t value, std::string* out) {
  Key(key, out);
  *out += std::to_string(value);
}

void Flag(std::string_view key, bool value, std::string* out) {
  Key(key, out);
  *out += value ? "true" : "false";
}

void OptionalNumber(std::string_view key, const std::optional<int64_t>& value, std::string* out) {
  if (value) Number(key, *value, out);
}

void Strings(std::string_view key, const std::vector<std::string>& values, std::string* out) {
  Key(key, out);
  *out += JsonStringArray(values);
}

void Object(std::string_view key, const StringPairs& pairs, std::string* out) {
  Key(key, out);
  AppendJsonObject(pairs, out);
}

void Partitions(const PartitionValues& values, bool keep_nulls, std::string* out) {
  Key("partitionValues", out);
  *out += '{';
  for (const auto& [name, value] : values) {
    if (!value && !keep_nulls) continue;
    Key(name, out);
    if (value) {
      AppendJsonText(*value, out);
    } else {
      *out += "null";
    }
  }
  *out += '}';
}

void Vector(const std::optional<DeletionVector>& vector, std::string* out) {
  if (!vector) return;
  Key("deletionVector", out);
  *out += '{';
  Text("storageType", vector->storage_type, out);
  Text("pathOrInlineDv", vector->path_or_inline, out);
  if (vector->offset) Number("offset", *vector->offset, out);
  Number("sizeInBytes", vector->size_in_bytes, out);
  Number("cardinality", vector->cardinality, out);
  *out += '}';
}

}  // namespace

void AppendJsonText(std::string_view text, std::string* out) {
  constexpr char kHex[] = "0123456789ABCDEF";
  std::string repaired;
  if (!data::IsValidUtf8(text)) {  // a log that is no UTF-8 is lost to every reader
    data::AppendValidUtf8(text, &repaired);
    text = repaired;
  }
  *out += '"';
  for (const char c : text) {
    switch (c) {
      case '"': *out += "\\\""; break;
      case '\\': *out += "\\\\"; break;
      case '\b': *out += "\\b"; break;
      case '\f': *out += "\\f"; break;
      case '\n': *out += "\\n"; break;
      case '\r': *out += "\\r"; break;
      case '\t': *out += "\\t"; break;
      default:
        if (static_cast<unsigned char>(c) < 0x20) {
          *out += "\\u00";
          *out += kHex[static_cast<unsigned char>(c) >> 4];
          *out += kHex[c & 15];
        } else {
          *out += c;
        }
    }
  }
  *out += '"';
}

void AppendJsonObject(const StringPairs& pairs, std::string* out) {
  *out += '{';
  for (const auto& [key, value] : pairs) Text(key, value, out);
  *out += '}';
}

std::string JsonStringArray(const std::vector<std::string>& values) {
  std::string out = "[";
  for (const std::string& value : values) {
    if (out.size() > 1) out += ',';
    AppendJsonText(value, &out);
  }
  return out + "]";
}

std::string ActionLine(const DeltaProtocol& protocol) {
  std::string out = R"({"protocol":{)";
  Number("minReaderVersion", protocol.min_reader_version, &out);
  Number("minWriterVersion", protocol.min_writer_version, &out);
  if (protocol.reader_features) Strings("readerFeatures", *protocol.reader_features, &out);
  if (protocol.writer_features) Strings("writerFeatures", *protocol.writer_features, &out);
  return out + "}}";
}

std::string ActionLine(const DeltaMetadata& metadata) {
  std::string out = R"({"metaData":{)";
  Text("id", metadata.id, &out);
  if (metadata.name) Text("name", *metadata.name, &out);
  if (metadata.description) Text("description", *metadata.description, &out);
  Key("format", &out);
  out += '{';
  Text("provider", metadata.provider, &out);
  Object("options", metadata.options, &out);
  out += '}';
  Text("schemaString", metadata.schema_string, &out);
  Strings("partitionColumns", metadata.partition_columns, &out);
  Object("configuration", metadata.configuration, &out);
  OptionalNumber("createdTime", metadata.created_time, &out);
  return out + "}}";
}

std::string ActionLine(const AddFile& add) {
  std::string out = R"({"add":{)";
  Text("path", add.path, &out);
  Partitions(add.partition_values, true, &out);
  Number("size", add.size, &out);
  Number("modificationTime", add.modification_time, &out);
  Flag("dataChange", add.data_change, &out);
  if (add.stats) Text("stats", *add.stats, &out);
  if (!add.tags.empty()) Object("tags", add.tags, &out);
  Vector(add.deletion_vector, &out);
  OptionalNumber("baseRowId", add.base_row_id, &out);
  OptionalNumber("defaultRowCommitVersion", add.default_row_commit_version, &out);
  if (add.clustering_provider) Text("clusteringProvider", *add.clustering_provider, &out);
  return out + "}}";
}

std::string ActionLine(const RemoveFile& remove) {
  std::string out = R"({"remove":{)";
  Text("path", remove.path, &out);
  OptionalNumber("deletionTimestamp", remove.deletion_timestamp, &out);
  Flag("dataChange", remove.data_change, &out);
  if (remove.extended_file_metadata) {
    Flag("extendedFileMetadata", true, &out);
    Partitions(remove.partition_values, false, &out);
  }
  OptionalNumber("size", remove.size, &out);
  if (!remove.tags.empty()) Object("tags", remove.tags, &out);
  Vector(remove.deletion_vector, &out);
  OptionalNumber("baseRowId", remove.base_row_id, &out);
  OptionalNumber("defaultRowCommitVersion", remove.default_row_commit_version, &out);
  return out + "}}";
}

std::string ActionLine(const SetTransaction& transaction) {
  std::string out = R"({"txn":{)";
  Text("appId", transaction.app_id, &out);
  Number("version", transaction.version, &out);
  OptionalNumber("lastUpdated", transaction.last_updated, &out);
  return out + "}}";
}

std::string ActionLine(const DomainMetadata& domain) {
  std::string out = R"({"domainMetadata":{)";
  Text("domain", domain.domain, &out);
  Text("configuration", domain.configuration, &out);
  Flag("removed", domain.removed, &out);
  return out + "}}";
}

std::string DeletionVector::UniqueId() const {
  std::string id = storage_type + path_or_inline;
  if (offset) id += "@" + std::to_string(*offset);
  return id;
}

std::optional<std::string> DeltaMetadata::Property(std::string_view key) const {
  for (const auto& [name, value] : configuration) {
    if (name == key) return value;
  }
  return {};
}

}  // namespace thalweg::connectors
