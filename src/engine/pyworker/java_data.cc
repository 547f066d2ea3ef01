#include "engine/pyworker/java_data.h"

namespace thalweg::engine {

namespace {

template <typename T>
void Append(T value, std::string* out) {
  for (int shift = (sizeof(T) - 1) * 8; shift >= 0; shift -= 8) out->push_back(static_cast<char>(value >> shift & 0xFF));
}

template <typename T>
T Read(const char* bytes) {
  T value = 0;
  for (size_t i = 0; i < sizeof(T); ++i) value = value << 8 | static_cast<uint8_t>(bytes[i]);
  return value;
}

}  // namespace

JavaData& JavaData::Int(int32_t value) {
  Append(static_cast<uint32_t>(value), &bytes_);
  return *this;
}

JavaData& JavaData::Long(int64_t value) {
  Append(static_cast<uint64_t>(value), &bytes_);
  return *this;
}

JavaData& JavaData::Bool(bool value) {
  bytes_.push_back(value ? 1 : 0);
  return *this;
}

JavaData& JavaData::Bytes(std::string_view bytes) {
  Int(static_cast<int32_t>(bytes.size()));
  return Raw(bytes);
}

JavaData& JavaData::Raw(std::string_view bytes) {
  bytes_.append(bytes);
  return *this;
}

int32_t ReadJavaInt(const char* bytes) { return static_cast<int32_t>(Read<uint32_t>(bytes)); }
int64_t ReadJavaLong(const char* bytes) { return static_cast<int64_t>(Read<uint64_t>(bytes)); }

}  // namespace thalweg::engine
