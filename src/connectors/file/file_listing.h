#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/status.h"
#include "connectors/file/glob.h"
#include "data/io/file_system.h"
#include "sql/datasource/data_source.h"

namespace thalweg::connectors {

/// A data file as listed.
struct FileEntry {
  std::string path;
  int64_t size_bytes = 0;
  int64_t modification_time_ms = 0;
};

/// Options of listing that streams and batch reads share.
struct ListingOptions {
  bool recursive = false;  ///< recursiveFileLookup: all depths, no partition columns
  std::optional<NameFilter> name_filter;
  std::optional<int64_t> modified_before_us;
  std::optional<int64_t> modified_after_us;
  bool ignore_sink_log = false;  ///< spark.sql.streaming.fileStreamSink.ignoreMetadata

  /// Errors: INVALID_OPTION_VALUE; ILLEGAL_ARGUMENT for bad times.
  static Result<ListingOptions> Make(const sql::OptionMap& options, const std::string& time_zone);
};

/// What a listing found.
struct FileListing {
  std::vector<FileEntry> files;          ///< in order of directories, then names
  std::vector<std::string> roots;        ///< patterns resolved; what partition directories hang below
  std::vector<std::string> directories;  ///< every directory looked at
  bool from_sink_log = false;
};

/// Names no reader looks at: `_x` without '=', `.x`, `x._COPYING_`; Parquet's `_metadata` and `_common_metadata` files
/// are no data either. Source: Spark's HadoopFSUtils.shouldFilterOutPathName.
bool IsHiddenName(std::string_view name);

/// Whether a directory is the output of a file sink, which reads through its log.
Result<bool> HasSinkLog(data::FileSystem& file_system, const std::string& directory);

/// Lists data files below paths, which may be patterns, directories or files. A single plain directory with a sink's
/// log gives what that names. Without `missing_ok` a path that is not there, or a pattern that matches nothing, is an
/// error. Errors: PATH_NOT_FOUND; IO_ERROR. Blocks: on the disk.
Result<FileListing> ListDataFiles(data::FileSystem& file_system, Clock& clock, const std::vector<std::string>& paths,
                                  const ListingOptions& options, bool missing_ok);

}  // namespace thalweg::connectors
