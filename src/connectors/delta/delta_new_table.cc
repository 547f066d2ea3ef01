// What a new table must fulfil, and its first metadata.

#include <algorithm>
#include <set>

#include "base/string_case.h"
#include "base/text.h"
#include "base/uuid.h"
#include "connectors/delta/delta_protocol.h"
#include "connectors/delta/delta_schema.h"
#include "connectors/delta/delta_text_limits.h"
#include "connectors/delta/delta_write_plan.h"

namespace thalweg::connectors {

using data::DataType;
using data::StructField;
using data::TypeKind;

namespace {

void FindBadNames(const std::vector<StructField>& fields, std::vector<std::string>* bad) {
  for (const StructField& field : fields) {
    if (field.name.find_first_of(" ,;{}()\n\t=") != std::string::npos) bad->push_back(field.name);
    if (field.type.Is(TypeKind::kStruct)) FindBadNames(field.type.fields(), bad);
  }
}

void FindDuplicates(const std::vector<StructField>& fields, const std::string& prefix, std::vector<std::string>* found) {
  std::set<std::string> names;
  for (const StructField& field : fields) {
    if (!names.insert(ToAsciiLower(field.name)).second) found->push_back(prefix + ToAsciiLower(field.name));
    if (field.type.Is(TypeKind::kStruct)) FindDuplicates(field.type.fields(), prefix + field.name + ".", found);
  }
}

bool Storable(const DataType& type) {
  switch (type.kind()) {
    case TypeKind::kTime:
    case TypeKind::kYearMonthInterval:
    case TypeKind::kDayTimeInterval:
    case TypeKind::kCalendarInterval: return false;
    case TypeKind::kString: return type.collation() == "UTF8_BINARY";
    case TypeKind::kArray: return Storable(type.element());
    case TypeKind::kMap: return Storable(type.key()) && Storable(type.value());
    case TypeKind::kStruct:
      return std::all_of(type.fields().begin(), type.fields().end(), [](const StructField& f) { return Storable(f.type); });
    default: return true;
  }
}

Status CheckSchema(const data::Schema& schema) {
  std::vector<std::string> names;
  FindDuplicates(schema, "", &names);
  if (!names.empty()) return Error("DELTA_DUPLICATE_COLUMNS_FOUND.DATA").With("duplicateCols", Joined(names));
  FindBadNames(schema, &names);
  if (!names.empty()) return Error("DELTA_INVALID_CHARACTERS_IN_COLUMN_NAMES").With("invalidColumnNames", Joined(names));
  for (const StructField& field : schema) {
    if (!Storable(field.type)) names.push_back(field.name + " " + field.type.Sql());
  }
  if (!names.empty()) {
    return Error("DELTA_UNSUPPORTED_DATA_TYPES").With("dataTypeList", "[" + Joined(names) + "]")
        .With("config", "spark.databricks.delta.schema.typeCheck.enabled");
  }
  if (schema.empty()) return Error("DELTA_CANNOT_WRITE_EMPTY_SCHEMA.TABLE_NO_COLUMNS");
  if (std::all_of(schema.begin(), schema.end(), [](const StructField& field) { return field.type.Is(TypeKind::kNull); })) {
    return Error("DELTA_CANNOT_WRITE_EMPTY_SCHEMA.TABLE_ALL_VOID_COLUMNS");
  }
  return Status::OK();
}

// What the engine noted on a column (watermarks, automatic names) does not go into the table.
std::string TableFieldMetadata(const StructField& field) {
  if (field.metadata_json.find("\"spark.") == std::string::npos && field.metadata_json.find("\"__auto") == std::string::npos &&
      field.metadata_json.find("\"__qualified") == std::string::npos) {
    return field.metadata_json;
  }
  StringPairs kept;
  if (const auto comment = field.Comment()) kept.emplace_back("comment", *comment);
  std::string json;
  AppendJsonObject(kept, &json);
  return json;
}

DataType CleanType(const DataType& type) {
  switch (type.kind()) {
    case TypeKind::kArray: return DataType::Array(CleanType(type.element()), type.contains_null());
    case TypeKind::kMap: return DataType::Map(CleanType(type.key()), CleanType(type.value()), type.contains_null());
    case TypeKind::kStruct: {
      std::vector<StructField> fields = type.fields();
      for (StructField& field : fields) {
        field.type = CleanType(field.type);
        field.metadata_json = TableFieldMetadata(field);
      }
      return DataType::Struct(std::move(fields));
    }
    default: return type;
  }
}

Result<std::vector<std::string>> ResolvePartitions(const data::Schema& schema, const std::vector<std::string>& names,
                                                   bool case_sensitive) {
  std::vector<std::string> out;
  for (const std::string& name : names) {
    const int at = FindColumn(schema, name, case_sensitive);
    if (at < 0) {
      std::string list;
      for (const StructField& field : schema) list += (list.empty() ? "" : ", ") + field.name;
      return Error("DELTA_PARTITION_COLUMN_NOT_FOUND").With("columnName", data::QuoteIdentifier(name)).With("schemaMap", list);
    }
    const StructField& field = schema[static_cast<size_t>(at)];
    if (field.type.IsNested() || field.type.Is(TypeKind::kNull)) {
      return Error("DELTA_INVALID_PARTITION_COLUMN_TYPE").With("name", field.name).With("dataType", field.type.Sql());
    }
    out.push_back(field.name);
  }
  if (!out.empty() && out.size() == schema.size()) return Error("DELTA_CANNOT_USE_ALL_COLUMNS_FOR_PARTITION");
  return out;
}

}  // namespace

Result<DeltaNewTable> MakeNewDeltaTable(const DeltaLog& log, data::Schema schema, const std::vector<std::string>& partition_columns,
                                        StringPairs properties, bool case_sensitive) {
  for (StructField& field : schema) {
    field.metadata_json = TableFieldMetadata(field);
    field.type = CleanType(field.type);
    StoreTextLimits(&field);
  }
  TW_RETURN_NOT_OK(CheckSchema(schema));
  DeltaNewTable out;
  TW_ASSIGN_OR_RETURN(out.metadata.partition_columns, ResolvePartitions(schema, partition_columns, case_sensitive));
  TW_ASSIGN_OR_RETURN(out.protocol, ProtocolForNewTable(schema, &properties, "delta.`" + log.table_path() + "`"));
  out.metadata.id = Uuid::MakeRandom().ToString();
  out.metadata.schema_string = DataType::Struct(std::move(schema)).Json();
  out.metadata.configuration = std::move(properties);
  out.metadata.created_time = log.clock().NowMillis();
  return out;
}

RemoveFile RemoveOf(const AddFile& add, int64_t now_ms) {
  return {.path = add.path,
          .deletion_timestamp = now_ms,
          .data_change = true,
          .extended_file_metadata = true,
          .partition_values = add.partition_values,
          .size = add.size,
          .tags = add.tags,
          .deletion_vector = add.deletion_vector,
          .base_row_id = add.base_row_id,
          .default_row_commit_version = add.default_row_commit_version};
}

}  // namespace thalweg::connectors
