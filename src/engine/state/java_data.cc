#include "engine/state/java_data.h"

#include <vector>

namespace thalweg::engine {
namespace {

constexpr size_t kMostUtfBytes = 65'535;

void AppendThreeBytes(uint32_t unit, std::string* out) {
  out->push_back(static_cast<char>(0xe0 | (unit >> 12)));
  out->push_back(static_cast<char>(0x80 | ((unit >> 6) & 0x3f)));
  out->push_back(static_cast<char>(0x80 | (unit & 0x3f)));
}

uint32_t Continuation(std::string_view text, size_t at) {
  return at < text.size() ? static_cast<uint8_t>(text[at]) & 0x3fU : 0;
}

// Pieces of modified UTF-8 that fit a Utf each; characters are not cut.
std::vector<std::string> EncodePieces(std::string_view utf8) {
  std::vector<std::string> pieces(1);
  for (size_t i = 0; i < utf8.size();) {
    const auto lead = static_cast<uint8_t>(utf8[i]);
    std::string encoded;
    size_t width = 1;
    if (lead == 0) {
      encoded.assign("\xc0\x80", 2);
    } else if (lead >= 0xf0) {
      width = 4;
      const uint32_t point = (lead & 0x07U) << 18 | Continuation(utf8, i + 1) << 12 | Continuation(utf8, i + 2) << 6 |
                             Continuation(utf8, i + 3);
      AppendThreeBytes(0xd800 + ((point - 0x10000) >> 10), &encoded);
      AppendThreeBytes(0xdc00 + ((point - 0x10000) & 0x3ff), &encoded);
    } else {
      width = lead >= 0xe0 ? 3 : (lead >= 0xc0 ? 2 : 1);
      encoded.assign(utf8.substr(i, width));
    }
    if (pieces.back().size() + encoded.size() > kMostUtfBytes) pieces.emplace_back();
    pieces.back() += encoded;
    i += width;
  }
  return pieces;
}

std::string DecodePiece(std::string_view modified) {
  std::string utf8;
  for (size_t i = 0; i < modified.size();) {
    const auto lead = static_cast<uint8_t>(modified[i]);
    if (lead == 0xc0 && Continuation(modified, i + 1) == 0) {
      utf8.push_back('\0');
      i += 2;
      continue;
    }
    const bool surrogate = lead == 0xed && i + 5 < modified.size() && (static_cast<uint8_t>(modified[i + 1]) & 0xf0) == 0xa0;
    if (surrogate) {
      const uint32_t high = 0xd000 | Continuation(modified, i + 1) << 6 | Continuation(modified, i + 2);
      const uint32_t low = 0xd000 | Continuation(modified, i + 4) << 6 | Continuation(modified, i + 5);
      const uint32_t point = 0x10000 + ((high & 0x3ff) << 10) + (low & 0x3ff);
      utf8.push_back(static_cast<char>(0xf0 | (point >> 18)));
      utf8.push_back(static_cast<char>(0x80 | ((point >> 12) & 0x3f)));
      utf8.push_back(static_cast<char>(0x80 | ((point >> 6) & 0x3f)));
      utf8.push_back(static_cast<char>(0x80 | (point & 0x3f)));
      i += 6;
      continue;
    }
    utf8.push_back(modified[i]);
    ++i;
  }
  return utf8;
}

}  // namespace

void JavaDataWriter::Int(int32_t value) {
  for (int shift = 24; shift >= 0; shift -= 8) bytes_.push_back(static_cast<char>(static_cast<uint32_t>(value) >> shift));
}

void JavaDataWriter::Short(int16_t value) {
  bytes_.push_back(static_cast<char>(static_cast<uint16_t>(value) >> 8));
  bytes_.push_back(static_cast<char>(value));
}

void JavaDataWriter::Utf(std::string_view utf8) {
  const auto pieces = EncodePieces(utf8);
  TW_DCHECK(pieces.size() == 1);
  Short(static_cast<int16_t>(pieces[0].size()));
  bytes_ += pieces[0];
}

void JavaDataWriter::ChunkedUtf(std::string_view utf8) {
  const auto pieces = EncodePieces(utf8);
  Int(static_cast<int32_t>(pieces.size()));
  for (const std::string& piece : pieces) {
    Short(static_cast<int16_t>(piece.size()));
    bytes_ += piece;
  }
}

Result<std::string_view> JavaDataReader::Take(size_t size) {
  if (size > left_.size()) return Error("MALFORMED_LOG_FILE").With("text", "a schema file that is cut off");
  const std::string_view taken = left_.substr(0, size);
  left_.remove_prefix(size);
  return taken;
}

Result<int32_t> JavaDataReader::Int() {
  TW_ASSIGN_OR_RETURN(const std::string_view bytes, Take(4));
  uint32_t value = 0;
  for (const char byte : bytes) value = value << 8 | static_cast<uint8_t>(byte);
  return static_cast<int32_t>(value);
}

Result<int16_t> JavaDataReader::Short() {
  TW_ASSIGN_OR_RETURN(const std::string_view bytes, Take(2));
  return static_cast<int16_t>(static_cast<uint8_t>(bytes[0]) << 8 | static_cast<uint8_t>(bytes[1]));
}

Result<std::string> JavaDataReader::Utf() {
  TW_ASSIGN_OR_RETURN(const int16_t size, Short());
  TW_ASSIGN_OR_RETURN(const std::string_view bytes, Take(static_cast<uint16_t>(size)));
  return DecodePiece(bytes);
}

Result<std::string> JavaDataReader::ChunkedUtf() {
  TW_ASSIGN_OR_RETURN(const int32_t chunks, Int());
  if (chunks < 0) return Error("MALFORMED_LOG_FILE").With("text", "a schema of less than no chunks");
  std::string text;
  for (int32_t i = 0; i < chunks; ++i) {
    TW_ASSIGN_OR_RETURN(const std::string chunk, Utf());
    text += chunk;
  }
  return text;
}

}  // namespace thalweg::engine
