#pragma once

// Reads ORC files as Spark does. Contract for connectors.

#include <memory>
#include <string>

#include "data/formats/file_reader.h"
#include "data/types/data_type.h"

namespace thalweg::data {

/// Spark's schema of a file, all nullable: types of the file, or those that Spark noted beside them (timestamp_ntz, intervals).
/// Errors: FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER (damaged, cut, no ORC file), FAILED_READ_FILE.FILE_NOT_EXIST, UNSUPPORTED_FEATURE.THALWEG
/// for unions and what else Spark has no type for.
Result<Schema> ReadOrcSchema(FileSystem& file_system, const std::string& path);

struct OrcReadRequest {
  /// The top-level columns wanted, by name. A column (or a field of a struct) that the file lacks is null. Types may be wider than the
  /// file's (column_adapter.h).
  Schema columns;
  /// All columns of the table in order: files whose columns are called _col0, _col1, ... (Hive's) are read by position.
  Schema table;
  bool case_sensitive = false;
};

/// A range selects the stripes that begin in it, so pieces of a file share it without gap. Whole columns are read, rows are not filtered.
/// TIMESTAMP is the time on the wall in UTC. Errors: those of ReadOrcSchema; FAILED_READ_FILE.NO_HINT for damage found later and for
/// columns of other types; UNSUPPORTED_FEATURE.THALWEG for moments before 1677-09-21 or after 2262-04-11 (Arrow's adapter has nanoseconds).
std::unique_ptr<FileReader> MakeOrcFileReader(OrcReadRequest request);

}  // namespace thalweg::data
