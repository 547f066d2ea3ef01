#pragma once

// Values of one leaf column into Parquet's encoders. Private to the Parquet family.

#include <parquet/column_writer.h>

#include <cstdint>
#include <memory>

#include "data/columnar/column.h"

namespace thalweg::data {

/// Converts values to Parquet's physical type and writes them with their levels. One per leaf column; keeps its scratch memory.
/// Thread: confined to its writer. Throws parquet::ParquetException: the caller catches.
class LeafWriter {
 public:
  virtual ~LeafWriter() = default;
  /// `levels` slots, of which `count` have values: rows `rows[0..count)` of the flat `column`, or its first `count` rows when
  /// `rows` is null. `def`, `rep`: null when the column has no such levels.
  virtual void Write(parquet::ColumnWriter* writer, const Column& column, const int32_t* rows, int64_t count,
                     int64_t levels, const int16_t* def, const int16_t* rep) = 0;
  static std::unique_ptr<LeafWriter> Make(const DataType& type, bool int96);
};

}  // namespace thalweg::data
