#pragma once

#include <string_view>

#include "base/status.h"
#include "sql/expr/expression.h"

namespace thalweg::sql {

/// Functions whose answer depends on how text is compared know the order of bytes alone.
/// Errors: UNSUPPORTED_FEATURE.THALWEG when `function` is one of them and an argument has text of another collation, in it or as it.
Status CheckCollations(std::string_view function, const ExprList& arguments);

}  // namespace thalweg::sql
