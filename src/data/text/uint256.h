#pragma once

// Natural numbers of 256 bits for products and quotients of decimals; private to the room.

#include <cstdint>

namespace thalweg::data::internal {

using Uint128 = unsigned __int128;

struct Uint256 {
  Uint128 low = 0;
  Uint128 high = 0;
};

struct Quotient256 {
  Uint256 quotient;
  Uint256 remainder;
};

/// -1, 0, 1.
int Compare(const Uint256& a, const Uint256& b);
/// Modulo 2^256.
Uint256 Add(const Uint256& a, const Uint256& b);
Uint256 Subtract(const Uint256& a, const Uint256& b);
Uint256 Multiply(Uint128 a, Uint128 b);
/// False beyond 256 bits.
bool Multiply(const Uint256& a, Uint128 b, Uint256* out);
/// The divisor is not 0.
Quotient256 Divide(const Uint256& a, const Uint256& b);
inline Quotient256 Divide(const Uint256& a, Uint128 b) { return Divide(a, Uint256{b, 0}); }

}  // namespace thalweg::data::internal
