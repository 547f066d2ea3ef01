#pragma once

#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "data/formats/json/json_options.h"

namespace thalweg::data {

/// A JSON value as Jackson would tokenise it: the lenient reader behind the fast one, for texts
/// with single quotes, NaN, numbers beyond 64 bits, invalid UTF-8, and wherever the digits as
/// written count.
struct JsonNode {
  enum class Kind : uint8_t {
    kNull,
    kTrue,
    kFalse,
    kInteger,
    kFraction,
    kNonNumeric,
    kString,
    kArray,
    kObject
  };
  Kind kind = Kind::kNull;
  std::string_view text;                ///< strings: unescaped; others: as written
  std::vector<const JsonNode*> items;   ///< elements, or member values
  std::vector<std::string_view> names;  ///< of members; a name may repeat
};

/// Parses the first value of a text. Owner of its nodes and strings; reused from text to text.
/// Thread: confined.
class JsonDocument {
 public:
  static constexpr int kMaxDepth = 1000;  ///< Jackson's limit too
  explicit JsonDocument(const JsonOptions& options) : options_(options) {}

  /// Null: there is no value but blanks (*malformed is false), or the text is malformed.
  /// What follows the first value is not looked at. Nodes live until the next call.
  const JsonNode* Parse(std::string_view text, bool* malformed);

 private:
  bool Value(JsonNode* node);
  bool Object(JsonNode* node);
  bool Array(JsonNode* node);
  bool Number(JsonNode* node);
  bool Word(JsonNode* node);
  bool String(char quote, std::string_view* out);
  bool Escape(std::string* out);
  bool Name(std::string_view* out);
  bool SkipBlank();
  bool AtEnd() const { return at_ >= text_.size(); }
  char Peek() const { return AtEnd() ? '\0' : text_[at_]; }
  JsonNode* NewNode();

  const JsonOptions& options_;
  std::string_view text_;
  size_t at_ = 0;
  int depth_ = 0;
  std::string repaired_;
  std::deque<JsonNode> nodes_;
  size_t used_nodes_ = 0;
  std::deque<std::string> strings_;
};

}  // namespace thalweg::data
