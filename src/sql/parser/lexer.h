#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace thalweg::sql {

enum class TokenKind : unsigned char {
  kEnd,
  kWord,        ///< keyword or identifier
  kQuotedName,  ///< `name` (or "name" where double quotes mean identifiers); text is unescaped
  kString,      ///< text is unescaped
  kInteger,
  kDecimal,   ///< digits with a point
  kExponent,  ///< 1e3, 1.5E-2
  kSuffixed,  ///< 1L, 2S, 3Y, 4F, 5D, 6BD; text with the suffix
  kSymbol,
  kHint,  ///< the inside of /*+ ... */
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::string text;   ///< unescaped for strings and quoted names, else as written
  std::string upper;  ///< words only
  int begin = 0;      ///< byte offset of the first character
  int end = 0;        ///< one past the last
};

/// Errors: PARSE_SYNTAX_ERROR (stray characters), UNCLOSED_BRACKETED_COMMENT.
Result<std::vector<Token>> Tokenize(std::string_view sql, bool double_quoted_identifiers);

/// Spark's parse error at a token: position, the text and a marker line below it.
Status SyntaxErrorAt(std::string_view sql, const Token& token, std::string_view hint = "");
/// Attaches line, position and the text to another condition.
Status ParseErrorAt(Error&& error, std::string_view sql, int begin);

}  // namespace thalweg::sql
