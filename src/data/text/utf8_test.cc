#include "data/text/utf8.h"

#include "data/text/golden_test.h"

namespace thalweg::data {
namespace {

std::string FromHex(const std::string& hex) {
  std::string out;
  for (size_t i = 0; i + 1 < hex.size(); i += 2) out.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return out;
}

std::string Call(void (*append)(std::string_view, std::string*), std::string_view text) {
  std::string out;
  append(text, &out);
  return out;
}

TEST(Utf8, BadBytesAreReplacedAsJavaDoes) {
  for (const GoldenRow& row : ReadGoldenRows("utf8_repair")) {
    const std::string bytes = FromHex(row[0]);
    const std::string repaired = FromHex(row[1]);
    EXPECT_EQ(Call(&AppendValidUtf8, bytes), repaired) << row[0];
    EXPECT_EQ(IsValidUtf8(bytes), bytes == repaired) << row[0];
    EXPECT_TRUE(IsValidUtf8(repaired));
  }
  EXPECT_EQ(Call(&AppendValidUtf8, "1,caf\xE9"), "1,caf\xEF\xBF\xBD");
  EXPECT_EQ(Call(&AppendLatin1, "caf\xE9"), "caf\xC3\xA9");
}

TEST(Utf8, CharactersAreCountedByFirstBytes) {
  EXPECT_EQ(Utf8Length(""), 0u);
  EXPECT_EQ(Utf8Length("abcdefghij"), 10u);
  EXPECT_EQ(Utf8Length("a\u00e9\u20ac\U0001F600b"), 5u);
  EXPECT_EQ(Utf8Length("\xE2\x82"), 1u);  // cut off: still one
  EXPECT_EQ(Utf8Slice("a\u00e9\u20acb", 1, 3), "\u00e9\u20ac");
  EXPECT_EQ(Utf8Slice("abc", 2, 9), "c");
  EXPECT_EQ(Utf8Slice("abc", 3, 9), "");
}

TEST(Utf8, SubstringCountsAsSparkDoes) {
  EXPECT_EQ(Utf8Substring("Spark SQL", 5, 1), "k");
  EXPECT_EQ(Utf8Substring("Spark SQL", -3, 2147483647), "SQL");
  EXPECT_EQ(Utf8Substring("abc", 0, 2), "ab");
  EXPECT_EQ(Utf8Substring("abc", -5, 3), "a");
  EXPECT_EQ(Utf8Substring("abc", -5, 2), "");
  EXPECT_EQ(Utf8Substring("abc", 2, 0), "");
  EXPECT_EQ(Utf8Substring("abc", 2, -1), "");
  EXPECT_EQ(Utf8Substring("\u00e4\u00f6\u00fc", 2, 1), "\u00f6");
}

TEST(Utf8, CodePointsRoundTrip) {
  for (char32_t c = 0; c < 0x110000; c += c < 0x900 ? 1 : 97) {
    if (c >= 0xD800 && c <= 0xDFFF) continue;
    std::string text;
    AppendCodePoint(c, &text);
    size_t at = 0;
    EXPECT_EQ(NextCodePoint(text, &at), c);
    EXPECT_EQ(at, text.size());
    EXPECT_EQ(static_cast<size_t>(Utf8CharBytes(static_cast<unsigned char>(text[0]))), text.size());
  }
}

TEST(CaseMapping, FullMappingsOfUnicode) {
  EXPECT_EQ(Call(&AppendUpper, "stra\u00dfe"), "STRASSE");
  EXPECT_EQ(Call(&AppendUpper, "hello, World 1"), "HELLO, WORLD 1");
  EXPECT_EQ(Call(&AppendLower, "\u0130"), "i\u0307");
  EXPECT_EQ(Call(&AppendLower, "\u03a3\u0391\u03a3"), "\u03c3\u03b1\u03c2");  // final sigma
  EXPECT_EQ(Call(&AppendUpper, "\ufb03"), "FFI");
  EXPECT_EQ(Call(&AppendLower, "A\xFF"), "a\xEF\xBF\xBD");
  EXPECT_EQ(Call(&AppendInitCap, "sPark sql  is-fun"), "Spark Sql  Is-fun");
  EXPECT_EQ(Call(&AppendInitCap, "\u01c6a \ufb01x \u00e9T\u00c9"), "\u01c5a Fix \u00c9t\u00e9");
}

}  // namespace
}  // namespace thalweg::data
