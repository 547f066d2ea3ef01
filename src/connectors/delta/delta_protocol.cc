#include "connectors/delta/delta_protocol.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/string_case.h"
#include "base/text.h"
#include "connectors/delta/delta_damaged.h"
#include "data/text/numbers.h"

namespace thalweg::connectors {

namespace {

using data::DataType;
using data::StructField;
using data::TypeKind;

constexpr std::string_view kDeltaVersion = "4.4.0";  // whose behaviour this is

constexpr std::string_view kReaderFeatures[] = {"columnMapping",  "deletionVectors",  "timestampNtz",        "v2Checkpoint",
                                                "vacuumProtocolCheck", "typeWidening", "typeWidening-preview", "variantType",
                                                "variantType-preview"};
/// Features whose presence alone does not hinder adding and removing files. Some are checked for use below.
constexpr std::string_view kWriterFeatures[] = {
    "appendOnly",   "invariants",   "checkConstraints", "changeDataFeed",   "generatedColumns", "identityColumns",
    "allowColumnDefaults", "deletionVectors", "timestampNtz", "domainMetadata", "v2Checkpoint", "inCommitTimestamp",
    "vacuumProtocolCheck", "clustering"};

struct ImpliedFeature {
  std::string_view name;
  int writer_version;
};
constexpr ImpliedFeature kImplied[] = {{"appendOnly", 2},     {"invariants", 2},       {"checkConstraints", 3}, {"changeDataFeed", 4},
                                       {"generatedColumns", 4}, {"columnMapping", 5}, {"identityColumns", 6}};

constexpr std::string_view kKnownProperties[] = {
    "delta.appendOnly", "delta.checkpointInterval", "delta.checkpointPolicy", "delta.checkpoint.writeStatsAsJson",
    "delta.checkpoint.writeStatsAsStruct", "delta.checkpointRetentionDuration", "delta.logRetentionDuration",
    "delta.deletedFileRetentionDuration", "delta.enableExpiredLogCleanup", "delta.setTransactionRetentionDuration",
    "delta.sampleRetentionDuration", "delta.dataSkippingNumIndexedCols", "delta.dataSkippingStatsColumns",
    "delta.dataSkippingStringPrefixLength", "delta.isolationLevel", "delta.enableDeletionVectors",
    "delta.enableChangeDataFeed", "delta.autoOptimize.autoCompact", "delta.autoOptimize.optimizeWrite", "delta.autoOptimize",
    "delta.randomizeFilePrefixes", "delta.randomPrefixLength", "delta.compatibility.symlinkFormatManifest.enabled",
    "delta.enableFullRetentionRollback", "delta.parquet.format.version", "delta.writePartitionColumnsToParquet",
    "delta.enableInCommitTimestamps", "delta.columnMapping.mode", "delta.enableRowTracking", "delta.enableTypeWidening",
    "delta.enableVariantShredding", "delta.columnMapping.maxColumnId", "delta.rowTrackingSuspended",
    "delta.enableIcebergCompatV1", "delta.enableIcebergCompatV2", "delta.enableIcebergCompatV3",
    "delta.universalFormat.enabledFormats", "delta.enableMaterializePartitionColumnsFeature"};

template <size_t N>
bool Among(const std::string_view (&list)[N], std::string_view name) {
  return std::find(std::begin(list), std::end(list), name) != std::end(list);
}

Status InvalidVersion(const DeltaProtocol& protocol, const std::string& table) {
  return Error("DELTA_INVALID_PROTOCOL_VERSION").With("tableNameOrPath", table)
      .With("readerRequired", protocol.min_reader_version).With("writerRequired", protocol.min_writer_version)
      .With("deltaVersion", kDeltaVersion).With("supportedReaders", "1, 2, 3").With("supportedWriters", "1, 2, 3, 4, 5, 6, 7");
}

Status UnsupportedFeatures(std::string_view condition, const std::vector<std::string>& features, const std::string& table) {
  return Error(condition).With("tableNameOrPath", table).With("deltaVersion", kDeltaVersion).With("unsupported", Joined(features));
}

bool HasFieldMetadata(const std::vector<StructField>& fields, std::string_view key) {
  return std::any_of(fields.begin(), fields.end(), [&](const StructField& field) {
    if (field.metadata_json.find("\"" + std::string(key) + "\"") != std::string::npos) return true;
    return field.type.Is(TypeKind::kStruct) && HasFieldMetadata(field.type.fields(), key);
  });
}

bool HasKind(const DataType& type, TypeKind kind) {
  switch (type.kind()) {
    case TypeKind::kArray: return HasKind(type.element(), kind);
    case TypeKind::kMap: return HasKind(type.key(), kind) || HasKind(type.value(), kind);
    case TypeKind::kStruct:
      return std::any_of(type.fields().begin(), type.fields().end(), [&](const StructField& f) { return HasKind(f.type, kind); });
    default: return type.Is(kind);
  }
}

bool SchemaHasKind(const data::Schema& schema, TypeKind kind) {
  return std::any_of(schema.begin(), schema.end(), [&](const StructField& field) { return HasKind(field.type, kind); });
}

// Features that the table uses in a way that needs more of a writer than adding files.
std::vector<std::string> UsedBeyondUs(const DeltaSnapshot& snapshot) {
  std::vector<std::string> used;
  const auto& configuration = snapshot.metadata().configuration;
  if (std::any_of(configuration.begin(), configuration.end(),
                  [](const auto& property) { return property.first.starts_with("delta.constraints."); })) {
    used.emplace_back("checkConstraints");
  }
  if (HasFieldMetadata(snapshot.schema(), "delta.invariants")) used.emplace_back("invariants");
  if (HasFieldMetadata(snapshot.schema(), "delta.generationExpression")) used.emplace_back("generatedColumns");
  if (HasFieldMetadata(snapshot.schema(), "delta.identity.start")) used.emplace_back("identityColumns");
  if (HasFieldMetadata(snapshot.schema(), "CURRENT_DEFAULT")) used.emplace_back("allowColumnDefaults");
  const auto mode = snapshot.metadata().Property("delta.columnMapping.mode");
  if (mode && *mode != "none") used.emplace_back("columnMapping");
  return used;
}

void AddOnce(std::vector<std::string>* features, std::string_view name) {
  if (std::find(features->begin(), features->end(), name) == features->end()) features->emplace_back(name);
}

struct Wanted {
  std::vector<std::string> reader;
  std::vector<std::string> writer;
  void ReaderWriter(std::string_view name) {
    AddOnce(&reader, name);
    AddOnce(&writer, name);
  }
};

bool IsReaderFeature(std::string_view name) {
  return Among(kReaderFeatures, name);
}

// Takes pseudo-properties out; checks that the others are known.
Status TakePseudoProperties(StringPairs* configuration, Wanted* wanted) {
  StringPairs kept;
  for (auto& [key, value] : *configuration) {
    const std::string lower = ToAsciiLower(key);
    if (lower == "delta.minreaderversion" || lower == "delta.minwriterversion" || lower == "delta.ignoreprotocoldefaults") continue;
    if (lower.starts_with("delta.feature.")) {
      const std::string feature = lower.substr(14);
      const auto known = std::find_if(std::begin(kWriterFeatures), std::end(kWriterFeatures),
                                      [&](std::string_view name) { return EqualsIgnoreCase(name, feature); });
      const std::string name = known == std::end(kWriterFeatures) ? key.substr(14) : std::string(*known);
      IsReaderFeature(name) ? wanted->ReaderWriter(name) : AddOnce(&wanted->writer, name);
      continue;
    }
    if (lower.starts_with("delta.")) {
      const auto known = std::find_if(std::begin(kKnownProperties), std::end(kKnownProperties),
                                      [&lower](std::string_view name) { return ToAsciiLower(name) == lower; });
      if (known == std::end(kKnownProperties)) {
        return Error("DELTA_UNKNOWN_CONFIGURATION").With("config", key)
            .With("disableCheckConfig", "spark.databricks.delta.allowArbitraryProperties.enabled");
      }
      key = std::string(*known);
    }
    kept.emplace_back(std::move(key), std::move(value));
  }
  *configuration = std::move(kept);
  return Status::OK();
}

bool IsTrue(const StringPairs& configuration, std::string_view key) {
  return std::any_of(configuration.begin(), configuration.end(),
                     [&](const auto& property) { return property.first == key && EqualsIgnoreCase(property.second, "true"); });
}

}  // namespace

bool SupportsFeature(const DeltaProtocol& protocol, std::string_view feature) {
  if (protocol.min_writer_version >= 7) {
    return protocol.writer_features &&
           std::find(protocol.writer_features->begin(), protocol.writer_features->end(), feature) != protocol.writer_features->end();
  }
  return std::any_of(std::begin(kImplied), std::end(kImplied), [&](const ImpliedFeature& implied) {
    return implied.name == feature && implied.writer_version <= protocol.min_writer_version;
  });
}

Status CheckDeltaReadable(const DeltaProtocol& protocol, const std::string& table) {
  if (protocol.min_reader_version > 3 || protocol.min_reader_version < 1) return InvalidVersion(protocol, table);
  if (protocol.min_reader_version < 3) return Status::OK();
  if (!protocol.reader_features) return DeltaDamaged("a protocol of reader version 3 without readerFeatures");
  std::vector<std::string> unsupported;
  for (const std::string& feature : *protocol.reader_features) {
    if (!Among(kReaderFeatures, feature)) unsupported.push_back(feature);
  }
  if (unsupported.empty()) return Status::OK();
  return UnsupportedFeatures("DELTA_UNSUPPORTED_FEATURES_FOR_READ", unsupported, table);
}

Status CheckDeltaWritable(const DeltaSnapshot& snapshot, const std::string& table) {
  const DeltaProtocol& protocol = snapshot.protocol();
  if (protocol.min_reader_version > 3 || protocol.min_writer_version > 7) return InvalidVersion(protocol, table);
  std::vector<std::string> unsupported;
  if (protocol.min_writer_version == 7) {
    if (!protocol.writer_features) return DeltaDamaged("a protocol of writer version 7 without writerFeatures");
    for (const std::string& feature : *protocol.writer_features) {
      if (!Among(kWriterFeatures, feature) && feature != "columnMapping") unsupported.push_back(feature);
    }
  }
  for (const std::string& feature : UsedBeyondUs(snapshot)) AddOnce(&unsupported, feature);
  if (!unsupported.empty()) return UnsupportedFeatures("DELTA_UNSUPPORTED_FEATURES_FOR_WRITE", unsupported, table);
  return CheckDeltaReadable(protocol, table);
}

Status CheckDeltaWriterFeatures(const DeltaProtocol& protocol, const std::string& table) {
  if (protocol.min_writer_version > 7) return InvalidVersion(protocol, table);
  std::vector<std::string> unsupported;
  for (const std::string& feature : protocol.writer_features.value_or(std::vector<std::string>{})) {
    if (!Among(kWriterFeatures, feature) && !Among(kReaderFeatures, feature) && feature != "rowTracking") unsupported.push_back(feature);
  }
  if (unsupported.empty()) return Status::OK();
  return UnsupportedFeatures("DELTA_UNSUPPORTED_FEATURES_FOR_WRITE", unsupported, table);
}

std::vector<std::string> ImpliedWriterFeatures(int writer_version) {
  std::vector<std::string> names;
  for (const ImpliedFeature& implied : kImplied) {
    if (implied.writer_version <= writer_version) names.emplace_back(implied.name);
  }
  return names;
}

Result<DeltaProtocol> WithFeature(const DeltaProtocol& protocol, std::string_view feature, const std::string& table) {
  std::string_view name;
  for (const std::string_view known : kWriterFeatures) {
    if (EqualsIgnoreCase(known, feature)) name = known;
  }
  for (const std::string_view known : kReaderFeatures) {
    if (EqualsIgnoreCase(known, feature)) name = known;
  }
  if (name.empty()) return Error("DELTA_UNSUPPORTED_FEATURES_IN_CONFIG").With("tableNameOrPath", table).With("configs", feature);
  if (SupportsFeature(protocol, name)) return protocol;
  DeltaProtocol next = protocol;
  if (!next.writer_features) next.writer_features = ImpliedWriterFeatures(protocol.min_writer_version);
  AddOnce(&*next.writer_features, name);
  next.min_writer_version = 7;
  if (!IsReaderFeature(name)) return next;
  if (!next.reader_features) {
    next.reader_features.emplace();
    if (SupportsFeature(protocol, "columnMapping") && protocol.min_reader_version >= 2) next.reader_features->emplace_back("columnMapping");
  }
  AddOnce(&*next.reader_features, name);
  next.min_reader_version = 3;
  return next;
}

bool PropertyIsTrue(const DeltaMetadata& metadata, std::string_view key) { return IsTrue(metadata.configuration, key); }

Result<DeltaProtocol> ProtocolForNewTable(const data::Schema& schema, StringPairs* configuration, const std::string& table) {
  Wanted wanted;
  TW_RETURN_NOT_OK(TakePseudoProperties(configuration, &wanted));
  if (SchemaHasKind(schema, TypeKind::kTimestampNtz)) wanted.ReaderWriter("timestampNtz");
  if (SchemaHasKind(schema, TypeKind::kVariant)) wanted.ReaderWriter("variantType");
  if (IsTrue(*configuration, "delta.enableDeletionVectors")) wanted.ReaderWriter("deletionVectors");
  if (IsTrue(*configuration, "delta.enableTypeWidening")) wanted.ReaderWriter("typeWidening");
  if (IsTrue(*configuration, "delta.enableChangeDataFeed")) AddOnce(&wanted.writer, "changeDataFeed");
  if (IsTrue(*configuration, "delta.enableInCommitTimestamps")) AddOnce(&wanted.writer, "inCommitTimestamp");
  if (IsTrue(*configuration, "delta.enableRowTracking")) AddOnce(&wanted.writer, "rowTracking");
  if (IsTrue(*configuration, "delta.enableVariantShredding")) wanted.ReaderWriter("variantShredding-preview");
  for (const auto& [key, value] : *configuration) {
    if (key == "delta.checkpointPolicy" && value == "v2") wanted.ReaderWriter("v2Checkpoint");
    if (key == "delta.columnMapping.mode" && value != "none") AddOnce(&wanted.writer, "columnMapping");
    if (key.starts_with("delta.enableIcebergCompat") && EqualsIgnoreCase(value, "true")) AddOnce(&wanted.writer, key.substr(12));
  }
  std::vector<std::string> unsupported;
  for (const std::string& feature : wanted.writer) {
    if (!Among(kWriterFeatures, feature)) unsupported.push_back(feature);
  }
  if (!unsupported.empty()) return UnsupportedFeatures("DELTA_UNSUPPORTED_FEATURES_FOR_WRITE", unsupported, table);
  DeltaProtocol protocol;
  std::vector<std::string> beyond;  // what writer version 2 does not imply
  for (const std::string& feature : wanted.writer) {
    if (feature != "appendOnly" && feature != "invariants") beyond.push_back(feature);
  }
  if (beyond.empty()) return protocol;
  if (beyond.size() == 1 && beyond[0] == "checkConstraints") {
    protocol.min_writer_version = 3;
    return protocol;
  }
  beyond.emplace_back("invariants");
  beyond.emplace_back("appendOnly");
  protocol.min_writer_version = 7;
  protocol.writer_features = std::move(beyond);
  if (!wanted.reader.empty()) {
    protocol.min_reader_version = 3;
    protocol.reader_features = std::move(wanted.reader);
  }
  return protocol;
}

}  // namespace thalweg::connectors
