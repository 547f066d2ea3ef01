#pragma once

// The primitives of every conversation with a Python worker: big-endian, as Java's DataOutputStream. Source: PySpark's worker_util.py, serializers.py.

#include <cstdint>
#include <string>
#include <string_view>

namespace thalweg::engine {

/// Lengths that mean something else.
enum SpecialLength : int32_t {
  kEndOfDataSection = -1,
  kPythonExceptionThrown = -2,
  kTimingData = -3,
  kEndOfStream = -4,
  kNullValue = -5,
  kStartArrowStream = -6,
};

/// Builds bytes for a worker. Thread: confined.
class JavaData {
 public:
  JavaData& Int(int32_t value);
  JavaData& Long(int64_t value);
  JavaData& Bool(bool value);
  /// Length and bytes; the same form for UTF-8 text and for commands.
  JavaData& Bytes(std::string_view bytes);
  JavaData& Raw(std::string_view bytes);

  const std::string& bytes() const { return bytes_; }
  std::string Take() { return std::move(bytes_); }

 private:
  std::string bytes_;
};

int32_t ReadJavaInt(const char* bytes);
int64_t ReadJavaLong(const char* bytes);

}  // namespace thalweg::engine
