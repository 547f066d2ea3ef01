#pragma once

// Names of columns: comparing, finding, and what to suggest. Pure functions.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sql/expr/expression.h"
#include "sql/expr/function.h"

namespace thalweg::sql {

bool SameName(std::string_view a, std::string_view b, bool case_sensitive);
std::string LowerCase(std::string_view text);

/// The column that a dotted name means among `input`, with its fields extracted: null when there is none.
/// Source: AttributeSeq.resolve. Errors: AMBIGUOUS_REFERENCE, FIELD_NOT_FOUND, AMBIGUOUS_REFERENCE_TO_FIELDS,
/// INVALID_EXTRACT_BASE_FIELD_TYPE.
/// The answer is an Attribute, or an Alias named as the last field over the extraction.
Result<ExprPtr> FindColumn(const std::vector<std::string>& name_parts, const AttributeList& input,
                           const BindContext& context);

/// "`a`.`b`".
std::string QuoteParts(const std::vector<std::string>& parts);
/// "\"(a + 1)\"": an expression in error messages.
std::string QuoteExpression(const ExprPtr& expr);
/// "\"BIGINT\"".
std::string QuoteType(const DataType& type);

int Levenshtein(std::string_view a, std::string_view b);
/// Names nearest to `name` first, at most five, quoted and joined by ", ".
std::string Suggestions(const std::vector<std::string>& name, const AttributeList& input);

}  // namespace thalweg::sql
