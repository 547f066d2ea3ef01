#include "data/formats/json/json_document.h"

#include <cctype>

#include "data/text/utf8.h"

namespace thalweg::data {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNameByte(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '$' || (c & 0x80) != 0;
}

}  // namespace

JsonNode* JsonDocument::NewNode() {
  if (used_nodes_ == nodes_.size()) nodes_.emplace_back();
  JsonNode* node = &nodes_[used_nodes_++];
  node->kind = JsonNode::Kind::kNull;
  node->text = {};
  node->items.clear();
  node->names.clear();
  return node;
}

const JsonNode* JsonDocument::Parse(std::string_view text, bool* malformed) {
  used_nodes_ = 0;
  strings_.clear();
  at_ = 0;
  depth_ = 0;
  *malformed = false;
  if (!IsValidUtf8(text)) {
    repaired_.clear();
    AppendValidUtf8(text, &repaired_);
    text = repaired_;
  }
  text_ = text;
  *malformed = !SkipBlank();
  if (*malformed || AtEnd()) return nullptr;
  JsonNode* root = NewNode();
  *malformed = !Value(root);
  return *malformed ? nullptr : root;
}

/// Blanks and, if allowed, comments; false for a comment that does not end.
bool JsonDocument::SkipBlank() {
  while (!AtEnd()) {
    const char c = Peek();
    if (c == ' ' || c == '\t' || c == '\n' || c == '\r') {
      ++at_;
    } else if (c == '/' && options_.allow_comments && at_ + 1 < text_.size() &&
               (text_[at_ + 1] == '/' || text_[at_ + 1] == '*')) {
      const bool line = text_[at_ + 1] == '/';
      const size_t end = text_.find(line ? "\n" : "*/", at_ + 2);
      if (end == std::string_view::npos) {
        at_ = text_.size();
        return line;
      }
      at_ = end + (line ? 1 : 2);
    } else {
      return true;
    }
  }
  return true;
}

bool JsonDocument::Value(JsonNode* node) {
  const char c = Peek();
  if (c == '{') return Object(node);
  if (c == '[') return Array(node);
  if (c == '"' || (c == '\'' && options_.allow_single_quotes)) {
    node->kind = JsonNode::Kind::kString;
    return String(c, &node->text);
  }
  if (IsDigit(c) || (c == '-' && at_ + 1 < text_.size() && IsDigit(text_[at_ + 1])))
    return Number(node);
  return Word(node);
}

bool JsonDocument::Object(JsonNode* node) {
  if (++depth_ > kMaxDepth) return false;
  const size_t begin = at_++;
  node->kind = JsonNode::Kind::kObject;
  if (!SkipBlank()) return false;
  if (Peek() == '}') {
    ++at_;
  } else {
    while (true) {
      std::string_view name;
      if (!SkipBlank() || !Name(&name) || !SkipBlank() || Peek() != ':') return false;
      ++at_;
      if (!SkipBlank() || AtEnd()) return false;
      JsonNode* value = NewNode();
      node->names.push_back(name);
      node->items.push_back(value);
      if (!Value(value) || !SkipBlank()) return false;
      const char c = Peek();
      ++at_;
      if (c == '}') break;
      if (c != ',') return false;
    }
  }
  node->text = text_.substr(begin, at_ - begin);
  --depth_;
  return true;
}

bool JsonDocument::Array(JsonNode* node) {
  if (++depth_ > kMaxDepth) return false;
  const size_t begin = at_++;
  node->kind = JsonNode::Kind::kArray;
  if (!SkipBlank()) return false;
  if (Peek() == ']') {
    ++at_;
  } else {
    while (true) {
      if (!SkipBlank() || AtEnd()) return false;
      JsonNode* value = NewNode();
      node->items.push_back(value);
      if (!Value(value) || !SkipBlank()) return false;
      const char c = Peek();
      ++at_;
      if (c == ']') break;
      if (c != ',') return false;
    }
  }
  node->text = text_.substr(begin, at_ - begin);
  --depth_;
  return true;
}

bool JsonDocument::Name(std::string_view* out) {
  const char c = Peek();
  if (c == '"' || (c == '\'' && options_.allow_single_quotes)) return String(c, out);
  if (!options_.allow_unquoted_names || !IsNameByte(c) || IsDigit(c)) return false;
  const size_t begin = at_;
  while (IsNameByte(Peek())) ++at_;
  *out = text_.substr(begin, at_ - begin);
  return true;
}

