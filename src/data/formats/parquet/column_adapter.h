#pragma once

// A column as a file holds it, as a column of the type that was asked for. Private to the Parquet and ORC families.

#include "base/status.h"
#include "data/columnar/column.h"

namespace thalweg::data {

/// Whether AdaptColumn can make `wanted` of `from`. Structs match by field name; a field that is missing is null.
bool CanAdapt(const DataType& from, const DataType& wanted, bool case_sensitive);
/// The rows of `column` as `wanted`. Widens integers (byte to short, int, long, double, decimal), float to double, decimals
/// (scale and precision up), dates to TIMESTAMP_NTZ; INT96's TIMESTAMP and TIMESTAMP_NTZ are one in memory.
/// Errors: INTERNAL_ERROR when CanAdapt says no.
Result<ColumnPtr> AdaptColumn(const ColumnPtr& column, const DataType& wanted, bool case_sensitive);
/// Position of the field of that name, -1 when there is none. Without case, an exact match goes first.
int FindField(const std::vector<StructField>& fields, std::string_view name, bool case_sensitive);

}  // namespace thalweg::data
