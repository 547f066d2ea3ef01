#include "connectors/delta/delta_alter.h"

#include "connectors/delta/delta_protocol.h"
#include "connectors/delta/delta_schema.h"
#include "connectors/delta/delta_text_limits.h"
#include "data/types/field_comment.h"

namespace thalweg::connectors {

namespace {

// Physical names and ids of columns are for writers that know column mapping.
Status CheckColumns(const DeltaAlteration& table) {
  if (HasColumnMapping(table.metadata)) return Unsupported("changing the columns of a Delta table with column mapping");
  return Status::OK();
}

// One field as it stands in the JSON of a struct.
std::string FieldJson(const data::StructField& field) {
  const std::string json = data::DataType::Struct({field}).Json();
  const size_t begin = json.find('[') + 1;
  return json.substr(begin, json.rfind(']') - begin);
}

std::string Operation(const char* key, const std::string& json) {
  std::string parameters = std::string("{\"") + key + "\":";
  AppendJsonText(json, &parameters);
  return parameters + "}";
}

}  // namespace

data::Schema DeltaAlteration::schema() const {
  const Result<data::DataType> type = data::ParseTypeJson(metadata.schema_string);
  return type.ok() ? type->fields() : data::Schema();
}

Status Apply(const sql::SetTableComment& change, DeltaAlteration* table) {
  table->metadata.description = change.comment;
  std::string text;
  AppendJsonObject({{"comment", change.comment.value_or("null")}}, &text);
  table->operation = "SET TBLPROPERTIES";
  table->parameters_json = Operation("properties", text);
  return Status::OK();
}

Status Apply(const sql::AddTableColumns& change, DeltaAlteration* table) {
  TW_RETURN_NOT_OK(CheckColumns(*table));
  data::Schema schema = table->schema();
  const data::Schema before = schema;
  std::string columns;
  for (const auto& [path, field] : change.columns) {
    if (path.size() > 1) return Unsupported("adding fields of a struct to a Delta table");
    if (!field.nullable) return Unsupported("adding NOT NULL columns to a Delta table");
    if (FindColumn(schema, field.name, false) >= 0) {
      return Error("FIELD_ALREADY_EXISTS")
          .With("op", "add")
          .With("fieldNames", data::QuoteIdentifier(field.name))
          .With("struct", "\"" + data::DataType::Struct(before).Sql() + "\"");
    }
    data::StructField stored = field;
    StoreTextLimits(&stored);
    schema.push_back(std::move(stored));
    columns += (columns.empty() ? "" : ",") + ("{\"column\":" + FieldJson(field) + "}");
  }
  // What the new types need of the table's protocol, it must have already.
  StringPairs properties = table->metadata.configuration;
  TW_ASSIGN_OR_RETURN(const DeltaProtocol needed, ProtocolForNewTable(schema, &properties, table->table_name));
  DeltaProtocol protocol = table->protocol;
  const auto features = needed.writer_features ? *needed.writer_features : ImpliedWriterFeatures(needed.min_writer_version);
  for (const std::string& feature : features) {
    TW_ASSIGN_OR_RETURN(protocol, WithFeature(protocol, feature, table->table_name));
  }
  if (protocol != table->protocol) return Unsupported("adding columns of types that need another protocol of the Delta table");
  table->metadata.schema_string = data::DataType::Struct(schema).Json();
  table->operation = "ADD COLUMNS";
  table->parameters_json = Operation("columns", "[" + columns + "]");
  return Status::OK();
}

Status Apply(const sql::ChangeTableColumn& change, DeltaAlteration* table) {
  TW_RETURN_NOT_OK(CheckColumns(*table));
  data::Schema schema = table->schema();
  const int at = change.column.size() == 1 ? FindColumn(schema, change.column[0], false) : -1;
  if (at < 0) return Unsupported("changing fields of a struct of a Delta table");
  data::StructField& field = schema[static_cast<size_t>(at)];
  if (change.type && !change.type->SameType(field.type)) return Unsupported("changing the type of a column of a Delta table");
  if (change.nullable && *change.nullable != field.nullable) return Unsupported("changing whether a column of a Delta table may be null");
  if (change.comment) data::SetComment(&field, change.comment);
  table->metadata.schema_string = data::DataType::Struct(schema).Json();
  table->operation = "CHANGE COLUMN";
  table->parameters_json = Operation("column", FieldJson(field));
  return Status::OK();
}

// Both are column mapping's.
Status Apply(const sql::DropTableColumns&, DeltaAlteration*) { return Unsupported("dropping columns of a Delta table"); }
Status Apply(const sql::RenameTableColumn&, DeltaAlteration*) { return Unsupported("renaming columns of a Delta table"); }

Status AlterDelta(const std::shared_ptr<DeltaLog>& log, std::span<const sql::TableChange> changes, const sql::TableChangeContext& context) {
  TW_ASSIGN_OR_RETURN(const DeltaSnapshotPtr snapshot, log->Update());
  if (snapshot == nullptr) return Error("DELTA_TABLE_NOT_FOUND").With("tableName", context.table_name);
  TW_RETURN_NOT_OK(CheckDeltaReadable(snapshot->protocol(), context.table_name));
  TW_RETURN_NOT_OK(CheckDeltaWriterFeatures(snapshot->protocol(), context.table_name));
  DeltaAlteration table{snapshot, context.table_name, snapshot->protocol(), snapshot->metadata(), "", ""};
  DeltaTransaction transaction;
  for (const sql::TableChange& change : changes) {
    TW_RETURN_NOT_OK(std::visit([&](const auto& one) { return Apply(one, &table); }, change));
    if (!transaction.operation.empty()) continue;
    transaction.operation = table.operation;
    transaction.parameters_json = table.parameters_json;
  }
  if (changes.empty()) return Status::OK();
  transaction.read = snapshot;
  if (table.protocol != snapshot->protocol()) transaction.protocol = table.protocol;
  transaction.metadata = std::move(table.metadata);
  return CommitDelta(*log, std::move(transaction)).status();
}

}  // namespace thalweg::connectors
