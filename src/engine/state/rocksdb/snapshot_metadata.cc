#include "engine/state/rocksdb/snapshot_metadata.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "data/logs/log_text.h"

namespace thalweg::engine {
namespace {

using Json = nlohmann::json;

Status MetadataDamaged(const char* what) { return InternalError(std::string("the metadata of a RocksDB snapshot: ") + what); }

bool IsBareName(std::string_view name) {
  return !name.empty() && name.size() < 256 && name[0] != '.' && name.find('/') == std::string_view::npos &&
         name.find('\0') == std::string_view::npos;
}

const std::string* TextOf(const Json& object, const char* name) {
  const auto found = object.find(name);
  return found == object.end() ? nullptr : found->get_ptr<const std::string*>();
}

Result<int64_t> IntegerOf(const Json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_integer()) return MetadataDamaged("a number is missing");
  return found->get<int64_t>();
}

Result<SnapshotSst> ParseSst(const Json& object) {
  if (!object.is_object()) return MetadataDamaged("a table file is no object");
  const std::string* local = TextOf(object, "localFileName");
  const std::string* stored = TextOf(object, "dfsSstFileName");
  if (local == nullptr || stored == nullptr || !IsBareName(*local) || !IsBareName(*stored)) return MetadataDamaged("a table file has no name");
  TW_ASSIGN_OR_RETURN(const int64_t size_bytes, IntegerOf(object, "sizeBytes"));
  if (size_bytes < 0) return MetadataDamaged("a table file has a negative size");
  return SnapshotSst{*local, *stored, size_bytes};
}

}  // namespace

Result<SnapshotMetadata> ParseSnapshotMetadata(std::string_view text) {
  const size_t line = text.find('\n');
  if (line == std::string_view::npos) return MetadataDamaged("it has no version");
  if (text.substr(0, line) != "v1") {
    return Error("CANNOT_LOAD_STATE_STORE.CANNOT_READ_CHECKPOINT")
        .With("expectedVersion", "v1")
        .With("actualVersion", std::string(text.substr(0, std::min<size_t>(line, 20))))
        .Kind(ErrorKind::kEnvironment);
  }
  const auto shallow = [](int depth, Json::parse_event_t, Json&) { return depth <= 8; };
  const Json object = Json::parse(text.substr(line + 1), shallow, /*allow_exceptions=*/false);
  if (!object.is_object()) return MetadataDamaged("no JSON object");
  SnapshotMetadata metadata;
  TW_ASSIGN_OR_RETURN(metadata.num_keys, IntegerOf(object, "numKeys"));
  const auto ssts = object.find("sstFiles");
  if (ssts == object.end() || !ssts->is_array()) return MetadataDamaged("no list of table files");
  for (const Json& one : *ssts) {
    TW_ASSIGN_OR_RETURN(SnapshotSst sst, ParseSst(one));
    metadata.ssts.push_back(std::move(sst));
  }
  const auto families = object.find("columnFamilyMapping");
  metadata.column_families = families != object.end() && families->is_object() && !families->empty();
  const auto logs = object.find("logFiles");
  metadata.log_files = logs != object.end() && logs->is_array() && !logs->empty();
  return metadata;
}

std::string FormatSnapshotMetadata(const SnapshotMetadata& metadata) {
  std::string text = "v1\n{\"sstFiles\":[";
  for (size_t i = 0; i < metadata.ssts.size(); ++i) {
    const SnapshotSst& sst = metadata.ssts[i];
    text += (i == 0 ? "{\"localFileName\":" : ",{\"localFileName\":") + data::JsonQuoted(sst.local_name) +
            ",\"dfsSstFileName\":" + data::JsonQuoted(sst.stored_name) + ",\"sizeBytes\":" + std::to_string(sst.size_bytes) + "}";
  }
  return text + "],\"numKeys\":" + std::to_string(metadata.num_keys) +
         ",\"numInternalKeys\":0,\"columnFamilyMapping\":{},\"columnFamilyTypeMap\":{},\"maxColumnFamilyId\":0}";
}

}  // namespace thalweg::engine
