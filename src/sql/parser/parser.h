#pragma once

// SQL text to unresolved plans and expressions: Spark's grammar, ANSI reserved words off.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "sql/plan/commands.h"
#include "sql/plan/logical_plan.h"

namespace thalweg::sql {

struct ParserOptions {
  bool ansi = true;                                 ///< mode of CAST without TRY_
  std::string time_zone = "UTC";                    ///< for TIMESTAMP '...' literals without a zone
  bool double_quoted_identifiers = false;           ///< "x" is an identifier instead of a string
  bool timestamp_ntz_default = false;               ///< TIMESTAMP '...' is TIMESTAMP_NTZ
  std::map<std::string, ExprPtr> named_parameters;  ///< for :name
  std::vector<ExprPtr> positional_parameters;       ///< for ?
};

/// One statement, with or without a closing semicolon: a query, or a Command as the root.
/// Bounded in size of text (16 MiB) and depth (500 levels of nesting, 10,000 operands in a chain).
/// Errors: PARSE_SYNTAX_ERROR and kin with line and position, PARSE_EMPTY_STATEMENT,
/// FAILED_TO_PARSE_TOO_COMPLEX, UNBOUND_SQL_PARAMETER, UNSUPPORTED_FEATURE.THALWEG for statements
/// that are not there yet. Thread: any.
Result<PlanPtr> ParsePlan(std::string_view sql, const ParserOptions& options);
/// F.expr("..."), selectExpr: a named expression ("a + 1 AS b", "*").
Result<ExprPtr> ParseExpression(std::string_view sql, const ParserOptions& options);
/// "catalog.db.`my table`".
Result<NameParts> ParseMultipartIdentifier(std::string_view text);
/// Splits a script at semicolons outside of strings, comments and quoted names; empty statements
/// are left out.
std::vector<std::string> SplitStatements(std::string_view script);
/// Whether what was typed so far ends with a semicolon outside of strings, comments and quoted names; blanks and comments may follow.
bool EndsStatement(std::string_view typed);

}  // namespace thalweg::sql
