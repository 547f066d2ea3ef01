// ALTER TABLE, ALTER VIEW and COMMENT ON TABLE: a changed entry of the catalogue. A table with a log of its own changes there too.

#include <algorithm>
#include <functional>

#include "base/string_case.h"
#include "data/io/file_system.h"
#include "data/io/path.h"
#include "data/types/field_comment.h"
#include "front/commands/table_partitions.h"
#include "sql/catalog/catalog_names.h"
#include "sql/datasource/alter_table.h"

namespace thalweg::front {

namespace {

using sql::AlterTable;

struct Alteration {
  CommandRun& run;
  const AlterTable& command;
  sql::TableInfo table;

  bool keeps_log() const { return table.type != sql::TableType::kView && KeepsOwnLog(table.format); }
  /// A table that its path names has no entry: its log is all there is.
  bool has_entry() const { return table.created_ms != 0; }
  /// `change` makes the new entry out of the one that stands there now, which need not be `table` any more.
  Status Save(const std::function<Status(sql::TableInfo*)>& change) const {
    return has_entry() ? run.catalog().AlterTable(table.database, table.name, change) : Status::OK();
  }
  /// The same change in the table's own log.
  Status InLog(const sql::TableChange& change) const {
    TW_ASSIGN_OR_RETURN(const sql::TablePtr opened, run.session.OpenTable(table, {}, false, false));
    auto* alters = dynamic_cast<sql::SupportsAlterTable*>(opened.get());
    if (alters == nullptr) return NotSupported(command.operation);
    return alters->Alter(std::span(&change, 1), {.table_name = opened->name(), .user = run.session.user(),
                                                 .config = run.session.eval_config(), .stop = run.stop});
  }
  Status NotSupported(const std::string& operation) const {
    return Error("UNSUPPORTED_FEATURE.TABLE_OPERATION").With("tableName", sql::QuoteName(table.QualifiedName())).With("operation", operation);
  }
};

Status Apply(const Alteration& a, const sql::SetTableProperties& change) {
  if (a.keeps_log()) TW_RETURN_NOT_OK(a.InLog(change));
  return a.Save([&](sql::TableInfo* entry) {
    for (const auto& [key, value] : change.properties) entry->properties[key] = value;
    return Status::OK();
  });
}

Status Apply(const Alteration& a, const sql::UnsetTableProperties& change) {
  if (a.keeps_log()) TW_RETURN_NOT_OK(a.InLog(change));
  return a.Save([&](sql::TableInfo* entry) {
    for (const std::string& key : change.keys) entry->properties.erase(key);
    return Status::OK();
  });
}

Status Apply(const Alteration& a, const sql::SetTableComment& change) {
  if (a.keeps_log()) TW_RETURN_NOT_OK(a.InLog(change));
  return a.Save([&](sql::TableInfo* entry) {
    entry->comment = change.comment;
    return Status::OK();
  });
}

Status Apply(const Alteration& a, const AlterTable::SetLocation& change) {
  if (!change.partition.empty()) return Unsupported("partitions at places of their own");
  if (!a.has_entry()) return Unsupported(a.command.operation + " of a table that its path names");
  TW_ASSIGN_OR_RETURN(const std::string path, data::PathFromText(change.location));
  sql::TableInfo changed = a.table;
  changed.location = data::AbsolutePath(path);
  if (a.keeps_log()) TW_RETURN_NOT_OK(a.run.session.OpenTable(changed, {}, false, false).status());
  return a.Save([&](sql::TableInfo* entry) {
    entry->location = changed.location;
    return Status::OK();
  });
}

// What is cached stays cached under its new name.
Status MoveCached(Session& session, const sql::NameParts& from, const sql::NameParts& to) {
  TW_ASSIGN_OR_RETURN(const bool cached, session.IsCached(from));
  if (!cached) return Status::OK();
  TW_RETURN_NOT_OK(session.SetCached(from, false));
  return session.SetCached(to, true);
}

Status Apply(const Alteration& a, const AlterTable::Rename& change) {
  if (!a.has_entry()) return Unsupported(a.command.operation + " of a table that its path names");
  TW_ASSIGN_OR_RETURN(const auto name, a.run.session.TableName(change.name));
  sql::TableInfo changed = a.table;
  changed.database = change.name.size() == 1 ? a.table.database : name.first;
  changed.name = name.second;
  TW_RETURN_NOT_OK(sql::CheckCatalogName(changed.name));
  TW_ASSIGN_OR_RETURN(const sql::DatabaseInfo database, a.run.catalog().GetDatabase(changed.database));
  if (changed.database != a.table.database) {
    return Error("_LEGACY_ERROR_TEMP_1073").With("db", a.table.database).With("newDb", changed.database);
  }
  // A managed table lies where its name says, one with a log of its own, too: a stream that runs on it loses it.
  const std::string place = sql::Catalog::DefaultTableLocation(database, changed.name);
  const bool moves = a.table.type == sql::TableType::kManaged &&
                     a.table.location == sql::Catalog::DefaultTableLocation(database, a.table.name);
  data::FileSystem& files = *a.run.session.server().connectors.file_system;
  TW_ASSIGN_OR_RETURN(const bool exists, a.run.catalog().TableExists(changed.database, changed.name));
  if (exists) return Error("TABLE_OR_VIEW_ALREADY_EXISTS").With("relationName", sql::QuoteName(changed.QualifiedName()));
  const auto rename = [&](sql::TableInfo* entry) -> Status {
    if (entry->location != a.table.location) {  // another table has the name by now
      return sql::TableNotFound(entry->QualifiedName(), entry->database);
    }
    entry->name = changed.name;
    entry->location = changed.location;
    return Status::OK();
  };
  const auto move_cached = [&] { return MoveCached(a.run.session, a.table.QualifiedName(), changed.QualifiedName()); };
  if (!moves) {
    TW_RETURN_NOT_OK(a.Save(rename));
    return move_cached();
  }
  TW_ASSIGN_OR_RETURN(const bool taken, files.Exists(place));
  if (taken) {
    return Error("LOCATION_ALREADY_EXISTS").With("location", "'" + data::QualifiedPathText(place) + "'")
        .With("identifier", sql::QuoteName(changed.QualifiedName()));
  }
  TW_RETURN_NOT_OK(files.Rename(a.table.location, place, data::RenameMode::kNoReplace));
  changed.location = place;
  const Status saved = a.Save(rename);
  if (!saved.ok()) Ignore(files.Rename(place, a.table.location, data::RenameMode::kNoReplace), "the error of the catalogue counts");
  return saved.ok() ? move_cached() : saved;
}

data::StructField* FindField(sql::TableInfo* table, const sql::NameParts& path) {
  for (data::StructField& field : table->schema) {
    if (path.size() == 1 && EqualsIgnoreCase(field.name, path[0])) return &field;
  }
  return nullptr;
}

Status NoSuchColumn(const sql::TableInfo& table, const sql::NameParts& path) {
  std::string names;
  for (const data::StructField& field : table.schema) names += (names.empty() ? "" : ", ") + data::QuoteIdentifier(field.name);
  return Error("UNRESOLVED_COLUMN.WITH_SUGGESTION").With("objectName", sql::QuoteName(path)).With("proposal", names);
}

// What the log says is what counts; the catalogue keeps a copy for lists.
Status Refreshed(const Alteration& a) {
  TW_ASSIGN_OR_RETURN(const sql::TablePtr opened, a.run.session.OpenTable(a.table, {}, false, false));
  return a.Save([&](sql::TableInfo* entry) {
    entry->schema = opened->schema();
    return Status::OK();
  });
}

Status Apply(const Alteration& a, const sql::AddTableColumns& change) {
  data::Schema added;
  for (const auto& [path, field] : change.columns) {
    if (path.size() > 1) return Unsupported("adding fields of a struct");
    added.push_back(field);
  }
  if (a.keeps_log()) {
    TW_RETURN_NOT_OK(a.InLog(change));
    return Refreshed(a);
  }
  return a.Save([&](sql::TableInfo* entry) -> Status {
    for (const data::StructField& field : added) {
      if (!field.nullable) return a.NotSupported("ALTER TABLE ... ADD COLUMNS ... NOT NULL");
      if (FindField(entry, {field.name}) != nullptr) {
        return Error("COLUMN_ALREADY_EXISTS").With("columnName", data::QuoteIdentifier(ToAsciiLower(field.name)));
      }
      entry->schema.push_back(field);
    }
    OrderColumns(entry);
    return Status::OK();
  });
}

Status Apply(const Alteration& a, const sql::ChangeTableColumn& change) {
  sql::TableInfo changed = a.table;
  if (a.keeps_log()) {
    TW_ASSIGN_OR_RETURN(const sql::TablePtr opened, a.run.session.OpenTable(changed, {}, false, false));
    changed.schema = opened->schema();
  }
  data::StructField* field = FindField(&changed, change.column);
  if (field == nullptr) return NoSuchColumn(changed, change.column);
  if (change.type && !change.type->SameType(field->type)) {
    return Error("NOT_SUPPORTED_CHANGE_COLUMN")
        .With("table", sql::QuoteName(a.table.QualifiedName()))
        .With("originName", data::QuoteIdentifier(field->name))
        .With("originType", "\"" + field->type.Sql() + "\"")
        .With("newName", data::QuoteIdentifier(field->name))
        .With("newType", "\"" + change.type->Sql() + "\"");
  }
  if (change.nullable && *change.nullable != field->nullable) return a.NotSupported("ALTER TABLE ... ALTER COLUMN ... NOT NULL");
  if (!change.comment) return Status::OK();
  if (a.keeps_log()) {
    TW_RETURN_NOT_OK(a.InLog(sql::ChangeTableColumn{{field->name}, {}, change.comment, {}}));
    return Refreshed(a);
  }
  return a.Save([&](sql::TableInfo* entry) -> Status {
    data::StructField* column = FindField(entry, change.column);
    if (column == nullptr) return NoSuchColumn(*entry, change.column);
    data::SetComment(column, change.comment);
    return Status::OK();
  });
}

// Files know columns by name or place: neither can be changed without writing them anew, and Spark refuses both.
Status Apply(const Alteration& a, const sql::DropTableColumns& change) { return a.keeps_log() ? a.InLog(change) : a.NotSupported("DROP COLUMN"); }
Status Apply(const Alteration& a, const sql::RenameTableColumn& change) { return a.keeps_log() ? a.InLog(change) : a.NotSupported("RENAME COLUMN"); }
Status Apply(const Alteration& a, const AlterTable::AddPartitions& change) { return AddPartitions(a.run, a.table, change); }
Status Apply(const Alteration& a, const AlterTable::DropPartitions& change) { return DropPartitions(a.run, a.table, change); }
Status Apply(const Alteration& a, const AlterTable::RenamePartition& change) { return RenamePartition(a.run, a.table, change); }
Status Apply(const Alteration& a, const AlterTable::RecoverPartitions&) { return RecoverPartitions(a.run, a.table, a.command.operation); }

Status Apply(const Alteration& a, const sql::TableChange& change) {
  return std::visit([&](const auto& one) { return Apply(a, one); }, change);
}

// ALTER VIEW of a temporary view can only rename it.
Status AlterTemporary(CommandRun& run, const AlterTable& command) {
  const auto* rename = std::get_if<AlterTable::Rename>(&command.change);
  if (rename == nullptr || !command.view || rename->name.size() != 1) {
    return Error("EXPECT_PERMANENT_VIEW_NOT_TEMP").With("operation", command.operation).With("viewName", sql::QuoteName(command.table));
  }
  const sql::PlanPtr plan = run.session.FindTempView(command.table[0], false);
  TW_RETURN_NOT_OK(run.session.CreateTempView(rename->name[0], plan, false, false));
  TW_RETURN_NOT_OK(MoveCached(run.session, command.table, rename->name));
  run.session.DropTempView(command.table[0], false);
  return Status::OK();
}

}  // namespace

Status Run(CommandRun& run, const sql::AlterTable& command) {
  if (IsTemporary(run.session, command.table)) return AlterTemporary(run, command);
  TW_ASSIGN_OR_RETURN(sql::TableInfo table, FindTable(run.session, command.table));
  const bool is_view = table.type == sql::TableType::kView;
  if (is_view && !command.view) {
    return Error("EXPECT_TABLE_NOT_VIEW.USE_ALTER_VIEW").With("operation", command.operation).With("viewName", sql::QuoteName(table.QualifiedName()));
  }
  if (!is_view && command.view) {
    return Error("EXPECT_VIEW_NOT_TABLE.USE_ALTER_TABLE").With("operation", command.operation).With("tableName", sql::QuoteName(table.QualifiedName()));
  }
  const Alteration alteration{run, command, std::move(table)};
  return std::visit([&](const auto& change) { return Apply(alteration, change); }, command.change);
}

}  // namespace thalweg::front
