#pragma once

// Test double: SQL expressions without a parser of statements, bound by the built-in functions. Enough of the language for
// recorded expressions; no columns but those given. The real parser is sql/parser.

#include <string_view>

#include "sql/expr/function.h"

namespace thalweg::sql {

/// A bound expression. Errors: those of the binders; PARSE_SYNTAX_ERROR.
Result<ExprPtr> ReadExpression(std::string_view text, const EvalConfig& config, const AttributeList& columns = {});

}  // namespace thalweg::sql
