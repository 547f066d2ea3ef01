#pragma once

// The data files of one writing task: rows split by partition values, one Parquet file each. Shared by batch writes and the sink.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "connectors/delta/delta_log.h"
#include "connectors/delta/delta_stats.h"
#include "data/formats/parquet/parquet_writer.h"
#include "sql/datasource/data_source.h"
#include "sql/expr/evaluator.h"

namespace thalweg::connectors {

/// How rows of a query become rows of the table. Immutable, shared by the tasks.
struct DeltaWritePlan {
  std::string table_path;
  data::Schema schema;                     ///< the table's, logical, without void columns
  std::vector<std::string> partition_columns;
  /// For every column of `schema` the query's value: an attribute, a cast of it, or null. Null program: columns as they come.
  std::shared_ptr<const sql::Program> program;
  std::shared_ptr<const sql::EvalConfig> config;
  DeltaStatsOptions stats;
  data::ParquetWriteOptions parquet;
  std::string codec_suffix;                ///< "snappy"
  data::FileSystem* file_system = nullptr;
  Clock* clock = nullptr;
  int64_t max_records_per_file = 0;        ///< 0: no limit
};
using DeltaWritePlanPtr = std::shared_ptr<const DeltaWritePlan>;

/// What one task wrote.
struct DeltaFilesMessage final : sql::CommitMessage {
  std::vector<AddFile> adds;
  std::string table_path;
  std::vector<std::string> paths;  ///< of the files, to make them durable or to remove them
  std::vector<std::string> changed_directories;  ///< outside of the table too: those that got a new directory
  int64_t rows = 0;
  int64_t bytes = 0;
};

/// What all tasks wrote, as one message.
DeltaFilesMessage JoinDeltaFiles(const std::vector<sql::CommitMessagePtr>& messages);

/// Errors of Write: DELTA_NOT_NULL_CONSTRAINT_VIOLATED, casts' errors, IO_ERROR.
std::unique_ptr<sql::DataWriter> NewDeltaFilesWriter(DeltaWritePlanPtr plan, int32_t task);

/// Makes all files of the messages, and their names, durable with one barrier.
Status SyncDeltaFiles(data::FileSystem& file_system, const std::vector<sql::CommitMessagePtr>& messages);
/// Removes the files of an abandoned write; errors are logged.
void RemoveDeltaFiles(data::FileSystem& file_system, const std::vector<sql::CommitMessagePtr>& messages);

}  // namespace thalweg::connectors
