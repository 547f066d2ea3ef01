#include <algorithm>

#include "base/string_case.h"
#include "data/io/file_system.h"
#include "data/io/path.h"
#include "front/commands/table_partitions.h"

namespace thalweg::front {

namespace {

Status FixColumns(CommandRun& run, const sql::InsertInto& command, const sql::TableInfo& table, ColumnMatch* match) {
  for (const sql::PartitionValue& entry : command.partition) {
    const auto same = [&](const std::string& name) { return EqualsIgnoreCase(name, entry.column); };
    const auto column = std::find_if(table.partition_columns.begin(), table.partition_columns.end(), same);
    const auto field = std::find_if(table.schema.begin(), table.schema.end(),
                                    [&](const data::StructField& candidate) { return same(candidate.name); });
    if (column == table.partition_columns.end() || field == table.schema.end()) return PartitionsNotFound(table, command.partition);
    if (entry.value == nullptr) continue;
    TW_ASSIGN_OR_RETURN(match->fixed[field->name], ConstantOf(run, entry.value, field->type));
  }
  return Status::OK();
}

// INSERT OVERWRITE ... PARTITION (...) IF NOT EXISTS: a partition that is there keeps its rows.
Result<bool> IsThere(CommandRun& run, const sql::InsertInto& command, const sql::TableInfo& table) {
  TW_RETURN_NOT_OK(CheckListsPartitions(table, "INSERT ... IF NOT EXISTS"));
  TW_ASSIGN_OR_RETURN(const TablePartition partition, PartitionOf(run, table, command.partition));
  return run.session.server().connectors.file_system->Exists(data::JoinPath(table.location, partition.Path(table)));
}

}  // namespace

Status Run(CommandRun& run, const sql::InsertInto& command) {
  const auto* target = command.table == nullptr ? nullptr : command.table->As<sql::UnresolvedRelation>();
  if (target == nullptr) return Unsupported("INSERT INTO something that is not a table");
  TW_ASSIGN_OR_RETURN(sql::TableInfo found, FindTable(run.session, target->name_parts));
  sql::TableInfo table = found;
  if (!command.partition.empty()) {
    TW_ASSIGN_OR_RETURN(table, WithOwnSchema(run.session, std::move(found)));
  }
  TW_ASSIGN_OR_RETURN(const sql::PlanPtr analyzed, run.session.Analyze(command.query, run.stop));
  ColumnMatch match{.by_name = command.by_name, .strict_names = command.by_name, .columns = command.columns};
  TW_RETURN_NOT_OK(FixColumns(run, command, table, &match));
  if (command.overwrite && command.if_not_exists) {
    TW_ASSIGN_OR_RETURN(const bool there, IsThere(run, command, table));
    if (there) return Status::OK();
  }
  if (command.overwrite) match.replaced.assign(match.fixed.begin(), match.fixed.end());
  return WriteIntoTable(run, table, analyzed, target->options, command.overwrite ? sql::SaveMode::kOverwrite : sql::SaveMode::kAppend, match,
                        nullptr);
}

}  // namespace thalweg::front
