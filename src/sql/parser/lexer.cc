#include "sql/parser/lexer.h"

#include <algorithm>
#include <cctype>
#include <cstdint>

namespace thalweg::sql {
namespace {

bool IsWordByte(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' ||
         static_cast<unsigned char>(c) >= 0x80;
}
bool IsDigit(char c) { return c >= '0' && c <= '9'; }

std::string Upper(std::string_view text) {
  std::string upper(text);
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return std::toupper(c); });
  return upper;
}

void AppendUtf8(uint32_t code, std::string* out) {
  if (code < 0x80) {
    out->push_back(static_cast<char>(code));
  } else if (code < 0x800) {
    out->push_back(static_cast<char>(0xC0 | code >> 6));
    out->push_back(static_cast<char>(0x80 | (code & 0x3F)));
  } else if (code < 0x10000) {
    out->push_back(static_cast<char>(0xE0 | code >> 12));
    out->push_back(static_cast<char>(0x80 | (code >> 6 & 0x3F)));
    out->push_back(static_cast<char>(0x80 | (code & 0x3F)));
  } else {
    out->push_back(static_cast<char>(0xF0 | code >> 18));
    out->push_back(static_cast<char>(0x80 | (code >> 12 & 0x3F)));
    out->push_back(static_cast<char>(0x80 | (code >> 6 & 0x3F)));
    out->push_back(static_cast<char>(0x80 | (code & 0x3F)));
  }
}

bool ReadHex(std::string_view text, size_t at, size_t digits, uint32_t* code) {
  if (at + digits > text.size()) return false;
  *code = 0;
  for (size_t i = 0; i < digits; ++i) {
    const unsigned char c = text[at + i];
    if (!std::isxdigit(c)) return false;
    *code = *code * 16 + (IsDigit(c) ? c - '0' : std::tolower(c) - 'a' + 10);
  }
  return *code <= 0x10FFFF;
}

/// One escape sequence; `at` points behind the backslash and is moved behind the sequence.
void Unescape(std::string_view text, size_t* at, std::string* out) {
  const char c = text[*at];
  uint32_t code = 0;
  if (c == 'u' && ReadHex(text, *at + 1, 4, &code)) {
    *at += 5;
    uint32_t low = 0;
    const bool pair = code >= 0xD800 && code < 0xDC00 && text.substr(*at, 2) == "\\u" &&
                      ReadHex(text, *at + 2, 4, &low) && low >= 0xDC00 && low < 0xE000;
    if (pair) {
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      *at += 6;
    }
    return AppendUtf8(code, out);
  }
  if (c == 'U' && ReadHex(text, *at + 1, 8, &code)) {
    *at += 9;
    return AppendUtf8(code, out);
  }
  const auto octal = [&](size_t i) { return i < text.size() && text[i] >= '0' && text[i] <= '7'; };
  if (c >= '0' && c <= '3' && octal(*at + 1) && octal(*at + 2)) {
    code = (c - '0') * 64 + (text[*at + 1] - '0') * 8 + (text[*at + 2] - '0');
    *at += 3;
    return AppendUtf8(code, out);
  }
  *at += 1;
  switch (c) {
    case '0':
      return out->push_back('\0');
    case 'b':
      return out->push_back('\b');
    case 'n':
      return out->push_back('\n');
    case 'r':
      return out->push_back('\r');
    case 't':
      return out->push_back('\t');
    case 'Z':
      return out->push_back('\x1A');
    case '%':
      out->append("\\%");
      return;
    case '_':
      out->append("\\_");
      return;
    default:
      return out->push_back(c);
  }
}

class Scanner {
 public:
  Scanner(std::string_view sql, bool double_quoted_identifiers)
      : sql_(sql), double_quoted_(double_quoted_identifiers) {}

  Result<std::vector<Token>> Run() {
    while (true) {
      TW_RETURN_NOT_OK(SkipBlank());
      if (at_ >= sql_.size()) break;
      TW_RETURN_NOT_OK(Next());
    }
    Token end;
    end.begin = end.end = static_cast<int>(sql_.size());
    tokens_.push_back(std::move(end));
    return std::move(tokens_);
  }

 private:
  char Peek(size_t ahead = 0) const { return at_ + ahead < sql_.size() ? sql_[at_ + ahead] : '\0'; }

  Status SkipBlank() {
    while (at_ < sql_.size()) {
      const char c = Peek();
      if (std::isspace(static_cast<unsigned char>(c))) {
        ++at_;
      } else if (c == '-' && Peek(1) == '-') {
        SkipLineComment();
      } else if (c == '/' && Peek(1) == '*') {
        if (Peek(2) == '+') return Status::OK();
        TW_RETURN_NOT_OK(SkipBracketedComment());
      } else {
        return Status::OK();
      }
    }
    return Status::OK();
  }

