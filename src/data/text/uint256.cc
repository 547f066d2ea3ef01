#include "data/text/uint256.h"

#include <bit>

namespace thalweg::data::internal {
namespace {

void ToLimbs(const Uint256& value, uint32_t* limbs) {
  for (int i = 0; i < 4; ++i) {
    limbs[i] = static_cast<uint32_t>(value.low >> (32 * i));
    limbs[i + 4] = static_cast<uint32_t>(value.high >> (32 * i));
  }
}

Uint256 FromLimbs(const uint32_t* limbs) {
  Uint256 value;
  for (int i = 3; i >= 0; --i) {
    value.low = value.low << 32 | limbs[i];
    value.high = value.high << 32 | limbs[i + 4];
  }
  return value;
}

int LimbCount(const uint32_t* limbs) {
  int n = 8;
  while (n > 0 && limbs[n - 1] == 0) --n;
  return n;
}

// Schoolbook division by a divisor of one limb.
Quotient256 DivideByLimb(const uint32_t* a, uint32_t divisor) {
  uint32_t quotient[8];
  uint64_t rest = 0;
  for (int i = 7; i >= 0; --i) {
    const uint64_t part = rest << 32 | a[i];
    quotient[i] = static_cast<uint32_t>(part / divisor);
    rest = part % divisor;
  }
  return {FromLimbs(quotient), Uint256{rest, 0}};
}

// Long division in base 2^32 (Knuth, The Art of Computer Programming 2, 4.3.1, algorithm D); b has n >= 2 limbs, a has m >= n.
Quotient256 DivideByLimbs(const uint32_t* a, int m, const uint32_t* b, int n) {
  const int shift = std::countl_zero(b[n - 1]);
  const auto shifted = [shift](uint32_t upper, uint32_t lower) {
    return shift == 0 ? upper : static_cast<uint32_t>(upper << shift | lower >> (32 - shift));
  };
  uint32_t v[8];
  uint32_t u[9];
  for (int i = n - 1; i >= 0; --i) v[i] = shifted(b[i], i > 0 ? b[i - 1] : 0);
  u[m] = shift == 0 ? 0 : a[m - 1] >> (32 - shift);
  for (int i = m - 1; i >= 0; --i) u[i] = shifted(a[i], i > 0 ? a[i - 1] : 0);
  uint32_t quotient[8] = {};
  for (int j = m - n; j >= 0; --j) {
    const uint64_t top = uint64_t{u[j + n]} << 32 | u[j + n - 1];
    uint64_t digit = top / v[n - 1];
    uint64_t rest = top % v[n - 1];
    while (digit >> 32 != 0 || digit * v[n - 2] > (rest << 32 | u[j + n - 2])) {
      --digit;
      rest += v[n - 1];
      if (rest >> 32 != 0) break;
    }
    int64_t borrow = 0;
    uint64_t carry = 0;
    for (int i = 0; i < n; ++i) {
      const uint64_t product = digit * v[i] + carry;
      carry = product >> 32;
      const int64_t difference = int64_t{u[i + j]} - static_cast<int64_t>(product & 0xFFFFFFFF) + borrow;
      u[i + j] = static_cast<uint32_t>(difference);
      borrow = difference >> 32;
    }
    const int64_t difference = int64_t{u[j + n]} - static_cast<int64_t>(carry) + borrow;
    u[j + n] = static_cast<uint32_t>(difference);
    if (difference < 0) {  // one too many: add the divisor back
      --digit;
      uint64_t sum = 0;
      for (int i = 0; i < n; ++i) {
        sum += uint64_t{u[i + j]} + v[i];
        u[i + j] = static_cast<uint32_t>(sum);
        sum >>= 32;
      }
      u[j + n] += static_cast<uint32_t>(sum);
    }
    quotient[j] = static_cast<uint32_t>(digit);
  }
  uint32_t remainder[8] = {};
  for (int i = 0; i < n; ++i) {
    remainder[i] = shift == 0 ? u[i] : static_cast<uint32_t>(u[i] >> shift | uint64_t{u[i + 1]} << (32 - shift));
  }
  return {FromLimbs(quotient), FromLimbs(remainder)};
}

}  // namespace

int Compare(const Uint256& a, const Uint256& b) {
  if (a.high != b.high) return a.high < b.high ? -1 : 1;
  return a.low < b.low ? -1 : a.low > b.low;
}

Uint256 Add(const Uint256& a, const Uint256& b) {
  Uint256 sum{a.low + b.low, a.high + b.high};
  if (sum.low < a.low) ++sum.high;
  return sum;
}

Uint256 Subtract(const Uint256& a, const Uint256& b) {
  Uint256 difference{a.low - b.low, a.high - b.high};
  if (a.low < b.low) --difference.high;
  return difference;
}

Uint256 Multiply(Uint128 a, Uint128 b) {
  constexpr Uint128 kMask = ~uint64_t{0};
  const Uint128 low = (a & kMask) * (b & kMask);
  const Uint128 cross_a = (a >> 64) * (b & kMask);
  const Uint128 cross_b = (a & kMask) * (b >> 64);
  const Uint128 middle = (low >> 64) + (cross_a & kMask) + (cross_b & kMask);
  return {(low & kMask) | middle << 64, (a >> 64) * (b >> 64) + (cross_a >> 64) + (cross_b >> 64) + (middle >> 64)};
}

bool Multiply(const Uint256& a, Uint128 b, Uint256* out) {
  const Uint256 low = Multiply(a.low, b);
  const Uint256 high = Multiply(a.high, b);
  if (high.high != 0) return false;
  out->low = low.low;
  return !__builtin_add_overflow(low.high, high.low, &out->high);
}

Quotient256 Divide(const Uint256& a, const Uint256& b) {
  if (a.high == 0 && b.high == 0) return {Uint256{a.low / b.low, 0}, Uint256{a.low % b.low, 0}};
  if (Compare(a, b) < 0) return {Uint256{}, a};
  uint32_t wide_a[8];
  uint32_t wide_b[8];
  ToLimbs(a, wide_a);
  ToLimbs(b, wide_b);
  const int n = LimbCount(wide_b);
  return n == 1 ? DivideByLimb(wide_a, wide_b[0]) : DivideByLimbs(wide_a, LimbCount(wide_a), wide_b, n);
}

}  // namespace thalweg::data::internal
