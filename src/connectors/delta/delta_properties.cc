// SET and UNSET TBLPROPERTIES. Source: Delta's documentation, "Table utility commands".

#include <algorithm>

#include "base/string_case.h"
#include "connectors/delta/delta_alter.h"
#include "connectors/delta/delta_protocol.h"

namespace thalweg::connectors {

namespace {

bool IsConstraint(const std::string& key) { return ToAsciiLower(key).starts_with("delta.constraints."); }

}  // namespace

Status Apply(const sql::SetTableProperties& change, DeltaAlteration* table) {
  StringPairs given;
  for (const auto& [key, value] : change.properties) {
    if (IsConstraint(key)) return Error("DELTA_ADD_CONSTRAINTS");
    given.emplace_back(key, value);
  }
  table->operation = "SET TBLPROPERTIES";
  std::string text;
  AppendJsonObject(given, &text);
  table->parameters_json = "{\"properties\":";
  AppendJsonText(text, &table->parameters_json);
  table->parameters_json += "}";
  // What the properties need of a new table, this one needs in addition to what it has.
  TW_ASSIGN_OR_RETURN(const DeltaProtocol needed, ProtocolForNewTable(table->schema(), &given, table->table_name));
  const auto features = needed.writer_features ? *needed.writer_features : ImpliedWriterFeatures(needed.min_writer_version);
  for (const std::string& feature : features) {
    TW_ASSIGN_OR_RETURN(table->protocol, WithFeature(table->protocol, feature, table->table_name));
  }
  StringPairs& configuration = table->metadata.configuration;
  for (auto& [key, value] : given) {
    const auto found = std::find_if(configuration.begin(), configuration.end(), [&key = key](const auto& property) { return property.first == key; });
    if (found != configuration.end()) {
      found->second = value;
    } else {
      configuration.emplace_back(key, value);
    }
  }
  return Status::OK();
}

Status Apply(const sql::UnsetTableProperties& change, DeltaAlteration* table) {
  for (const std::string& key : change.keys) {
    if (IsConstraint(key)) return Error("DELTA_ADD_CONSTRAINTS");
    const bool ours = ToAsciiLower(key).starts_with("delta.");
    std::erase_if(table->metadata.configuration, [&](const auto& property) {
      return ours ? EqualsIgnoreCase(property.first, key) : property.first == key;
    });
  }
  table->operation = "UNSET TBLPROPERTIES";
  table->parameters_json = "{\"properties\":";
  AppendJsonText(JsonStringArray(change.keys), &table->parameters_json);
  table->parameters_json += ",\"ifExists\":true}";
  return Status::OK();
}

}  // namespace thalweg::connectors
