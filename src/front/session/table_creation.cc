#include "base/clock.h"
#include "data/io/file_system.h"
#include "data/io/path.h"
#include "front/session/session_impl.h"
#include "sql/catalog/catalog.h"
#include "sql/catalog/catalog_names.h"

namespace thalweg::front {

namespace {

// A managed table owns its directory: nothing may stand there yet.
Status CheckOwnDirectory(data::FileSystem& files, const sql::TableInfo& table) {
  TW_ASSIGN_OR_RETURN(const bool exists, files.Exists(table.location));
  if (!exists) return Status::OK();
  TW_ASSIGN_OR_RETURN(const std::vector<data::FileInfo> entries, files.List(table.location));
  if (entries.empty()) return Status::OK();
  return Error("LOCATION_ALREADY_EXISTS")
      .With("location", "'" + data::QualifiedPathText(table.location) + "'")
      .With("identifier", sql::QuoteName(table.QualifiedName()));
}

}  // namespace

Result<bool> Session::CreateTable(sql::TableInfo* table, bool if_not_exists) {
  ServerContext& server = impl_->server;
  TW_RETURN_NOT_OK(sql::CheckCatalogName(table->name));  // before anything is made on disk
  TW_ASSIGN_OR_RETURN(const sql::DatabaseInfo database, server.catalog->GetDatabase(table->database));
  TW_ASSIGN_OR_RETURN(const bool exists, server.catalog->TableExists(table->database, table->name));
  if (exists) {
    if (if_not_exists) return false;
    return Error("TABLE_OR_VIEW_ALREADY_EXISTS").With("relationName", sql::QuoteName(table->QualifiedName()));
  }
  if (table->format.empty()) table->format = GetConfOption("spark.sql.sources.default").value_or("parquet");
  TW_ASSIGN_OR_RETURN(const std::shared_ptr<const sql::DataSource> source, FindDataSource(table->format));
  table->format = source->short_name();
  if (table->location.empty()) {
    table->type = sql::TableType::kManaged;
    table->location = sql::Catalog::DefaultTableLocation(database, table->name);
    TW_RETURN_NOT_OK(CheckOwnDirectory(*server.connectors.file_system, *table));
    TW_RETURN_NOT_OK(server.connectors.file_system->MakeDirectories(table->location));
  } else {
    table->type = sql::TableType::kExternal;
    TW_ASSIGN_OR_RETURN(const std::string path, data::PathFromText(table->location));
    table->location = data::AbsolutePath(path);
  }
  table->created_ms = server.connectors.clock->NowMillis();
  table->owner = impl_->user;
  if (table->format != "delta") {
    // Files promise nothing about nulls.
    for (data::StructField& field : table->schema) {
      field.nullable = true;
      field.type = field.type.AsNullable();
    }
  }
  const std::shared_ptr<const sql::EvalConfig> config = eval_config();
  TW_RETURN_NOT_OK(source->CreateTable(table->location, table->schema, table->partition_columns, table->properties, *config));
  if (table->schema.empty()) {
    TW_ASSIGN_OR_RETURN(const sql::TablePtr opened, OpenTable(*table, {}, false, false));
    table->schema = opened->schema();
    table->partition_columns = opened->partition_columns();
  }
  return server.catalog->CreateTable(*table, if_not_exists ? sql::Catalog::IfExists::kKeep : sql::Catalog::IfExists::kFail);
}

}  // namespace thalweg::front