  void SkipLineComment() {
    while (at_ < sql_.size() && sql_[at_] != '\n') {
      if (sql_[at_] == '\\' && Peek(1) == '\n') ++at_;  // a backslash continues the comment
      ++at_;
    }
  }

  Status SkipBracketedComment() {
    const size_t begin = at_;
    int depth = 0;
    while (at_ < sql_.size()) {
      if (Peek() == '/' && Peek(1) == '*') {
        ++depth;
        at_ += 2;
      } else if (Peek() == '*' && Peek(1) == '/') {
        at_ += 2;
        if (--depth == 0) return Status::OK();
      } else {
        ++at_;
      }
    }
    return ParseErrorAt(Error("UNCLOSED_BRACKETED_COMMENT"), sql_, static_cast<int>(begin));
  }

  void Emit(TokenKind kind, size_t begin, std::string text) {
    Token token;
    token.kind = kind;
    if (kind == TokenKind::kWord) token.upper = Upper(text);
    token.text = std::move(text);
    token.begin = static_cast<int>(begin);
    token.end = static_cast<int>(at_);
    tokens_.push_back(std::move(token));
  }

  Status Next() {
    const size_t begin = at_;
    const char c = Peek();
    if ((c == 'r' || c == 'R') && (Peek(1) == '\'' || Peek(1) == '"')) {
      ++at_;
      return QuotedString(begin, /*raw=*/true);
    }
    if (c == '/' && Peek(1) == '*') return Hint();
    if (c == '\'' || (c == '"' && !double_quoted_)) return QuotedString(begin, /*raw=*/false);
    if (c == '`' || c == '"') return QuotedName(c);
    if (IsDigit(c) || (c == '.' && IsDigit(Peek(1)) && !AfterName())) return Number();
    if (IsWordByte(c)) {
      while (IsWordByte(Peek())) ++at_;
      Emit(TokenKind::kWord, begin, std::string(sql_.substr(begin, at_ - begin)));
      return Status::OK();
    }
    return Symbol();
  }

  /// After a name a point is a separator: a.1 is not a number.
  bool AfterName() const {
    if (tokens_.empty() || tokens_.back().end != static_cast<int>(at_)) return false;
    const Token& last = tokens_.back();
    return last.kind == TokenKind::kWord || last.kind == TokenKind::kQuotedName ||
           last.text == ")" || last.text == "]";
  }

  Status Hint() {
    const size_t begin = at_;
    const size_t close = sql_.find("*/", at_);
    if (close == std::string_view::npos)
      return ParseErrorAt(Error("UNCLOSED_BRACKETED_COMMENT"), sql_, static_cast<int>(begin));
    at_ = close + 2;
    Emit(TokenKind::kHint, begin, std::string(sql_.substr(begin + 3, close - begin - 3)));
    return Status::OK();
  }

  Status QuotedString(size_t begin, bool raw) {
    const char quote = Peek();
    std::string text;
    ++at_;
    while (true) {
      if (at_ >= sql_.size()) return Unclosed(begin);
      const char c = sql_[at_];
      if (c == quote) {
        ++at_;
        if (Peek() != quote) break;
        text.push_back(quote);  // a doubled quote stands for one
        ++at_;
      } else if (c == '\\' && !raw) {
        if (++at_ >= sql_.size()) return Unclosed(begin);
        Unescape(sql_, &at_, &text);
      } else {
        text.push_back(c);
        ++at_;
      }
    }
    Emit(TokenKind::kString, begin, std::move(text));
    return Status::OK();
  }

  Status QuotedName(char quote) {
    const size_t begin = at_++;
    std::string text;
    while (true) {
      if (at_ >= sql_.size()) return Unclosed(begin);
      const char c = sql_[at_++];
      if (c == quote) {
        if (Peek() != quote) break;
        ++at_;
      }
      text.push_back(c);
    }
    Emit(TokenKind::kQuotedName, begin, std::move(text));
    return Status::OK();
  }

  Status Unclosed(size_t begin) {
    Token token;
    token.kind = TokenKind::kSymbol;
    token.text = std::string(1, sql_[begin]);
    token.begin = static_cast<int>(begin);
    token.end = token.begin + 1;
    return SyntaxErrorAt(sql_, token);
  }

