#pragma once

// Spark's types and Parquet's, both ways. Private to the Parquet family.

#include <parquet/arrow/schema.h>
#include <parquet/schema.h>

#include <memory>

#include "base/status.h"
#include "data/formats/parquet/parquet_writer.h"
#include "data/types/data_type.h"

namespace thalweg::data {

/// The message type `spark_schema` as Spark's ParquetWriteSupport makes it: three-level lists, key_value maps, decimals by
/// precision, INT96 or INT64 timestamps. Errors: UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE for void, calendar intervals and empty structs.
Result<std::shared_ptr<parquet::schema::GroupNode>> ToParquetSchema(const Schema& schema,
                                                                    const ParquetWriteOptions& options);

/// Bytes of a fixed-length decimal of that precision: the fewest that hold it with a sign.
int DecimalBytes(int precision);

/// Spark's type of one field of a file, as Arrow reads it: INT96 is TIMESTAMP whatever Arrow thinks. Errors:
/// PARQUET_TYPE_NOT_SUPPORTED; UNSUPPORTED_FEATURE.THALWEG for shredded variants.
Result<StructField> FromParquetField(const parquet::SchemaDescriptor& descriptor, const parquet::arrow::SchemaField& field);

}  // namespace thalweg::data
