#pragma once

// Test double: random data of every type, for property tests of any room against naive evaluation.

#include <vector>

#include "base/random.h"
#include "data/columnar/chunk.h"
#include "data/columnar/column.h"

namespace thalweg::data {

/// Types without children, one of each kind.
std::vector<DataType> EveryScalarType();
/// A type of at most `depth` levels below it; 0 gives a scalar.
DataType RandomType(Random& random, int depth);
/// A value that fits the type: edge values (least, largest, zero, -0.0, NaN, empty and long texts) are frequent.
/// Decimals stay within their precision.
Value RandomValue(Random& random, const DataType& type, double null_probability);
/// `length` rows in an encoding picked at random (flat, constant, dictionary), or in the given one.
ColumnPtr RandomColumn(Random& random, const DataType& type, int64_t length, double null_probability = 0.2);
ColumnPtr RandomColumn(Random& random, const DataType& type, int64_t length, double null_probability,
                       Encoding encoding);
/// Every row as a Value, by GetValue.
ValueList ColumnValues(const Column& column);

}  // namespace thalweg::data
