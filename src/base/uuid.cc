#include "base/uuid.h"

#include <cstring>

#include "base/random.h"

namespace thalweg {
namespace {

constexpr char kHexDigits[] = "0123456789abcdef";

int HexValue(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

bool IsHyphenPlace(size_t at) { return at == 8 || at == 13 || at == 18 || at == 23; }

Uuid FromWords(uint64_t high, uint64_t low) {
  std::array<uint8_t, 16> bytes;
  for (int i = 0; i < 8; ++i) {
    bytes[i] = static_cast<uint8_t>(high >> (56 - 8 * i));
    bytes[8 + i] = static_cast<uint8_t>(low >> (56 - 8 * i));
  }
  bytes[6] = (bytes[6] & 0x0F) | 0x40;  // version 4
  bytes[8] = (bytes[8] & 0x3F) | 0x80;  // the RFC's variant
  return Uuid(bytes);
}

}  // namespace

Uuid Uuid::MakeRandom(Random& random) {
  const uint64_t high = random.NextUint64();
  return FromWords(high, random.NextUint64());
}

Uuid Uuid::MakeRandom() {
  const uint64_t high = OsRandomSeed();
  return FromWords(high, OsRandomSeed());
}

Result<Uuid> Uuid::Parse(std::string_view text) {
  std::array<uint8_t, 16> bytes;
  bool valid = text.size() == 36;
  size_t nibble = 0;
  for (size_t at = 0; valid && at < text.size(); ++at) {
    if (IsHyphenPlace(at)) {
      valid = text[at] == '-';
      continue;
    }
    const int value = HexValue(text[at]);
    valid = value >= 0;
    uint8_t& byte = bytes[nibble / 2];
    byte = static_cast<uint8_t>(nibble % 2 == 0 ? value << 4 : byte | value);
    ++nibble;
  }
  if (!valid) return InternalError("Invalid UUID string: " + std::string(text));
  return Uuid(bytes);
}

std::string Uuid::ToString() const {
  std::string out;
  out.reserve(36);
  for (size_t i = 0; i < bytes_.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) out += '-';
    out += kHexDigits[bytes_[i] >> 4];
    out += kHexDigits[bytes_[i] & 0x0F];
  }
  return out;
}

}  // namespace thalweg

size_t std::hash<thalweg::Uuid>::operator()(const thalweg::Uuid& uuid) const {
  uint64_t words[2];
  std::memcpy(words, uuid.bytes().data(), sizeof words);
  return words[0] ^ (words[1] * 0x9E3779B97F4A7C15ULL);
}
