#pragma once

#include "sql/datasource/data_source.h"

namespace thalweg::sql {

/// What a Table also is when it does not take every output mode of a stream: a start asks before anything runs. Found by dynamic_cast.
class DeclaresOutputModes {
 public:
  virtual ~DeclaresOutputModes() = default;
  /// Errors: Spark's condition for a mode that the sink does not take.
  virtual Status CheckOutputMode(OutputMode mode) const = 0;
};

}  // namespace thalweg::sql
