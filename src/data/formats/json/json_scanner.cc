#include "data/formats/json/json_scanner.h"

#include "data/text/utf8.h"

namespace thalweg::data {
namespace {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// The code unit of four digits, -1 when they are none.
int32_t HexUnit(const char* digits) {
  int32_t unit = 0;
  for (int i = 0; i < 4; ++i) {
    const int digit = HexDigit(digits[i]);
    if (digit < 0) return -1;
    unit = unit * 16 + digit;
  }
  return unit;
}

}  // namespace

bool JsonScanner::String(JsonToken* token, bool* high) {
  token->kind = JsonToken::Kind::kString;
  token->escaped = false;
  token->begin = ++at_;
  while (true) {
    SkipPlain(high);
    if (at_ == end_ || static_cast<unsigned char>(*at_) < 0x20) return false;
    if (*at_ == '"') {
      token->end = at_++;
      return true;
    }
    token->escaped = true;
    if (end_ - at_ < 2) return false;
    const char c = at_[1];
    at_ += 2;
    if (c == 'u') {
      if (end_ - at_ < 4) return false;
      const int32_t unit = HexUnit(at_);
      if (unit < 0 || (unit >= 0xD800 && unit < 0xE000)) return false;
      at_ += 4;
    } else if (std::strchr("\"\\/bfnrt", c) == nullptr || c == '\0') {
      return false;
    }
  }
}

bool JsonScanner::Number(JsonToken* token) {
  token->kind = JsonToken::Kind::kInteger;
  token->begin = at_;
  const bool negative = *at_ == '-';
  if (negative) ++at_;
  const char* const digits = at_;
  uint64_t value = 0;  // wraps: meant for small numbers only
  while (at_ < end_ && static_cast<unsigned char>(*at_ - '0') < 10) {
    value = value * 10 + static_cast<uint64_t>(*at_ - '0');
    ++at_;
  }
  const std::ptrdiff_t count = at_ - digits;
  if (count == 0 || (count > 1 && *digits == '0')) return false;
  token->is_small = count <= 18;
  token->integer = static_cast<int64_t>(negative ? 0 - value : value);
  const auto fraction_digits = [this] {
    const char* const first = at_;
    while (at_ < end_ && static_cast<unsigned char>(*at_ - '0') < 10) ++at_;
    return at_ != first;
  };
  if (Peek() == '.') {
    token->kind = JsonToken::Kind::kFraction;
    ++at_;
    if (!fraction_digits()) return false;
  }
  if (Peek() == 'e' || Peek() == 'E') {
    token->kind = JsonToken::Kind::kFraction;
    ++at_;
    if (Peek() == '+' || Peek() == '-') ++at_;
    if (!fraction_digits()) return false;
  }
  token->end = at_;
  return true;
}

bool JsonScanner::Value(JsonToken* token, bool* high, int depth) {
  switch (Peek()) {
    case '"':
      return String(token, high);
    case '{':
    case '[':
      token->kind = *at_ == '{' ? JsonToken::Kind::kObject : JsonToken::Kind::kArray;
      token->begin = at_;
      if (!Container(*at_ == '{' ? '}' : ']', high, depth + 1)) return false;
      token->end = at_;
      return true;
    case 't':
      token->kind = JsonToken::Kind::kTrue;
      return Word("true");
    case 'f':
      token->kind = JsonToken::Kind::kFalse;
      return Word("false");
    case 'n':
      token->kind = JsonToken::Kind::kNull;
      return Word("null");
    default:
      return Peek() != '\0' && Number(token);
  }
}

bool JsonScanner::Container(char close, bool* high, int depth) {
  if (depth > kMaxDepth) return false;
  ++at_;
  SkipBlank();
  if (Peek() == close) {
    ++at_;
    return true;
  }
  JsonToken token;
  for (bool more = true; more;) {
    if (close == '}' && (Peek() != '"' || !String(&token, high) || !Expect(':'))) return false;
    if (!Value(&token, high, depth) || !Next(close, &more)) return false;
  }
  return true;
}

void AppendUnescaped(std::string_view text, std::string* out) {
  for (size_t i = 0; i < text.size();) {
    const size_t slash = text.find('\\', i);
    out->append(text, i, slash - i);
    if (slash == std::string_view::npos) return;
    i = slash + 2;
    switch (const char c = text[slash + 1]) {
      case 'b':
        out->push_back('\b');
        break;
      case 'f':
        out->push_back('\f');
        break;
      case 'n':
        out->push_back('\n');
        break;
      case 'r':
        out->push_back('\r');
        break;
      case 't':
        out->push_back('\t');
        break;
      case 'u':
        AppendCodePoint(static_cast<char32_t>(HexUnit(text.data() + i)), out);
        i += 4;
        break;
      default:
        out->push_back(c);
    }
  }
}

}  // namespace thalweg::data
