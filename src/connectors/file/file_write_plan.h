#pragma once

// How the rows of a query become files: shared by batch writes and the sink of a stream.

#include <memory>
#include <string>
#include <vector>

#include "connectors/file/file_format.h"
#include "data/text/time_zone.h"
#include "sql/datasource/data_source.h"

namespace thalweg::connectors {

/// Fixed for one write. Thread: immutable; shared by its tasks.
struct FileWritePlan {
  data::FileSystem* file_system = nullptr;
  Clock* clock = nullptr;
  std::string target;                        ///< the directory that the rows are for
  std::string staging;                       ///< where files are written; `target` itself: in place
  std::string job_id;                        ///< part of every file's name; empty: each file has its own
  FileWriters writers;
  std::vector<int> data_at;                  ///< the columns of the query that stand in files
  std::vector<int> partition_at;             ///< those that stand in directories, outermost first
  std::vector<std::string> partition_names;  ///< as the writer named them
  data::TimeZone zone;
  int64_t max_records_per_file = 0;          ///< 0: no limit

  bool in_place() const { return staging == target; }
};
using FileWritePlanPtr = std::shared_ptr<const FileWritePlan>;

/// A file of one task.
struct WrittenFile {
  std::string relative;  ///< below the target and below the staging directory
  int64_t rows = 0;
};

struct FilesMessage final : sql::CommitMessage {
  std::vector<WrittenFile> files;
};

/// A plan that writes in place. Errors: _LEGACY_ERROR_TEMP_1155 (no such partition column), ALL_PARTITION_COLUMNS_NOT_ALLOWED,
/// INVALID_PARTITION_COLUMN_DATA_TYPE, COLUMN_ALREADY_EXISTS, EMPTY_SCHEMA_NOT_SUPPORTED_FOR_DATASOURCE, those of the format.
Result<FileWritePlan> PlanFileWrite(const FileFormat& format, const FormatContext& context, Clock* clock, std::string target,
                                    const data::Schema& schema, const std::vector<std::string>& partition_columns);

/// `p=1/q=a`: where rows with these values of partition columns stand, below the target.
/// Errors: UNSUPPORTED_FEATURE.THALWEG unless they are values of the outermost columns.
Result<std::string> PartitionDirectory(const FileWritePlan& plan, const data::Schema& schema,
                                       const std::vector<std::pair<std::string, data::Value>>& values);

/// Errors of Write: those of the format, IO_ERROR.
std::unique_ptr<sql::DataWriter> NewFilesWriter(FileWritePlanPtr plan, int32_t task);

/// Paths of the files of all messages, below `root`.
std::vector<std::string> PathsOf(const std::vector<sql::CommitMessagePtr>& messages, const std::string& root);
/// The directories of files, up to `root`, each once, sorted.
std::vector<std::string> DirectoriesOf(const std::vector<std::string>& files, const std::string& root);
/// Removes the files of an abandoned write; errors are logged.
void RemoveFiles(const FileWritePlan& plan, const std::vector<sql::CommitMessagePtr>& messages);

}  // namespace thalweg::connectors
