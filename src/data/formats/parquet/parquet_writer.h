#pragma once

// Writes Parquet files as Spark does. Contract for connectors.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "data/columnar/chunk.h"
#include "data/io/file_system.h"
#include "data/types/data_type.h"
#include "data/types/value.h"

namespace thalweg::data {

struct ParquetWriteOptions {
  enum class Timestamps : uint8_t {
    kInt96,   ///< what Spark writes by default (spark.sql.parquet.outputTimestampType)
    kMicros,  ///< TIMESTAMP_MICROS
  };
  Timestamps timestamps = Timestamps::kInt96;  ///< TIMESTAMP only; TIMESTAMP_NTZ is always INT64 micros
  /// uncompressed, none, snappy, gzip, lz4, lz4_raw, zstd, brotli: Spark's names, any case.
  std::string compression = "snappy";
  int64_t row_group_bytes = int64_t{128} << 20;  ///< encoded bytes after which a row group is closed
  /// Parquet field ids by dotted path ("a", "a.b"; "m.key", "l.element"): Delta's column mapping. Empty: none.
  std::map<std::string, int32_t> field_ids;
  /// Further footer entries. Spark's own two (version, row metadata) are always written.
  std::map<std::string, std::string> metadata;
  /// Minimum and maximum of the first that many leaf columns are collected, depth-first; null counts too. -1: all.
  int statistics_columns = -1;
};

/// What a file holds of one leaf column. Structs are walked; arrays and maps count as leaves, with null counts alone.
struct LeafStatistics {
  std::vector<std::string> path;   ///< names from the top
  DataType type;
  int64_t null_count = 0;          ///< rows that are null, or lie below a null struct
  std::optional<Value> min;        ///< absent without values, and for types without order
  std::optional<Value> max;        ///< NaN when any value is NaN
};

struct ParquetFileSummary {
  int64_t rows = 0;
  int64_t bytes = 0;
  int row_groups = 0;
  std::vector<LeafStatistics> leaves;  ///< the first `statistics_columns`
};

/// The codec's part of a file name as Spark writes it: "snappy" in `part-0.snappy.parquet`, empty for none. Errors:
/// CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION.
Result<std::string> ParquetCodecSuffix(std::string_view compression);

/// Writes one file. Shape: chunks of the schema's columns, any encoding and selection. A null in a column that is not nullable
/// is an error (INTERNAL_ERROR: the caller checks before). Thread: one. Blocks: on the disk.
/// Nothing is synced: whoever commits the file does that.
class ParquetWriter {
 public:
  virtual ~ParquetWriter() = default;
  /// Replaces an existing file; the directory must exist. Errors: UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE, IO_ERROR.
  static Result<std::unique_ptr<ParquetWriter>> Make(FileSystem& file_system, const std::string& path,
                                                     const Schema& schema, const ParquetWriteOptions& options = {});
  virtual Status Write(const Chunk& chunk) = 0;
  /// Ends the file. After an error of Write or Close the file is of no use; the caller removes it.
  virtual Result<ParquetFileSummary> Close() = 0;
  /// Encoded bytes so far, for callers that bound files.
  virtual int64_t bytes_written() const = 0;
  virtual int64_t rows_written() const = 0;
};

}  // namespace thalweg::data
