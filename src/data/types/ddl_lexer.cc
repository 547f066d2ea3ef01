#include "data/types/ddl_lexer.h"

#include <algorithm>
#include <cstdint>

namespace thalweg::data::internal {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsWord(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || IsDigit(c) || c == '_'; }
bool IsForeign(char c) { return static_cast<unsigned char>(c) >= 0x80; }

void AppendUtf8(uint32_t c, std::string* out) {
  if (c < 0x80) {
    out->push_back(static_cast<char>(c));
  } else if (c < 0x800) {
    out->push_back(static_cast<char>(0xC0 | c >> 6));
    out->push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else if (c < 0x10000) {
    out->push_back(static_cast<char>(0xE0 | c >> 12));
    out->push_back(static_cast<char>(0x80 | (c >> 6 & 0x3F)));
    out->push_back(static_cast<char>(0x80 | (c & 0x3F)));
  } else {
    out->push_back(static_cast<char>(0xF0 | (c >> 18 & 7)));
    out->push_back(static_cast<char>(0x80 | (c >> 12 & 0x3F)));
    out->push_back(static_cast<char>(0x80 | (c >> 6 & 0x3F)));
    out->push_back(static_cast<char>(0x80 | (c & 0x3F)));
  }
}

// `count` digits of `base` at `text`; false when they are not there.
bool ReadDigits(std::string_view text, size_t count, uint32_t base, uint32_t* value) {
  if (text.size() < count) return false;
  *value = 0;
  for (const char c : text.substr(0, count)) {
    uint32_t digit = 99;
    if (IsDigit(c)) digit = static_cast<uint32_t>(c - '0');
    if (c >= 'a' && c <= 'f') digit = static_cast<uint32_t>(c - 'a' + 10);
    if (c >= 'A' && c <= 'F') digit = static_cast<uint32_t>(c - 'A' + 10);
    if (digit >= base) return false;
    *value = *value * base + digit;
  }
  return true;
}

// The escape behind a backslash, at the start of `rest`; returns how many bytes it takes.
size_t Unescape(std::string_view rest, std::string* out) {
  uint32_t code = 0;
  const char c = rest[0];
  if (c == 'u' && ReadDigits(rest.substr(1), 4, 16, &code)) return AppendUtf8(code, out), 5;
  if (c == 'U' && ReadDigits(rest.substr(1), 8, 16, &code) && code <= 0x10FFFF) return AppendUtf8(code, out), 9;
  if (c >= '0' && c <= '1' && ReadDigits(rest, 3, 8, &code)) return AppendUtf8(code, out), 3;
  switch (c) {
    case '0': out->push_back('\0'); break;
    case 'b': out->push_back('\b'); break;
    case 'n': out->push_back('\n'); break;
    case 'r': out->push_back('\r'); break;
    case 't': out->push_back('\t'); break;
    case 'Z': out->push_back('\x1A'); break;
    case '%': out->append("\\%"); break;
    case '_': out->append("\\_"); break;
    default: out->push_back(c);
  }
  return 1;
}

// "12" is an integer; "1L", "2S", "3Y", "4D", "5F", "6BD", "1e5" are other numbers; anything else is a name.
DdlToken KindOfWord(std::string_view word) {
  size_t digits = 0;
  while (digits < word.size() && IsDigit(word[digits])) ++digits;
  if (digits == 0) return DdlToken::kName;
  std::string_view rest = word.substr(digits);
  if (rest.empty()) return DdlToken::kInteger;
  if ((rest[0] == 'e' || rest[0] == 'E') && rest.size() > 1 && IsDigit(rest[1])) {
    size_t i = 1;
    while (i < rest.size() && IsDigit(rest[i])) ++i;
    rest.remove_prefix(i);
    if (rest.empty()) return DdlToken::kNumber;
  }
  std::string upper(rest);
  std::transform(upper.begin(), upper.end(), upper.begin(), [](char c) { return c >= 'a' && c <= 'z' ? c - 32 : c; });
  for (const std::string_view suffix : {"L", "S", "Y", "D", "F", "BD"}) {
    if (upper == suffix) return DdlToken::kNumber;
  }
  return DdlToken::kName;
}

}  // namespace

void DdlLexer::SkipBlanks() {
  while (position_ < text_.size()) {
    const std::string_view rest = text_.substr(position_);
    if (rest[0] == ' ' || (rest[0] >= '\t' && rest[0] <= '\r')) {
      ++position_;
    } else if (rest.starts_with("--")) {
      const size_t end = rest.find('\n');
      position_ = end == std::string_view::npos ? text_.size() : position_ + end + 1;
    } else if (rest.starts_with("/*")) {
      const size_t end = rest.find("*/", 2);
      position_ = end == std::string_view::npos ? text_.size() : position_ + end + 2;
    } else {
      return;
    }
  }
}

void DdlLexer::ReadName() {
  const size_t start = position_;
  bool bad = false;
  while (position_ < text_.size()) {
    const char c = text_[position_];
    if (IsWord(c)) {
      ++position_;
    } else if (IsForeign(c)) {
      bad = true;
      ++position_;
    } else if (c == '-' && position_ + 1 < text_.size() && position_ > start &&
               (IsWord(text_[position_ + 1]) || IsForeign(text_[position_ + 1]))) {
      bad = true;
      ++position_;
    } else {
      break;
    }
  }
  current_.text = text_.substr(start, position_ - start);
  current_.kind = bad ? DdlToken::kBadName : KindOfWord(current_.text);
}

void DdlLexer::ReadString(char quote, bool raw) {
  size_t i = position_ + (raw ? 2 : 1);
  std::string text;
  while (i < text_.size()) {
    if (text_[i] == quote) {
      const bool doubled = !raw && i + 1 < text_.size() && text_[i + 1] == quote;
      if (!doubled) {
        current_.kind = DdlToken::kString;
        current_.text = std::move(text);
        position_ = i + 1;
        return;
      }
      text.push_back(quote);
      i += 2;
    } else if (text_[i] == '\\' && !raw && i + 1 < text_.size()) {
      i += 1 + Unescape(text_.substr(i + 1), &text);
    } else {
      text.push_back(text_[i++]);
    }
  }
  current_.kind = DdlToken::kSymbol;  // never closed: the quote is an error of its own
  current_.text = std::string(1, quote);
  ++position_;
}

void DdlLexer::ReadQuoted() {
  size_t i = position_ + 1;
  std::string text;
  while (i < text_.size()) {
    if (text_[i] == '`') {
      if (i + 1 >= text_.size() || text_[i + 1] != '`') {
        current_.kind = DdlToken::kQuoted;
        current_.text = std::move(text);
        position_ = i + 1;
        return;
      }
      ++i;
    }
    text.push_back(text_[i++]);
  }
  current_.kind = DdlToken::kSymbol;
  current_.text = "`";
  ++position_;
}

void DdlLexer::Advance() {
  SkipBlanks();
  const size_t start = position_;
  current_.text.clear();
  if (position_ >= text_.size()) {
    current_.kind = DdlToken::kEnd;
    current_.source = {};
    return;
  }
  const char c = text_[position_];
  const char next = position_ + 1 < text_.size() ? text_[position_ + 1] : '\0';
  if ((c == 'r' || c == 'R') && (next == '\'' || next == '"')) {
    ReadString(next, true);
  } else if (c == '\'' || c == '"') {
    ReadString(c, false);
  } else if (c == '`') {
    ReadQuoted();
  } else if (IsWord(c) || IsForeign(c)) {
    ReadName();
  } else {
    current_.kind = DdlToken::kSymbol;
    current_.text = std::string(1, c);
    ++position_;
  }
  current_.source = text_.substr(start, position_ - start);
}

}  // namespace thalweg::data::internal
