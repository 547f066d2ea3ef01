#include "base/clock.h"
#include "data/io/path.h"
#include "front/session/own_directory.h"
#include "front/session/session_impl.h"
#include "sql/catalog/catalog.h"
#include "sql/catalog/catalog_names.h"

namespace thalweg::front {

namespace {

Result<bool> AlreadyThere(const sql::TableInfo& table, bool if_not_exists) {
  if (if_not_exists) return false;
  return Error("TABLE_OR_VIEW_ALREADY_EXISTS").With("relationName", sql::QuoteName(table.QualifiedName()));
}

}  // namespace

Result<bool> Session::CreateTable(sql::TableInfo* table, bool if_not_exists, std::stop_token stop) {
  ServerContext& server = impl_->server;
  TW_RETURN_NOT_OK(sql::CheckCatalogName(table->name));  // before anything is made on disk
  TW_ASSIGN_OR_RETURN(const sql::DatabaseInfo database, server.catalog->GetDatabase(table->database));
  TW_ASSIGN_OR_RETURN(const bool exists, server.catalog->TableExists(table->database, table->name));
  if (exists) return AlreadyThere(*table, if_not_exists);
  if (table->format.empty()) table->format = GetConfOption("spark.sql.sources.default").value_or("parquet");
  TW_ASSIGN_OR_RETURN(const std::shared_ptr<const sql::DataSource> source, FindDataSource(table->format));
  table->format = source->short_name();
  std::unique_ptr<OwnDirectory> own;  // what fails below leaves nothing
  if (table->location.empty()) {
    table->type = sql::TableType::kManaged;
    table->location = sql::Catalog::DefaultTableLocation(database, table->name);
    TW_ASSIGN_OR_RETURN(own, OwnDirectory::Take(*server.connectors.file_system, *server.connectors.clock, *server.maker_turns, *table, stop));
    TW_ASSIGN_OR_RETURN(const bool made_meanwhile, server.catalog->TableExists(table->database, table->name));
    if (made_meanwhile) {
      own->Keep();  // it is the other's
      return AlreadyThere(*table, if_not_exists);
    }
    TW_RETURN_NOT_OK(own->CheckEmpty(*table));
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
  const auto make = [&] { return source->CreateTable(table->location, table->schema, table->partition_columns, table->properties, *config); };
  Status made = make();
  if (made.condition() == "TABLE_OR_VIEW_ALREADY_EXISTS") made = make();  // by another, meanwhile: it may be the same
  TW_RETURN_NOT_OK(made);
  if (table->schema.empty()) {
    TW_ASSIGN_OR_RETURN(const sql::TablePtr opened, OpenTable(*table, {}, false, false));
    table->schema = opened->schema();
    table->partition_columns = opened->partition_columns();
  }
  TW_ASSIGN_OR_RETURN(const bool entered,
                      server.catalog->CreateTable(*table, if_not_exists ? sql::Catalog::IfExists::kKeep : sql::Catalog::IfExists::kFail));
  if (own != nullptr) own->Keep();
  return entered;
}

}  // namespace thalweg::front
