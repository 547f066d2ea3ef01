#pragma once

// Spark's types and those of ORC files, as Arrow shows them. Private to the ORC family.

#include <arrow/type.h>

#include <memory>

#include "base/status.h"
#include "data/columnar/column.h"
#include "data/types/data_type.h"

namespace thalweg::data {

/// What a column of a file holds in memory as Arrow gives it (`stored`), and what it is to Spark (`type`): they differ in TIMESTAMP, which
/// has no zone in the file, and in TIMESTAMP_NTZ and intervals, which are whole numbers with a note.
struct OrcField {
  StructField field;   ///< Spark's
  DataType stored;
};

/// Errors: UNSUPPORTED_FEATURE.THALWEG for unions and for nesting beyond 200 levels.
Result<OrcField> FromOrcField(const arrow::Field& field);

/// The schema to write, with Spark's notes where the stored type does not tell; and the stored type of each column.
/// Errors: UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE, UNSUPPORTED_TIME_TYPE.
struct OrcWriteSchema {
  std::shared_ptr<arrow::Schema> arrow;
  Schema stored;
};
Result<OrcWriteSchema> ToOrcSchema(const Schema& schema);

/// Whether a column of the file can be read as `wanted`: widening, as AdaptColumn does it, less what ORC's readers take for something else.
bool CanReadOrc(const DataType& from, const DataType& wanted, bool case_sensitive);

/// Whether a column of the stored type holds a moment that Arrow's adapter writes wrongly: before 1970 and not a whole second. It cuts towards
/// zero where ORC rounds down, and Spark fails on the negative rest.
bool HasFractionBefore1970(const Column& column);

/// The same rows under a type with the same layout all the way down.
ColumnPtr Retyped(const ColumnPtr& column, const DataType& type);

}  // namespace thalweg::data
