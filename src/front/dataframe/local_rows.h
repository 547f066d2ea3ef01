#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "thalweg/value.h"

struct ArrowArrayStream;

namespace thalweg::internal {

/// Rows of the program as an Arrow IPC stream, and their schema as JSON: what a LocalRelation holds.
struct LocalRows {
  std::string ipc, schema_json;
};

/// `schema` in DDL; a cell fits a column when Spark would store it without loss. Errors: of the schema's text,
/// INVALID_LOCAL_DATA for a row or cell that does not fit.
Result<LocalRows> LocalRowsFrom(std::string_view schema, const std::vector<Row>& rows);
/// Reads the stream to its end and releases it.
Result<LocalRows> LocalRowsFrom(ArrowArrayStream* batches);

}  // namespace thalweg::internal
