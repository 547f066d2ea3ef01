// ALTER TABLE ... ADD, DROP, RENAME PARTITION, RECOVER PARTITIONS; SHOW PARTITIONS; TRUNCATE TABLE.

#include <algorithm>
#include <set>

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

// The partition of a statement as it lies there; nullopt where there is none.
Result<std::optional<TablePartition>> Find(CommandRun& run, const sql::TableInfo& table, const TablePartition& named) {
  const PartitionPattern pattern(named.values.begin(), named.values.end());
  TW_ASSIGN_OR_RETURN(std::vector<TablePartition> found, ListPartitions(run, table, pattern));
  return found.empty() ? std::optional<TablePartition>() : std::optional<TablePartition>(std::move(found[0]));
}

Status BehindLink(const std::string& link) {
  return Unsupported("deleting or moving a part of what lies behind a symbolic link in a table (" + link + ")");
}

// What is to be removed so that partitions go: their directories. Where a link leads to one it is the link, for what it leads to is
// somebody else's, and all that is behind it has to go.
Result<std::set<std::string>> PlacesOf(CommandRun& run, const sql::TableInfo& table, const std::vector<TablePartition>& partitions) {
  std::set<std::string> directories, places, links;
  for (const TablePartition& partition : partitions) directories.insert(partition.directories.begin(), partition.directories.end());
  for (const std::string& directory : directories) {
    TW_ASSIGN_OR_RETURN(const std::string link, data::FirstLink(FilesOf(run), table.location, directory));
    places.insert(link.empty() ? directory : link);
    if (!link.empty() && link != directory) links.insert(link);
  }
  if (links.empty()) return places;
  TW_ASSIGN_OR_RETURN(const std::vector<TablePartition> all, ListPartitions(run, table));
  for (const TablePartition& partition : all) {
    for (const std::string& directory : partition.directories) {
      if (directories.count(directory) > 0) continue;
      TW_ASSIGN_OR_RETURN(const std::string link, data::FirstLink(FilesOf(run), table.location, directory));
      if (links.count(link) > 0) return BehindLink(link);
    }
  }
  return places;
}

// The log of a stream's sink in the table's own directory stays: it is the stream's.
Status RemoveRows(CommandRun& run, const sql::TableInfo& table, const std::string& directory) {
  data::FileSystem& files = FilesOf(run);
  const std::string log = data::JoinPath(table.location, "_spark_metadata") + "/";
  TW_ASSIGN_OR_RETURN(const std::vector<data::FileInfo> entries, data::ListOwnTree(files, directory));
  for (const data::FileInfo& entry : entries) {
    if (entry.path.starts_with(log)) continue;
    TW_RETURN_NOT_OK(files.Remove(entry.path));
  }
  return Status::OK();
}

// Partitions without rows stay partitions.
Status RemoveRowsOf(CommandRun& run, const sql::TableInfo& table, const std::vector<TablePartition>& partitions) {
  data::FileSystem& files = FilesOf(run);
  TW_ASSIGN_OR_RETURN(const std::set<std::string> places, PlacesOf(run, table, partitions));
  for (const std::string& place : places) {
    TW_ASSIGN_OR_RETURN(const bool link, data::IsSymbolicLink(files, place));
    TW_RETURN_NOT_OK(link ? files.Remove(place) : RemoveRows(run, table, place));
  }
  for (const TablePartition& partition : partitions) {
    for (const std::string& directory : partition.directories) TW_RETURN_NOT_OK(files.MakeDirectories(directory));
  }
  return Status::OK();
}

}  // namespace

Status AddPartitions(CommandRun& run, const sql::TableInfo& table, const sql::AlterTable::AddPartitions& change) {
  TW_RETURN_NOT_OK(CheckListsPartitions(table, "ALTER TABLE ... ADD PARTITION"));
  std::vector<std::string> places;
  for (const sql::PartitionSpec& spec : change.partitions) {
    TW_ASSIGN_OR_RETURN(const TablePartition partition, PartitionOf(run, table, spec));
    TW_ASSIGN_OR_RETURN(const std::optional<TablePartition> found, Find(run, table, partition));
    if (found && !change.if_not_exists) return AlreadyThere(table, partition);
    if (!found) places.push_back(PlaceOf(table, partition));
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
  TW_ASSIGN_OR_RETURN(const std::set<std::string> places, PlacesOf(run, table, dropped));
  for (const std::string& place : places) TW_RETURN_NOT_OK(FilesOf(run).RemoveTree(place));
  return Status::OK();
}

Status RenamePartition(CommandRun& run, const sql::TableInfo& table, const sql::AlterTable::RenamePartition& change) {
  TW_RETURN_NOT_OK(CheckListsPartitions(table, "ALTER TABLE ... RENAME PARTITION"));
  TW_ASSIGN_OR_RETURN(const TablePartition from, PartitionOf(run, table, change.from));
  TW_ASSIGN_OR_RETURN(const TablePartition to, PartitionOf(run, table, change.to));
  TW_ASSIGN_OR_RETURN(const std::optional<TablePartition> found, Find(run, table, from));
  if (!found) return PartitionsNotFound(table, change.from);
  TW_ASSIGN_OR_RETURN(const std::optional<TablePartition> taken, Find(run, table, to));
  if (taken) return AlreadyThere(table, to);
  if (found->directories.size() > 1) return Unsupported("renaming a partition that lies in several directories");
  const std::string& old_place = found->directories[0];
  TW_ASSIGN_OR_RETURN(const std::string link, data::FirstLink(FilesOf(run), table.location, old_place));
  if (!link.empty() && link != old_place) return BehindLink(link);
  const std::string new_place = PlaceOf(table, to);
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
  if (command.partition.empty()) return RemoveRows(run, table, table.location);
  if (table.partition_columns.empty()) {
    return Error("_LEGACY_ERROR_TEMP_1267").With("tableIdentWithDB", sql::QuoteName(table.QualifiedName()));
  }
  TW_ASSIGN_OR_RETURN(const PartitionPattern pattern, PatternOf(run, table, command.partition));
  TW_ASSIGN_OR_RETURN(const std::vector<TablePartition> partitions, ListPartitions(run, table, pattern));
  const bool names_one = std::all_of(pattern.begin(), pattern.end(), [](const std::optional<std::string>& value) { return value.has_value(); });
  if (partitions.empty() && names_one) return PartitionsNotFound(table, command.partition);
  return RemoveRowsOf(run, table, partitions);
}

}  // namespace thalweg::front
