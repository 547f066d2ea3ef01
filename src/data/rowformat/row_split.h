#pragma once

#include <span>
#include <string>
#include <string_view>

#include "data/types/data_type.h"

namespace thalweg::data {

/// A row of these types as two rows, of the first `columns` columns and of the others. False when the row is damaged.
/// Both are canonical where the row is.
bool SplitRow(std::span<const DataType> types, int columns, std::string_view row, std::string* prefix, std::string* rest);
/// The inverse. False when a part is shorter than its columns say or its values lie outside of it.
bool JoinRow(std::span<const DataType> types, int columns, std::string_view prefix, std::string_view rest, std::string* row);

}  // namespace thalweg::data
