#pragma once

#include <string_view>

namespace thalweg::sql {

/// Whether Spark 4.2 has a built-in function of this name (lower case), ours or not: a function that is not there yet is told from a
/// mistyped one.
bool IsSparkFunction(std::string_view name);

}  // namespace thalweg::sql
