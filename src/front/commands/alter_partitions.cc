// ALTER TABLE ... ADD, DROP, RENAME PARTITION, RECOVER PARTITIONS; SHOW PARTITIONS; TRUNCATE TABLE.

#include "data/io/file_system.h"
#include "data/io/own_tree.h"
#include "data/io/path.h"
#include "front/commands/table_partitions.h"

namespace thalweg::front {

namespace {

data::FileSystem& FilesOf(CommandRun& run) { return *run.session.server().connectors.file_system; }

std::string PlaceOf(const sql::TableInfo& table, const TablePartition& partition) {
  return data::JoinPath(table.location, partition.Path(table));
}

Status AlreadyThere(const sql::TableInfo& table, const TablePartition& partition) {
  return Error("PARTITIONS_ALREADY_EXIST")
      .With("partitionList", "PARTITION (" + partition.Path(table) + ")")
      .With("tableName", sql::QuoteName(table.QualifiedName()));
}

// Files that Spark's readers would not see either stay: the log of a stream's sink is the stream's.
Status RemoveRows(CommandRun& run, const std::string& directory) {
  data::FileSystem& files = FilesOf(run);
  TW_ASSIGN_OR_RETURN(const bool exists, files.Exists(directory));
  if (!exists) return Status::OK();
  TW_ASSIGN_OR_RETURN(const std::vector<data::FileInfo> entries, data::ListOwnTree(files, directory));
  for (const data::FileInfo& entry : entries) {
    if (entry.path.find("/_spark_metadata/") != std::string::npos) continue;
    TW_RETURN_NOT_OK(files.Remove(entry.path));
  }
  return Status::OK();
}

}  // namespace

Status AddPartitions(CommandRun& run, const sql::TableInfo& table, const sql::AlterTable::AddPartitions& change) {
  TW_RETURN_NOT_OK(CheckListsPartitions(table, "ALTER TABLE ... ADD PARTITION"));
  std::vector<std::string> places;
  for (const sql::PartitionSpec& spec : change.partitions) {
    TW_ASSIGN_OR_RETURN(const TablePartition partition, PartitionOf(run, table, spec));
    places.push_back(PlaceOf(table, partition));
    TW_ASSIGN_OR_RETURN(const bool exists, FilesOf(run).Exists(places.back()));
    if (exists && !change.if_not_exists) return AlreadyThere(table, partition);
  }
  for (const std::string& place : places) TW_RETURN_NOT_OK(FilesOf(run).MakeDirectories(place));
  return Status::OK();
}

Status DropPartitions(CommandRun& run, const sql::TableInfo& table, const sql::AlterTable::DropPartitions& change) {
  TW_RETURN_NOT_OK(CheckListsPartitions(table, "ALTER TABLE ... DROP PARTITION"));
  // The directory is all there is of a partition: forgetting it alone, as Spark does for external tables, cannot be said.
  if (table.type == sql::TableType::kExternal) return Unsupported("dropping partitions of an external table");
  std::vector<TablePartition> dropped;
  for (const sql::PartitionSpec& spec : change.partitions) {
    TW_ASSIGN_OR_RETURN(const PartitionPattern pattern, PatternOf(run, table, spec));
    TW_ASSIGN_OR_RETURN(const std::vector<TablePartition> found, ListPartitions(run, table, pattern));
    if (found.empty() && !change.if_exists) return PartitionsNotFound(table, spec);
    dropped.insert(dropped.end(), found.begin(), found.end());
  }
  for (const TablePartition& partition : dropped) TW_RETURN_NOT_OK(FilesOf(run).RemoveTree(PlaceOf(table, partition)));
  return Status::OK();
}

Status RenamePartition(CommandRun& run, const sql::TableInfo& table, const sql::AlterTable::RenamePartition& change) {
  TW_RETURN_NOT_OK(CheckListsPartitions(table, "ALTER TABLE ... RENAME PARTITION"));
  TW_ASSIGN_OR_RETURN(const TablePartition from, PartitionOf(run, table, change.from));
  TW_ASSIGN_OR_RETURN(const TablePartition to, PartitionOf(run, table, change.to));
  const std::string old_place = PlaceOf(table, from), new_place = PlaceOf(table, to);
  TW_ASSIGN_OR_RETURN(const bool there, FilesOf(run).Exists(old_place));
  if (!there) return PartitionsNotFound(table, change.from);
  TW_ASSIGN_OR_RETURN(const bool taken, FilesOf(run).Exists(new_place));
  if (taken) return AlreadyThere(table, to);
  TW_RETURN_NOT_OK(FilesOf(run).MakeDirectories(data::ParentPath(new_place)));
  return FilesOf(run).Rename(old_place, new_place, data::RenameMode::kNoReplace);
}

// What lies there is what is seen, so there is nothing to recover.
Status RecoverPartitions(CommandRun&, const sql::TableInfo& table, const std::string& operation) {
  if (table.type == sql::TableType::kView || KeepsOwnLog(table.format)) return CheckListsPartitions(table, operation);
  if (!table.partition_columns.empty()) return Status::OK();
  return Error("NOT_A_PARTITIONED_TABLE").With("operation", operation).With("tableIdentWithDB", sql::QuoteName(table.QualifiedName()));
}

Status Run(CommandRun& run, const sql::ShowPartitions& command) {
  TW_ASSIGN_OR_RETURN(const sql::TableInfo table, FindTable(run.session, command.table));
  TW_RETURN_NOT_OK(CheckListsPartitions(table, "SHOW PARTITIONS"));
  TW_ASSIGN_OR_RETURN(const PartitionPattern pattern, PatternOf(run, table, command.partition));
  TW_ASSIGN_OR_RETURN(const std::vector<TablePartition> partitions, ListPartitions(run, table, pattern));
  std::vector<data::ValueList> rows;
  for (const TablePartition& partition : partitions) rows.push_back({TextValue(partition.Path(table))});
  return run.Answer({{"partition", data::DataType::String(), false}}, rows);
}

Status Run(CommandRun& run, const sql::TruncateTable& command) {
  TW_ASSIGN_OR_RETURN(const sql::TableInfo table, FindTable(run.session, command.table));
  if (table.type == sql::TableType::kView) {
    return Error("EXPECT_TABLE_NOT_VIEW.NO_ALTERNATIVE").With("viewName", sql::QuoteName(table.QualifiedName())).With("operation", "TRUNCATE TABLE");
  }
  if (KeepsOwnLog(table.format)) {
    if (!command.partition.empty()) return Unsupported("TRUNCATE TABLE ... PARTITION of a Delta table");
    return Run(run, sql::DeleteFromTable{std::make_shared<sql::UnresolvedRelation>(command.table, sql::OptionMap(), false), nullptr});
  }
  if (table.type == sql::TableType::kExternal) {
    return Error("_LEGACY_ERROR_TEMP_1266").With("tableIdentWithDB", sql::QuoteName(table.QualifiedName()));
  }
  if (command.partition.empty()) return RemoveRows(run, table.location);
  if (table.partition_columns.empty()) {
    return Error("_LEGACY_ERROR_TEMP_1267").With("tableIdentWithDB", sql::QuoteName(table.QualifiedName()));
  }
  TW_ASSIGN_OR_RETURN(const PartitionPattern pattern, PatternOf(run, table, command.partition));
  TW_ASSIGN_OR_RETURN(const std::vector<TablePartition> partitions, ListPartitions(run, table, pattern));
  for (const TablePartition& partition : partitions) {
    const std::string place = PlaceOf(table, partition);
    TW_ASSIGN_OR_RETURN(const bool link, data::IsSymbolicLink(FilesOf(run), place));
    if (link) {  // what it leads to is not the table's
      TW_RETURN_NOT_OK(FilesOf(run).Remove(place));
      TW_RETURN_NOT_OK(FilesOf(run).MakeDirectories(place));
    }
    TW_RETURN_NOT_OK(RemoveRows(run, place));
  }
  return Status::OK();
}

}  // namespace thalweg::front
