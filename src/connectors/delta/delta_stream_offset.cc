#include "connectors/delta/delta_stream_offset.h"

#include <simdjson.h>

namespace thalweg::connectors {

namespace {

constexpr int64_t kWrittenBeginning = -1;
constexpr int64_t kMaxSourceVersion = 3;
constexpr int64_t kMaxTableVersion = 99999999999999999;  // others follow it

bool ReadNumber(const simdjson::dom::object& from, const char* key, int64_t* out) {
  return from.at_key(key).get(*out) == simdjson::SUCCESS;
}

}  // namespace

bool ComesBefore(const DeltaStreamPosition& a, const DeltaStreamPosition& b) {
  return a.version != b.version ? a.version < b.version : a.index < b.index;
}

std::string DeltaStreamOffsetText(const std::string& table_id, const DeltaStreamPosition& position) {
  const int64_t index = position.index == DeltaStreamPosition::kBeginning ? kWrittenBeginning : position.index;
  return "{\"sourceVersion\":1,\"reservoirId\":\"" + table_id + "\",\"reservoirVersion\":" + std::to_string(position.version) +
         ",\"index\":" + std::to_string(index) + ",\"isStartingVersion\":" + (position.starting ? "true" : "false") + "}";
}

Result<DeltaStreamPosition> ParseDeltaStreamOffset(std::string_view json, const std::string& table_id) {
  simdjson::dom::parser parser;
  simdjson::dom::object object;
  int64_t source_version = 0;
  std::string_view id;
  DeltaStreamPosition position;
  const simdjson::padded_string text(json);
  if (parser.parse(text).get(object) != simdjson::SUCCESS || !ReadNumber(object, "sourceVersion", &source_version)) {
    return Error("DELTA_INVALID_SOURCE_OFFSET_FORMAT");
  }
  if (source_version < 1 || source_version == 2) return Error("DELTA_INVALID_SOURCE_VERSION").With("version", source_version);
  if (source_version > kMaxSourceVersion) {
    return Error("DELTA_INVALID_FORMAT_FROM_SOURCE_VERSION").With("expectedVersion", kMaxSourceVersion).With("realVersion", source_version);
  }
  if (object.at_key("reservoirId").get(id) != simdjson::SUCCESS || !ReadNumber(object, "reservoirVersion", &position.version) ||
      !ReadNumber(object, "index", &position.index) ||
      object.at_key("isStartingVersion").get(position.starting) != simdjson::SUCCESS || position.version < 0 ||
      position.version > kMaxTableVersion || position.index >= DeltaStreamPosition::kEnd) {
    return Error("DELTA_INVALID_SOURCE_OFFSET_FORMAT");
  }
  if (id != table_id) {
    return Error("DIFFERENT_DELTA_TABLE_READ_BY_STREAMING_SOURCE").With("newTableId", table_id).With("oldTableId", id);
  }
  if (position.index == kWrittenBeginning) position.index = DeltaStreamPosition::kBeginning;
  if (position.index < 0 && position.index != DeltaStreamPosition::kBeginning) {
    return Unsupported("a Delta stream's checkpoint with a schema tracking log");
  }
  return position;
}

}  // namespace thalweg::connectors
