#include "data/types/value.h"

#include <bit>
#include <type_traits>

namespace thalweg::data {

int64_t Value::AsInt64() const {
  return std::visit(
      [](const auto& v) -> int64_t {
        using T = std::decay_t<decltype(v)>;
        if constexpr (std::is_integral_v<T> && !std::is_same_v<T, Int128>) {
          return static_cast<int64_t>(v);
        } else {
          TW_DCHECK(false);
          return 0;
        }
      },
      variant_);
}

bool Value::operator==(const Value& other) const {
  if (variant_.index() != other.variant_.index()) return false;
  return std::visit(
      [&](const auto& v) {
        using T = std::decay_t<decltype(v)>;
        const T& w = std::get<T>(other.variant_);
        if constexpr (std::is_same_v<T, float>) {
          return (v != v && w != w) || std::bit_cast<uint32_t>(v) == std::bit_cast<uint32_t>(w);
        } else if constexpr (std::is_same_v<T, double>) {
          return (v != v && w != w) || std::bit_cast<uint64_t>(v) == std::bit_cast<uint64_t>(w);
        } else {
          return v == w;
        }
      },
      variant_);
}

}  // namespace thalweg::data
