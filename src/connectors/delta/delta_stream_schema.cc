// Schema changes of a Delta table while it is read as a stream. Source: Delta's documentation, "Table streaming reads and writes".
#include <algorithm>

#include "base/string_case.h"
#include "connectors/delta/delta_schema.h"
#include "connectors/delta/delta_streaming_source.h"

namespace thalweg::connectors {

using data::DataType;
using data::Schema;
using data::StructField;
using data::TypeKind;

namespace {

constexpr std::string_view kStreamDocLink = "https://docs.delta.io/latest/delta-streaming.html";

// What a reader forgives.
struct Leniency {
  bool may_miss = false;  // columns that only the files have
  bool widens = false;    // a table with type widening: files of a narrower type
};

bool CanRead(const Schema& written, const Schema& read, Leniency allowed);

bool IsWholeNumber(TypeKind kind) { return kind >= TypeKind::kByte && kind <= TypeKind::kLong; }

// Source: Delta's protocol, "Type Widening".
bool Widens(const DataType& from, const DataType& to) {
  if (to.Is(TypeKind::kDecimal)) {
    if (!from.Is(TypeKind::kDecimal) && !IsWholeNumber(from.kind())) return false;
    const int scale = from.Is(TypeKind::kDecimal) ? from.scale() : 0;
    const int precision = from.Is(TypeKind::kDecimal) ? from.precision() : from.Is(TypeKind::kLong) ? 20 : 10;
    return to.scale() >= scale && to.precision() - to.scale() >= precision - scale;
  }
  if (to.Is(TypeKind::kDouble)) return from.Is(TypeKind::kFloat) || (IsWholeNumber(from.kind()) && !from.Is(TypeKind::kLong));
  if (to.Is(TypeKind::kTimestampNtz)) return from.Is(TypeKind::kDate);
  return IsWholeNumber(from.kind()) && IsWholeNumber(to.kind()) && from.kind() < to.kind();
}

// Nulls may not come where none are expected.
bool CanReadType(const DataType& written, const DataType& read, Leniency allowed) {
  if (allowed.widens && Widens(written, read)) return true;
  if (written.kind() != read.kind()) return false;
  switch (read.kind()) {
    case TypeKind::kStruct: return CanRead(written.fields(), read.fields(), allowed);
    case TypeKind::kArray:
      return (read.contains_null() || !written.contains_null()) && CanReadType(written.element(), read.element(), allowed);
    case TypeKind::kMap:
      return (read.contains_null() || !written.contains_null()) && CanReadType(written.key(), read.key(), allowed) &&
             CanReadType(written.value(), read.value(), allowed);
    default: return written.SameType(read);
  }
}

// Whether data of the schema `written` can be read as `read` without a loss that is not allowed.
bool CanRead(const Schema& written, const Schema& read, Leniency allowed) {
  if (!allowed.may_miss) {
    for (const StructField& field : written) {
      if (FindColumn(read, field.name, false) < 0) return false;
    }
  }
  return std::all_of(read.begin(), read.end(), [&](const StructField& field) {
    const int at = FindColumn(written, field.name, false);
    if (at < 0) return true;
    const StructField& other = written[static_cast<size_t>(at)];
    return (field.nullable || !other.nullable) && CanReadType(other.type, field.type, allowed);
  });
}

std::string PhysicalName(const StructField& field) {
  return field.MetadataString("delta.columnMapping.physicalName").value_or(field.name);
}

bool HasTypeWidening(const DeltaProtocol& protocol) {
  const auto& features = protocol.reader_features;
  return features && std::any_of(features->begin(), features->end(), [](const std::string& name) { return name.starts_with("typeWidening"); });
}

// Whether every column of `before` is still there in `after` under its name: no rename, no drop.
bool KeepsColumns(const Schema& before, const Schema& after) {
  return std::all_of(before.begin(), before.end(), [&](const StructField& field) {
    const auto found = std::find_if(after.begin(), after.end(),
                                    [&](const StructField& other) { return PhysicalName(other) == PhysicalName(field); });
    if (found == after.end() || found->name != field.name) return false;
    if (field.type.Is(TypeKind::kStruct) && found->type.Is(TypeKind::kStruct)) return KeepsColumns(field.type.fields(), found->type.fields());
    return true;
  });
}

}  // namespace

Status CheckDeltaStreamSchema(const DeltaSnapshot& read, const DeltaMetadata& change, int64_t version) {
  if (change.schema_string == read.metadata().schema_string && change.partition_columns == read.metadata().partition_columns &&
      change.id == read.metadata().id) {
    return Status::OK();
  }
  TW_ASSIGN_OR_RETURN(const DataType type, data::ParseTypeJson(change.schema_string));
  if (!type.Is(TypeKind::kStruct)) return InternalError("the schema of a Delta table is no struct");
  const Schema& written = type.fields();
  const bool earlier = version < read.version();
  if (HasColumnMapping(change) && HasColumnMapping(read.metadata())) {
    const bool keeps = earlier ? KeepsColumns(written, read.schema()) : KeepsColumns(read.schema(), written);
    if (!keeps) {
      return Error("DELTA_STREAMING_INCOMPATIBLE_SCHEMA_CHANGE_USE_SCHEMA_LOG").With("docLink", kStreamDocLink)
          .With("readSchema", data::SchemaTree(read.schema())).With("incompatibleSchema", data::SchemaTree(written));
    }
  }
  const bool same_table = change.id == read.metadata().id && change.partition_columns == read.metadata().partition_columns;
  if (same_table && CanRead(written, read.schema(), {.may_miss = earlier, .widens = HasTypeWidening(read.protocol())})) return Status::OK();
  return Error("DELTA_SCHEMA_CHANGED_WITH_VERSION").With("version", version)
      .With("readSchema", data::SchemaTree(read.schema())).With("dataSchema", data::SchemaTree(written));
}

Status CheckDeltaStream(const DeltaSnapshot& snapshot, const sql::LoadRequest& request) {
  for (const char* option : {"readChangeFeed", "readChangeData"}) {
    if (EqualsIgnoreCase(request.options.Get(option).value_or("false"), "true")) return Unsupported("the change data feed of Delta tables");
  }
  for (const char* option : {"schemaTrackingLocation", "schemaLocation"}) {
    if (request.options.Has(option)) return Unsupported("schema tracking of a Delta stream");
  }
  if (snapshot.schema().empty()) return Error("DELTA_SCHEMA_NOT_SET");
  if (!request.schema || request.schema->empty()) return Status::OK();
  const Schema shown = PublicSchema(snapshot.schema());
  const auto same = [](const StructField& a, const StructField& b) { return a.name == b.name && a.type.SameType(b.type); };
  if (std::equal(request.schema->begin(), request.schema->end(), shown.begin(), shown.end(), same)) return Status::OK();
  return Error("DELTA_READ_SOURCE_SCHEMA_CONFLICT");
}

}  // namespace thalweg::connectors
