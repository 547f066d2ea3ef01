#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "data/columnar/column.h"
#include "data/rowformat/row_batch.h"

namespace thalweg::data {

/// UnsafeRow bytes as columns. Every offset and size is checked: the bytes may come from a damaged file.
/// Thread: immutable.
class UnsafeRowReader {
 public:
  explicit UnsafeRowReader(std::vector<DataType> types) : types_(std::move(types)) {}

  /// One flat column per type. Text is copied. Errors: MALFORMED_STATE_ROW.
  Result<std::vector<ColumnPtr>> Read(std::span<const std::string_view> rows) const;
  Result<std::vector<ColumnPtr>> Read(const RowBatch& batch) const;
  /// Some columns only, in the order of `columns`. A view without data gives nulls.
  Result<std::vector<ColumnPtr>> Read(std::span<const std::string_view> rows, std::span<const int> columns) const;

 private:
  std::vector<DataType> types_;
};

/// What Spark's structural validation finds wrong with a row of these types, or nothing: null bits and unused slot bytes
/// zero, variable values inside the row.
std::optional<std::string> FindRowFault(std::span<const DataType> types, std::string_view row);

/// The first `columns` columns of a row of these types as a row of their own (a key's prefix). False when the row is damaged.
bool RowPrefix(std::span<const DataType> types, int columns, std::string_view row, std::string* out);

}  // namespace thalweg::data
