#include "engine/checkpoint/operator_metadata.h"

#include <algorithm>

#include "data/io/atomic_write.h"
#include "data/io/path.h"
#include "data/logs/log_text.h"
#include "data/logs/numbered_log.h"
#include "engine/checkpoint/log_json.h"

namespace thalweg::engine {
namespace {

constexpr int kMetadataNewestVersion = 2;
constexpr std::string_view kMetadataPlace = "the metadata of a stateful operator";
constexpr int64_t kMostPrefixColumns = 100'000;
constexpr int64_t kMostStorePartitions = 1'000'000;

Result<StoreMetadata> ParseStore(const OrderedJson& object) {
  StoreMetadata store;
  if (!object.is_object()) return data::MalformedLogEntry(kMetadataPlace, "a store is no object");
  TW_ASSIGN_OR_RETURN(store.store_name, TextMember(kMetadataPlace, object, "storeName"));
  TW_ASSIGN_OR_RETURN(store.prefix_key_columns, IntegerMember(kMetadataPlace, object, "numColsPrefixKey"));
  TW_ASSIGN_OR_RETURN(store.partitions, IntegerMember(kMetadataPlace, object, "numPartitions"));
  if (store.prefix_key_columns < 0 || store.prefix_key_columns > kMostPrefixColumns || store.partitions < 0 || store.partitions > kMostStorePartitions) {
    return data::MalformedLogEntry(kMetadataPlace, "numColsPrefixKey or numPartitions is out of range");
  }
  const auto paths = object.find("stateSchemaFilePaths");
  if (paths == object.end()) return store;
  if (!paths->is_array()) return data::MalformedLogEntry(kMetadataPlace, "stateSchemaFilePaths is no array");
  for (const OrderedJson& path : *paths) {
    if (!path.is_string()) return data::MalformedLogEntry(kMetadataPlace, "a schema file path is no text");
    store.schema_files.push_back(path.get<std::string>());
  }
  return store;
}

std::string FormatStore(const StoreMetadata& store, int version) {
  std::string out = "{\"storeName\":" + data::JsonQuoted(store.store_name) +
                    ",\"numColsPrefixKey\":" + std::to_string(store.prefix_key_columns) +
                    ",\"numPartitions\":" + std::to_string(store.partitions);
  if (version > 1) {
    out += ",\"stateSchemaFilePaths\":[";
    for (size_t i = 0; i < store.schema_files.size(); ++i) {
      if (i > 0) out += ',';
      out += data::JsonQuoted(store.schema_files[i]);
    }
    out += ']';
  }
  return out + "}";
}

}  // namespace

Result<OperatorMetadata> ParseOperatorMetadata(std::string_view text) {
  const std::vector<std::string_view> lines = data::SplitLogLines(text);
  OperatorMetadata metadata;
  TW_ASSIGN_OR_RETURN(metadata.version,
                      data::ParseLogVersion(lines.empty() ? std::string_view() : lines[0], kMetadataNewestVersion));
  if (lines.size() < 2) return data::MalformedLogEntry(kMetadataPlace, "there is only a version line");
  TW_ASSIGN_OR_RETURN(const OrderedJson object, ParseLogObject(kMetadataPlace, lines[1]));
  const auto info = object.find("operatorInfo");
  const auto stores = object.find("stateStoreInfo");
  if (info == object.end() || !info->is_object() || stores == object.end() || !stores->is_array()) {
    return data::MalformedLogEntry(kMetadataPlace, "operatorInfo or stateStoreInfo is missing");
  }
  TW_ASSIGN_OR_RETURN(const int64_t operator_id, IntegerMember(kMetadataPlace, *info, "operatorId"));
  metadata.operator_id = OperatorId(operator_id);
  TW_ASSIGN_OR_RETURN(metadata.operator_name, TextMember(kMetadataPlace, *info, "operatorName"));
  for (const OrderedJson& one : *stores) {
    TW_ASSIGN_OR_RETURN(StoreMetadata store, ParseStore(one));
    metadata.stores.push_back(std::move(store));
  }
  if (metadata.version > 1) {
    TW_ASSIGN_OR_RETURN(metadata.properties_json, TextMember(kMetadataPlace, object, "operatorPropertiesJson"));
  }
  return metadata;
}

std::string FormatOperatorMetadata(const OperatorMetadata& metadata) {
  std::string out = data::LogVersionLine(metadata.version) +
                    "\n{\"operatorInfo\":{\"operatorId\":" + std::to_string(metadata.operator_id.value()) +
                    ",\"operatorName\":" + data::JsonQuoted(metadata.operator_name) + "},\"stateStoreInfo\":[";
  for (size_t i = 0; i < metadata.stores.size(); ++i) {
    if (i > 0) out += ',';
    out += FormatStore(metadata.stores[i], metadata.version);
  }
  out += ']';
  if (metadata.version > 1) out += ",\"operatorPropertiesJson\":" + data::JsonQuoted(metadata.properties_json);
  return out + "}";
}

Result<std::optional<OperatorMetadata>> ReadOperatorMetadata(data::FileSystem& file_system,
                                                             const CheckpointLayout& layout, OperatorId operator_id,
                                                             BatchId at_batch) {
  using Found = std::optional<OperatorMetadata>;
  data::NumberedLog versions(file_system, layout.OperatorMetadataV2Directory(operator_id));
  TW_ASSIGN_OR_RETURN(const std::vector<int64_t> ids, versions.Ids());
  const auto above = std::upper_bound(ids.begin(), ids.end(), at_batch.value());
  const std::string path =
      above != ids.begin() ? versions.PathOf(*(above - 1)) : layout.OperatorMetadataFile(operator_id);
  const Result<std::string> text = file_system.ReadWhole(path);
  if (!text.ok()) return data::IsNotFound(text.status()) ? Result<Found>(Found()) : Result<Found>(text.status());
  Result<OperatorMetadata> metadata = ParseOperatorMetadata(*text);
  if (!metadata.ok()) return data::InLogFile(metadata.status(), path);
  return Found(std::move(*metadata));
}

Status WriteOperatorMetadata(data::FileSystem& file_system, const CheckpointLayout& layout,
                             const OperatorMetadata& metadata, BatchId first_batch) {
  const std::string path =
      metadata.version == 1
          ? layout.OperatorMetadataFile(metadata.operator_id)
          : data::JoinPath(layout.OperatorMetadataV2Directory(metadata.operator_id), std::to_string(first_batch.value()));
  Status written = data::AtomicWriteFile(file_system, path, FormatOperatorMetadata(metadata));
  return data::IsAlreadyExists(written) ? Status::OK() : written;
}

Result<std::vector<OperatorId>> ListOperators(data::FileSystem& file_system, const CheckpointLayout& layout) {
  std::vector<OperatorId> operators;
  const Result<std::vector<data::FileInfo>> entries = file_system.List(layout.StateDirectory());
  if (!entries.ok()) {
    if (data::IsNotFound(entries.status())) return operators;
    return entries.status();
  }
  for (const data::FileInfo& entry : *entries) {
    const std::optional<int64_t> id = data::ParseLogId(entry.name());
    if (entry.is_directory && id.has_value()) operators.emplace_back(*id);
  }
  std::sort(operators.begin(), operators.end());
  return operators;
}

}  // namespace thalweg::engine
