#include "front/commands/handlers.h"

namespace thalweg::front {

Status Run(CommandRun& run, const sql::InsertInto& command) {
  const auto* target = command.table == nullptr ? nullptr : command.table->As<sql::UnresolvedRelation>();
  if (target == nullptr) return Unsupported("INSERT INTO something that is not a table");
  TW_ASSIGN_OR_RETURN(const sql::TableInfo table, FindTable(run.session, target->name_parts));
  TW_ASSIGN_OR_RETURN(const sql::PlanPtr analyzed, run.session.Analyze(command.query));
  return WriteIntoTable(run, table, analyzed, target->options,
                        command.overwrite ? sql::SaveMode::kOverwrite : sql::SaveMode::kAppend,
                        {command.by_name, command.columns}, nullptr);
}

}  // namespace thalweg::front
