#pragma once

// Java's DataOutputStream forms, as schema files use them: big-endian integers, and strings as a uint16 length before
// "modified UTF-8" (NUL is C0 80, characters beyond U+FFFF are two three-byte surrogates).

#include <cstdint>
#include <string>
#include <string_view>

#include "base/status.h"

namespace thalweg::engine {

class JavaDataWriter {
 public:
  void Int(int32_t value);
  void Short(int16_t value);
  /// At most 65,535 bytes once encoded.
  void Utf(std::string_view utf8);
  /// int32 number of chunks, then each as Utf: for texts of any length.
  void ChunkedUtf(std::string_view utf8);
  const std::string& bytes() const { return bytes_; }

 private:
  std::string bytes_;
};

/// Every call fails (MALFORMED_LOG_FILE) when the bytes do not suffice.
class JavaDataReader {
 public:
  explicit JavaDataReader(std::string_view bytes) : left_(bytes) {}
  Result<int32_t> Int();
  Result<int16_t> Short();
  Result<std::string> Utf();
  Result<std::string> ChunkedUtf();
  bool at_end() const { return left_.empty(); }

 private:
  Result<std::string_view> Take(size_t size);
  std::string_view left_;
};

}  // namespace thalweg::engine
