#include "base/status.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <sstream>

#include "base/error_table.h"
#include "base/query_context.h"

namespace thalweg {
namespace {

Status Propagates(Status inner) {
  TW_RETURN_NOT_OK(inner);
  return Error("INTERNAL_ERROR").With("message", "went on");
}

Result<int> Doubled(Result<int> value) {
  TW_ASSIGN_OR_RETURN(const int number, std::move(value));
  return 2 * number;
}

TEST(StatusTest, OkHoldsNothing) {
  const Status ok;
  EXPECT_TRUE(ok.ok());
  EXPECT_EQ(ok.condition(), "");
  EXPECT_EQ(ok.sql_state(), "");
  EXPECT_TRUE(ok.parameters().empty());
  EXPECT_TRUE(ok.cause().ok());
}

TEST(StatusTest, MessageIsFilledFromTheTemplate) {
  const Status error = Error("UNRESOLVED_COLUMN.WITH_SUGGESTION").With("objectName", "`a`").With("proposal", "`b`, `c`");
  EXPECT_EQ(error.condition(), "UNRESOLVED_COLUMN.WITH_SUGGESTION");
  EXPECT_EQ(error.sql_state(), "42703");
  EXPECT_EQ(error.kind(), ErrorKind::kUser);
  EXPECT_EQ(error.message(),
            "[UNRESOLVED_COLUMN.WITH_SUGGESTION] A column, variable, or function parameter with name `a` cannot be "
            "resolved. Did you mean one of the following? [`b`, `c`]. SQLSTATE: 42703");
}

TEST(StatusTest, ValuesAreNotTemplates) {
  const Status error = Error("INTERNAL_ERROR").With("message", "<message> and <other>");
  EXPECT_EQ(error.message_text(), "<message> and <other>");
}

TEST(StatusTest, UnknownConditionListsItsParameters) {
  const Status error = Error("NO_SUCH_CONDITION_IN_THE_TABLE").With("a", "1").With("b", 2);
  EXPECT_EQ(error.message(), "[NO_SUCH_CONDITION_IN_THE_TABLE] a=1, b=2");
  EXPECT_EQ(error.sql_state(), "");
}

TEST(StatusTest, LegacyConditionsShowTheirTextAlone) {
  const Status error = Error("_LEGACY_ERROR_TEMP_1194");
  EXPECT_EQ(error.message(), "queryName must be specified for memory sink.");
}

TEST(StatusTest, KindsFollowTheirMakers) {
  EXPECT_EQ(InternalError("x").kind(), ErrorKind::kInternal);
  EXPECT_EQ(IoError("open /a", ENOENT).kind(), ErrorKind::kEnvironment);
  EXPECT_EQ(IoError("open /a", ENOENT).message_text(), "Failed to open /a: No such file or directory.");
  EXPECT_EQ(Cancelled().kind(), ErrorKind::kCancelled);
  EXPECT_EQ(Unsupported("the function f").condition(), "UNSUPPORTED_FEATURE.THALWEG");
  EXPECT_EQ(Unsupported("the function f").message_text(), "The feature is not supported: the function f.");
}

TEST(StatusTest, LayersAddWithoutChangingOthers) {
  const Status inner = InternalError("inner");
  const Status outer = inner.WithTrace("reading offsets/7").WithTrace("starting the query");
  EXPECT_TRUE(inner.trace().empty());
  EXPECT_EQ(outer.trace(), (std::vector<std::string>{"starting the query", "reading offsets/7"}));
  const Status caused = Status(Error("STREAM_FAILED")).Because(inner);
  EXPECT_EQ(caused.cause().message_text(), "inner");
}

TEST(StatusTest, TheFirstContextStays) {
  const Status error = Status(Error("DIVIDE_BY_ZERO").With("config", "c"))
                           .WithQueryContext(MakeSqlContext("select 1/0", 7, 9))
                           .WithQueryContext(MakeSqlContext("other", 0, 4));
  ASSERT_EQ(error.query_context().size(), 1u);
  EXPECT_TRUE(error.message().ends_with(
      "SQLSTATE: 22012\n== SQL (line 1, position 8) ==\nselect 1/0\n       ^^^\n"));
}

TEST(StatusTest, MacrosPropagate) {
  EXPECT_EQ(Propagates(Cancelled()).condition(), "OPERATION_CANCELED");
  EXPECT_EQ(Propagates(Status::OK()).message_text(), "went on");
  EXPECT_EQ(*Doubled(21), 42);
  EXPECT_EQ(Doubled(Cancelled()).status().condition(), "OPERATION_CANCELED");
}

TEST(QueryContextTest, SecondLineAndObject) {
  const QueryContext context = MakeSqlContext("select a,\n  b / 0\nfrom t", 12, 16, "VIEW", "spark_catalog.default.v");
  EXPECT_EQ(context.fragment, "b / 0");
  EXPECT_EQ(context.summary,
            "== SQL of VIEW spark_catalog.default.v (line 2, position 3) ==\n  b / 0\n  ^^^^^\n");
}

TEST(QueryContextTest, LongLinesAreCut) {
  const std::string text = std::string(50, 'x') + " 1/0 " + std::string(50, 'y');
  const QueryContext context = MakeSqlContext(text, 51, 53);
  EXPECT_EQ(context.summary, "== SQL (line 1, position 52) ==\n..." + std::string(31, 'x') + " 1/0 " +
                                 std::string(31, 'y') + "...\n" + std::string(35, ' ') + "^^^\n");
}

TEST(QueryContextTest, CountsCharactersNotBytes) {
  const QueryContext context = MakeSqlContext("select 'ü', 1/0", 12, 14);
  EXPECT_EQ(context.fragment, "1/0");
}

TEST(QueryContextTest, RangesOutsideTheTextGiveNothing) {
  EXPECT_EQ(MakeSqlContext("abc", -1, 2).summary, "");
  EXPECT_EQ(MakeSqlContext("abc", 3, 4).summary, "");
  EXPECT_EQ(MakeSqlContext("abc", 1, 99).fragment, "bc");
}

TEST(QueryContextTest, DataFrameForm) {
  EXPECT_EQ(MakeDataFrameContext("__truediv__", "a.py:7").summary,
            "== DataFrame ==\n\"__truediv__\" was called from\na.py:7\n");
}

TEST(ErrorTableTest, SortedAndComplete) {
  std::string_view previous;
  for (const ErrorCondition& entry : ErrorConditions()) {
    EXPECT_LT(previous, entry.name);
    // Spark's own entry is empty: its sub-conditions say everything.
    EXPECT_EQ(entry.message.empty(), entry.name == "NUMERIC_VALUE_OUT_OF_RANGE") << entry.name;
    EXPECT_TRUE(entry.sql_state.size() == 5 || entry.name.starts_with("_LEGACY_")) << entry.name;
    previous = entry.name;
  }
}

// Every condition that Spark 4.2.0 was seen to raise while streaming, with its SQLSTATE and parameters.
TEST(ErrorTableTest, HoldsTheRecordedConditions) {
  std::ifstream file(TW_SOURCE_DIR "/tests/compat/errors/conditions.tsv");
  ASSERT_TRUE(file.good());
  std::string line;
  std::getline(file, line);
  int count = 0;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string name, state, parameters;
    std::getline(fields, name, '\t');
    std::getline(fields, state, '\t');
    std::getline(fields, parameters);
    const ErrorCondition* entry = FindErrorCondition(name);
    ASSERT_NE(entry, nullptr) << name;
    EXPECT_EQ(entry->sql_state, state) << name;
    std::istringstream names(parameters);
    for (std::string parameter; names >> parameter;) {
      EXPECT_NE(entry->message.find("<" + parameter + ">"), std::string_view::npos) << name << " " << parameter;
    }
    ++count;
  }
  EXPECT_GT(count, 100);
}

// Every condition that the source names stands in the table.
TEST(ErrorTableTest, HoldsWhatTheTreeRaises) {
  const std::regex raised("Error\\(\"([A-Z_][A-Z0-9_.]+)\"\\)");
  for (const auto& file : std::filesystem::recursive_directory_iterator(TW_SOURCE_DIR "/src")) {
    const std::string path = file.path().string();
    if (!path.ends_with(".cc") && !path.ends_with(".h")) continue;
    if (path.ends_with("_test.cc")) continue;
    std::ifstream in(path);
    std::string text;
    for (std::string line; std::getline(in, line);) text += line.substr(0, line.find("//")) + "\n";
    for (std::sregex_iterator at(text.begin(), text.end(), raised), end; at != end; ++at) {
      const std::string name = (*at)[1];
      EXPECT_NE(FindErrorCondition(name), nullptr) << path << " raises " << name;
    }
  }
}

}  // namespace
}  // namespace thalweg
