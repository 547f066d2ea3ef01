// Plans before and after ExtractPythonUdfs.
#include <gtest/gtest.h>

#include <regex>

#include "sql/analyzer/test_environment.h"
#include "sql/expr/python_udf.h"
#include "sql/parser/parser.h"
#include "sql/stateful_shape/rules.h"

namespace thalweg::sql {
namespace {

PythonFunctionPtr Function(const std::string& name, PythonEvalType eval_type, DataType type = DataType::Integer(), bool deterministic = true) {
  auto function = std::make_shared<PythonFunction>();
  function->name = name;
  function->eval_type = eval_type;
  function->command = "code of " + name;
  function->return_type = std::move(type);
  function->deterministic = deterministic;
  return function;
}

class ExtractPythonUdfsTest : public ::testing::Test {
 protected:
  ExtractPythonUdfsTest() {
    environment_.AddTable("t", "k STRING, v INT");
    environment_.AddTable("u", "l STRING, w INT");
    for (const char* name : {"f", "g"}) environment_.AddPythonFunction(Function(name, PythonEvalType::kBatched));
    environment_.AddPythonFunction(Function("arrow", PythonEvalType::kArrowBatched));
    environment_.AddPythonFunction(Function("series", PythonEvalType::kScalarPandasIter));
    environment_.AddPythonFunction(Function("p", PythonEvalType::kBatched, DataType::Boolean()));
    environment_.AddPythonFunction(Function("dice", PythonEvalType::kBatched, DataType::Integer(), false));
  }
  std::string Extracted(const std::string& sql) {
    const PlanPtr plan = EliminateAliases(Analyze(ParsePlan(sql, {}).ValueOrDie(), environment_).ValueOrDie()).ValueOrDie();
    const Result<PlanPtr> extracted = ExtractPythonUdfs(plan, environment_.settings());
    if (!extracted.ok()) return extracted.status().message();
    EXPECT_EQ((*extracted)->output().size(), plan->output().size());
    for (size_t i = 0; i < plan->output().size(); ++i) EXPECT_EQ((*extracted)->output()[i]->id(), plan->output()[i]->id());
    EXPECT_EQ(*ExtractPythonUdfs(*extracted, environment_.settings()), *extracted);
    return std::regex_replace((*extracted)->TreeText(), std::regex("#\\d+L?"), "");
  }
  TestEnvironment environment_;
};

TEST_F(ExtractPythonUdfsTest, OneNodeHoldsAllOfAKindAndEachOnce) {
  EXPECT_EQ(Extracted("SELECT f(v) AS a, g(v) + f(v) AS b FROM t"),
            "Project [pythonUDF0 AS a, (pythonUDF1 + pythonUDF0) AS b]\n"
            "+- BatchEvalPython [f(v), g(v)], [pythonUDF0, pythonUDF1]\n"
            "   +- Relation [k,v] memory\n");
}

TEST_F(ExtractPythonUdfsTest, ChainsOfOneKindStayTogether) {
  EXPECT_EQ(Extracted("SELECT f(g(v)) AS a FROM t"),
            "Project [pythonUDF0 AS a]\n"
            "+- BatchEvalPython [f(g(v))], [pythonUDF0]\n"
            "   +- Relation [k,v] memory\n");
  EXPECT_EQ(Extracted("SELECT f(arrow(v)) AS a FROM t"),
            "Project [pythonUDF0 AS a]\n"
            "+- BatchEvalPython [f(pythonUDF0)], [pythonUDF0]\n"
            "   +- ArrowEvalPython [arrow(v)], [pythonUDF0], 101\n"
            "      +- Relation [k,v] memory\n");
  EXPECT_EQ(Extracted("SELECT series(series(v)) AS a FROM t"),
            "Project [pythonUDF0 AS a]\n"
            "+- ArrowEvalPython [series(pythonUDF0)], [pythonUDF0], 204\n"
            "   +- ArrowEvalPython [series(v)], [pythonUDF0], 204\n"
            "      +- Relation [k,v] memory\n");
}

TEST_F(ExtractPythonUdfsTest, ANamedArgumentIsNotOneOfAChain) {
  EXPECT_EQ(Extracted("SELECT f(x => g(v)) AS a FROM t"),
            "Project [pythonUDF0 AS a]\n"
            "+- BatchEvalPython [f(pythonUDF0)], [pythonUDF0]\n"
            "   +- BatchEvalPython [g(v)], [pythonUDF0]\n"
            "      +- Relation [k,v] memory\n");
}

TEST_F(ExtractPythonUdfsTest, WhatIsNotDeterministicIsCalledForEachPlace) {
  EXPECT_EQ(Extracted("SELECT dice(v) AS a, dice(v) AS b FROM t"),
            "Project [pythonUDF0 AS a, pythonUDF1 AS b]\n"
            "+- BatchEvalPython [dice(v), dice(v)], [pythonUDF0, pythonUDF1]\n"
            "   +- Relation [k,v] memory\n");
}

TEST_F(ExtractPythonUdfsTest, OtherConjunctsOfAFilterComeFirst) {
  EXPECT_EQ(Extracted("SELECT * FROM t WHERE p(v) AND v > 3"),
            "Project [k, v]\n"
            "+- Project [k, v]\n"
            "   +- Filter pythonUDF0\n"
            "      +- BatchEvalPython [p(v)], [pythonUDF0]\n"
            "         +- Filter (v > 3)\n"
            "            +- Relation [k,v] memory\n");
}

TEST_F(ExtractPythonUdfsTest, AboveAndBelowAnAggregate) {
  EXPECT_EQ(Extracted("SELECT f(v) AS a, g(sum(w)) AS b, max(g(w)) AS c FROM t JOIN u GROUP BY f(v)"),
            "Project [a, pythonUDF0 AS b, c]\n"
            "+- BatchEvalPython [g(agg)], [pythonUDF0]\n"
            "   +- Aggregate [pythonUDF0], [pythonUDF0 AS a, sum(w) AS agg, max(pythonUDF1) AS c]\n"
            "      +- BatchEvalPython [f(v), g(w)], [pythonUDF0, pythonUDF1]\n"
            "         +- Join Inner\n"
            "            :- Relation [k,v] memory\n"
            "            +- Relation [l,w] memory\n");
}

TEST_F(ExtractPythonUdfsTest, JoinConditions) {
  EXPECT_EQ(Extracted("SELECT k FROM t JOIN u ON f(v) = w AND p(v + w)"),
            "Project [k]\n"
            "+- Project [k, v, l, w]\n"
            "   +- Filter pythonUDF0\n"
            "      +- BatchEvalPython [p((v + w))], [pythonUDF0]\n"
            "         +- Project [k, v, l, w]\n"
            "            +- Join Inner, (pythonUDF0 = w)\n"
            "               :- BatchEvalPython [f(v)], [pythonUDF0]\n"
            "               :  +- Relation [k,v] memory\n"
            "               +- Relation [l,w] memory\n");
  EXPECT_EQ(Extracted("SELECT k FROM t LEFT JOIN u ON p(v + w)").substr(0, 45), "[UNSUPPORTED_FEATURE.PYTHON_UDF_IN_ON_CLAUSE]");
}

}  // namespace
}  // namespace thalweg::sql
