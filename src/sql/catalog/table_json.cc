#include "sql/catalog/table_json.h"

#include <nlohmann/json.hpp>

namespace thalweg::sql {

namespace {

using Json = nlohmann::ordered_json;
using Texts = std::map<std::string, std::string>;

const char* TypeText(TableType type) {
  switch (type) {
    case TableType::kManaged: return "MANAGED";
    case TableType::kExternal: return "EXTERNAL";
    case TableType::kView: return "VIEW";
  }
  return "MANAGED";
}

TableType TypeFromText(const std::string& text) {
  if (text == "EXTERNAL") return TableType::kExternal;
  if (text == "VIEW") return TableType::kView;
  return TableType::kManaged;
}

}  // namespace

std::string TableToJson(const TableInfo& table) {
  Json json{{"database", table.database},
            {"name", table.name},
            {"type", TypeText(table.type)},
            {"format", table.format},
            {"schema", data::DataType::Struct(table.schema).Json()},
            {"partitionColumns", table.partition_columns},
            {"location", table.location},
            {"properties", table.properties},
            {"options", table.options},
            {"createdMs", table.created_ms},
            {"owner", table.owner},
            {"viewText", table.view_text},
            {"viewColumns", table.view_columns},
            {"viewDatabase", table.view_database},
            {"viewSettings", table.view_settings}};
  if (table.comment) json["comment"] = *table.comment;
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<TableInfo> TableFromJson(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    TableInfo table;
    table.database = json.at("database").get<std::string>();
    table.name = json.at("name").get<std::string>();
    table.type = TypeFromText(json.at("type").get<std::string>());
    table.format = json.at("format").get<std::string>();
    TW_ASSIGN_OR_RETURN(const data::DataType schema, data::ParseTypeJson(json.at("schema").get<std::string>()));
    if (!schema.Is(data::TypeKind::kStruct)) return InternalError("the schema of a catalogue entry is no struct: " + text);
    table.schema = schema.fields();
    table.partition_columns = json.at("partitionColumns").get<std::vector<std::string>>();
    table.location = json.at("location").get<std::string>();
    table.properties = json.at("properties").get<Texts>();
    table.options = json.at("options").get<Texts>();
    table.created_ms = json.at("createdMs").get<int64_t>();
    table.owner = json.value("owner", "");
    table.view_text = json.value("viewText", "");
    table.view_columns = json.value("viewColumns", std::vector<std::string>{});
    table.view_database = json.value("viewDatabase", "");
    table.view_settings = json.value("viewSettings", Texts{});
    if (json.contains("comment")) table.comment = json.at("comment").get<std::string>();
    return table;
  } catch (const nlohmann::json::exception& error) {
    return InternalError(std::string("a catalogue entry is damaged: ") + error.what());
  }
}

std::string DatabaseToJson(const DatabaseInfo& database) {
  const Json json{{"name", database.name},
                  {"location", database.location},
                  {"comment", database.comment},
                  {"properties", database.properties}};
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Result<DatabaseInfo> DatabaseFromJson(const std::string& text) {
  try {
    const Json json = Json::parse(text);
    DatabaseInfo database;
    database.name = json.at("name").get<std::string>();
    database.location = json.at("location").get<std::string>();
    database.comment = json.at("comment").get<std::string>();
    database.properties = json.at("properties").get<Texts>();
    return database;
  } catch (const nlohmann::json::exception& error) {
    return InternalError(std::string("a catalogue entry is damaged: ") + error.what());
  }
}

}  // namespace thalweg::sql