  /// Digits, point, exponent and suffix; a run of digits and letters that is no number is a name
  /// (1st_column).
  Status Number() {
    const size_t begin = at_;
    bool point = false, exponent = false;
    while (IsDigit(Peek())) ++at_;
    if (Peek() == '.' && !IsWordStart(Peek(1)) && Peek(1) != '.') {
      point = true;
      ++at_;
      while (IsDigit(Peek())) ++at_;
    }
    const size_t sign = Peek(1) == '+' || Peek(1) == '-' ? 2 : 1;
    if ((Peek() == 'e' || Peek() == 'E') && IsDigit(Peek(sign))) {
      exponent = true;
      at_ += sign;
      while (IsDigit(Peek())) ++at_;
    }
    const size_t suffix = SuffixLength();
    if (suffix > 0) {
      at_ += suffix;
      Emit(TokenKind::kSuffixed, begin, std::string(sql_.substr(begin, at_ - begin)));
      return Status::OK();
    }
    if (IsWordByte(Peek()) && !point) {
      while (IsWordByte(Peek())) ++at_;
      Emit(TokenKind::kWord, begin, std::string(sql_.substr(begin, at_ - begin)));
      return Status::OK();
    }
    Emit(exponent ? TokenKind::kExponent
         : point  ? TokenKind::kDecimal
                  : TokenKind::kInteger,
         begin, std::string(sql_.substr(begin, at_ - begin)));
    return Status::OK();
  }

  static bool IsWordStart(char c) {
    return IsWordByte(c) && !IsDigit(c) && c != 'e' && c != 'E' && c != 'd' && c != 'D' &&
           c != 'f' && c != 'F' && c != 'b' && c != 'B';
  }

  size_t SuffixLength() const {
    const char c = static_cast<char>(std::toupper(static_cast<unsigned char>(Peek())));
    if (c == 'B' && std::toupper(static_cast<unsigned char>(Peek(1))) == 'D' &&
        !IsWordByte(Peek(2)))
      return 2;
    if ((c == 'L' || c == 'S' || c == 'Y' || c == 'F' || c == 'D') && !IsWordByte(Peek(1)))
      return 1;
    return 0;
  }

  Status Symbol() {
    static constexpr std::string_view kSymbols[] = {
        ">>>", "<=>", "<<", ">>", "==", "<=", ">=", "!=", "<>", "||", "::", "->", "=>", "|>"};
    const size_t begin = at_;
    for (const std::string_view symbol : kSymbols) {
      if (sql_.substr(at_, symbol.size()) == symbol) {
        at_ += symbol.size();
        Emit(TokenKind::kSymbol, begin, std::string(symbol));
        return Status::OK();
      }
    }
    ++at_;
    Emit(TokenKind::kSymbol, begin, std::string(1, sql_[begin]));
    static constexpr std::string_view kKnown = "()[],.;+-*/%&|^~<>=!:?{}@$#\\";
    if (kKnown.find(sql_[begin]) == std::string_view::npos)
      return SyntaxErrorAt(sql_, tokens_.back());
    return Status::OK();
  }

  std::string_view sql_;
  bool double_quoted_;
  size_t at_ = 0;
  std::vector<Token> tokens_;
};

}  // namespace

Result<std::vector<Token>> Tokenize(std::string_view sql, bool double_quoted_identifiers) {
  return Scanner(sql, double_quoted_identifiers).Run();
}

Status ParseErrorAt(Error&& error, std::string_view sql, int begin) {
  const std::string_view before = sql.substr(0, begin);
  const int line = 1 + static_cast<int>(std::count(before.begin(), before.end(), '\n'));
  const size_t line_begin =
      before.rfind('\n') == std::string_view::npos ? 0 : before.rfind('\n') + 1;
  const int column = static_cast<int>(begin - line_begin);
  const size_t line_end = std::min(sql.find('\n', begin), sql.size());
  QueryContext context;
  context.start_index = begin;
  context.stop_index = begin;
  context.fragment = std::string(sql);
  context.summary = "(line " + std::to_string(line) + ", pos " + std::to_string(column) +
                    ")\n\n== SQL ==\n" + std::string(sql.substr(0, line_end)) + "\n" +
                    std::string(column, '-') + "^^^\n" +
                    (line_end < sql.size() ? std::string(sql.substr(line_end + 1)) + "\n" : "");
  return std::move(error).Context(std::move(context));
}

Status SyntaxErrorAt(std::string_view sql, const Token& token, std::string_view hint) {
  const std::string near =
      token.kind == TokenKind::kEnd
          ? "end of input"
          : "'" + std::string(sql.substr(token.begin, token.end - token.begin)) + "'";
  return ParseErrorAt(Error("PARSE_SYNTAX_ERROR").With("error", near).With("hint", hint), sql,
                      token.begin);
}

}  // namespace thalweg::sql
