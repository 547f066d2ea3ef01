// ALTER, COMMENT ON, ANALYZE, TRUNCATE, MSCK REPAIR, and what else defines databases, tables, views and functions.

#include "base/string_case.h"
#include "data/types/field_comment.h"
#include "sql/parser/parser_state.h"

namespace thalweg::sql {
namespace {

std::string Dotted(const NameParts& parts) {
  std::string text;
  for (const std::string& part : parts) text += (text.empty() ? "" : ".") + part;
  return text;
}

}  // namespace

Result<std::string> ParserState::PropertyKey() {
  if (Peek().kind == TokenKind::kString) return StringText();
  TW_ASSIGN_OR_RETURN(const NameParts parts, MultipartName());
  return Dotted(parts);
}

Result<std::vector<std::string>> ParserState::PropertyKeys() {
  std::vector<std::string> keys;
  TW_RETURN_NOT_OK(ExpectSymbol("("));
  do {
    TW_ASSIGN_OR_RETURN(std::string key, PropertyKey());
    keys.push_back(std::move(key));
  } while (TakeSymbol(","));
  TW_RETURN_NOT_OK(ExpectSymbol(")"));
  return keys;
}

Result<PartitionSpec> ParserState::PartitionClause() {
  PartitionSpec spec;
  TW_RETURN_NOT_OK(ExpectWord("PARTITION"));
  TW_RETURN_NOT_OK(ExpectSymbol("("));
  do {
    PartitionValue& entry = spec.emplace_back();
    TW_ASSIGN_OR_RETURN(entry.column, Name());
    if (!TakeSymbol("=") && !TakeSymbol("==")) continue;
    TW_ASSIGN_OR_RETURN(entry.value, Expression());
  } while (TakeSymbol(","));
  TW_RETURN_NOT_OK(ExpectSymbol(")"));
  return spec;
}

Result<PartitionSpec> ParserState::OptionalPartitionSpec() {
  if (!IsWord("PARTITION") || !IsSymbol("(", 1)) return PartitionSpec{};
  return PartitionClause();
}

Result<PlanPtr> ParserState::AlterStatement() {
  Advance();
  if (IsWord("DATABASE") || IsWord("SCHEMA") || IsWord("NAMESPACE")) return AlterDatabaseStatement();
  AlterTable command{};
  if (!TakeWord("TABLE")) {
    if (!TakeWord("VIEW")) return Unsupported("ALTER " + Peek().text);
    command.view = true;
  }
  TW_ASSIGN_OR_RETURN(command.table, MultipartName());
  if (command.view && (TakeWord("AS") || IsWord("SELECT") || IsWord("WITH") || IsWord("VALUES"))) {
    AlterViewAs as{std::move(command.table), nullptr, ""};
    const int query = static_cast<int>(at_);
    TW_ASSIGN_OR_RETURN(as.query, Query());
    as.sql = TextFrom(query);
    return MakeCommand(std::move(as));
  }
  TW_ASSIGN_OR_RETURN(command.change, ChangeOfTable(&command));
  if (Peek().kind != TokenKind::kEnd && !IsSymbol(";")) return Unexpected();
  return MakeCommand(std::move(command));
}

Result<PlanPtr> ParserState::AlterDatabaseStatement() {
  Advance();
  AlterDatabase command;
  TW_ASSIGN_OR_RETURN(command.name, MultipartName());
  if (TakeWord("SET")) {
    if (TakeWord("LOCATION")) {
      TW_ASSIGN_OR_RETURN(command.location, StringText());
      return MakeCommand(std::move(command));
    }
    if (!TakeWord("DBPROPERTIES")) TW_RETURN_NOT_OK(ExpectWord("PROPERTIES"));
    TW_ASSIGN_OR_RETURN(command.set, PropertyList());
    return MakeCommand(std::move(command));
  }
  TW_RETURN_NOT_OK(ExpectWord("UNSET"));
  if (!TakeWord("DBPROPERTIES")) TW_RETURN_NOT_OK(ExpectWord("PROPERTIES"));
  TakeWords({"IF", "EXISTS"});
  TW_ASSIGN_OR_RETURN(command.unset, PropertyKeys());
  return MakeCommand(std::move(command));
}

/// What follows ALTER TABLE t or ALTER VIEW v.
Result<AlterTable::Change> ParserState::ChangeOfTable(AlterTable* command) {
  const std::string prefix = command->view ? "ALTER VIEW ... " : "ALTER TABLE ... ";
  const auto operation = [&](const char* text) { command->operation = prefix + text; };
  if (TakeWords({"SET", "TBLPROPERTIES"})) {
    operation("SET TBLPROPERTIES");
    TW_ASSIGN_OR_RETURN(auto properties, PropertyList());
    return AlterTable::Change(TableChange(SetTableProperties{std::move(properties)}));
  }
  if (TakeWords({"UNSET", "TBLPROPERTIES"})) {
    operation("UNSET TBLPROPERTIES");
    const bool if_exists = TakeWords({"IF", "EXISTS"});
    TW_ASSIGN_OR_RETURN(auto keys, PropertyKeys());
    return AlterTable::Change(TableChange(UnsetTableProperties{std::move(keys), if_exists}));
  }
  if (TakeWords({"RENAME", "TO"})) {
    operation("RENAME TO");
    TW_ASSIGN_OR_RETURN(NameParts name, MultipartName());
    return AlterTable::Change(AlterTable::Rename{std::move(name)});
  }
  if (command->view) return Unexpected();
  if (TakeWords({"SET", "LOCATION"})) {
    operation("SET LOCATION");
    TW_ASSIGN_OR_RETURN(std::string location, StringText());
    return AlterTable::Change(AlterTable::SetLocation{std::move(location), {}});
  }
  if (TakeWords({"RECOVER", "PARTITIONS"})) {
    operation("RECOVER PARTITIONS");
    return AlterTable::Change(AlterTable::RecoverPartitions{});
  }
  if (IsWord("PARTITION") || AreWords({"ADD", "PARTITION"}) || AreWords({"ADD", "IF"}) || AreWords({"DROP", "PARTITION"}) ||
      AreWords({"DROP", "IF", "EXISTS", "PARTITION"})) {
    return PartitionChange(command);
  }
  return ColumnChange(command);
}

Result<AlterTable::Change> ParserState::ColumnChange(AlterTable* command) {
  if (TakeWord("ADD")) {
    if (!TakeWord("COLUMN") && !TakeWord("COLUMNS")) return Unsupported("ALTER TABLE ... ADD " + Peek().text);
    command->operation = "ALTER TABLE ... ADD COLUMNS";
    return AddedColumns();
  }
  if (TakeWord("DROP")) {
    if (!TakeWord("COLUMN") && !TakeWord("COLUMNS")) return Unsupported("ALTER TABLE ... DROP " + Peek().text);
    command->operation = "ALTER TABLE ... DROP COLUMNS";
    DropTableColumns drop{{}, TakeWords({"IF", "EXISTS"})};
    const bool parenthesis = TakeSymbol("(");
    do {
      TW_ASSIGN_OR_RETURN(NameParts column, MultipartName());
      drop.columns.push_back(std::move(column));
    } while (TakeSymbol(","));
    if (parenthesis) TW_RETURN_NOT_OK(ExpectSymbol(")"));
    return AlterTable::Change(TableChange(std::move(drop)));
  }
  if (TakeWords({"RENAME", "COLUMN"})) {
    command->operation = "ALTER TABLE ... RENAME COLUMN";
    RenameTableColumn rename{};
    TW_ASSIGN_OR_RETURN(rename.column, MultipartName());
    TW_RETURN_NOT_OK(ExpectWord("TO"));
    TW_ASSIGN_OR_RETURN(rename.name, Name());
    return AlterTable::Change(TableChange(std::move(rename)));
  }
  if (TakeWord("ALTER") || IsWord("CHANGE")) {
    command->operation = "ALTER TABLE ... ALTER COLUMN";
    return ChangedColumn();
  }
  return Unsupported("ALTER TABLE ... " + Peek().text);
}

/// name type [NOT NULL] [COMMENT 'text'], ...
Result<AlterTable::Change> ParserState::AddedColumns() {
  AddTableColumns add;
  const bool parenthesis = TakeSymbol("(");
  do {
    TW_ASSIGN_OR_RETURN(NameParts path, MultipartName());
    TW_ASSIGN_OR_RETURN(const DataType type, Type());
    data::StructField field{path.back(), type, true};
    while (AtName()) {
      if (TakeWords({"NOT", "NULL"})) {
        field.nullable = false;
      } else if (TakeWord("COMMENT")) {
        TW_ASSIGN_OR_RETURN(const std::string comment, StringText());
        data::SetComment(&field, comment);
      } else if (IsWord("DEFAULT")) {
        return Unsupported("default values of added columns");
      } else if (IsWord("FIRST") || IsWord("AFTER")) {
        return Unsupported("the position of added columns");
      } else {
        return Unexpected();
      }
    }
    add.columns.emplace_back(std::move(path), std::move(field));
  } while (TakeSymbol(","));
  if (parenthesis) TW_RETURN_NOT_OK(ExpectSymbol(")"));
  return AlterTable::Change(TableChange(std::move(add)));
}

/// ALTER COLUMN c TYPE t | COMMENT 'text' | SET NOT NULL | DROP NOT NULL; CHANGE COLUMN c c type COMMENT 'text'.
Result<AlterTable::Change> ParserState::ChangedColumn() {
  const bool hive = TakeWord("CHANGE");
  TakeWord("COLUMN");
  ChangeTableColumn change;
  TW_ASSIGN_OR_RETURN(change.column, MultipartName());
  if (hive && AtName() && !IsWord("TYPE") && !IsWord("COMMENT") && !IsWord("SET") && !IsWord("DROP")) {
    TW_ASSIGN_OR_RETURN(const NameParts name, MultipartName());
    if (!EqualsIgnoreCase(name.back(), change.column.back())) return Unsupported("renaming a column by CHANGE COLUMN");
    TakeSymbol(":");
    TW_ASSIGN_OR_RETURN(change.type, Type());
  }
  while (AtName()) {
    if (TakeWord("TYPE")) {
      TW_ASSIGN_OR_RETURN(change.type, Type());
    } else if (TakeWord("COMMENT")) {
      TW_ASSIGN_OR_RETURN(change.comment, StringText());
    } else if (TakeWords({"SET", "NOT", "NULL"})) {
      change.nullable = false;
    } else if (TakeWords({"DROP", "NOT", "NULL"})) {
      change.nullable = true;
    } else if (IsWord("FIRST") || IsWord("AFTER")) {
      return Unsupported("moving a column");
    } else if (AreWords({"SET", "DEFAULT"}) || AreWords({"DROP", "DEFAULT"})) {
      return Unsupported("default values of columns");
    } else {
      return Unexpected();
    }
  }
  return AlterTable::Change(TableChange(std::move(change)));
}

Result<AlterTable::Change> ParserState::PartitionChange(AlterTable* command) {
  const auto specs = [&](std::vector<PartitionSpec>* list) -> Status {
    do {
      TW_ASSIGN_OR_RETURN(PartitionSpec spec, PartitionClause());
      list->push_back(std::move(spec));
      if (IsWord("LOCATION")) return Unsupported("partitions at places of their own");
      TakeSymbol(",");
    } while (IsWord("PARTITION"));
    return Status::OK();
  };
  if (TakeWord("ADD")) {
    command->operation = "ALTER TABLE ... ADD PARTITION";
    AlterTable::AddPartitions add{{}, TakeWords({"IF", "NOT", "EXISTS"})};
    TW_RETURN_NOT_OK(specs(&add.partitions));
    return AlterTable::Change(std::move(add));
  }
  if (TakeWord("DROP")) {
    command->operation = "ALTER TABLE ... DROP PARTITION";
    AlterTable::DropPartitions drop{{}, TakeWords({"IF", "EXISTS"})};
    TW_RETURN_NOT_OK(specs(&drop.partitions));
    TakeWord("PURGE");
    return AlterTable::Change(std::move(drop));
  }
  TW_ASSIGN_OR_RETURN(PartitionSpec from, PartitionClause());
  if (TakeWords({"SET", "LOCATION"})) {
    command->operation = "ALTER TABLE ... SET LOCATION";
    TW_ASSIGN_OR_RETURN(std::string location, StringText());
    return AlterTable::Change(AlterTable::SetLocation{std::move(location), std::move(from)});
  }
  command->operation = "ALTER TABLE ... RENAME PARTITION";
  if (!TakeWords({"RENAME", "TO"})) return Unsupported("ALTER TABLE ... PARTITION ... " + Peek().text);
  TW_ASSIGN_OR_RETURN(PartitionSpec to, PartitionClause());
  return AlterTable::Change(AlterTable::RenamePartition{std::move(from), std::move(to)});
}

/// COMMENT ON DATABASE | TABLE name IS 'text' | NULL.
Result<PlanPtr> ParserState::CommentStatement() {
  Advance();
  TW_RETURN_NOT_OK(ExpectWord("ON"));
  const bool database = TakeWord("DATABASE") || TakeWord("SCHEMA") || TakeWord("NAMESPACE");
  if (!database && !TakeWord("TABLE")) return Unsupported("COMMENT ON " + Peek().text);
  TW_ASSIGN_OR_RETURN(NameParts name, MultipartName());
  TW_RETURN_NOT_OK(ExpectWord("IS"));
  std::optional<std::string> comment;
  if (!TakeWord("NULL")) {
    TW_ASSIGN_OR_RETURN(comment, StringText());
  }
  if (database) {
    AlterDatabase command;
    command.name = std::move(name);
    command.comment.emplace(std::move(comment));
    return MakeCommand(std::move(command));
  }
  return MakeCommand(AlterTable{std::move(name), false, "COMMENT ON TABLE", TableChange(SetTableComment{std::move(comment)})});
}

Result<PlanPtr> ParserState::AnalyzeStatement() {
  Advance();
  AnalyzeTable command;
  if (TakeWord("TABLES")) {
    if (TakeWord("IN") || TakeWord("FROM")) {
      TW_ASSIGN_OR_RETURN(command.database, MultipartName());
    }
  } else {
    TW_RETURN_NOT_OK(ExpectWord("TABLE"));
    TW_ASSIGN_OR_RETURN(command.table, MultipartName());
    TW_ASSIGN_OR_RETURN(command.partition, OptionalPartitionSpec());
  }
  TW_RETURN_NOT_OK(ExpectWord("COMPUTE"));
  TW_RETURN_NOT_OK(ExpectWord("STATISTICS"));
  command.noscan = TakeWord("NOSCAN");
  command.all_columns = TakeWords({"FOR", "ALL", "COLUMNS"});
  if (TakeWords({"FOR", "COLUMNS"})) {
    do {
      TW_ASSIGN_OR_RETURN(std::string name, Name());
      command.columns.push_back(std::move(name));
    } while (TakeSymbol(","));
  }
  return MakeCommand(std::move(command));
}

Result<PlanPtr> ParserState::TruncateStatement() {
  Advance();
  TW_RETURN_NOT_OK(ExpectWord("TABLE"));
  TruncateTable command;
  TW_ASSIGN_OR_RETURN(command.table, MultipartName());
  TW_ASSIGN_OR_RETURN(command.partition, OptionalPartitionSpec());
  return MakeCommand(std::move(command));
}

/// [MSCK] REPAIR TABLE t [{ADD | DROP | SYNC} PARTITIONS].
Result<PlanPtr> ParserState::RepairStatement() {
  if (TakeWord("MSCK") && !IsWord("REPAIR")) return Unexpected();
  TW_RETURN_NOT_OK(ExpectWord("REPAIR"));
  TW_RETURN_NOT_OK(ExpectWord("TABLE"));
  AlterTable command{{}, false, "MSCK REPAIR TABLE", AlterTable::RecoverPartitions{}};
  TW_ASSIGN_OR_RETURN(command.table, MultipartName());
  if (TakeWord("ADD") || TakeWord("DROP") || TakeWord("SYNC")) TW_RETURN_NOT_OK(ExpectWord("PARTITIONS"));
  return MakeCommand(std::move(command));
}

Result<PlanPtr> ParserState::CreateFunctionStatement(bool replace, bool temporary) {
  CreateFunction command{{}, "", temporary, replace, TakeWords({"IF", "NOT", "EXISTS"})};
  TW_ASSIGN_OR_RETURN(command.name, MultipartName());
  if (IsSymbol("(")) return Unsupported("functions in SQL (CREATE FUNCTION ... RETURN)");
  TW_RETURN_NOT_OK(ExpectWord("AS"));
  TW_ASSIGN_OR_RETURN(command.class_name, StringText());
  if (IsWord("USING")) return Unsupported("CREATE FUNCTION ... USING");
  return MakeCommand(std::move(command));
}

Result<PlanPtr> ParserState::CreateTableLikeStatement(CreateTable begun) {
  CreateTableLike command;
  command.table = std::move(begun.table);
  command.if_not_exists = begun.if_not_exists;
  TW_ASSIGN_OR_RETURN(command.source, MultipartName());
  while (true) {
    if (TakeWord("USING")) {
      TW_ASSIGN_OR_RETURN(const NameParts format, MultipartName());
      command.format = Dotted(format);
    } else if (TakeWord("LOCATION")) {
      TW_ASSIGN_OR_RETURN(command.location, StringText());
    } else if (TakeWord("TBLPROPERTIES")) {
      TW_ASSIGN_OR_RETURN(command.properties, PropertyList());
    } else {
      return MakeCommand(std::move(command));
    }
  }
}

Result<PlanPtr> ParserState::CreateViewUsing(CreateView begun, std::optional<data::Schema> schema) {
  if (begun.if_not_exists) return Unsupported("IF NOT EXISTS of a temporary view over a data source");
  if (!begun.temporary && !begun.global) return Unexpected();
  if (begun.name.size() > 1) return Error("TEMP_VIEW_NAME_TOO_MANY_NAME_PARTS").With("actualName", Dotted(begun.name));
  CreateTempViewUsing command{begun.name[0], "", std::move(schema), {}, begun.replace, begun.global};
  TW_RETURN_NOT_OK(ExpectWord("USING"));
  TW_ASSIGN_OR_RETURN(const NameParts format, MultipartName());
  command.format = Dotted(format);
  if (TakeWord("OPTIONS")) {
    TW_ASSIGN_OR_RETURN(const auto options, PropertyList());
    for (const auto& [key, value] : options) command.options.Set(key, value);
  }
  return MakeCommand(std::move(command));
}

/// REFRESH [TABLE] name; REFRESH 'path', REFRESH path: what is no name.
Result<PlanPtr> ParserState::RefreshStatement() {
  if (Peek().kind == TokenKind::kString) {
    TW_ASSIGN_OR_RETURN(std::string path, StringText());
    return MakeCommand(RefreshPath{std::move(path)});
  }
  if (!TakeWord("TABLE")) {
    std::string path = RestOfStatement();
    if (path.find_first_of(" \n\r\t") != std::string::npos) {
      return Error("_LEGACY_ERROR_TEMP_0064").With("msg", "REFRESH statements cannot contain ' ', '\\n', '\\r', '\\t' inside unquoted resource paths");
    }
    return MakeCommand(RefreshPath{std::move(path)});
  }
  TW_ASSIGN_OR_RETURN(NameParts name, MultipartName());
  return MakeCommand(RefreshTable{std::move(name)});
}

Result<PlanPtr> ParserState::ShowTablePropertiesStatement() {
  ShowTableProperties command;
  TW_ASSIGN_OR_RETURN(command.table, MultipartName());
  if (TakeSymbol("(")) {
    TW_ASSIGN_OR_RETURN(command.key, PropertyKey());
    TW_RETURN_NOT_OK(ExpectSymbol(")"));
  }
  return MakeCommand(std::move(command));
}

}  // namespace thalweg::sql
