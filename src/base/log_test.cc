#include "base/log.h"

#include <gtest/gtest.h>

#include "base/ids.h"
#include "base/redact.h"

namespace thalweg {
namespace {

TEST(LogTest, TextLinesQuoteWhatNeedsIt) {
  EXPECT_EQ(FormatLogLine(LogFormat::kText, LogLevel::kInfo, "T", "micro-batch committed",
                          {{"batch", BatchId(7)}, {"rows", 12u}, {"name", "two words"}, {"ok", true}, {"rate", 1.5}}),
            "T info  micro-batch committed batch=7 rows=12 name=\"two words\" ok=true rate=1.5");
}

TEST(LogTest, JsonKeepsTypesAndEscapes) {
  EXPECT_EQ(FormatLogLine(LogFormat::kJson, LogLevel::kWarn, "T", "m", {{"n", -1}, {"s", "a\"b\n\x01"}, {"b", false}}),
            R"({"time":"T","level":"warn","message":"m","n":-1,"s":"a\"b\n\u0001","b":false})");
}

TEST(LogTest, SecretsAreHidden) {
  EXPECT_EQ(FormatLogLine(LogFormat::kText, LogLevel::kInfo, "T", "m", {{"kafka.sasl.jaas.config", "x"}, {"token", 5}}),
            "T info  m kafka.sasl.jaas.config=*********(redacted) token=*********(redacted)");
}

TEST(LogTest, ErrorsCarryTraceAndCause) {
  const Status error = Status(Error("INTERNAL_ERROR").With("message", "a")).WithTrace("b").Because(InternalError("c"));
  EXPECT_EQ(LogField("error", error).value,
            "[INTERNAL_ERROR] a SQLSTATE: XX000; while b; caused by [INTERNAL_ERROR] c SQLSTATE: XX000");
}

TEST(LogTest, LevelsParseInBothVocabularies) {
  EXPECT_EQ(*ParseLogLevel("debug"), LogLevel::kDebug);
  EXPECT_EQ(*ParseLogLevel("WARN"), LogLevel::kWarn);
  EXPECT_EQ(*ParseLogLevel("ALL"), LogLevel::kTrace);
  EXPECT_EQ(ParseLogLevel("loud").status().condition(), "ILLEGAL_ARGUMENT");
}

TEST(LogTest, LevelDecides) {
  ConfigureLog(LogLevel::kWarn, LogFormat::kText);
  EXPECT_FALSE(LogEnabled(LogLevel::kInfo));
  EXPECT_TRUE(LogEnabled(LogLevel::kError));
  ConfigureLog(LogLevel::kOff, LogFormat::kText);
  EXPECT_FALSE(LogEnabled(LogLevel::kError));
  ConfigureLog(LogLevel::kInfo, LogFormat::kText);
  TW_LOG(kDebug, "not shown");
  TW_LOG(kInfo, "shown", {"one", 1}, {"two", std::string("zwei")});
}

TEST(RedactTest, KeysAreRecognised) {
  for (const char* key : {"password", "KAFKA.SSL.KEYSTORE.PASSWORD", "fs.s3a.access.key", "fs.s3a.secret.key",
                          "authToken", "kafka.sasl.jaas.config", "ssl.key.pem"}) {
    EXPECT_TRUE(IsSecretKey(key)) << key;
  }
  for (const char* key : {"path", "kafka.bootstrap.servers", "key.deserializer", "queryName"}) {
    EXPECT_FALSE(IsSecretKey(key)) << key;
  }
}

TEST(RedactTest, TextsLoseTheValuesOnly) {
  EXPECT_EQ(RedactText("connect user=a password=hunter2, host=h"),
            "connect user=a password=*********(redacted), host=h");
  EXPECT_EQ(RedactText(R"(PlainLoginModule required username="u" password="p w";)"),
            R"(PlainLoginModule required username="u" password=*********(redacted);)");
  EXPECT_EQ(RedactText(R"({"token":"abc","n":1})"), R"({"token":*********(redacted),"n":1})");
  EXPECT_EQ(RedactText("jdbc:postgresql://u:pw@h/db"), "jdbc:postgresql://u:*********(redacted)@h/db");
  EXPECT_EQ(RedactText("the token expired"), "the token expired");
}

}  // namespace
}  // namespace thalweg
