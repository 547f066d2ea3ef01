#include "data/types/field_comment.h"

#include <nlohmann/json.hpp>

namespace thalweg::data {

void SetComment(StructField* field, const std::optional<std::string>& comment) { SetMetadataText(field, "comment", comment); }

void SetMetadataText(StructField* field, const char* key, const std::optional<std::string>& text) {
  using Json = nlohmann::ordered_json;
  Json metadata = Json::parse(field->metadata_json, nullptr, false);
  if (!metadata.is_object()) metadata = Json::object();
  if (text) {
    metadata[key] = *text;
  } else {
    metadata.erase(key);
  }
  field->metadata_json = metadata.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace thalweg::data
