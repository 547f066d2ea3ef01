#pragma once

// Nested key values as bytes that are equal exactly when the values are. In memory only. Internal to this room.

#include <string>
#include <string_view>

#include "data/columnar/builder.h"
#include "data/columnar/column.h"

namespace thalweg::engine {

/// Appends one value that is not null; lists, structs and scalars, floats normalised. `column` is flat.
void AppendNestedBytes(const data::Column& column, int64_t row, std::string* out);
/// The reverse, into a builder of the same type. `bytes` come from AppendNestedBytes.
void AppendFromNestedBytes(const data::DataType& type, std::string_view bytes, data::ColumnBuilder* builder);

}  // namespace thalweg::engine
