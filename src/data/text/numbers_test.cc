#include "data/text/numbers.h"

#include "data/text/golden_test.h"

namespace thalweg::data {
namespace {

template <typename T, typename Parse>
std::string IntegerText(Parse parse, const std::string& text, bool allow_fraction) {
  T value = 0;
  return parse(text, allow_fraction, &value) ? std::to_string(value) : "null";
}

TEST(Numbers, IntegersAreReadAsSparkCastsThem) {
  for (const GoldenRow& row : ReadGoldenRows("integers")) {
    const std::string text = row[0];
    SCOPED_TRACE(text);
    for (const bool legacy : {false, true}) {
      const size_t at = legacy ? 5 : 1;
      EXPECT_EQ(IntegerText<int8_t>(&ParseInt8, text, legacy), GoldenText(row[at]));
      EXPECT_EQ(IntegerText<int16_t>(&ParseInt16, text, legacy), GoldenText(row[at + 1]));
      EXPECT_EQ(IntegerText<int32_t>(&ParseInt32, text, legacy), GoldenText(row[at + 2]));
      EXPECT_EQ(IntegerText<int64_t>(&ParseInt64, text, legacy), GoldenText(row[at + 3]));
    }
  }
}

TEST(Numbers, FloatsAreReadAndWrittenAsSparkCastsThem) {
  for (const GoldenRow& row : ReadGoldenRows("floats")) {
    const std::string text = row[0];
    SCOPED_TRACE(text);
    std::string got = "null";
    double wide = 0;
    if (ParseDouble(text, &wide)) AppendDouble(wide, &(got = ""));
    EXPECT_EQ(got, GoldenText(row[1]));
    got = "null";
    float narrow = 0;
    if (ParseFloat(text, &narrow)) AppendFloat(narrow, &(got = ""));
    EXPECT_EQ(got, GoldenText(row[2]));
  }
}

TEST(Numbers, JavaParsersTakeNoLooseWords) {
  double value = 0;
  EXPECT_FALSE(ParseJavaDouble("inf", &value));
  EXPECT_FALSE(ParseJavaDouble("nan", &value));
  EXPECT_TRUE(ParseJavaDouble(" -Infinity ", &value));
  int64_t whole = 0;
  EXPECT_FALSE(ParseJavaLong(" 1", &whole));
  EXPECT_FALSE(ParseJavaLong("", &whole));
  EXPECT_TRUE(ParseJavaLong("+12", &whole));
  EXPECT_EQ(whole, 12);
}

TEST(Numbers, BooleansAreReadAsSparkCastsThem) {
  for (const GoldenRow& row : ReadGoldenRows("booleans")) {
    bool value = false;
    const std::string got = ParseBoolean(row[0].get<std::string>(), &value) ? (value ? "true" : "false") : "null";
    EXPECT_EQ(got, GoldenText(row[1])) << row[0];
  }
}

TEST(Numbers, DecimalsAreReadAsSparkCastsThem) {
  auto rows = ReadGoldenRows("decimals");
  const GoldenRow kinds = rows[0];
  for (size_t i = 1; i < rows.size(); ++i) {
    const std::string text = rows[i][0];
    for (size_t k = 1; k < kinds.size(); ++k) {
      const int precision = kinds[k][0];
      const int scale = kinds[k][1];
      Int128 value = 0;
      std::string got = "null";
      if (ParseDecimal(text, precision, scale, &value) == DecimalOutcome::kOk) AppendDecimal(value, scale, &(got = ""));
      EXPECT_EQ(got, GoldenText(rows[i][k])) << "'" << text << "' as " << kinds[k];
    }
  }
}

TEST(Numbers, DecimalOutcomesAreTold) {
  Int128 value = 0;
  EXPECT_EQ(ParseDecimal("12345", 4, 1, &value), DecimalOutcome::kOverflow);
  EXPECT_EQ(ParseDecimal("999.95", 4, 1, &value), DecimalOutcome::kOverflow);
  EXPECT_EQ(ParseDecimal("abc", 4, 1, &value), DecimalOutcome::kMalformed);
  int scale = 0;
  EXPECT_TRUE(ParseDecimalExact("-1.50e-3", &value, &scale));
  EXPECT_EQ(static_cast<int64_t>(value), -150);
  EXPECT_EQ(scale, 5);
  EXPECT_TRUE(ParseDecimalExact("1e3", &value, &scale));
  EXPECT_EQ(scale, -3);
  EXPECT_FALSE(ParseDecimalExact(std::string(39, '9'), &value, &scale));
}

TEST(Numbers, DecimalTextAsJavaWritesIt) {
  const auto plain = [](Int128 value, int scale) {
    std::string out;
    AppendDecimal(value, scale, &out);
    return out;
  };
  const auto scientific = [](Int128 value, int scale) {
    std::string out;
    AppendDecimalScientific(value, scale, &out);
    return out;
  };
  EXPECT_EQ(plain(-5, 3), "-0.005");
  EXPECT_EQ(plain(12340, 2), "123.40");
  EXPECT_EQ(plain(0, 18), "0.000000000000000000");
  EXPECT_EQ(plain(12, -2), "1200");
  EXPECT_EQ(scientific(0, 18), "0E-18");
  EXPECT_EQ(scientific(-12, 9), "-1.2E-8");
  EXPECT_EQ(scientific(1, 6), "0.000001");
  EXPECT_EQ(scientific(1, 7), "1E-7");
  EXPECT_EQ(scientific(12, -2), "1.2E+3");
  std::string extreme;
  AppendInt128(-Int128{1} << 126, &extreme);
  EXPECT_EQ(extreme, "-85070591730234615865843651857942052864");
}

}  // namespace
}  // namespace thalweg::data
