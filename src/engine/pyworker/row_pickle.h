#pragma once

// Rows as Python's pickles, for workers that take no Arrow (eval types 0, 100, 300). Source: PySpark's worker.py, serializers.py.

#include <string>

#include "data/columnar/chunk.h"
#include "data/types/data_type.h"

namespace thalweg::engine {

/// What a row is to the user's function.
enum class PickledRow : uint8_t {
  kRow,    ///< a pyspark.sql.Row with names; dates, timestamps and what is nested converted to Python's own
  kTuple,  ///< arguments of a plain function: a tuple when no type needs conversion, a Row otherwise
};

/// Pickles the rows of chunks of one schema. Binaries are `bytes`, or bytearray when `binary_as_bytes` is false (pyspark 4.0). Text that
/// is not UTF-8 gets U+FFFD, as Java decodes it. Thread: confined.
class RowPickler {
 public:
  /// Errors: UNSUPPORTED_FEATURE.THALWEG for calendar intervals.
  static Result<RowPickler> Make(const data::Schema& schema, PickledRow row, bool binary_as_bytes);
  /// Length and pickle of a list with the chunk's rows, behind what `*out` holds.
  /// Errors: UNSUPPORTED_FEATURE.THALWEG for rows of more than 2 GiB together.
  Status Append(const data::Chunk& chunk, std::string* out) const;

 private:
  RowPickler() = default;

  data::Schema schema_;
  std::string head_;  ///< protocol, the functions that are used, put into the memo
  bool converts_ = false;
  bool binary_as_bytes_ = true;
};

}  // namespace thalweg::engine
