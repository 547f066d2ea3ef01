// The digits of Double.toString and Float.toString of Java 17, which Spark runs on. They are not always the shortest
// (2^-44 could be 5.684341886080802E-14, Java 17 gives one digit more), so they come from the same method, free-format
// conversion after Steele and White with exact integers, and not from std::to_chars. Java 19 and later differ here.

#include "data/types/java_double.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>

namespace thalweg::data {
namespace {

using Uint128 = unsigned __int128;

// Bits of 5^n for n <= 26; longer powers are estimated at three bits each, as Java does: the estimate chooses the method.
constexpr int kBitsOf5[] = {0,  3,  5,  7,  10, 12, 14, 17, 19, 21, 24, 26, 28, 31,
                            33, 35, 38, 40, 42, 45, 47, 49, 52, 54, 56, 59, 61};
int BitsOf5(int power) { return power < 27 ? kBitsOf5[power] : power * 3; }

struct Digits {
  char text[24];
  int count = 0;
  int exponent = 0;  // the number is 0.text * 10^exponent

  void Push(int digit) { text[count++] = static_cast<char>('0' + digit); }
  void RoundUp() {
    int i = count - 1;
    while (i >= 0 && text[i] == '9') text[i--] = '0';
    if (i >= 0) {
      ++text[i];
    } else {
      text[0] = '1';
      ++exponent;
    }
  }
};

// A natural number of fixed capacity: enough for 5^325 * 2^60 and for 2^1100.
class Natural {
 public:
  static Natural Make(uint64_t value, int power5, int power2) {
    Natural n;
    n.words_[0] = static_cast<uint32_t>(value);
    n.words_[1] = static_cast<uint32_t>(value >> 32);
    n.size_ = n.words_[1] != 0 ? 2 : n.words_[0] != 0 ? 1 : 0;
    for (; power5 >= 13; power5 -= 13) n.Multiply(1220703125);
    for (; power5 > 0; --power5) n.Multiply(5);
    n.ShiftLeft(power2);
    return n;
  }
  bool is_zero() const { return size_ == 0; }
  void Multiply(uint32_t factor) {
    uint64_t carry = 0;
    for (int i = 0; i < size_; ++i) {
      carry += uint64_t{words_[i]} * factor;
      words_[i] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    if (carry != 0) words_[size_++] = static_cast<uint32_t>(carry);
  }
  void ShiftLeft(int bits) {
    if (size_ == 0 || bits == 0) return;
    const int whole = bits / 32;
    const int part = bits % 32;
    std::memmove(words_ + whole, words_, static_cast<size_t>(size_) * 4);
    std::memset(words_, 0, static_cast<size_t>(whole) * 4);
    size_ += whole;
    if (part == 0) return;
    uint32_t carry = 0;
    for (int i = whole; i < size_; ++i) {
      const uint32_t next = words_[i] >> (32 - part);
      words_[i] = words_[i] << part | carry;
      carry = next;
    }
    if (carry != 0) words_[size_++] = carry;
  }
  int Compare(const Natural& other) const {
    if (size_ != other.size_) return size_ < other.size_ ? -1 : 1;
    for (int i = size_ - 1; i >= 0; --i) {
      if (words_[i] != other.words_[i]) return words_[i] < other.words_[i] ? -1 : 1;
    }
    return 0;
  }
  void Add(const Natural& other) {
    uint64_t carry = 0;
    const int size = std::max(size_, other.size_);
    for (int i = 0; i < size; ++i) {
      carry += uint64_t{i < size_ ? words_[i] : 0} + (i < other.size_ ? other.words_[i] : 0);
      words_[i] = static_cast<uint32_t>(carry);
      carry >>= 32;
    }
    size_ = size;
    if (carry != 0) words_[size_++] = 1;
  }
  // Leaves the remainder; the quotient is below 10.
  int DivideSmall(const Natural& divisor) {
    int quotient = 0;
    while (Compare(divisor) >= 0) {
      Subtract(divisor);
      ++quotient;
    }
    return quotient;
  }

 private:
  void Subtract(const Natural& other) {
    int64_t borrow = 0;
    for (int i = 0; i < size_; ++i) {
      const int64_t difference = int64_t{words_[i]} - (i < other.size_ ? other.words_[i] : 0) + borrow;
      words_[i] = static_cast<uint32_t>(difference);
      borrow = difference < 0 ? -1 : 0;
    }
    while (size_ > 0 && words_[size_ - 1] == 0) --size_;
  }
  uint32_t words_[48];
  int size_ = 0;
};

// The number as (b / s) * 10^exponent with half the distance to its neighbours m / s, each value * 5^.. * 2^..
struct Scaled {
  uint64_t fraction;
  int b5, b2, s5, s2, m5, m2;
  int exponent;
};

// Java goes on after the first digit where the result has an exponent: "1.0E10" needs two digits.
bool NeedsSecondDigit(int exponent) { return exponent < -3 || exponent >= 8; }

void Finish(bool low, bool high, int difference, Digits* digits) {
  if (!high) return;
  if (!low || difference > 0 || (difference == 0 && ((digits->text[digits->count - 1] - '0') & 1) != 0)) digits->RoundUp();
}

// Java's arithmetic of 64 bits, where the numbers fit.
void GenerateNarrow(const Scaled& x, Digits* digits) {
  const auto power5 = [](int n) {
    int64_t p = 1;
    while (n-- > 0) p *= 5;
    return p;
  };
  int exponent = x.exponent;
  int64_t b = (static_cast<int64_t>(x.fraction) * power5(x.b5)) << x.b2;
  const int64_t s = power5(x.s5) << x.s2;
  int64_t m = power5(x.m5) << x.m2;
  const int64_t tens = s * 10;
  int quotient = static_cast<int>(b / s);
  b = 10 * (b % s);
  m *= 10;
  bool low = b < m;
  bool high = b + m > tens;
  if (quotient == 0 && !high) {
    --exponent;
  } else {
    digits->Push(quotient);
  }
  if (NeedsSecondDigit(exponent)) low = high = false;
  while (!low && !high) {
    quotient = static_cast<int>(b / s);
    b = 10 * (b % s);
    m = static_cast<int64_t>(static_cast<uint64_t>(m) * 10);
    if (m > 0) {
      low = b < m;
      high = static_cast<int64_t>(static_cast<uint64_t>(b) + static_cast<uint64_t>(m)) > tens;
    } else {
      low = high = true;
    }
    digits->Push(quotient);
  }
  const auto difference = static_cast<int64_t>((static_cast<uint64_t>(b) << 1) - static_cast<uint64_t>(tens));
  digits->exponent = exponent + 1;
  Finish(low, high, difference < 0 ? -1 : difference > 0, digits);
}

// The same for 128 bits and for any size; here a sum that meets `tens` counts as high.
void GenerateMiddle(const Scaled& x, Digits* digits) {
  const auto power5 = [](int n) {
    Uint128 p = 1;
    while (n-- > 0) p *= 5;
    return p;
  };
  int exponent = x.exponent;
  Uint128 b = (x.fraction * power5(x.b5)) << x.b2;
  const Uint128 s = power5(x.s5) << x.s2;
  Uint128 m = (power5(x.m5) << x.m2) * 10;
  const Uint128 tens = s * 10;
  int quotient = static_cast<int>(b / s);
  b = 10 * (b % s);
  bool low = b < m;
  bool high = b + m >= tens;
  if (quotient == 0 && !high) {
    --exponent;
  } else {
    digits->Push(quotient);
  }
  if (NeedsSecondDigit(exponent)) low = high = false;
  while (!low && !high) {
    quotient = static_cast<int>(b / s);
    b = 10 * (b % s);
    m *= 10;
    low = b < m;
    high = b + m >= tens;
    digits->Push(quotient);
  }
  const Uint128 twice = b << 1;
  digits->exponent = exponent + 1;
  Finish(low, high, !(low && high) ? 0 : twice < tens ? -1 : twice > tens, digits);
}

void GenerateWide(const Scaled& x, Digits* digits) {
  int exponent = x.exponent;
  Natural b = Natural::Make(x.fraction, x.b5, x.b2);
  const Natural s = Natural::Make(1, x.s5, x.s2);
  Natural m = Natural::Make(1, x.m5 + 1, x.m2 + 1);
  const Natural tens = Natural::Make(1, x.s5 + 1, x.s2 + 1);
  bool low = false;
  bool high = false;
  const auto step = [&] {
    const int quotient = b.DivideSmall(s);
    b.Multiply(10);
    low = b.Compare(m) < 0;
    Natural sum = b;
    sum.Add(m);
    high = sum.Compare(tens) >= 0;
    return quotient;
  };
  const int first = step();
  if (first == 0 && !high) {
    --exponent;
  } else {
    digits->Push(first);
  }
  if (NeedsSecondDigit(exponent)) low = high = false;
  while (!low && !high) {
    m.Multiply(10);
    digits->Push(step());
  }
  b.ShiftLeft(1);
  digits->exponent = exponent + 1;
  Finish(low, high, low && high ? b.Compare(tens) : 0, digits);
}

// Whole numbers below 2^63: the digits of the integer, without those that the precision does not carry.
void GenerateInteger(uint64_t value, int exponent2, int significant_bits, Digits* digits) {
  int dropped = 0;
  if (exponent2 > significant_bits) {
    const int spare = exponent2 - significant_bits - 1;
    if (spare > 1 && spare < 64) dropped = static_cast<int>(spare * 0.30102999566398120);
  }
  if (dropped > 0) {
    uint64_t power = 1;
    for (int i = 0; i < dropped; ++i) power *= 10;
    const uint64_t rest = value % power;
    value /= power;
    if (rest >= power / 2) ++value;
  }
  char reversed[24];
  int n = 0;
  for (; value != 0; value /= 10) reversed[n++] = static_cast<char>('0' + value % 10);
  digits->exponent = n + dropped;
  int skip = 0;
  while (skip < n - 1 && reversed[skip] == '0') ++skip;
  while (n > skip) digits->text[digits->count++] = reversed[--n];
}

// `fraction` has its highest bit at 52; the value is fraction * 2^(exponent2 - 52).
void Generate(int exponent2, uint64_t fraction, int significant_bits, Digits* digits) {
  const int tail_zeros = std::countr_zero(fraction);
  const int fraction_bits = 53 - tail_zeros;
  const int tiny_bits = std::max(0, fraction_bits - exponent2 - 1);
  if (exponent2 <= 62 && exponent2 >= -21 && tiny_bits == 0 && fraction_bits < 64) {
    const uint64_t value = exponent2 >= 52 ? fraction << (exponent2 - 52) : fraction >> (52 - exponent2);
    return GenerateInteger(value, exponent2, significant_bits, digits);
  }
  // A first estimate of the decimal exponent, at most one too high.
  const double mantissa = std::bit_cast<double>(uint64_t{1023} << 52 | (fraction & ((uint64_t{1} << 52) - 1)));
  const double estimate = (mantissa - 1.5) * 0.289529654 + 0.176091259 + exponent2 * 0.301029995663981;
  Scaled x{};
  x.exponent = static_cast<int>(std::floor(estimate));
  x.b5 = x.m5 = std::max(0, -x.exponent);
  x.b2 = x.b5 + tiny_bits + exponent2;
  x.s5 = std::max(0, x.exponent);
  x.s2 = x.s5 + tiny_bits;
  x.m2 = x.b2 - significant_bits;
  x.fraction = fraction >> tail_zeros;
  x.b2 -= fraction_bits - 1;
  const int common = std::min(x.b2, x.s2);
  x.b2 -= common;
  x.s2 -= common;
  x.m2 -= common;
  if (fraction_bits == 1) --x.m2;  // below a power of two the neighbours are half as far
  if (x.m2 < 0) {
    x.b2 -= x.m2;
    x.s2 -= x.m2;
    x.m2 = 0;
  }
  const int b_bits = fraction_bits + x.b2 + BitsOf5(x.b5);
  const int tens_bits = x.s2 + 1 + BitsOf5(x.s5 + 1);
  if (b_bits < 64 && tens_bits < 64) {
    GenerateNarrow(x, digits);
  } else if (b_bits < 122 && tens_bits < 122) {
    GenerateMiddle(x, digits);
  } else {
    GenerateWide(x, digits);
  }
}

// Java's layout: plain from 10^-3 up to 10^7, else with an exponent; always a digit behind the point.
void AppendLayout(const Digits& digits, std::string* out) {
  const int n = digits.count;
  const int exponent = digits.exponent;
  const char* text = digits.text;
  if (exponent > 0 && exponent < 8) {
    const int whole = std::min(n, exponent);
    out->append(text, static_cast<size_t>(whole));
    out->append(static_cast<size_t>(exponent - whole), '0').push_back('.');
    if (n > whole) {
      out->append(text + whole, static_cast<size_t>(n - whole));
    } else {
      out->push_back('0');
    }
  } else if (exponent <= 0 && exponent > -3) {
    out->append("0.").append(static_cast<size_t>(-exponent), '0').append(text, static_cast<size_t>(n));
  } else {
    out->push_back(text[0]);
    out->push_back('.');
    if (n > 1) {
      out->append(text + 1, static_cast<size_t>(n - 1));
    } else {
      out->push_back('0');
    }
    out->push_back('E');
    out->append(std::to_string(exponent - 1));
  }
}

bool AppendSpecial(bool negative, bool is_nan, bool is_infinite, bool is_zero, std::string* out) {
  if (is_nan) {
    out->append("NaN");
    return true;
  }
  if (negative) out->push_back('-');
  if (is_infinite) out->append("Infinity");
  if (is_zero) out->append("0.0");
  return is_infinite || is_zero;
}

// Bits is the unsigned integer of Float's size; kStored: bits of the fraction that are stored.
template <typename Bits, int kStored, int kBias, typename Float>
void AppendShortest(Float value, std::string* out) {
  constexpr int kWidth = 8 * sizeof(Bits);
  const auto bits = std::bit_cast<Bits>(value);
  if (AppendSpecial(bits >> (kWidth - 1) != 0, std::isnan(value), std::isinf(value), value == 0, out)) return;
  Bits fraction = bits & ((Bits{1} << kStored) - 1);
  int exponent2 = static_cast<int>(bits >> kStored & (2 * kBias + 1));
  int significant_bits = kStored + 1;
  if (exponent2 == 0) {
    const int zeros = std::countl_zero(fraction);
    const int shift = zeros - (kWidth - kStored - 1);
    significant_bits = kWidth - zeros;
    fraction <<= shift;
    exponent2 = 1 - shift;
  } else {
    fraction |= Bits{1} << kStored;
  }
  Digits digits;
  Generate(exponent2 - kBias, uint64_t{fraction} << (52 - kStored), significant_bits, &digits);
  AppendLayout(digits, out);
}

}  // namespace

void AppendJavaDouble(double value, std::string* out) { AppendShortest<uint64_t, 52, 1023>(value, out); }

void AppendJavaFloat(float value, std::string* out) { AppendShortest<uint32_t, 23, 127>(value, out); }

}  // namespace thalweg::data
