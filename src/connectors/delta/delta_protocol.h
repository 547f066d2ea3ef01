#pragma once

// Which tables we may read and write, and which protocol a new table needs. Source: the Delta protocol, "Table features".

#include <string>

#include "base/status.h"
#include "connectors/delta/delta_snapshot.h"

namespace thalweg::connectors {

/// Errors: DELTA_INVALID_PROTOCOL_VERSION, DELTA_UNSUPPORTED_FEATURES_FOR_READ (naming each feature).
Status CheckDeltaReadable(const DeltaProtocol& protocol, const std::string& table);
/// Whether rows may be added and files removed. Errors: as above, and DELTA_UNSUPPORTED_FEATURES_FOR_WRITE, also for
/// features we know that the table uses in a way we do not serve (constraints, generated and identity columns, defaults).
Status CheckDeltaWritable(const DeltaSnapshot& snapshot, const std::string& table);
/// Whether the writer features are known, whatever they ask of writers of rows: enough to remove files that no version needs.
Status CheckDeltaWriterFeatures(const DeltaProtocol& protocol, const std::string& table);
/// The features that legacy writer versions stand for.
std::vector<std::string> ImpliedWriterFeatures(int writer_version);
/// The protocol that also lists a feature, by its name in any case: table features, with those that the old versions implied.
/// Errors: DELTA_UNSUPPORTED_FEATURES_IN_CONFIG for an unknown one.
Result<DeltaProtocol> WithFeature(const DeltaProtocol& protocol, std::string_view feature, const std::string& table);
/// Whether the protocol lists the feature, or its versions imply it (writers' view).
bool SupportsFeature(const DeltaProtocol& protocol, std::string_view feature);
/// The weakest protocol for a table of that metadata and schema, as Delta's own writer chooses it. `configuration` may hold
/// pseudo-properties (`delta.feature.x`, `delta.minReaderVersion`), which are taken out. Errors: DELTA_UNKNOWN_CONFIGURATION;
/// DELTA_UNSUPPORTED_FEATURES_FOR_WRITE for features that we cannot write.
Result<DeltaProtocol> ProtocolForNewTable(const data::Schema& schema, StringPairs* configuration, const std::string& table);
/// The property as a boolean.
bool PropertyIsTrue(const DeltaMetadata& metadata, std::string_view key);

}  // namespace thalweg::connectors
