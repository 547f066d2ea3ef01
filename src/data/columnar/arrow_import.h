#pragma once

// Private to the import of Arrow arrays.

#include "base/status.h"
#include "data/columnar/builder.h"
#include "data/columnar/column.h"

namespace arrow {
class Array;
}

namespace thalweg::data {

Status ImpossibleImport(const arrow::Array& array, const DataType& type);
/// Sets length, null count and a bitmap that starts at bit 0.
void ImportValidity(const arrow::Array& array, Column::Parts* parts);
/// Everything without children.
Result<ColumnPtr> ImportScalarArray(const arrow::Array& array, const DataType& type);

}  // namespace thalweg::data
