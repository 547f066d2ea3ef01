#include "sql/optimizer/optimizer.h"

#include <regex>

#include <gtest/gtest.h>

#include "sql/analyzer/test_environment.h"
#include "sql/optimizer/rules.h"
#include "sql/parser/parser.h"

namespace thalweg::sql {
namespace {

class OptimizerTest : public ::testing::Test {
 protected:
  OptimizerTest() {
    environment_.AddTable("t", "k STRING, v INT, x DOUBLE, id BIGINT NOT NULL");
    environment_.AddTable("u", "k STRING, v INT, x DOUBLE, id BIGINT NOT NULL");
    environment_.AddTable("s", "k STRING, v INT", true);
  }
  PlanPtr Sql(const std::string& text) { return Analyze(ParsePlan(text, {}).ValueOrDie(), environment_).ValueOrDie(); }
  static std::string Text(const Result<PlanPtr>& plan) {
    if (!plan.ok()) return plan.status().message();
    return std::regex_replace((*plan)->TreeText(), std::regex("#\\d+L?"), "");
  }
  OptimizerOptions Options(bool streaming = false) { return {environment_.config(), streaming}; }
  std::string Optimized(const std::string& sql) { return Text(Optimize(Sql(sql), Options())); }
  TestEnvironment environment_;
};

TEST_F(OptimizerTest, ConstantsAreFoldedAndErrorsWait) {
  EXPECT_EQ(Text(FoldConstants(Sql("SELECT 1 + 2, v + (3 * 4), 1 / 0 FROM t"), Options())),
            "Project [3 AS (1 + 2), (v + 12) AS (v + (3 * 4)), (1.0 / 0.0) AS (1 / 0)]\n"
            "+- SubqueryAlias t\n"
            "   +- Relation [k,v,x,id] memory\n");
}

TEST_F(OptimizerTest, LogicIsSimplified) {
  EXPECT_EQ(Optimized("SELECT k FROM t WHERE true AND v > 1 AND v > 1"),
            "Project [k]\n+- Filter (v > 1)\n   +- Relation [k,v] memory, PushedFilters: [(v > 1)]\n");
  EXPECT_EQ(Optimized("SELECT k FROM t WHERE NOT (v > 1) AND NOT (NOT (x < 2)) AND id IS NOT NULL"),
            "Project [k]\n+- Filter ((v <= 1) AND (x < 2.0))\n   +- Relation [k,v,x] memory, PushedFilters: [(v <= 1), (x < 2.0)]\n");
  EXPECT_EQ(Optimized("SELECT k FROM t WHERE v > 1 OR true"), "Relation [k] memory\n");
}

TEST_F(OptimizerTest, ImpossibleFiltersReadNothing) {
  EXPECT_EQ(Optimized("SELECT k FROM t WHERE 1 = 2"), "LocalRelation <empty>, [k]\n");
  const PlanPtr stream = Optimize(Sql("SELECT k FROM s WHERE 1 = 2"), Options(true)).ValueOrDie();
  EXPECT_TRUE(stream->is_streaming());
}

TEST_F(OptimizerTest, FiltersOfWholePartitionsStandBelowWindows) {
  const std::string spec = "windowspecdefinition(PARTITION BY k ORDER BY v ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND CURRENT ROW)";
  EXPECT_EQ(Optimized("SELECT id FROM (SELECT *, row_number() OVER (PARTITION BY k ORDER BY v) AS r FROM t) WHERE r = 1 AND k = 'a' AND x > 1"),
            "Project [id]\n"
            "+- Filter ((r = 1) AND (x > 1.0))\n"
            "   +- Window [row_number() " + spec + " AS r], [k], [v ASC NULLS FIRST]\n"
            "      +- Filter (k = a)\n"
            "         +- Relation [k,v,x,id] memory, PushedFilters: [(k = a)]\n");
}

TEST_F(OptimizerTest, WindowsThatNobodyReadsAreNotComputed) {
  EXPECT_EQ(Optimized("SELECT k FROM (SELECT k, sum(v) OVER (PARTITION BY x) AS s, rank() OVER (ORDER BY id) AS r FROM t)"), "Relation [k] memory\n");
  EXPECT_EQ(Optimized("SELECT s FROM (SELECT k, sum(v) OVER (PARTITION BY x) AS s, rank() OVER (ORDER BY id) AS r FROM t)"),
            "Project [s]\n"
            "+- Window [sum(v) windowspecdefinition(PARTITION BY x ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS s], [x], []\n"
            "   +- Relation [v,x] memory\n");
}

TEST_F(OptimizerTest, OnlyNeededColumnsAreRead) {
  EXPECT_EQ(Optimized("SELECT count(*) FROM t"), "Aggregate [], [count(1) AS count(1)]\n+- Relation [] memory\n");
  EXPECT_EQ(Optimized("SELECT a.k FROM (SELECT * FROM t) a JOIN u ON a.id = u.id"),
            "Project [k]\n"
            "+- Join Inner, (id = id)\n"
            "   :- Relation [k,id] memory\n"
            "   +- Relation [id] memory\n");
}

TEST_F(OptimizerTest, AnArrayIsNotRepeatedBesideItsElements) {
  EXPECT_EQ(Optimized("SELECT v, x FROM (SELECT v, split(k, ' ') AS a, x FROM t) LATERAL VIEW explode(a) e AS w"),
            "Project [v, x]\n"
            "+- Generate explode(a), false, [w]\n"
            "   +- Project [v, split(k,  , -1) AS a, x]\n"
            "      +- Relation [k,v,x] memory\n");
  const PlanPtr plan = Optimize(Sql("SELECT w FROM (SELECT split(k, ' ') AS a FROM t) LATERAL VIEW explode(a) e AS w"), Options()).ValueOrDie();
  ASSERT_EQ(plan->kind(), PlanKind::kProject) << plan->TreeText();
  EXPECT_EQ(plan->child()->kind(), PlanKind::kGenerate);
}

TEST_F(OptimizerTest, FiltersPassGeneratorsWhoseColumnsTheyDoNotUse) {
  EXPECT_EQ(Optimized("SELECT v, w FROM t LATERAL VIEW explode(split(k, ' ')) e AS w WHERE v > 1 AND w = 'a'"),
            "Filter (w = a)\n"
            "+- Project [v, w]\n"
            "   +- Generate explode(split(k,  , -1)), false, [w]\n"
            "      +- Filter (v > 1)\n"
            "         +- Relation [k,v] memory, PushedFilters: [(v > 1)]\n");
}

TEST_F(OptimizerTest, LimitsGoDown) {
  EXPECT_EQ(Optimized("SELECT k FROM (SELECT k, v FROM t LIMIT 5) LIMIT 3"),
            "GlobalLimit 3\n+- LocalLimit 3\n   +- Relation [k] memory\n");
  EXPECT_EQ(Optimized("SELECT k FROM t UNION ALL SELECT k FROM u LIMIT 3"),
            "GlobalLimit 3\n"
            "+- LocalLimit 3\n"
            "   +- Union false, false\n"
            "      :- GlobalLimit 3\n"
            "      :  +- LocalLimit 3\n"
            "      :     +- Relation [k] memory\n"
            "      +- GlobalLimit 3\n"
            "         +- LocalLimit 3\n"
            "            +- Relation [k] memory\n");
  EXPECT_EQ(Text(PushLimits(Sql("SELECT k FROM s LIMIT 3"), Options())), Text(Sql("SELECT k FROM s LIMIT 3")));
}

TEST_F(OptimizerTest, ProjectsThatChangeNothingGo) {
  EXPECT_EQ(Text(RemoveNoOpProjects(Sql("SELECT k, v, x, id FROM t"), Options())),
            "SubqueryAlias t\n+- Relation [k,v,x,id] memory\n");
  EXPECT_EQ(Text(RemoveNoOpProjects(Sql("SELECT v, k, x, id FROM t"), Options())),
            "Project [v, k, x, id]\n+- SubqueryAlias t\n   +- Relation [k,v,x,id] memory\n");
}

TEST_F(OptimizerTest, FiltersAreToldToTheRelation) {
  const PlanPtr plan = Optimize(Sql("SELECT k FROM t WHERE v > 1 AND k LIKE 'a%'"), Options()).ValueOrDie();
  const auto* relation = plan->child()->child()->As<Relation>();
  ASSERT_NE(relation, nullptr);
  EXPECT_EQ(relation->pushed_filters.size(), 2u);
  EXPECT_EQ(plan->child()->kind(), PlanKind::kFilter);
}

TEST_F(OptimizerTest, TheResultKeepsItsColumns) {
  for (const char* sql : {"SELECT * FROM t", "SELECT k, count(*) AS c FROM t GROUP BY k HAVING c > 1 ORDER BY k",
                          "SELECT t.*, u.v FROM t LEFT JOIN u ON t.id = u.id WHERE u.v > 1",
                          "SELECT DISTINCT k FROM t UNION SELECT k FROM u", "SELECT k FROM t INTERSECT SELECT k FROM u"}) {
    const PlanPtr before = Sql(sql);
    const PlanPtr after = Optimize(before, Options()).ValueOrDie();
    const AttributeList a = before->output();
    const AttributeList b = after->output();
    ASSERT_EQ(a.size(), b.size()) << sql << "\n" << after->TreeText();
    for (size_t i = 0; i < a.size(); ++i) {
      EXPECT_EQ(a[i]->id(), b[i]->id()) << sql;
      EXPECT_EQ(a[i]->name(), b[i]->name()) << sql;
      EXPECT_TRUE(a[i]->type().SameType(b[i]->type())) << sql;
    }
  }
}

TEST_F(OptimizerTest, DeepPlansSettle) {
  PlanPtr plan = Sql("SELECT v FROM t");
  for (int i = 0; i < 1000; ++i) {
    plan = std::make_shared<Project>(ExprList{Alias::Make(plan->output()[0], "v")}, plan);
  }
  EXPECT_EQ(Text(Optimize(plan, Options())), "Project [v AS v]\n+- Relation [v] memory\n");
}

}  // namespace
}  // namespace thalweg::sql
