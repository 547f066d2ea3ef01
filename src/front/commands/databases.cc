#include "base/log.h"
#include "base/string_case.h"
#include "data/io/file_system.h"
#include "data/io/path.h"
#include "front/commands/handlers.h"

namespace thalweg::front {

namespace {

using data::DataType;

// The database of a name, with or without its catalogue.
Result<std::string> DatabaseName(const sql::NameParts& parts) {
  if (parts.size() == 1) return sql::LowerName(parts[0]);
  if (parts.size() == 2 && EqualsIgnoreCase(parts[0], sql::kSessionCatalog)) return sql::LowerName(parts[1]);
  if (parts.size() == 2) return Unsupported("catalogues other than spark_catalog (" + sql::QuoteName(parts) + ")");
  return Error("REQUIRES_SINGLE_PART_NAMESPACE")
      .With("sessionCatalog", std::string(sql::kSessionCatalog))
      .With("identifier", sql::QuoteName(parts));
}

// The folder that we made goes with all that is in it. One that the user named may hold more than our tables: it goes empty.
Status RemoveDatabaseFolder(CommandRun& run, const sql::DatabaseInfo& database) {
  data::FileSystem& files = *run.session.server().connectors.file_system;
  if (database.location == run.catalog().DefaultDatabaseLocation(database.name)) return files.RemoveTree(database.location);
  TW_ASSIGN_OR_RETURN(const bool exists, files.Exists(database.location));
  if (!exists) return Status::OK();
  TW_ASSIGN_OR_RETURN(const std::vector<data::FileInfo> left, files.List(database.location));
  if (left.empty()) return files.Remove(database.location);
  TW_LOG(kInfo, "the folder of a dropped database is not empty and stays", {"database", database.name}, {"location", database.location});
  return Status::OK();
}

}  // namespace

Status Run(CommandRun& run, const sql::CreateDatabase& command) {
  sql::DatabaseInfo database;
  TW_ASSIGN_OR_RETURN(database.name, DatabaseName(command.name));
  database.comment = command.comment.value_or("");
  database.properties = command.properties;
  database.location = run.catalog().DefaultDatabaseLocation(database.name);
  if (command.location) {
    TW_ASSIGN_OR_RETURN(const std::string path, data::PathFromText(*command.location));
    database.location = data::AbsolutePath(path);
  }
  TW_RETURN_NOT_OK(run.catalog().CreateDatabase(database, command.if_not_exists));
  return run.session.server().connectors.file_system->MakeDirectories(database.location);
}

Status Run(CommandRun& run, const sql::DropDatabase& command) {
  TW_ASSIGN_OR_RETURN(const std::string name, DatabaseName(command.name));
  TW_ASSIGN_OR_RETURN(const sql::DroppedDatabase dropped, run.catalog().DropDatabase(name, command.if_exists, command.cascade));
  data::FileSystem& files = *run.session.server().connectors.file_system;
  for (const sql::TableInfo& table : dropped.managed) TW_RETURN_NOT_OK(files.RemoveTree(table.location));
  if (dropped.database) TW_RETURN_NOT_OK(RemoveDatabaseFolder(run, *dropped.database));
  if (run.session.current_database() == name) run.session.set_current_database(std::string(sql::kDefaultDatabase));
  return Status::OK();
}

Status Run(CommandRun& run, const sql::UseDatabase& command) {
  if (command.name.size() == 1 && EqualsIgnoreCase(command.name[0], sql::kSessionCatalog)) return Status::OK();
  TW_ASSIGN_OR_RETURN(const std::string name, DatabaseName(command.name));
  TW_RETURN_NOT_OK(run.catalog().GetDatabase(name).status());
  run.session.set_current_database(name);
  return Status::OK();
}

Status Run(CommandRun&, const sql::UseCatalog& command) {
  if (EqualsIgnoreCase(command.name, sql::kSessionCatalog)) return Status::OK();
  return Error("CATALOG_NOT_FOUND")
      .With("catalogName", data::QuoteIdentifier(command.name))
      .With("config", "spark.sql.catalog." + command.name);
}

Status Run(CommandRun& run, const sql::ShowDatabases& command) {
  if (!command.catalog.empty() && !(command.catalog.size() == 1 && EqualsIgnoreCase(command.catalog[0], sql::kSessionCatalog))) {
    return Unsupported("catalogues other than spark_catalog (" + sql::QuoteName(command.catalog) + ")");
  }
  TW_ASSIGN_OR_RETURN(const std::vector<sql::DatabaseInfo> databases, run.catalog().ListDatabases());
  std::vector<data::ValueList> rows;
  for (const sql::DatabaseInfo& database : databases) {
    if (!command.pattern || sql::MatchesPattern(database.name, *command.pattern)) rows.push_back({TextValue(database.name)});
  }
  return run.Answer({{"namespace", DataType::String(), false}}, rows);
}

Status Run(CommandRun& run, const sql::DescribeDatabase& command) {
  TW_ASSIGN_OR_RETURN(const std::string name, DatabaseName(command.name));
  TW_ASSIGN_OR_RETURN(const sql::DatabaseInfo database, run.catalog().GetDatabase(name));
  std::vector<data::ValueList> rows{{TextValue("Catalog Name"), TextValue(std::string(sql::kSessionCatalog))},
                                    {TextValue("Namespace Name"), TextValue(database.name)},
                                    {TextValue("Comment"), TextValue(database.comment)},
                                    {TextValue("Location"), TextValue(data::QualifiedPathText(database.location))},
                                    {TextValue("Owner"), TextValue(run.session.user())}};
  if (command.extended) {
    std::string properties;
    for (const auto& [key, value] : database.properties) {
      properties += (properties.empty() ? "(" : ", (") + key + "," + value + ")";
    }
    rows.push_back({TextValue("Properties"), TextValue(properties.empty() ? "" : "(" + properties + ")")});
  }
  return run.Answer({{"info_name", DataType::String(), false}, {"info_value", DataType::String(), true}}, rows);
}

Status Run(CommandRun& run, const sql::AlterDatabase& command) {
  TW_ASSIGN_OR_RETURN(const std::string name, DatabaseName(command.name));
  std::optional<std::string> location;
  if (command.location) {
    TW_ASSIGN_OR_RETURN(const std::string path, data::PathFromText(*command.location));
    location = data::AbsolutePath(path);
  }
  return run.catalog().AlterDatabase(name, [&](sql::DatabaseInfo* database) {
    for (const auto& [key, value] : command.set) database->properties[key] = value;
    for (const std::string& key : command.unset) database->properties.erase(key);
    if (command.comment) database->comment = command.comment->value_or("");
    if (location) database->location = *location;
  });
}

Status Run(CommandRun& run, const sql::ShowCatalogs& command) {
  const std::string name(sql::kSessionCatalog);
  std::vector<data::ValueList> rows;
  if (!command.pattern || sql::MatchesPattern(name, *command.pattern)) rows.push_back({TextValue(name)});
  return run.Answer({{"catalog", DataType::String(), false}}, rows);
}

Status Run(CommandRun& run, const sql::ShowCurrentNamespace&) {
  return run.Answer({{"catalog", DataType::String(), false}, {"namespace", DataType::String(), false}},
                    {{TextValue(std::string(sql::kSessionCatalog)), TextValue(run.session.current_database())}});
}

}  // namespace thalweg::front
