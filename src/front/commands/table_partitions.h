#pragma once

// Partitions of tables over files: the directories `column=value` below a table's place. There is no list of them elsewhere, so every
// partition that is there counts (Spark knows those of its catalogue only).

#include <string>
#include <vector>

#include "front/commands/handlers.h"

namespace thalweg::front {

/// A value per partition column, as text; empty: null.
struct TablePartition {
  std::vector<std::string> values;
  /// Where it lies, absolute: whoever made a directory may have spelled columns (case) and values (escapes) otherwise than we do, and
  /// several directories may be one partition. Empty for one that a statement names and nobody looked for.
  std::vector<std::string> directories;
  /// `p=1/q=a`, escaped: how SHOW PARTITIONS prints it and where we put it.
  std::string Path(const sql::TableInfo& table) const;
};

/// What a PARTITION clause says of each partition column; nullopt where it says nothing.
using PartitionPattern = std::vector<std::optional<std::string>>;

/// Errors: those of views, INVALID_PARTITION_OPERATION.PARTITION_SCHEMA_IS_EMPTY, UNSUPPORTED_FEATURE.THALWEG (Delta).
Status CheckListsPartitions(const sql::TableInfo& table, std::string_view operation);
/// Those that are there, each once, sorted by path. Symbolic links are followed. Blocks: on the disk.
Result<std::vector<TablePartition>> ListPartitions(CommandRun& run, const sql::TableInfo& table, const PartitionPattern& pattern = {});
/// A constant of a statement as a partition directory names it.
Result<std::string> PartitionText(CommandRun& run, const sql::ExprPtr& value, const data::DataType& type);
/// Errors: PARTITIONS_NOT_FOUND for a column that is none of the partition's.
Result<PartitionPattern> PatternOf(CommandRun& run, const sql::TableInfo& table, const sql::PartitionSpec& spec);
/// The same of a clause that must name one partition. Errors: _LEGACY_ERROR_TEMP_1232 when it leaves columns out.
Result<TablePartition> PartitionOf(CommandRun& run, const sql::TableInfo& table, const sql::PartitionSpec& spec);
Status PartitionsNotFound(const sql::TableInfo& table, const sql::PartitionSpec& spec);

}  // namespace thalweg::front
