// SET and UNSET TBLPROPERTIES. Source: delta.md 22, 23, 28.

#include <algorithm>

#include "base/string_case.h"
#include "connectors/delta/delta_command.h"
#include "connectors/delta/delta_protocol.h"

namespace thalweg::connectors {

namespace {

Result<sql::TableCommandAnswer> CommitProperties(const DeltaCommandRun& run, DeltaMetadata metadata, const DeltaProtocol& protocol,
                                                 std::string operation, std::string parameters) {
  DeltaTransaction transaction;
  transaction.read = run.snapshot;
  transaction.operation = std::move(operation);
  transaction.parameters_json = std::move(parameters);
  transaction.metadata = std::move(metadata);
  if (protocol != run.snapshot->protocol()) transaction.protocol = protocol;
  TW_RETURN_NOT_OK(CommitDelta(*run.log, std::move(transaction)).status());
  return sql::TableCommandAnswer{};
}

bool IsConstraint(const std::string& key) { return ToAsciiLower(key).starts_with("delta.constraints."); }

}  // namespace

Result<sql::TableCommandAnswer> SetDeltaProperties(const DeltaCommandRun& run) {
  TW_RETURN_NOT_OK(CheckDeltaWriterFeatures(run.snapshot->protocol(), run.table_name()));
  StringPairs given;
  for (const auto& [key, value] : run.request.arguments.entries()) {
    if (key == "tableName") continue;
    if (IsConstraint(key)) return Error("DELTA_ADD_CONSTRAINTS");
    given.emplace_back(key, value);
  }
  std::string parameters = "{\"properties\":";
  std::string text;
  AppendJsonObject(given, &text);
  AppendJsonText(text, &parameters);
  parameters += "}";
  // What the properties need of a new table, this one needs in addition to what it has.
  TW_ASSIGN_OR_RETURN(const DeltaProtocol needed, ProtocolForNewTable(run.snapshot->schema(), &given, run.table_name()));
  DeltaProtocol protocol = run.snapshot->protocol();
  const auto features = needed.writer_features ? *needed.writer_features : ImpliedWriterFeatures(needed.min_writer_version);
  for (const std::string& feature : features) {
    TW_ASSIGN_OR_RETURN(protocol, WithFeature(protocol, feature, run.table_name()));
  }
  DeltaMetadata metadata = run.snapshot->metadata();
  for (auto& [key, value] : given) {
    const auto found = std::find_if(metadata.configuration.begin(), metadata.configuration.end(),
                                    [&key = key](const auto& property) { return property.first == key; });
    if (found != metadata.configuration.end()) {
      found->second = value;
    } else {
      metadata.configuration.emplace_back(key, value);
    }
  }
  return CommitProperties(run, std::move(metadata), protocol, "SET TBLPROPERTIES", std::move(parameters));
}

Result<sql::TableCommandAnswer> UnsetDeltaProperties(const DeltaCommandRun& run) {
  TW_RETURN_NOT_OK(CheckDeltaWriterFeatures(run.snapshot->protocol(), run.table_name()));
  DeltaMetadata metadata = run.snapshot->metadata();
  for (const std::string& key : run.request.columns) {
    if (IsConstraint(key)) return Error("DELTA_ADD_CONSTRAINTS");
    const bool ours = ToAsciiLower(key).starts_with("delta.");
    std::erase_if(metadata.configuration, [&](const auto& property) {
      return ours ? EqualsIgnoreCase(property.first, key) : property.first == key;
    });
  }
  std::string parameters = "{\"properties\":";
  AppendJsonText(JsonStringArray(run.request.columns), &parameters);
  return CommitProperties(run, std::move(metadata), run.snapshot->protocol(), "UNSET TBLPROPERTIES", parameters + ",\"ifExists\":true}");
}

}  // namespace thalweg::connectors
