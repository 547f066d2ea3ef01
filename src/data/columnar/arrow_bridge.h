#pragma once

// Contract: between our columns and Arrow's. The only header of this room whose .cc includes Arrow's arrays.

#include <memory>
#include <string>
#include <vector>

#include "base/status.h"
#include "data/columnar/chunk.h"

namespace arrow {
class Array;
class ArrayData;
class DataType;
class Field;
class RecordBatch;
class Schema;
class Status;
}  // namespace arrow

namespace thalweg::data {

/// Arrow's status as ours: IO_ERROR of IOError, OUT_OF_MEMORY of OutOfMemory, else kInternal with `attempted` in the text.
Status FromArrowStatus(const arrow::Status& status, std::string_view attempted);

/// Imports without copying where the layout allows: fixed width by reference, (large_)utf8/binary/view as views,
/// booleans expanded, decimals 32 to 256 to 128 bits, dictionaries kept, timestamps of any unit to microseconds.
/// `type` is Spark's type of the result and must be compatible. Errors: INTERNAL_ERROR for an impossible pair,
/// DATETIME_OVERFLOW for times out of range.
Result<ColumnPtr> ImportArray(const std::shared_ptr<arrow::Array>& array, const DataType& type);

struct ExportOptions {
  bool large_var_types = false;  ///< spark.sql.execution.arrow.useLargeVarTypes
  std::string time_zone = "UTC"; ///< the zone written into Arrow's timestamp type, as Spark does
};
/// Arrow's type as Spark's ArrowUtils.toArrowType gives it. VOID is null, decimals 128.
Result<std::shared_ptr<arrow::DataType>> ToArrowType(const DataType& type, const ExportOptions& options);
Result<std::shared_ptr<arrow::Schema>> ToArrowSchema(const Schema& schema, const ExportOptions& options);
/// Spark's type of an Arrow type, as Spark's fromArrowType.
Result<DataType> FromArrowType(const arrow::DataType& type);
/// Plain utf8/binary, offsets from 0: what clients and Parquet writers want. `chunk` may have a selection.
Result<std::shared_ptr<arrow::RecordBatch>> ExportChunk(const Chunk& chunk, const Schema& schema,
                                                        const ExportOptions& options);
/// One Arrow IPC stream (schema, batches, end) per call; decodes what clients send (LocalRelation.data).
Result<std::string> WriteIpcStream(const std::vector<Chunk>& chunks, const Schema& schema, const ExportOptions& options);
struct IpcStream {
  Schema schema;
  std::vector<Chunk> chunks;
};
Result<IpcStream> ReadIpcStream(std::string_view bytes);

}  // namespace thalweg::data
