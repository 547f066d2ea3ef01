#include "data/text/decimal128.h"

#include <random>

#include "data/text/golden_test.h"
#include "data/text/numbers.h"
#include "data/text/uint256.h"

namespace thalweg::data {
namespace {

Int128 Unscaled(const std::string& text, int scale) {
  Int128 value = 0;
  EXPECT_EQ(ParseDecimal(text, 38, scale, &value), DecimalOutcome::kOk) << text;
  return value;
}

std::string Text(bool ok, Int128 value, int scale) {
  if (!ok) return "null";
  std::string out;
  AppendDecimal(value, scale, &out);
  return out;
}

std::string LegacyText(bool ok, Int128 value, int scale) {
  if (!ok) return "null";
  std::string out;
  AppendDecimalScientific(value, scale, &out);
  return out;
}

using Operation = bool (*)(Int128, int, Int128, int, int, int, Int128*);

Operation OperationOf(const std::string& sign) {
  if (sign == "+") return &DecimalAdd;
  if (sign == "-") return &DecimalSubtract;
  if (sign == "*") return &DecimalMultiply;
  if (sign == "/") return &DecimalDivide;
  return &DecimalRemainder;
}

TEST(Decimal128, ArithmeticIsSparks) {
  for (const GoldenRow& row : ReadGoldenRows("decimal_arithmetic")) {
    const int a_scale = row[1];
    const int b_scale = row[3];
    const Int128 a = Unscaled(row[0], a_scale);
    const Int128 b = Unscaled(row[2], b_scale);
    for (size_t i = 4; i + 1 < row.size(); ++i) {  // % is missing where Spark fails inside ("Division impossible")
      Int128 out = 0;
      const std::string sign = row[i][0];
      const int scale = row[i][2];
      const bool ok = OperationOf(sign)(a, a_scale, b, b_scale, row[i][1], scale, &out);
      SCOPED_TRACE(row[0].dump() + " " + sign + " " + row[2].dump() + " as " + row[i][1].dump() + "," + row[i][2].dump());
      ASSERT_EQ(ok, !row[i][3].is_null()) << Text(ok, out, scale) << " " << row[i][3];
      if (!ok) continue;
      // Python's decimals come with another number of trailing zeros now and then: compare the numbers.
      Int128 expected = 0;
      int expected_scale = 0;
      ASSERT_TRUE(ParseDecimalExact(row[i][3].get<std::string>(), &expected, &expected_scale));
      EXPECT_EQ(DecimalCompare(out, scale, expected, expected_scale), 0) << Text(ok, out, scale) << " " << row[i][3];
    }
    // Spark compares after a cast to a common type, which may make unequal numbers equal.
    if (row.back() != 0) {
      EXPECT_EQ(DecimalCompare(a, a_scale, b, b_scale), row.back().get<int>()) << row[0] << " <=> " << row[2];
    }
  }
}

TEST(Decimal128, CastsAreSparks) {
  auto rows = ReadGoldenRows("decimal_casts");
  for (size_t i = 1; i < rows.size(); ++i) {
    for (size_t k = 1; k < rows[0].size(); ++k) {
      const int precision = rows[0][k][0];
      const int scale = rows[0][k][1];
      const size_t at = 1 + (k - 1) * 5;
      SCOPED_TRACE(rows[i][0].get<std::string>() + " as " + rows[0][k].dump());
      Int128 value = 0;
      if (ParseDecimal(rows[i][0].get<std::string>(), precision, scale, &value) != DecimalOutcome::kOk) {
        EXPECT_TRUE(rows[i][at].is_null());
        continue;
      }
      std::string text;
      AppendDouble(DecimalToDouble(value, scale), &text);
      EXPECT_EQ(text, GoldenText(rows[i][at]));
      AppendFloat(DecimalToFloat(value, scale), &(text = ""));
      EXPECT_EQ(text, GoldenText(rows[i][at + 1]));
      AppendDecimalScientific(value, scale, &(text = ""));
      EXPECT_EQ(text, GoldenText(rows[i][at + 2]));
      // With ANSI off a BIGINT out of range wraps in Spark; here it is refused.
      int64_t whole = 0;
      if (DecimalToInt64(value, scale, &whole)) {
        EXPECT_EQ(std::to_string(whole), GoldenText(rows[i][at + 3]));
      }
      Int128 narrow = 0;
      const bool fits = DecimalRescale(value, scale, 12, 3, &narrow);
      EXPECT_EQ(Text(fits, narrow, 3), GoldenText(rows[i][at + 4]));
    }
  }
}

TEST(Decimal128, FloatingPointIsTakenByItsDigits) {
  auto rows = ReadGoldenRows("decimal_from_double");
  const size_t kinds = rows[0].size() - 1;
  for (size_t i = 1; i < rows.size(); ++i) {
    double value = 0;
    ASSERT_TRUE(ParseDouble(rows[i][0].get<std::string>(), &value));
    for (size_t k = 1; k <= kinds; ++k) {
      const int precision = rows[0][k][0];
      const int scale = rows[0][k][1];
      Int128 out = 0;
      const bool wide = DecimalFromDouble(value, precision, scale, &out);
      EXPECT_EQ(LegacyText(wide, out, scale), GoldenText(rows[i][k])) << rows[i][0];
      const bool narrow = DecimalFromFloat(static_cast<float>(value), precision, scale, &out);
      EXPECT_EQ(LegacyText(narrow, out, scale), GoldenText(rows[i][k + kinds])) << rows[i][0];
    }
  }
}

TEST(Decimal128, RoundingModes) {
  const auto round = [](int64_t value, Rounding mode) {
    Int128 out = 0;
    EXPECT_TRUE(DecimalRescale(value, 1, 38, 0, &out, mode));
    return static_cast<int64_t>(out);
  };
  EXPECT_EQ(round(25, Rounding::kHalfUp), 3);
  EXPECT_EQ(round(-25, Rounding::kHalfUp), -3);
  EXPECT_EQ(round(25, Rounding::kHalfEven), 2);
  EXPECT_EQ(round(35, Rounding::kHalfEven), 4);
  EXPECT_EQ(round(29, Rounding::kDown), 2);
  EXPECT_EQ(round(21, Rounding::kUp), 3);
  EXPECT_EQ(round(-21, Rounding::kFloor), -3);
  EXPECT_EQ(round(-29, Rounding::kCeiling), -2);
}

TEST(Decimal128, ComparisonIsExactForAnyScales) {
  EXPECT_EQ(DecimalCompare(1, 0, 10, 1), 0);
  EXPECT_EQ(DecimalCompare(PowerOfTen(38) - 1, 0, PowerOfTen(38) - 1, 38), 1);
  EXPECT_EQ(DecimalCompare(-PowerOfTen(37), 0, -1, 38), -1);
  EXPECT_EQ(DecimalCompare(-1, 38, 0, 0), -1);
  EXPECT_EQ(DecimalCompare(PowerOfTen(37), 0, -PowerOfTen(37), 38), 1);
}

TEST(Decimal128, DigitsAreCounted) {
  for (int n = 0; n <= 38; ++n) {
    EXPECT_EQ(DecimalDigits(PowerOfTen(n)), n + 1);
    EXPECT_EQ(DecimalDigits(PowerOfTen(n) - 1), n == 0 ? 1 : n);
    EXPECT_EQ(DecimalFits(PowerOfTen(n) - 1, n), true);
    EXPECT_EQ(DecimalFits(-PowerOfTen(n), n), false);
  }
}

TEST(Uint256, DivisionUndoesMultiplication) {
  std::mt19937_64 random(3);
  const auto wide = [&](int bits) {
    internal::Uint128 value = (internal::Uint128{random()} << 64) | random();
    return bits >= 128 ? value : value & ((internal::Uint128{1} << bits) - 1);
  };
  for (int i = 0; i < 200000; ++i) {
    const internal::Uint128 a = wide(1 + static_cast<int>(random() % 128));
    const internal::Uint128 b = wide(1 + static_cast<int>(random() % 128)) | 1;
    const internal::Uint128 rest = wide(128) % b;
    const internal::Uint256 n = internal::Add(internal::Multiply(a, b), {rest, 0});
    const auto divided = internal::Divide(n, b);
    EXPECT_TRUE(divided.quotient.low == a && divided.quotient.high == 0 && divided.remainder.low == rest);
    const internal::Uint256 d{wide(128), wide(1 + static_cast<int>(random() % 100))};
    if (d.high == 0 && d.low == 0) continue;
    const internal::Uint256 m{wide(128), wide(128)};
    const auto general = internal::Divide(m, d);
    EXPECT_LT(internal::Compare(general.remainder, d), 0);
    internal::Uint256 back;
    ASSERT_TRUE(internal::Multiply(d, general.quotient.low, &back));
    if (general.quotient.high == 0) {
      EXPECT_EQ(internal::Compare(internal::Add(back, general.remainder), m), 0);
    }
  }
}

}  // namespace
}  // namespace thalweg::data
