#include "front/commands/handlers.h"

namespace thalweg::front {

// Statistics of tables over files would be read by nobody: a plan is made from the files as they are. The statement checks what
// Spark's checks.
Status Run(CommandRun& run, const sql::AnalyzeTable& command) {
  if (command.table.empty()) {
    const std::string database = command.database.empty() ? run.session.current_database() : sql::LowerName(command.database.back());
    return run.catalog().GetDatabase(database).status();
  }
  const auto relation = std::make_shared<sql::UnresolvedRelation>(command.table, sql::OptionMap(), false);
  TW_ASSIGN_OR_RETURN(const sql::PlanPtr plan, run.session.Analyze(relation, run.stop));
  if (run.session.FindTempView(command.table[0], false) == nullptr || command.table.size() > 1) {
    TW_ASSIGN_OR_RETURN(const sql::TableInfo table, FindTable(run.session, command.table));
    if (table.type == sql::TableType::kView) {
      return Error("EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE").With("viewName", sql::QuoteName(table.QualifiedName())).With("operation", "ANALYZE TABLE");
    }
  }
  for (const data::StructField& field : plan->schema()) {
    if (command.all_columns && field.type.IsNested()) {
      return Error("UNSUPPORTED_FEATURE.ANALYZE_UNSUPPORTED_COLUMN_TYPE")
          .With("columnType", "\"" + field.type.Sql() + "\"")
          .With("columnName", data::QuoteIdentifier(field.name))
          .With("tableName", sql::QuoteName(command.table));
    }
  }
  return Status::OK();
}

}  // namespace thalweg::front
