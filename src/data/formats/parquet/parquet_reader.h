#pragma once

// Reads Parquet files as Spark does. Contract for connectors.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "data/columnar/chunk.h"
#include "data/formats/parquet/column_predicate.h"
#include "data/io/file_system.h"
#include "data/types/data_type.h"

namespace thalweg::data {

struct ParquetReadRequest {
  /// The top-level columns wanted, by name, with the types wanted. A column (or a field of a struct) that the file lacks is
  /// null. Types may be wider than the file's: integers, float to double, decimals, dates to TIMESTAMP_NTZ.
  Schema columns;
  bool case_sensitive = false;
  /// Row groups whose statistics rule the conjunction out are left out. Rows are not filtered.
  std::vector<ColumnPredicate> predicates;
  /// Row groups whose middle lies in [split_begin, split_end) of the file: so splits of a file share it without gap.
  int64_t split_begin = 0;
  int64_t split_end = INT64_MAX;
  int64_t batch_rows = 2 * kChunkRows;
};

struct ParquetChunk {
  Chunk chunk;
  int64_t first_row = 0;  ///< position in the file of its first row; rows are consecutive
};

/// Rows of one file in order. Thread: one. Blocks: on the disk.
class ParquetChunkReader {
 public:
  virtual ~ParquetChunkReader() = default;
  /// nullopt at the end. Errors: FAILED_READ_FILE.NO_HINT and the like, caused by what was wrong.
  virtual Result<std::optional<ParquetChunk>> Next() = 0;
  virtual int64_t bytes_read() const = 0;
  /// Row groups that the request selects, and how many of the split's were skipped by statistics.
  virtual int row_groups_read() const = 0;
  virtual int row_groups_skipped() const = 0;
};

/// An open file: its footer. Thread: immutable; readers of it may run in parallel.
class ParquetFile {
 public:
  virtual ~ParquetFile() = default;
  /// Errors: FAILED_READ_FILE.FILE_NOT_EXIST, FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER (damaged, cut, or no Parquet file).
  static Result<std::shared_ptr<const ParquetFile>> Open(FileSystem& file_system, const std::string& path);

  /// Spark's schema: from the footer's row metadata when Spark (or we) wrote the file, else derived from the Parquet types; all
  /// columns nullable in the second case as Spark reads them. Errors: PARQUET_TYPE_NOT_SUPPORTED.
  virtual Result<Schema> ReadSchema() const = 0;
  virtual int64_t num_rows() const = 0;
  virtual int num_row_groups() const = 0;
  virtual int64_t row_group_rows(int i) const = 0;
  /// Bytes of the file (compressed) that a row group occupies, and where it begins.
  virtual int64_t row_group_bytes(int i) const = 0;
  virtual int64_t row_group_offset(int i) const = 0;
  virtual std::map<std::string, std::string> metadata() const = 0;
  virtual const std::string& path() const = 0;

  virtual Result<std::unique_ptr<ParquetChunkReader>> NewReader(const ParquetReadRequest& request) const = 0;
};

}  // namespace thalweg::data
