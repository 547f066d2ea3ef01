#include <set>

#include "base/string_case.h"
#include "data/types/field_comment.h"
#include "front/commands/handlers.h"
#include "front/session/view_name.h"

namespace thalweg::front {

namespace {

// The query under the view's column names, if it gives some.
Result<sql::PlanPtr> Renamed(const sql::PlanPtr& analyzed, const sql::CreateView& command) {
  const std::vector<std::string>& columns = command.columns;
  const sql::NameParts& view = command.name;
  if (columns.empty()) return analyzed;
  const sql::AttributeList output = analyzed->output();
  if (columns.size() != output.size()) {
    std::string given, data_columns;
    for (const std::string& column : columns) given += (given.empty() ? "" : ", ") + data::QuoteIdentifier(column);
    for (const sql::AttributePtr& a : output) data_columns += (data_columns.empty() ? "" : ", ") + data::QuoteIdentifier(a->name());
    return Error(columns.size() > output.size() ? "CREATE_VIEW_COLUMN_ARITY_MISMATCH.NOT_ENOUGH_DATA_COLUMNS"
                                                : "CREATE_VIEW_COLUMN_ARITY_MISMATCH.TOO_MANY_DATA_COLUMNS")
        .With("viewName", sql::QuoteName(view))
        .With("viewColumns", given)
        .With("dataColumns", data_columns);
  }
  sql::ExprList list;
  for (size_t i = 0; i < columns.size(); ++i) {
    data::StructField field{columns[i], output[i]->type(), true, "{}"};
    if (i < command.column_comments.size() && command.column_comments[i]) data::SetComment(&field, command.column_comments[i]);
    list.push_back(sql::Alias::Make(output[i], columns[i], sql::NewExprId(), field.metadata_json));
  }
  return std::make_shared<sql::Project>(std::move(list), analyzed);
}

Status CheckNoTemporaryObjects(const Session& session, const sql::PlanPtr& query, const sql::TableInfo& view) {
  std::string temporary;
  sql::Visit(query, [&](const sql::PlanPtr& node) {
    const auto* relation = node->As<sql::UnresolvedRelation>();
    if (relation != nullptr && relation->name_parts.size() == 1 &&
        session.FindTempView(relation->name_parts[0], false) != nullptr) {
      temporary = relation->name_parts[0];
    }
    return temporary.empty();
  });
  if (temporary.empty()) return Status::OK();
  return Error("INVALID_TEMP_OBJ_REFERENCE")
      .With("obj", "VIEW")
      .With("objName", sql::QuoteName(view.QualifiedName()))
      .With("tempObj", "VIEW")
      .With("tempObjName", sql::QuoteName({temporary}));
}

Status NotAView(const sql::TableInfo& table, const std::string& operation) {
  return Error("EXPECT_VIEW_NOT_TABLE.NO_ALTERNATIVE").With("tableName", sql::QuoteName(table.QualifiedName())).With("operation", operation);
}

// A view that its own query reads, itself or through other views, could be read by nobody any more; `path` is the way so far.
// Source: Spark's ViewHelper.checkCyclicViewReference.
Status CheckNotRecursive(const sql::PlanPtr& query, const sql::NameParts& view, std::vector<sql::NameParts>* path) {
  const auto* alias = query->As<sql::SubqueryAlias>();
  const bool is_view = alias != nullptr && alias->is_view;
  if (is_view) path->push_back(alias->name_parts);
  if (is_view && alias->name_parts == view) {
    std::string cycle;
    for (const sql::NameParts& name : *path) cycle += (cycle.empty() ? "" : " -> ") + sql::QuoteName(name);
    return Error("RECURSIVE_VIEW").With("viewIdent", sql::QuoteName(view)).With("newPath", cycle);
  }
  for (const sql::PlanPtr& child : query->children()) TW_RETURN_NOT_OK(CheckNotRecursive(child, view, path));
  if (is_view) path->pop_back();
  return Status::OK();
}

Status CheckNotRecursive(const sql::PlanPtr& query, const sql::NameParts& view) {
  std::vector<sql::NameParts> path = {view};
  return CheckNotRecursive(query, view, &path);
}

// The same of a view of the catalogue. The named subqueries of `text` count even where nothing uses them: who reads the view reads them.
Status CheckNotRecursive(Session& session, const sql::PlanPtr& text, const sql::PlanPtr& query, const sql::TableInfo& view) {
  TW_RETURN_NOT_OK(CheckNotRecursive(query, view.QualifiedName()));
  const auto* with = text->As<sql::UnresolvedWith>();
  if (with == nullptr) return Status::OK();
  for (const auto& [name, subquery] : with->ctes) {
    auto use = std::make_shared<sql::UnresolvedRelation>(sql::NameParts{name}, sql::OptionMap(), false);
    TW_ASSIGN_OR_RETURN(const sql::PlanPtr used, session.Analyze(std::make_shared<sql::UnresolvedWith>(with->ctes, std::move(use))));
    TW_RETURN_NOT_OK(CheckNotRecursive(used, view.QualifiedName()));
  }
  return Status::OK();
}

// The same of a temporary view that is replaced. What only remembers one of that name, as a view made of one that was dropped, may be used.
Status CheckNotRecursive(const Session& session, const sql::PlanPtr& query, const std::string& name, bool global) {
  if (session.FindTempView(name, global) == nullptr) return Status::OK();
  sql::NameParts view{ToAsciiLower(name)};
  if (global) view.insert(view.begin(), std::string(kGlobalTempDatabase));
  return CheckNotRecursive(query, view);
}

Status CheckColumnNames(const data::Schema& schema) {
  std::set<std::string> names;
  for (const data::StructField& field : schema) {
    const std::string name = ToAsciiLower(field.name);
    if (!names.insert(name).second) return Error("COLUMN_ALREADY_EXISTS").With("columnName", data::QuoteIdentifier(name));
  }
  return Status::OK();
}

// What a view is made of: the columns and text of its query, and how names and texts in it are to be read.
void Define(CommandRun& run, const sql::PlanPtr& query, const sql::PlanPtr& analyzed, const std::string& text, sql::TableInfo* view) {
  view->schema = analyzed->schema();
  view->view_columns.clear();
  for (const sql::AttributePtr& attribute : query->output()) view->view_columns.push_back(attribute->name());
  view->view_text = text;
  view->view_database = run.session.current_database();
  for (const char* key : {"spark.sql.ansi.enabled", "spark.sql.session.timeZone"}) {
    if (const std::optional<std::string> value = run.session.GetConfOption(key)) view->view_settings[key] = *value;
  }
}

Status CreatePersistent(CommandRun& run, const sql::CreateView& command, const sql::PlanPtr& query, const sql::PlanPtr& analyzed) {
  sql::TableInfo view;
  TW_ASSIGN_OR_RETURN(const auto name, run.session.TableName(command.name));
  view.database = name.first;
  view.name = name.second;
  view.type = sql::TableType::kView;
  TW_RETURN_NOT_OK(CheckNoTemporaryObjects(run.session, command.query, view));
  TW_RETURN_NOT_OK(CheckColumnNames(analyzed->schema()));
  if (command.replace) TW_RETURN_NOT_OK(CheckNotRecursive(run.session, command.query, query, view));
  Define(run, query, analyzed, command.sql, &view);
  view.comment = command.comment;
  view.properties = command.properties;
  view.created_ms = run.session.server().connectors.clock->NowMillis();
  view.owner = run.session.user();
  using IfExists = sql::Catalog::IfExists;
  const IfExists if_exists =
      command.replace ? IfExists::kReplace : command.if_not_exists ? IfExists::kKeep : IfExists::kFail;
  return run.catalog().CreateTable(view, if_exists).status();
}

}  // namespace

Status Run(CommandRun& run, const sql::CreateView& command) {
  TW_ASSIGN_OR_RETURN(const sql::PlanPtr query, run.session.Analyze(command.query, run.stop));
  TW_ASSIGN_OR_RETURN(sql::PlanPtr analyzed, Renamed(query, command));
  if (!command.temporary && !command.global) return CreatePersistent(run, command, query, analyzed);
  if (command.name.size() > 1) {
    const sql::NameParts qualifier(command.name.begin(), command.name.end() - 1);
    return Error("INVALID_TEMP_OBJ_QUALIFIER")
        .With("objectType", "VIEW")
        .With("objectName", data::QuoteIdentifier(command.name.back()))
        .With("qualifier", sql::QuoteName(qualifier));
  }
  if (command.replace) TW_RETURN_NOT_OK(CheckNotRecursive(run.session, query, command.name[0], command.global));
  return run.session.CreateTempView(command.name[0], std::move(analyzed), command.replace, command.global);
}

Status Run(CommandRun& run, const sql::CreateTempViewFromPlan& command) {
  TW_ASSIGN_OR_RETURN(const std::string name, ParseTempViewName(command.name));
  TW_ASSIGN_OR_RETURN(sql::PlanPtr analyzed, run.session.Analyze(command.query, run.stop));
  return run.session.CreateTempView(name, std::move(analyzed), command.replace, command.global);
}

Status Run(CommandRun& run, const sql::CreateTempViewUsing& command) {
  auto source = std::make_shared<sql::UnresolvedDataSource>();
  source->format = command.format;
  source->options = command.options;
  if (command.schema) source->schema_text = data::DataType::Struct(*command.schema).Json();
  TW_ASSIGN_OR_RETURN(sql::PlanPtr analyzed, run.session.Analyze(source, run.stop));
  return run.session.CreateTempView(command.name, std::move(analyzed), command.replace, command.global);
}

Status Run(CommandRun& run, const sql::AlterViewAs& command) {
  const bool global = command.name.size() == 2 && EqualsIgnoreCase(command.name[0], kGlobalTempDatabase);
  if ((command.name.size() == 1 || global) && run.session.FindTempView(command.name.back(), global) != nullptr) {
    TW_ASSIGN_OR_RETURN(sql::PlanPtr analyzed, run.session.Analyze(command.query, run.stop));
    TW_RETURN_NOT_OK(CheckNotRecursive(run.session, analyzed, command.name.back(), global));
    return run.session.CreateTempView(command.name.back(), std::move(analyzed), true, global);
  }
  TW_ASSIGN_OR_RETURN(const sql::TableInfo view, FindTable(run.session, command.name));
  if (view.type != sql::TableType::kView) return NotAView(view, "ALTER VIEW ... AS");
  TW_RETURN_NOT_OK(CheckNoTemporaryObjects(run.session, command.query, view));
  TW_ASSIGN_OR_RETURN(const sql::PlanPtr analyzed, run.session.Analyze(command.query, run.stop));
  TW_RETURN_NOT_OK(CheckColumnNames(analyzed->schema()));
  TW_RETURN_NOT_OK(CheckNotRecursive(run.session, command.query, analyzed, view));
  return run.catalog().AlterTable(view.database, view.name, [&](sql::TableInfo* entry) -> Status {
    if (entry->type != sql::TableType::kView) return NotAView(*entry, "ALTER VIEW ... AS");
    Define(run, analyzed, analyzed, command.sql, entry);
    return Status::OK();
  });
}

}  // namespace thalweg::front
