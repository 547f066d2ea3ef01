// Promise: recorded expressions (tests/sql/functions/*.jsonl) have the type, value or error of real Spark.

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "data/text/literal.h"
#include "sql/expr/cast.h"
#include "sql/expr/evaluator.h"
#include "sql/functions/expression_reader.h"
#include "sql/functions/registry.h"

namespace thalweg::sql {
namespace {

using nlohmann::json;

struct Answer {
  std::string name;
  std::string type;
  bool nullable = false;
  std::optional<std::string> value;
  Status status;
};

Answer Evaluate(const std::string& sql, const EvalConfig& config) {
  Answer answer;
  auto bound = ReadExpression(sql, config);
  if (!bound.ok()) {
    answer.status = bound.status();
    return answer;
  }
  const ExprPtr expr = *bound;
  answer.type = expr->type().SimpleString();
  answer.nullable = expr->nullable();
  answer.name = AutoName(expr);
  ExprPtr text;
  if (expr->type().Is(data::TypeKind::kBinary)) {
    text = BindBuiltin("hex", {expr}, BindContext{config}).ValueOrDie();
  } else if (expr->type().Is(data::TypeKind::kString)) {
    text = expr;
  } else {
    text = Cast::Make(expr, DataType::String(), config.ansi ? EvalMode::kAnsi : EvalMode::kLegacy);
  }
  EpochContext epoch;
  auto value = EvaluateConstant(text, config, epoch);
  if (!value.ok()) {
    answer.status = value.status();
  } else if (!value->is_null()) {
    answer.value = value->get<std::string>();
  }
  return answer;
}

void ApplySetting(const json& row, EvalConfig* config) {
  const std::string key = row["set"];
  const std::string value = row["to"];
  if (key == "spark.sql.ansi.enabled") config->ansi = value == "true";
  if (key == "spark.sql.session.timeZone") config->time_zone = value;
}

/// A class of a Java or Python exception instead of a condition.
bool NamesNoCondition(const std::string& error) {
  return error.find("Exception") != std::string::npos || error.find("Py4J") != std::string::npos;
}

/// Java's StrictMath and glibc differ in the last digit of some functions.
bool Near(const std::string& a, const std::string& b) {
  char* end = nullptr;
  const double x = std::strtod(a.c_str(), &end);
  const double y = std::strtod(b.c_str(), &end);
  return !b.empty() && std::abs(x - y) <= 4e-16 * std::abs(x);
}

/// What differs from the recorded answer, or empty.
std::string Difference(const json& row, const EvalConfig& config) {
  const Answer answer = Evaluate(row["sql"], config);
  if (row.contains("error")) {
    // Errors without a condition are Java exceptions: any error will do.
    if (!answer.status.ok() && NamesNoCondition(row["error"])) return "";
    if (answer.status.ok()) return "wanted " + row["error"].get<std::string>() + ", got " + answer.value.value_or("NULL");
    if (answer.status.condition() != row["error"]) {
      return "wanted " + row["error"].get<std::string>() + ", got " + answer.status.message();
    }
    return "";
  }
  if (!answer.status.ok()) return answer.status.message();
  const std::string want = row["value"].is_null() ? "NULL" : row["value"].get<std::string>();
  const bool same = answer.value.value_or("NULL") == want || (row["type"] == "double" && Near(want, answer.value.value_or("")));
  if (!same) return "wanted " + want + ", got " + answer.value.value_or("NULL");
  if (answer.type != row["type"]) return "wanted type " + row["type"].get<std::string>() + ", got " + answer.type;
  // Literals print in UTC: the name of a column does not know the session's zone.
  if (answer.name != row["name"] && config.time_zone == "UTC") return "wanted name " + row["name"].get<std::string>() + ", got " + answer.name;
  if (answer.nullable != row["nullable"].get<bool>()) return std::string("nullable is ") + (answer.nullable ? "true" : "false");
  return "";
}

class Golden : public testing::TestWithParam<std::string> {};

TEST_P(Golden, ExpressionsAnswerAsSpark) {
  std::ifstream file(std::string(TW_SOURCE_DIR) + "/tests/sql/functions/" + GetParam());
  ASSERT_TRUE(file.good());
  EvalConfig config;
  config.user = "root";
  int rows = 0;
  for (std::string line; std::getline(file, line);) {
    const json row = json::parse(line);
    if (row.contains("spark")) {
      EXPECT_EQ(row["spark"], "4.2.0");
    } else if (row.contains("set")) {
      ApplySetting(row, &config);
    } else {
      ++rows;
      const std::string difference = Difference(row, config);
      if (!difference.empty()) ADD_FAILURE() << row["sql"].get<std::string>() << ": " << difference;
    }
  }
  EXPECT_GT(rows, 0);
}

std::vector<std::string> Files() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(TW_SOURCE_DIR) + "/tests/sql/functions")) {
    if (entry.path().extension() == ".jsonl") names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

INSTANTIATE_TEST_SUITE_P(Recorded, Golden, testing::ValuesIn(Files()), [](const auto& info) {
  std::string name = info.param.substr(0, info.param.find('.'));
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace thalweg::sql
