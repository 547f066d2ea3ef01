// Statements other than queries: DDL, SHOW, DESCRIBE, SET, INSERT, EXPLAIN.

#include <algorithm>

#include "data/types/field_comment.h"
#include "sql/parser/parser_state.h"

namespace thalweg::sql {
namespace {

std::string Trimmed(std::string text) {
  const size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\r\n") - first + 1);
}

}  // namespace

Result<PlanPtr> ParserState::Statement() {
  if (Peek().kind == TokenKind::kEnd || (IsSymbol(";") && Peek(1).kind == TokenKind::kEnd))
    return ParseErrorAt(Error("PARSE_EMPTY_STATEMENT"), sql_, 0);
  if (Peek().kind != TokenKind::kWord) return Query();
  const std::string& word = Peek().upper;
  if (word == "SELECT" || word == "WITH" || word == "VALUES" || word == "FROM" || word == "TABLE")
    return Query();
  if (word == "CREATE" || word == "REPLACE") return CreateStatement();
  if (word == "DROP") return DropStatement();
  if (word == "USE") return UseStatement();
  if (word == "SHOW") return ShowStatement();
  if (word == "DESCRIBE" || word == "DESC") return DescribeStatement();
  if (word == "INSERT") return InsertStatement();
  if (word == "MERGE") return MergeStatement();
  if (word == "UPDATE") return UpdateStatement();
  if (word == "DELETE") return DeleteStatement();
  if (word == "SET") return SetStatement();
  if (word == "RESET") {
    Advance();
    const std::string key = Trimmed(RestOfStatement());
    return MakeCommand(ResetConfig{key.empty() ? std::nullopt : std::optional(key)});
  }
  if (word == "EXPLAIN") return ExplainStatement();
  if (word == "CACHE" || word == "UNCACHE" || word == "CLEAR" || word == "REFRESH")
    return CacheStatement();
  if (word == "OPTIMIZE" || word == "VACUUM" || word == "RESTORE") return MaintainStatement();
  if (word == "ALTER") return AlterStatement();
  if (word == "COMMENT") return CommentStatement();
  if (word == "ANALYZE") return AnalyzeStatement();
  if (word == "TRUNCATE") return TruncateStatement();
  if (word == "MSCK" || word == "REPAIR") return RepairStatement();
  static constexpr std::string_view kKnown[] = {"CALL", "EXECUTE", "GRANT", "KILL", "LOAD", "REVOKE"};
  if (std::find(std::begin(kKnown), std::end(kKnown), word) != std::end(kKnown))
    return Unsupported("the statement " + word);
  return Unexpected();
}

Result<std::map<std::string, std::string>> ParserState::PropertyList() {
  std::map<std::string, std::string> properties;
  TW_RETURN_NOT_OK(ExpectSymbol("("));
  do {
    std::string key;
    if (Peek().kind == TokenKind::kString) {
      key = Advance().text;  // one string: what follows may be the value
    } else {
      TW_ASSIGN_OR_RETURN(const NameParts parts, MultipartName());
      for (const std::string& part : parts) key += (key.empty() ? "" : ".") + part;
    }
    TakeSymbol("=") || TakeSymbol("==");
    std::string value;
    if (Peek().kind == TokenKind::kString) {
      TW_ASSIGN_OR_RETURN(value, StringText());
    } else if (!IsSymbol(",") && !IsSymbol(")")) {
      value = Advance().text;
    }
    properties[std::move(key)] = std::move(value);
  } while (TakeSymbol(","));
  TW_RETURN_NOT_OK(ExpectSymbol(")"));
  return properties;
}

/// The text between parentheses goes to the DDL schema parser.
Result<data::Schema> ParserState::TableColumns() {
  TW_RETURN_NOT_OK(ExpectSymbol("("));
  int begin = Peek().begin;
  int end = begin;
  int depth = 1;
  std::string ddl;  // without DEFAULT expression, which the DDL of schemas does not have
  std::vector<std::pair<size_t, std::string>> defaults;
  while (true) {
    if (Peek().kind == TokenKind::kEnd) return Unexpected();
    if (IsSymbol("(")) ++depth;
    if (IsSymbol(")") && --depth == 0) break;
    if (depth == 1 && end > begin && IsWord("DEFAULT") && !IsSymbol(",", 1) && !IsSymbol(":", 1)) {
      ddl += sql_.substr(begin, end - begin);
      TW_ASSIGN_OR_RETURN(const data::Schema before, data::ParseSchemaDdl(ddl));
      Advance();
      const int expression = static_cast<int>(at_);
      TW_RETURN_NOT_OK(Expression().status());
      defaults.emplace_back(before.size() - 1, Trimmed(TextFrom(expression)));
      ddl += " ";
      begin = end = Peek().begin;
      continue;
    }
    end = Advance().end;
  }
  Advance();
  ddl += sql_.substr(begin, end - begin);
  TW_ASSIGN_OR_RETURN(data::Schema schema, data::ParseSchemaDdl(ddl));
  for (const auto& [column, text] : defaults) data::SetMetadataText(&schema[column], "CURRENT_DEFAULT", text);
  return schema;
}

Result<PlanPtr> ParserState::CreateStatement() {
  bool replace = TakeWord("REPLACE");
  const bool replace_only = replace;
  if (!replace) {
    Advance();
    replace = TakeWords({"OR", "REPLACE"});
  }
  if (IsWord("DATABASE") || IsWord("SCHEMA") || IsWord("NAMESPACE"))
    return CreateDatabaseStatement();
  const bool external = TakeWord("EXTERNAL");
  if (TakeWord("TABLE")) return CreateTableStatement(replace, replace_only, external);
  const bool global = AreWords({"GLOBAL", "TEMPORARY"}) || AreWords({"GLOBAL", "TEMP"});
  if (global) Advance();
  const bool temporary = TakeWord("TEMPORARY") || TakeWord("TEMP");
  if (TakeWord("VIEW")) return CreateViewStatement(replace, global, temporary);
  if (TakeWord("FUNCTION")) return CreateFunctionStatement(replace, temporary);
  return Unexpected();
}

Result<PlanPtr> ParserState::CreateDatabaseStatement() {
  Advance();
  CreateDatabase command;
  command.if_not_exists = TakeWords({"IF", "NOT", "EXISTS"});
  TW_ASSIGN_OR_RETURN(command.name, MultipartName());
  while (true) {
    if (TakeWord("COMMENT")) {
      TW_ASSIGN_OR_RETURN(command.comment, StringText());
    } else if (TakeWord("LOCATION")) {
      TW_ASSIGN_OR_RETURN(command.location, StringText());
    } else if (TakeWords({"WITH", "DBPROPERTIES"}) || TakeWords({"WITH", "PROPERTIES"})) {
      TW_ASSIGN_OR_RETURN(command.properties, PropertyList());
    } else {
      return MakeCommand(std::move(command));
    }
  }
}

Result<PlanPtr> ParserState::CreateTableStatement(bool replace, bool replace_only, bool external) {
  CreateTable command;
  command.replace_only = replace_only;
  command.replace = replace;
  command.external = external;
  command.if_not_exists = TakeWords({"IF", "NOT", "EXISTS"});
  TW_ASSIGN_OR_RETURN(command.table, MultipartName());
  if (TakeWord("LIKE")) return CreateTableLikeStatement(std::move(command));
  if (IsSymbol("(")) {
    TW_ASSIGN_OR_RETURN(command.schema, TableColumns());
    command.has_schema = true;
  }
  while (true) {
    if (TakeWord("USING")) {
      TW_ASSIGN_OR_RETURN(const NameParts format, MultipartName());
      std::string text;
      for (const std::string& part : format) text += (text.empty() ? "" : ".") + part;
      command.format = text;
    } else if (TakeWord("OPTIONS")) {
      TW_ASSIGN_OR_RETURN(command.options, PropertyList());
    } else if (TakeWord("TBLPROPERTIES")) {
      TW_ASSIGN_OR_RETURN(command.properties, PropertyList());
    } else if (TakeWords({"PARTITIONED", "BY"})) {
      if (IsSymbol("(", 2)) return Unsupported("partition transforms");
      if (Peek(2).kind == TokenKind::kWord) {  // columns of their own
        TW_ASSIGN_OR_RETURN(const data::Schema columns, TableColumns());
        for (const data::StructField& column : columns) command.partition_columns.push_back(column.name);
        command.schema.insert(command.schema.end(), columns.begin(), columns.end());
      } else {
        TW_RETURN_NOT_OK(ExpectSymbol("("));
        TW_ASSIGN_OR_RETURN(command.partition_columns, NameList());
      }
    } else if (TakeWord("LOCATION")) {
      TW_ASSIGN_OR_RETURN(command.location, StringText());
    } else if (TakeWord("COMMENT")) {
      TW_ASSIGN_OR_RETURN(command.comment, StringText());
    } else if (AreWords({"CLUSTERED", "BY"}) || AreWords({"CLUSTER", "BY"})) {
      return Unsupported("CLUSTER BY in CREATE TABLE");
    } else if (IsWord("STORED") || IsWord("ROW")) {
      return Unsupported("Hive table formats");
    } else {
      break;
    }
  }
  const bool as = TakeWord("AS");
  if (as || IsWord("SELECT") || IsWord("WITH") || IsWord("VALUES")) {
    TW_ASSIGN_OR_RETURN(command.query, Query());
  }
  return MakeCommand(std::move(command));
}

Result<PlanPtr> ParserState::CreateViewStatement(bool replace, bool global, bool temporary) {
  CreateView command{};
  command.replace = replace;
  command.global = global;
  command.temporary = temporary;
  command.if_not_exists = TakeWords({"IF", "NOT", "EXISTS"});
  if (command.if_not_exists && (temporary || global)) return Error("_LEGACY_ERROR_TEMP_0053");
  TW_ASSIGN_OR_RETURN(command.name, MultipartName());
  if (IsWord("USING")) return CreateViewUsing(std::move(command), std::nullopt);
  const size_t before_columns = at_;
  if (TakeSymbol("(")) {
    do {
      TW_ASSIGN_OR_RETURN(std::string column, Name());
      if (temporary && AtName() && !IsWord("COMMENT")) {  // names with types: USING follows
        at_ = before_columns;
        TW_ASSIGN_OR_RETURN(data::Schema schema, TableColumns());
        return CreateViewUsing(std::move(command), std::move(schema));
      }
      command.columns.push_back(std::move(column));
      std::optional<std::string>& comment = command.column_comments.emplace_back();
      if (TakeWord("COMMENT")) {
        TW_ASSIGN_OR_RETURN(comment, StringText());
      }
    } while (TakeSymbol(","));
    TW_RETURN_NOT_OK(ExpectSymbol(")"));
  }
  while (!IsWord("AS")) {
    if (TakeWord("COMMENT")) {
      TW_ASSIGN_OR_RETURN(command.comment, StringText());
    } else if (TakeWord("TBLPROPERTIES")) {
      TW_ASSIGN_OR_RETURN(command.properties, PropertyList());
    } else {
      break;
    }
  }
  TW_RETURN_NOT_OK(ExpectWord("AS"));
  const int begin = static_cast<int>(at_);
  TW_ASSIGN_OR_RETURN(command.query, Query());
  command.sql = TextFrom(begin);
  return MakeCommand(std::move(command));
}

Result<PlanPtr> ParserState::DropStatement() {
  Advance();
  if (TakeWord("DATABASE") || TakeWord("SCHEMA") || TakeWord("NAMESPACE")) {
    DropDatabase command{};
    command.if_exists = TakeWords({"IF", "EXISTS"});
    TW_ASSIGN_OR_RETURN(command.name, MultipartName());
    command.cascade = TakeWord("CASCADE");
    if (!command.cascade) TakeWord("RESTRICT");
    return MakeCommand(std::move(command));
  }
  if (IsWord("TABLE") || IsWord("VIEW")) {
    DropTable command{};
    command.view = Advance().upper == "VIEW";
    command.if_exists = TakeWords({"IF", "EXISTS"});
    TW_ASSIGN_OR_RETURN(command.table, MultipartName());
    command.purge = TakeWord("PURGE");
    return MakeCommand(std::move(command));
  }
  const bool temporary = TakeWord("TEMPORARY") || TakeWord("TEMP");
  if (TakeWord("FUNCTION")) {
    DropFunction command{{}, temporary, TakeWords({"IF", "EXISTS"})};
    TW_ASSIGN_OR_RETURN(command.name, MultipartName());
    return MakeCommand(std::move(command));
  }
  return Unexpected();
}

Result<PlanPtr> ParserState::UseStatement() {
  Advance();
  if (!IsSymbol(".", 1) && Peek(1).kind != TokenKind::kEnd && !IsSymbol(";", 1))
    TakeWord("DATABASE") || TakeWord("SCHEMA") || TakeWord("NAMESPACE");
  TW_ASSIGN_OR_RETURN(NameParts name, MultipartName());
  return MakeCommand(UseDatabase{std::move(name)});
}

Result<PlanPtr> ParserState::ShowStatement() {
  Advance();
  const auto pattern = [&](std::optional<std::string>* out) -> Status {
    if (!TakeWord("LIKE") && Peek().kind != TokenKind::kString) return Status::OK();
    TW_ASSIGN_OR_RETURN(*out, StringText());
    return Status::OK();
  };
  if (TakeWord("DATABASES") || TakeWord("SCHEMAS") || TakeWord("NAMESPACES")) {
    ShowDatabases command;
    if (TakeWord("IN") || TakeWord("FROM")) {
      TW_ASSIGN_OR_RETURN(command.catalog, MultipartName());
    }
    TW_RETURN_NOT_OK(pattern(&command.pattern));
    return MakeCommand(std::move(command));
  }
  if (TakeWord("CATALOGS")) {
    ShowCatalogs command;
    TW_RETURN_NOT_OK(pattern(&command.pattern));
    return MakeCommand(std::move(command));
  }
  if (TakeWords({"CURRENT", "NAMESPACE"}) || TakeWords({"CURRENT", "SCHEMA"}) || TakeWords({"CURRENT", "DATABASE"}))
    return MakeCommand(ShowCurrentNamespace{});
  if (TakeWords({"TABLE", "EXTENDED"})) {
    ShowTableExtended command;
    if (TakeWord("IN") || TakeWord("FROM")) {
      TW_ASSIGN_OR_RETURN(command.database, MultipartName());
    }
    TW_RETURN_NOT_OK(ExpectWord("LIKE"));
    TW_ASSIGN_OR_RETURN(command.pattern, StringText());
    TW_ASSIGN_OR_RETURN(command.partition, OptionalPartitionSpec());
    return MakeCommand(std::move(command));
  }
  if (TakeWord("TBLPROPERTIES")) return ShowTablePropertiesStatement();
  if (TakeWord("PARTITIONS")) {
    ShowPartitions command;
    TW_ASSIGN_OR_RETURN(command.table, MultipartName());
    TW_ASSIGN_OR_RETURN(command.partition, OptionalPartitionSpec());
    return MakeCommand(std::move(command));
  }
  if (IsWord("TABLES") || IsWord("VIEWS")) {
    const bool tables = Advance().upper == "TABLES";
    NameParts database;
    if (TakeWord("IN") || TakeWord("FROM")) {
      TW_ASSIGN_OR_RETURN(database, MultipartName());
    }
    std::optional<std::string> like;
    TW_RETURN_NOT_OK(pattern(&like));
    if (tables) return MakeCommand(ShowTables{std::move(database), std::move(like)});
    return MakeCommand(ShowViews{std::move(database), std::move(like)});
  }
  if (TakeWord("COLUMNS")) {
    if (!TakeWord("IN")) TW_RETURN_NOT_OK(ExpectWord("FROM"));
    ShowColumns command;
    TW_ASSIGN_OR_RETURN(command.table, MultipartName());
    if (TakeWord("IN") || TakeWord("FROM")) {
      TW_ASSIGN_OR_RETURN(command.database, MultipartName());
    }
    return MakeCommand(std::move(command));
  }
  if (TakeWords({"CREATE", "TABLE"})) {
    TW_ASSIGN_OR_RETURN(NameParts table, MultipartName());
    TakeWords({"AS", "SERDE"});
    return MakeCommand(ShowCreateTable{std::move(table)});
  }
  std::string scope = "ALL";
  if (IsWord("USER") || IsWord("SYSTEM") || IsWord("ALL")) scope = Advance().upper;
  if (TakeWord("FUNCTIONS")) {
    ShowFunctions command{std::nullopt, scope, {}};
    if (TakeWord("IN") || TakeWord("FROM")) {
      TW_ASSIGN_OR_RETURN(command.database, MultipartName());
    }
    TW_RETURN_NOT_OK(pattern(&command.pattern));
    if (!command.pattern && AtName()) {  // the old form: a function's name in place of a pattern
      TW_ASSIGN_OR_RETURN(NameParts name, MultipartName());
      command.pattern = name.back();
      name.pop_back();
      if (!name.empty()) command.database = std::move(name);
    }
    return MakeCommand(std::move(command));
  }
  return Unsupported("SHOW " + Peek().text);
}

Result<PlanPtr> ParserState::DescribeStatement() {
  Advance();
  if (TakeWord("FUNCTION")) {
    const bool extended = TakeWord("EXTENDED");
    NameParts name;
    if (Peek().kind == TokenKind::kSymbol) {
      name.push_back(Advance().text);
    } else {
      TW_ASSIGN_OR_RETURN(name, MultipartName());
    }
    return MakeCommand(DescribeFunction{std::move(name), extended});
  }
  if (IsWord("DATABASE") || IsWord("SCHEMA") || IsWord("NAMESPACE")) {
    Advance();
    const bool extended = TakeWord("EXTENDED");
    TW_ASSIGN_OR_RETURN(NameParts name, MultipartName());
    return MakeCommand(DescribeDatabase{std::move(name), extended});
  }
  const bool query_word = TakeWord("QUERY");
  if (query_word || IsWord("SELECT") || IsWord("WITH") || IsWord("VALUES") || IsWord("FROM")) {
    TW_ASSIGN_OR_RETURN(PlanPtr query, Query());
    return MakeCommand(DescribeQuery{std::move(query)});
  }
  if ((IsWord("DETAIL") || IsWord("HISTORY")) && !IsSymbol(".", 1) && !IsSymbol(";", 1) && Peek(1).kind != TokenKind::kEnd)
    return DescribeTableLog();
  if (IsWord("TABLE") && !IsSymbol(".", 1) && Peek(1).kind != TokenKind::kEnd) Advance();
  const bool extended = TakeWord("EXTENDED") || TakeWord("FORMATTED");
  TW_ASSIGN_OR_RETURN(NameParts table, MultipartName());
  TW_ASSIGN_OR_RETURN(PartitionSpec partition, OptionalPartitionSpec());
  if (TakeWords({"AS", "JSON"})) return Unsupported("DESCRIBE ... AS JSON");
  if (AtName()) {
    TW_ASSIGN_OR_RETURN(NameParts column, MultipartName());
    return MakeCommand(DescribeColumn{std::move(table), std::move(column), extended});
  }
  return MakeCommand(DescribeTable{std::move(table), extended, std::move(partition)});
}

Result<PlanPtr> ParserState::InsertStatement() {
  Advance();
  InsertInto command;
  command.overwrite = TakeWord("OVERWRITE");
  if (!command.overwrite) TW_RETURN_NOT_OK(ExpectWord("INTO"));
  if (IsWord("DIRECTORY") || IsWord("LOCAL")) return Unsupported("INSERT OVERWRITE DIRECTORY");
  if (IsWord("TABLE") && !IsSymbol(".", 1)) Advance();
  const int begin = static_cast<int>(at_);
  TW_ASSIGN_OR_RETURN(NameParts table, MultipartName());
  auto relation = std::make_shared<UnresolvedRelation>(std::move(table), OptionMap(), false);
  relation->origin = OriginFrom(begin);
  command.table = std::move(relation);
  TW_ASSIGN_OR_RETURN(command.partition, OptionalPartitionSpec());
  command.if_not_exists = !command.partition.empty() && TakeWords({"IF", "NOT", "EXISTS"});
  if (IsWord("REPLACE")) return Unsupported("INSERT REPLACE");
  command.by_name = TakeWords({"BY", "NAME"});
  if (IsSymbol("(") && !IsWord("SELECT", 1) && !IsWord("WITH", 1) && !IsWord("VALUES", 1)) {
    Advance();
    TW_ASSIGN_OR_RETURN(command.columns, NameList());
  }
  TW_ASSIGN_OR_RETURN(command.query, Query());
  return MakeCommand(std::move(command));
}

Result<PlanPtr> ParserState::SetStatement() {
  Advance();
  if (TakeWords({"TIME", "ZONE"})) {
    SetTimeZone command;
    if (Peek().kind == TokenKind::kString) {
      TW_ASSIGN_OR_RETURN(command.text, StringText());
    } else if (TakeWord("LOCAL")) {
      command.text = "LOCAL";
    } else {
      TW_ASSIGN_OR_RETURN(command.zone, Expression());
    }
    return MakeCommand(std::move(command));
  }
  if (TakeWord("CATALOG")) {
    TW_ASSIGN_OR_RETURN(std::string name, Name());
    return MakeCommand(UseCatalog{std::move(name)});
  }
  if (IsWord("VARIABLE") || IsWord("VAR")) return Unsupported("SET VARIABLE");
  const std::string rest = Trimmed(RestOfStatement());
  if (rest.empty() || rest == "-v" || rest == "-V") return MakeCommand(SetConfig{});
  const size_t equals = rest.find('=');
  const auto unquoted = [](std::string text) {
    text = Trimmed(std::move(text));
    if (text.size() >= 2 && text.front() == '`' && text.back() == '`')
      return text.substr(1, text.size() - 2);
    return text;
  };
  if (equals == std::string::npos) return MakeCommand(SetConfig{unquoted(rest), std::nullopt});
  return MakeCommand(
      SetConfig{unquoted(rest.substr(0, equals)), unquoted(rest.substr(equals + 1))});
}

Result<PlanPtr> ParserState::ExplainStatement() {
  Advance();
  ExplainCommand command;
  using Mode = ExplainCommand::Mode;
  if (TakeWord("EXTENDED"))
    command.mode = Mode::kExtended;
  else if (TakeWord("CODEGEN"))
    command.mode = Mode::kCodegen;
  else if (TakeWord("COST"))
    command.mode = Mode::kCost;
  else if (TakeWord("FORMATTED"))
    command.mode = Mode::kFormatted;
  else if (TakeWord("LOGICAL"))
    command.mode = Mode::kExtended;
  TW_ASSIGN_OR_RETURN(command.query, Statement());
  return MakeCommand(std::move(command));
}

Result<PlanPtr> ParserState::CacheStatement() {
  const std::string verb = Advance().upper;
  if (verb == "CLEAR") {
    TW_RETURN_NOT_OK(ExpectWord("CACHE"));
    return MakeCommand(ClearCache{});
  }
  if (verb == "REFRESH") {
    if (TakeWord("FUNCTION")) {
      TW_ASSIGN_OR_RETURN(NameParts name, MultipartName());
      return MakeCommand(RefreshFunction{std::move(name)});
    }
    return RefreshStatement();
  }
  const bool lazy = TakeWord("LAZY");
  TW_RETURN_NOT_OK(ExpectWord("TABLE"));
  const bool if_exists = verb == "UNCACHE" && TakeWords({"IF", "EXISTS"});
  TW_ASSIGN_OR_RETURN(NameParts name, MultipartName());
  if (verb == "UNCACHE") return MakeCommand(UncacheTable{std::move(name), if_exists});
  CacheTable command{std::move(name), nullptr, lazy, {}};
  if (TakeWord("OPTIONS")) {
    TW_ASSIGN_OR_RETURN(command.options, PropertyList());
  }
  if (TakeWord("AS") || IsWord("SELECT")) {
    TW_ASSIGN_OR_RETURN(command.query, Query());
  }
  return MakeCommand(std::move(command));
}

}  // namespace thalweg::sql
