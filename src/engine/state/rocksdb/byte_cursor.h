#pragma once

// RocksDB's numbers as bytes: little-endian, and seven bits a byte.

#include <cstdint>
#include <string>
#include <string_view>

namespace thalweg::engine {

/// Takes fields from the front of `bytes`. Every Take says whether the field was there, whole; after a false nothing else holds.
class ByteCursor {
 public:
  explicit ByteCursor(std::string_view bytes) : rest_(bytes) {}

  bool TakeFixed32(uint32_t* value);
  bool TakeFixed64(uint64_t* value);
  bool TakeVarint32(uint32_t* value);
  bool TakeVarint64(uint64_t* value);
  /// A length, then so many bytes.
  bool TakeSized(std::string_view* value);
  bool TakeBytes(uint64_t count, std::string_view* value);

  bool empty() const { return rest_.empty(); }
  std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

void AppendFixed32(uint32_t value, std::string* out);
void AppendVarint(uint64_t value, std::string* out);
void AppendSized(std::string_view bytes, std::string* out);

/// CRC-32C as RocksDB stores it.
uint32_t MaskedCrc32c(uint32_t crc);

}  // namespace thalweg::engine
