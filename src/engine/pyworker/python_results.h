#pragma once

// Results of functions without Arrow as columns. Source: Spark's EvaluatePython.makeFromJava.

#include <memory>
#include <span>

#include "data/columnar/column.h"
#include "data/types/data_type.h"
#include "engine/pyworker/unpickler.h"

namespace thalweg::engine {

/// Collects the results of one function. A value of a Python type that does not fit gives null: 1.5 for an int, 7 for a double, True for
/// either; integers are cut to the type's width; for a string everything gives its (Java) text. Thread: confined.
class PythonResults {
 public:
  virtual ~PythonResults() = default;
  /// Errors: UNSUPPORTED_FEATURE.THALWEG for calendar intervals and variants.
  static Result<std::unique_ptr<PythonResults>> Make(const data::DataType& type);
  /// Errors: NUMERIC_VALUE_OUT_OF_RANGE for decimals that do not fit, STRUCT_ARRAY_LENGTH_MISMATCH for tuples of another length than
  /// the struct's, UNSUPPORTED_FEATURE.THALWEG for objects that Spark cannot read either.
  virtual Status Append(const Unpickler& unpickler, std::span<const PyValue> values) = 0;
  virtual int64_t length() const = 0;
  virtual data::ColumnPtr Finish() = 0;
};

}  // namespace thalweg::engine
