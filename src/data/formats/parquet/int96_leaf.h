#pragma once

// INT96 columns, decoded here: Arrow takes the day as unsigned, so that everything before 4713 BC comes out as another moment.
// Private to the Parquet family.

#include <parquet/column_reader.h>

#include <memory>
#include <vector>

#include "base/status.h"
#include "data/columnar/column.h"

namespace thalweg::data {

/// One leaf at the top level of one row group. Thread: confined. Throws parquet::ParquetException: the caller catches.
class Int96Leaf {
 public:
  explicit Int96Leaf(std::shared_ptr<parquet::ColumnReader> reader) : reader_(std::move(reader)) {}
  /// The next `rows` rows as TIMESTAMP. Errors: INTERNAL_ERROR when there are fewer.
  Result<ColumnPtr> Next(int64_t rows);

 private:
  std::shared_ptr<parquet::ColumnReader> reader_;
  std::vector<parquet::Int96> values_;  // scratch
  std::vector<int16_t> levels_;         // scratch
};

}  // namespace thalweg::data
