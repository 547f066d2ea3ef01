#pragma once

// Words of a type in DDL; private to the room. The SQL parser has its own lexer for whole statements.

#include <cstdint>
#include <string>
#include <string_view>

namespace thalweg::data::internal {

enum class DdlToken : uint8_t {
  kEnd,
  kName,     ///< letters, digits, underscores; text as written
  kQuoted,   ///< `back quoted`; text without the quotes
  kInteger,  ///< digits
  kNumber,   ///< any other number: never valid here
  kString,   ///< '...' or "..." or r'...'; text unescaped
  kSymbol,   ///< one character
  kBadName,  ///< an unquoted name with characters that need quotes ("a-b", "é")
};

struct DdlWord {
  DdlToken kind = DdlToken::kEnd;
  std::string text;
  std::string_view source;  ///< as written, for messages
};

/// Splits a DDL text; comments (`--`, `/* */`) are white space. Owner: borrows the text.
class DdlLexer {
 public:
  explicit DdlLexer(std::string_view text) : text_(text) { Advance(); }
  const DdlWord& current() const { return current_; }
  void Advance();

 private:
  void SkipBlanks();
  void ReadName();
  void ReadString(char quote, bool raw);
  void ReadQuoted();

  std::string_view text_;
  size_t position_ = 0;
  DdlWord current_;
};

}  // namespace thalweg::data::internal