bool JsonDocument::Number(JsonNode* node) {
  const size_t begin = at_;
  node->kind = JsonNode::Kind::kInteger;
  if (Peek() == '-') ++at_;
  if (Peek() == '0' && at_ + 1 < text_.size() && IsDigit(text_[at_ + 1])) {
    if (!options_.allow_leading_zeros) return false;
    while (Peek() == '0' && at_ + 1 < text_.size() && IsDigit(text_[at_ + 1])) ++at_;
  }
  while (IsDigit(Peek())) ++at_;
  if (Peek() == '.') {
    node->kind = JsonNode::Kind::kFraction;
    ++at_;
    if (!IsDigit(Peek())) return false;
    while (IsDigit(Peek())) ++at_;
  }
  if (Peek() == 'e' || Peek() == 'E') {
    node->kind = JsonNode::Kind::kFraction;
    ++at_;
    if (Peek() == '+' || Peek() == '-') ++at_;
    if (!IsDigit(Peek())) return false;
    while (IsDigit(Peek())) ++at_;
  }
  node->text = text_.substr(begin, at_ - begin);
  return AtEnd() || !IsNameByte(Peek());
}

bool JsonDocument::Word(JsonNode* node) {
  const size_t begin = at_;
  if (Peek() == '-' || Peek() == '+') ++at_;
  while (IsNameByte(Peek())) ++at_;
  const std::string_view word = text_.substr(begin, at_ - begin);
  node->text = word;
  if (word == "null")
    node->kind = JsonNode::Kind::kNull;
  else if (word == "true")
    node->kind = JsonNode::Kind::kTrue;
  else if (word == "false")
    node->kind = JsonNode::Kind::kFalse;
  else if (options_.allow_non_numeric_numbers &&
           (word == "NaN" || word == "INF" || word == "+INF" || word == "-INF" ||
            word == "Infinity" || word == "+Infinity" || word == "-Infinity"))
    node->kind = JsonNode::Kind::kNonNumeric;
  else
    return false;
  return true;
}

bool JsonDocument::String(char quote, std::string_view* out) {
  const size_t begin = ++at_;
  while (!AtEnd() && text_[at_] != quote && text_[at_] != '\\') {
    if (static_cast<unsigned char>(text_[at_]) < 0x20 && !options_.allow_control_characters)
      return false;
    ++at_;
  }
  if (AtEnd()) return false;
  if (text_[at_] == quote) {
    *out = text_.substr(begin, at_++ - begin);
    return true;
  }
  std::string& unescaped = strings_.emplace_back(text_.substr(begin, at_ - begin));
  while (true) {
    if (AtEnd()) return false;
    const char c = text_[at_];
    if (c == quote) break;
    if (static_cast<unsigned char>(c) < 0x20 && !options_.allow_control_characters) return false;
    ++at_;
    if (c != '\\') {
      unescaped.push_back(c);
    } else if (!Escape(&unescaped)) {
      return false;
    }
  }
  ++at_;
  *out = unescaped;
  return true;
}

/// The part of an escape behind the backslash.
bool JsonDocument::Escape(std::string* out) {
  if (AtEnd()) return false;
  const char c = text_[at_++];
  const auto hex = [&](char32_t* unit) {
    if (at_ + 4 > text_.size()) return false;
    *unit = 0;
    for (int i = 0; i < 4; ++i) {
      const unsigned char digit = text_[at_++];
      if (!std::isxdigit(digit)) return false;
      *unit = *unit * 16 + (IsDigit(digit) ? digit - '0' : std::tolower(digit) - 'a' + 10);
    }
    return true;
  };
  switch (c) {
    case '"':
    case '\\':
    case '/':
      out->push_back(c);
      return true;
    case 'b':
      out->push_back('\b');
      return true;
    case 'f':
      out->push_back('\f');
      return true;
    case 'n':
      out->push_back('\n');
      return true;
    case 'r':
      out->push_back('\r');
      return true;
    case 't':
      out->push_back('\t');
      return true;
    case '\'':
      if (!options_.allow_single_quotes && !options_.allow_any_escape) return false;
      out->push_back(c);
      return true;
    case 'u': {
      char32_t unit = 0, low = 0;
      if (!hex(&unit)) return false;
      const bool high_surrogate = unit >= 0xD800 && unit < 0xDC00;
      if (high_surrogate && text_.substr(at_, 2) == "\\u") {
        const size_t back = at_;
        at_ += 2;
        if (!hex(&low)) return false;
        if (low >= 0xDC00 && low < 0xE000) {
          AppendCodePoint(0x10000 + ((unit - 0xD800) << 10) + (low - 0xDC00), out);
          return true;
        }
        at_ = back;
      }
      if (unit >= 0xD800 && unit < 0xE000)
        out->push_back('?');  // a lone surrogate, as Java encodes it
      else
        AppendCodePoint(unit, out);
      return true;
    }
    default:
      if (!options_.allow_any_escape) return false;
      out->push_back(c);
      return true;
  }
}

}  // namespace thalweg::data
