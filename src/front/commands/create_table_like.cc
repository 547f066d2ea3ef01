#include "front/commands/handlers.h"

namespace thalweg::front {

// The columns and partitions of another table, or those of a view; not its properties, comment or rows.
Status Run(CommandRun& run, const sql::CreateTableLike& command) {
  sql::TableInfo table;
  TW_ASSIGN_OR_RETURN(const auto name, run.session.TableName(command.table));
  table.database = name.first;
  table.name = name.second;
  const bool temporary = command.source.size() == 1 && run.session.FindTempView(command.source[0], false) != nullptr;
  const auto relation = std::make_shared<sql::UnresolvedRelation>(command.source, sql::OptionMap(), false);
  TW_ASSIGN_OR_RETURN(const sql::PlanPtr plan, run.session.Analyze(relation, run.stop));
  table.schema = plan->schema();
  table.format = command.format.value_or("");
  if (!temporary) {
    TW_ASSIGN_OR_RETURN(const sql::TableInfo source, FindTable(run.session, command.source));
    table.partition_columns = source.partition_columns;
    if (!command.format && source.type != sql::TableType::kView) {
      table.format = source.format;
      table.options = source.options;
    } else if (source.type != sql::TableType::kView) {
      table.options = source.options;
    }
  }
  if (table.format.empty()) table.format = run.session.GetConfOption("spark.sql.sources.default").value_or("parquet");
  table.properties = command.properties;
  table.location = command.location.value_or("");
  OrderColumns(&table);
  return run.session.CreateTable(&table, command.if_not_exists, run.stop).status();
}

}  // namespace thalweg::front
