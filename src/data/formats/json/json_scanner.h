#pragma once

// A strict reader of JSON: finds where values lie without making anything of them. What it refuses may still be JSON to
// Jackson (single quotes, NaN, lone surrogates): the lenient reader (json_document.h) decides. Made for row loops.

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace thalweg::data {

/// A value in a text.
struct JsonToken {
  enum class Kind : uint8_t { kAbsent, kNull, kTrue, kFalse, kInteger, kFraction, kString, kObject, kArray };
  Kind kind = Kind::kAbsent;
  bool escaped = false;      ///< strings: has escapes
  const char* begin = nullptr;  ///< strings: behind the quote
  const char* end = nullptr;
  int64_t integer = 0;       ///< kInteger of at most 18 digits
  bool is_small = false;     ///< whether `integer` is set

  std::string_view text() const { return {begin, static_cast<size_t>(end - begin)}; }
};

/// Walks over one text. All functions answer false for what is not strict JSON; the position is then of no use.
class JsonScanner {
 public:
  static constexpr int kMaxDepth = 1000;

  JsonScanner(const char* at, const char* end) : at_(at), end_(end) {}
  explicit JsonScanner(std::string_view text) : JsonScanner(text.data(), text.data() + text.size()) {}

  const char* at() const { return at_; }
  void set_at(const char* at) { at_ = at; }
  bool at_end() const { return at_ == end_; }
  char Peek() const { return at_ < end_ ? *at_ : '\0'; }
  size_t left() const { return static_cast<size_t>(end_ - at_); }

  void SkipBlank() {
    while (at_ < end_ && (*at_ == ' ' || *at_ == '\t' || *at_ == '\n' || *at_ == '\r')) ++at_;
  }
  /// Blanks, `c`, blanks.
  bool Expect(char c) {
    if (at_ < end_ && *at_ != c) SkipBlank();
    if (at_ == end_ || *at_ != c) return false;
    ++at_;
    if (at_ < end_ && static_cast<unsigned char>(*at_) <= ' ') SkipBlank();
    return true;
  }
  /// Behind a member or an element: true with *more when a comma follows, without when `close` does.
  bool Next(char close, bool* more) {
    if (at_ < end_ && static_cast<unsigned char>(*at_) <= ' ') SkipBlank();
    if (at_ == end_) return false;
    const char c = *at_++;
    *more = c == ',';
    if (*more && at_ < end_ && static_cast<unsigned char>(*at_) <= ' ') SkipBlank();
    return *more || c == close;
  }

  /// Whether `text` stands `skip` bytes from here; moves behind it then.
  bool TakeText(size_t skip, const std::string& text) {
    if (left() < skip + text.size() || !SameBytes(at_ + skip, text)) return false;
    at_ += skip + text.size();
    return true;
  }
  /// The value here, without blanks before it; nested ones are walked over. Texts that have bytes beyond ASCII are
  /// noted in `*high` (which is never cleared).
  bool Value(JsonToken* token, bool* high, int depth = 0);
  /// The string here, its opening quote included.
  bool String(JsonToken* token, bool* high);

 private:
  bool Container(char close, bool* high, int depth);
  /// Short texts by one comparison: a call costs more than they do. Strings hold 16 bytes at least.
  bool SameBytes(const char* bytes, const std::string& text) const {
#if defined(__SSE2__)
    constexpr size_t kWide = 16;
    if (text.size() < kWide && text.capacity() >= kWide - 1 && end_ - bytes >= static_cast<std::ptrdiff_t>(kWide)) {
      const __m128i same = _mm_cmpeq_epi8(_mm_loadu_si128(reinterpret_cast<const __m128i*>(bytes)),
                                          _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data())));
      const uint32_t wanted = (1u << text.size()) - 1;
      return (static_cast<uint32_t>(_mm_movemask_epi8(same)) & wanted) == wanted;
    }
#endif
    return std::memcmp(bytes, text.data(), text.size()) == 0;
  }
  bool Number(JsonToken* token);
  bool Word(std::string_view word) {
    if (left() < word.size() || std::memcmp(at_, word.data(), word.size()) != 0) return false;
    at_ += word.size();
    return true;
  }
  /// Moves to the next quote, backslash or control character.
  void SkipPlain(bool* high);

  const char* at_;
  const char* end_;
};

inline void JsonScanner::SkipPlain(bool* high) {
#if defined(__SSE2__)
  const __m128i quote = _mm_set1_epi8('"'), slash = _mm_set1_epi8('\\'), control = _mm_set1_epi8(0x1F);
  while (end_ - at_ >= 16) {
    const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(at_));
    const __m128i stops = _mm_or_si128(_mm_or_si128(_mm_cmpeq_epi8(bytes, quote), _mm_cmpeq_epi8(bytes, slash)),
                                       _mm_cmpeq_epi8(_mm_min_epu8(bytes, control), bytes));
    const auto mask = static_cast<uint32_t>(_mm_movemask_epi8(stops));
    const auto high_mask = static_cast<uint32_t>(_mm_movemask_epi8(bytes));
    if (mask != 0) {
      const int count = __builtin_ctz(mask);
      *high = *high || (high_mask & ((1u << count) - 1)) != 0;
      at_ += count;
      return;
    }
    *high = *high || high_mask != 0;
    at_ += 16;
  }
#endif
  while (at_ < end_) {
    const auto c = static_cast<unsigned char>(*at_);
    if (c == '"' || c == '\\' || c < 0x20) return;
    *high = *high || c >= 0x80;
    ++at_;
  }
}

/// Appends the text of a string token with its escapes resolved.
void AppendUnescaped(std::string_view text, std::string* out);

}  // namespace thalweg::data
