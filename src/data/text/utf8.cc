#include "data/text/utf8.h"

#include <algorithm>
#include <cstring>

namespace thalweg::data {
namespace {

unsigned char ByteAt(std::string_view text, size_t at) { return static_cast<unsigned char>(text[at]); }
bool IsContinuation(unsigned char c) { return (c & 0xC0) == 0x80; }

// Whether `second` may follow `lead` in a well-formed sequence of three or four bytes, surrogates let through as Java does
// at this point.
bool MayFollow(unsigned char lead, unsigned char second) {
  if (!IsContinuation(second)) return false;
  if (lead == 0xE0) return second >= 0xA0;
  if (lead == 0xF0) return second >= 0x90;
  if (lead == 0xF4) return second <= 0x8F;
  return true;
}

struct Sequence {
  size_t bytes = 1;
  bool valid = false;
  char32_t code_point = 0xFFFD;
};

// The sequence at `at`: a character, or the bytes that java.lang.String replaces by one U+FFFD.
Sequence ReadSequence(std::string_view text, size_t at) {
  const unsigned char lead = ByteAt(text, at);
  if (lead < 0x80) return {1, true, lead};
  const size_t left = text.size() - at;
  if (lead < 0xC2 || lead > 0xF4) return {};
  if (lead < 0xE0) {
    if (left < 2 || !IsContinuation(ByteAt(text, at + 1))) return {};
    return {2, true, static_cast<char32_t>((lead & 0x1F) << 6 | (ByteAt(text, at + 1) & 0x3F))};
  }
  const size_t length = lead < 0xF0 ? 3 : 4;
  if (left < 2 || !MayFollow(lead, ByteAt(text, at + 1))) return {};
  char32_t code_point = (lead & (length == 3 ? 0x0F : 0x07)) << 6 | (ByteAt(text, at + 1) & 0x3F);
  for (size_t i = 2; i < length; ++i) {
    if (i >= left || !IsContinuation(ByteAt(text, at + i))) return {i, false, 0xFFFD};
    code_point = code_point << 6 | (ByteAt(text, at + i) & 0x3F);
  }
  if (code_point >= 0xD800 && code_point <= 0xDFFF) return {3, false, 0xFFFD};
  return {length, true, code_point};
}

// Bytes at the start that are ASCII.
size_t AsciiPrefix(std::string_view text) {
  size_t i = 0;
  for (; i + 8 <= text.size(); i += 8) {
    uint64_t word = 0;
    std::memcpy(&word, text.data() + i, 8);
    if ((word & 0x8080808080808080u) != 0) break;
  }
  while (i < text.size() && ByteAt(text, i) < 0x80) ++i;
  return i;
}

}  // namespace

int Utf8CharBytes(unsigned char first) {
  if (first < 0xC2 || first > 0xF4) return 1;
  return first < 0xE0 ? 2 : first < 0xF0 ? 3 : 4;
}

bool IsAscii(std::string_view text) { return AsciiPrefix(text) == text.size(); }

bool IsValidUtf8(std::string_view text) {
  size_t i = AsciiPrefix(text);
  while (i < text.size()) {
    const Sequence sequence = ReadSequence(text, i);
    if (!sequence.valid) return false;
    i += sequence.bytes;
  }
  return true;
}

size_t Utf8Length(std::string_view text) {
  size_t count = AsciiPrefix(text);
  for (size_t i = count; i < text.size(); ++count) i += static_cast<size_t>(Utf8CharBytes(ByteAt(text, i)));
  return count;
}

std::string_view Utf8Slice(std::string_view text, size_t begin, size_t end) {
  if (end <= begin) return {};
  size_t i = 0;
  size_t character = 0;
  for (; i < text.size() && character < begin; ++character) i += static_cast<size_t>(Utf8CharBytes(ByteAt(text, i)));
  const size_t start = std::min(i, text.size());
  for (; i < text.size() && character < end; ++character) i += static_cast<size_t>(Utf8CharBytes(ByteAt(text, i)));
  return text.substr(start, std::min(i, text.size()) - start);
}

std::string_view Utf8Substring(std::string_view text, int32_t start, int32_t length) {
  int64_t begin = start > 0 ? start - 1 : 0;
  if (start < 0) begin = static_cast<int64_t>(Utf8Length(text)) + start;
  const int64_t end = begin + length;
  if (end <= 0 || end <= begin) return {};
  return Utf8Slice(text, static_cast<size_t>(std::max<int64_t>(begin, 0)), static_cast<size_t>(end));
}

void AppendValidUtf8(std::string_view text, std::string* out) {
  size_t i = 0;
  while (i < text.size()) {
    const size_t start = i;
    Sequence sequence;
    i += AsciiPrefix(text.substr(i));
    while (i < text.size() && (sequence = ReadSequence(text, i)).valid) i += sequence.bytes;
    out->append(text, start, i - start);
    if (i >= text.size()) return;
    out->append("\xEF\xBF\xBD");
    i += sequence.bytes;
  }
}

char32_t NextCodePoint(std::string_view text, size_t* position) {
  const Sequence sequence = ReadSequence(text, *position);
  *position += sequence.valid ? sequence.bytes : 1;
  return sequence.code_point;
}

void AppendCodePoint(char32_t c, std::string* out) {
  if (c < 0x80) {
    out->push_back(static_cast<char>(c));
    return;
  }
  if (c < 0x800) {
    out->push_back(static_cast<char>(0xC0 | c >> 6));
  } else {
    if (c < 0x10000) {
      out->push_back(static_cast<char>(0xE0 | c >> 12));
    } else {
      out->push_back(static_cast<char>(0xF0 | c >> 18));
      out->push_back(static_cast<char>(0x80 | (c >> 12 & 0x3F)));
    }
    out->push_back(static_cast<char>(0x80 | (c >> 6 & 0x3F)));
  }
  out->push_back(static_cast<char>(0x80 | (c & 0x3F)));
}

void AppendLatin1(std::string_view bytes, std::string* out) {
  for (const char c : bytes) AppendCodePoint(static_cast<unsigned char>(c), out);
}

}  // namespace thalweg::data
