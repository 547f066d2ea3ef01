#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <functional>
#include <ostream>
#include <string>
#include <string_view>

#include "base/status.h"

namespace thalweg {

class Random;

/// A UUID (RFC 4122), printed as 8-4-4-4-12 lower-case hexadecimal digits. A default one is all zero.
/// Thread: a value.
class Uuid {
 public:
  constexpr Uuid() = default;
  constexpr explicit Uuid(std::array<uint8_t, 16> bytes) : bytes_(bytes) {}

  /// A version 4 UUID from `random`: the same seed gives the same ones.
  static Uuid MakeRandom(Random& random);
  /// A version 4 UUID from the operating system's generator.
  static Uuid MakeRandom();
  /// Reads the 36-character form, either case. Errors: INTERNAL_ERROR for any other text.
  static Result<Uuid> Parse(std::string_view text);

  std::string ToString() const;
  const std::array<uint8_t, 16>& bytes() const { return bytes_; }
  bool is_nil() const { return bytes_ == std::array<uint8_t, 16>{}; }

  friend constexpr bool operator==(const Uuid&, const Uuid&) = default;
  friend constexpr auto operator<=>(const Uuid&, const Uuid&) = default;
  friend std::ostream& operator<<(std::ostream& out, const Uuid& uuid) { return out << uuid.ToString(); }

 private:
  std::array<uint8_t, 16> bytes_{};
};

}  // namespace thalweg

template <>
struct std::hash<thalweg::Uuid> {
  size_t operator()(const thalweg::Uuid& uuid) const;
};
