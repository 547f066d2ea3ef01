// Field metadata is one JSON object; here its entries are read and changed.

#include <nlohmann/json.hpp>

#include "sql/expr/expression.h"

namespace thalweg::sql {
namespace {

constexpr const char* kDelayKey = "spark.watermarkDelayMs";

/// Keys are written in their order, as Spark writes field metadata.
using Json = nlohmann::json;

}  // namespace

std::optional<int64_t> WatermarkDelayMs(const std::string& metadata_json) {
  if (metadata_json.find(kDelayKey) == std::string::npos) return std::nullopt;
  const Json json = Json::parse(metadata_json, nullptr, false);
  if (!json.is_object()) return std::nullopt;
  const auto entry = json.find(kDelayKey);
  if (entry == json.end() || !entry->is_number_integer()) return std::nullopt;
  return entry->get<int64_t>();
}

std::string WithWatermarkDelayMs(const std::string& metadata_json, std::optional<int64_t> delay_ms) {
  Json json = Json::parse(metadata_json, nullptr, false);
  if (!json.is_object()) json = Json::object();
  if (delay_ms) {
    json[kDelayKey] = *delay_ms;
  } else {
    json.erase(kDelayKey);
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool HasMetadataFlag(const std::string& metadata_json, std::string_view key) {
  if (metadata_json.find(key) == std::string::npos) return false;
  const Json json = Json::parse(metadata_json, nullptr, false);
  if (!json.is_object()) return false;
  const auto entry = json.find(std::string(key));
  return entry != json.end() && entry->is_boolean() && entry->get<bool>();
}

std::string WithMetadataFlag(const std::string& metadata_json, std::string_view key, bool flag) {
  Json json = Json::parse(metadata_json, nullptr, false);
  if (!json.is_object()) json = Json::object();
  if (flag) {
    json[std::string(key)] = true;
  } else {
    json.erase(std::string(key));
  }
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace thalweg::sql
