#include "front/commands/handlers.h"

namespace thalweg::front {

namespace {

// The query under the view's column names, if it gives some.
Result<sql::PlanPtr> Renamed(const sql::PlanPtr& analyzed, const std::vector<std::string>& columns, const sql::NameParts& view) {
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
  for (size_t i = 0; i < columns.size(); ++i) list.push_back(sql::Alias::Make(output[i], columns[i]));
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

Status CreatePersistent(CommandRun& run, const sql::CreateView& command, const sql::PlanPtr& analyzed) {
  sql::TableInfo view;
  TW_ASSIGN_OR_RETURN(const auto name, run.session.TableName(command.name));
  view.database = name.first;
  view.name = name.second;
  view.type = sql::TableType::kView;
  TW_RETURN_NOT_OK(CheckNoTemporaryObjects(run.session, command.query, view));
  view.schema = analyzed->schema();
  view.view_text = command.sql;
  view.view_database = run.session.current_database();
  for (const char* key : {"spark.sql.ansi.enabled", "spark.sql.session.timeZone"}) {
    if (const std::optional<std::string> value = run.session.GetConfOption(key)) view.view_settings[key] = *value;
  }
  view.created_ms = run.session.server().connectors.clock->NowMillis();
  view.owner = run.session.user();
  if (command.replace) {
    const Result<sql::TableInfo> old = run.catalog().GetTable(view.database, view.name);
    if (old.ok() && old->type != sql::TableType::kView) {
      return Error("EXPECT_VIEW_NOT_TABLE.NO_ALTERNATIVE")
          .With("tableName", sql::QuoteName(view.QualifiedName()))
          .With("operation", "CREATE OR REPLACE VIEW");
    }
  }
  using IfExists = sql::Catalog::IfExists;
  const IfExists if_exists =
      command.replace ? IfExists::kReplace : command.if_not_exists ? IfExists::kKeep : IfExists::kFail;
  return run.catalog().CreateTable(view, if_exists).status();
}

}  // namespace

Status Run(CommandRun& run, const sql::CreateView& command) {
  TW_ASSIGN_OR_RETURN(const sql::PlanPtr query, run.session.Analyze(command.query));
  TW_ASSIGN_OR_RETURN(sql::PlanPtr analyzed, Renamed(query, command.columns, command.name));
  if (!command.temporary && !command.global) return CreatePersistent(run, command, analyzed);
  if (command.name.size() > 1) {
    return Error("TEMP_VIEW_NAME_TOO_MANY_NAME_PARTS").With("actualName", sql::QuoteName(command.name));
  }
  if (command.if_not_exists && run.session.FindTempView(command.name[0], command.global) != nullptr) return Status::OK();
  return run.session.CreateTempView(command.name[0], std::move(analyzed), command.replace, command.global);
}

Status Run(CommandRun& run, const sql::CreateTempViewFromPlan& command) {
  TW_ASSIGN_OR_RETURN(sql::PlanPtr analyzed, run.session.Analyze(command.query));
  return run.session.CreateTempView(command.name, std::move(analyzed), command.replace, command.global);
}

}  // namespace thalweg::front
