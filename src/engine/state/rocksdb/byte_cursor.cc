#include "engine/state/rocksdb/byte_cursor.h"

#include <limits>

namespace thalweg::engine {
namespace {

template <typename T>
bool TakeFixed(std::string_view* rest, T* value) {
  if (rest->size() < sizeof(T)) return false;
  *value = 0;
  for (size_t i = sizeof(T); i-- > 0;) *value = static_cast<T>(*value << 8 | static_cast<uint8_t>((*rest)[i]));
  rest->remove_prefix(sizeof(T));
  return true;
}

}  // namespace

bool ByteCursor::TakeFixed32(uint32_t* value) { return TakeFixed(&rest_, value); }
bool ByteCursor::TakeFixed64(uint64_t* value) { return TakeFixed(&rest_, value); }

bool ByteCursor::TakeVarint64(uint64_t* value) {
  *value = 0;
  for (int shift = 0; shift < 64 && !rest_.empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    if (shift == 63 && byte > 1) return false;
    *value |= static_cast<uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

bool ByteCursor::TakeVarint32(uint32_t* value) {
  uint64_t wide = 0;
  if (!TakeVarint64(&wide) || wide > std::numeric_limits<uint32_t>::max()) return false;
  *value = static_cast<uint32_t>(wide);
  return true;
}

bool ByteCursor::TakeSized(std::string_view* value) {
  uint32_t size = 0;
  return TakeVarint32(&size) && TakeBytes(size, value);
}

bool ByteCursor::TakeBytes(uint64_t count, std::string_view* value) {
  if (count > rest_.size()) return false;
  *value = rest_.substr(0, count);
  rest_.remove_prefix(count);
  return true;
}

void AppendFixed32(uint32_t value, std::string* out) {
  for (int i = 0; i < 4; ++i) out->push_back(static_cast<char>(value >> (8 * i)));
}

void AppendVarint(uint64_t value, std::string* out) {
  for (; value >= 0x80; value >>= 7) out->push_back(static_cast<char>(value | 0x80));
  out->push_back(static_cast<char>(value));
}

void AppendSized(std::string_view bytes, std::string* out) {
  AppendVarint(bytes.size(), out);
  out->append(bytes);
}

uint32_t MaskedCrc32c(uint32_t crc) { return (crc >> 15 | crc << 17) + 0xa282ead8u; }

}  // namespace thalweg::engine
