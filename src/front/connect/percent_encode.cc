#include "front/connect/percent_encode.h"

namespace thalweg::front {

std::string PercentEncode(std::string_view text) {
  std::string encoded;
  for (const char c : text) {
    if ((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' || c == '_' || c == '.') {
      encoded.push_back(c);
      continue;
    }
    const auto byte = static_cast<unsigned char>(c);
    encoded.push_back('%');
    encoded.push_back("0123456789ABCDEF"[byte >> 4]);
    encoded.push_back("0123456789ABCDEF"[byte & 15]);
  }
  return encoded;
}

}  // namespace thalweg::front
