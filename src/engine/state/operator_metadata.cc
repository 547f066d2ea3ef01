// Operator metadata: `state/<op>/_metadata/metadata` (version 1) and `state/<op>/_metadata/v2/<batch>`.

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>

#include "data/io/atomic_write.h"
#include "data/io/path.h"
#include "engine/state/state_metadata.h"

namespace thalweg::engine {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kMostBytes = 64 << 20;

std::string OperatorDirectory(const std::string& root, OperatorId id) {
  return data::JoinPath(data::JoinPath(root, "state"), std::to_string(id.value()));
}

std::optional<int64_t> ParseNumber(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

Status Malformed(std::string_view text) { return Error("MALFORMED_LOG_FILE").With("text", text.substr(0, 200)); }

Result<int> ParseVersionLine(std::string_view line) {
  if (line.empty() || line[0] != 'v') return Malformed(line);
  const auto version = ParseNumber(line.substr(1));
  if (!version || *version == 0) return Malformed(line);
  if (*version > 2) {
    return Error("INVALID_LOG_VERSION.MAX_SUPPORTED_VERSION").With("maxSupportedVersion", "2").With("version", line.substr(1));
  }
  return static_cast<int>(*version);
}

Result<OperatorStateMetadata> FromJson(int version, const Json& json) {
  OperatorStateMetadata metadata;
  metadata.version = version;
  const Json& info = json.at("operatorInfo");
  metadata.operator_id = OperatorId(info.at("operatorId").get<int64_t>());
  metadata.operator_name = info.at("operatorName").get<std::string>();
  for (const Json& store : json.at("stateStoreInfo")) {
    StateStoreMetadata one;
    one.store_name = store.at("storeName").get<std::string>();
    one.num_columns_prefix_key = store.at("numColsPrefixKey").get<int32_t>();
    one.num_partitions = store.at("numPartitions").get<int32_t>();
    if (store.contains("stateSchemaFilePaths")) {
      one.schema_file_paths = store.at("stateSchemaFilePaths").get<std::vector<std::string>>();
    }
    metadata.stores.push_back(std::move(one));
  }
  if (json.contains("operatorPropertiesJson")) {
    metadata.properties_json = json.at("operatorPropertiesJson").get<std::string>();
  }
  return metadata;
}

}  // namespace

std::string OperatorMetadataText(const OperatorStateMetadata& metadata) {
  Json stores = Json::array();
  for (const StateStoreMetadata& store : metadata.stores) {
    Json one = {{"storeName", store.store_name},
                {"numColsPrefixKey", store.num_columns_prefix_key},
                {"numPartitions", store.num_partitions}};
    if (metadata.version >= 2) one["stateSchemaFilePaths"] = store.schema_file_paths;
    stores.push_back(std::move(one));
  }
  Json json = {{"operatorInfo", {{"operatorId", metadata.operator_id.value()}, {"operatorName", metadata.operator_name}}},
               {"stateStoreInfo", std::move(stores)}};
  if (metadata.version >= 2) json["operatorPropertiesJson"] = metadata.properties_json;
  return "v" + std::to_string(metadata.version) + "\n" + json.dump();
}

Result<OperatorStateMetadata> ParseOperatorMetadata(std::string_view text) {
  const size_t line_end = text.find('\n');
  TW_ASSIGN_OR_RETURN(const int version, ParseVersionLine(text.substr(0, line_end)));
  if (line_end == std::string_view::npos) return Malformed(text);
  try {
    return FromJson(version, Json::parse(text.substr(line_end + 1)));
  } catch (const nlohmann::json::exception&) {
    return Malformed(text);
  }
}

Status WriteOperatorMetadata(data::FileSystem& file_system, const std::string& checkpoint_root,
                             const OperatorStateMetadata& metadata) {
  const std::string directory = data::JoinPath(OperatorDirectory(checkpoint_root, metadata.operator_id), "_metadata");
  const std::string path = data::JoinPath(directory, "metadata");
  TW_ASSIGN_OR_RETURN(const bool exists, file_system.Exists(path));
  return exists ? Status::OK() : data::AtomicWriteFile(file_system, path, OperatorMetadataText(metadata));
}

Result<std::optional<OperatorStateMetadata>> ReadOperatorMetadata(data::FileSystem& file_system,
                                                                  const std::string& checkpoint_root,
                                                                  OperatorId operator_id, BatchId batch) {
  const std::string directory = data::JoinPath(OperatorDirectory(checkpoint_root, operator_id), "_metadata");
  std::string path = data::JoinPath(directory, "metadata");
  const std::string newer = data::JoinPath(directory, "v2");
  auto listed = file_system.List(newer);
  if (!listed.ok() && !data::IsNotFound(listed.status())) return listed.status();
  int64_t newest = -1;
  if (listed.ok()) {
    for (const data::FileInfo& file : *listed) {
      const auto id = ParseNumber(file.name());
      if (id && *id <= batch.value()) newest = std::max(newest, *id);
    }
  }
  if (newest >= 0) path = data::JoinPath(newer, std::to_string(newest));
  auto text = file_system.ReadWhole(path, kMostBytes);
  if (!text.ok()) {
    if (data::IsNotFound(text.status())) return std::optional<OperatorStateMetadata>();
    return text.status();
  }
  TW_ASSIGN_OR_RETURN(OperatorStateMetadata metadata, ParseOperatorMetadata(*text));
  return std::optional<OperatorStateMetadata>(std::move(metadata));
}

Result<std::vector<OperatorId>> ListStateOperators(data::FileSystem& file_system, const std::string& checkpoint_root) {
  std::vector<OperatorId> operators;
  auto listed = file_system.List(data::JoinPath(checkpoint_root, "state"));
  if (!listed.ok()) {
    if (data::IsNotFound(listed.status())) return operators;
    return listed.status();
  }
  for (const data::FileInfo& file : *listed) {
    const auto id = ParseNumber(file.name());
    if (file.is_directory && id) operators.push_back(OperatorId(*id));
  }
  std::sort(operators.begin(), operators.end());
  return operators;
}

}  // namespace thalweg::engine
