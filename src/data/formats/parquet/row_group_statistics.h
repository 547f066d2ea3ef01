#pragma once

// Bounds of row groups from a Parquet footer. Private to the Parquet family.

#include <parquet/metadata.h>

#include "data/formats/parquet/column_predicate.h"

namespace thalweg::data {

/// What the footer says of one leaf in one row group, as values of `type`; nothing where it cannot be trusted (INT96, floats'
/// upper bounds, since NaN is left out of them, types that differ).
ColumnRange RowGroupRange(const parquet::RowGroupMetaData& row_group, int leaf, const DataType& type);

}  // namespace thalweg::data
