#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace thalweg::sql {

/// Splits a column's name as a DataFrame call carries it ("a.b", "max(age)", "`a.b`.c") at the dots outside of back-ticks; every
/// other character stands for itself, so this is not the grammar of SQL identifiers. Errors: INVALID_ATTRIBUTE_NAME_SYNTAX.
Result<std::vector<std::string>> ParseAttributeName(std::string_view name);

}  // namespace thalweg::sql
