#include "front/commands/handlers.h"
#include "sql/datasource/table_command.h"

namespace thalweg::front {

namespace {

struct Maintained {
  const sql::Relation* table = nullptr;
  sql::ExprPtr condition;
};

// The one table below aliases and the WHERE of the command; views are none.
Result<Maintained> FindMaintained(const sql::PlanPtr& analyzed, const sql::MaintainTable& command) {
  Maintained found;
  sql::PlanPtr node = analyzed;
  while (true) {
    if (const auto* filter = node->As<sql::Filter>(); filter != nullptr && found.condition == nullptr && command.condition != nullptr) {
      found.condition = filter->condition;
    } else if (node->As<sql::SubqueryAlias>() == nullptr) {
      break;
    }
    node = node->children()[0];
  }
  found.table = node->As<sql::Relation>();
  if (found.table == nullptr) return Error("EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE").With("viewName", command.target->NodeText()).With("operation", command.name);
  return found;
}

}  // namespace

Status Run(CommandRun& run, const sql::MaintainTable& command) {
  sql::PlanPtr plan = command.target;
  if (command.condition != nullptr) plan = std::make_shared<sql::Filter>(command.condition, plan);
  const Result<sql::PlanPtr> analyzed = run.session.Analyze(plan, run.stop);
  if (!analyzed.ok() && analyzed.status().condition() == "PATH_NOT_FOUND") {
    return Error("DELTA_MISSING_DELTA_TABLE").With("tableName", command.target->NodeText()).Because(analyzed.status());
  }
  TW_RETURN_NOT_OK(analyzed.status());
  TW_ASSIGN_OR_RETURN(const Maintained found, FindMaintained(*analyzed, command));
  sql::TableCommandRequest request;
  request.name = command.name;
  request.arguments = command.arguments;
  if (command.condition != nullptr) request.arguments.Set("predicate", command.condition->PlanText());
  if (!found.table->catalog_name.empty()) {
    std::string name;
    for (const std::string& part : found.table->catalog_name) name += (name.empty() ? "" : ".") + part;
    request.arguments.Set("tableName", std::move(name));
  }
  request.condition = found.condition;
  request.attributes = found.table->attributes;
  request.columns = command.columns;
  request.user = run.session.user();
  request.config = run.session.eval_config();
  request.settings = std::make_shared<const SettingsMap>(run.session.SettingsSnapshot());
  request.stop = run.stop;
  auto* table = dynamic_cast<sql::SupportsTableCommands*>(found.table->table.get());
  if (table == nullptr) {
    return Error("UNSUPPORTED_FEATURE.TABLE_OPERATION").With("tableName", data::QuoteIdentifier(found.table->table->name()))
        .With("operation", request.name);
  }
  TW_ASSIGN_OR_RETURN(const sql::TableCommandAnswer answer, table->RunCommand(request));
  return run.Answer(answer.schema, answer.rows);
}

}  // namespace thalweg::front
