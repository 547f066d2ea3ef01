// Plans before and after each rule.

#include "sql/stateful_shape/rules.h"

#include <regex>

#include <gtest/gtest.h>

#include "sql/analyzer/test_environment.h"
#include "sql/parser/parser.h"

namespace thalweg::sql {
namespace {

class RulesTest : public ::testing::Test {
 protected:
  RulesTest() {
    environment_.AddTable("t", "k STRING, v INT, x DOUBLE");
    environment_.AddTable("u", "k STRING, v INT, x DOUBLE");
    environment_.AddTable("d", "k STRING, p DECIMAL(8,2), q DECIMAL(12,2), r DECIMAL(9,1)");
    environment_.AddTable("s", "k STRING, v INT, ts TIMESTAMP", true);
    const PlanPtr leaf = std::make_shared<UnresolvedRelation>(std::vector<std::string>{"s"}, OptionMap{}, true);
    environment_.AddView("w", Analyze(std::make_shared<EventTimeWatermark>(UnresolvedAttribute::Make({"ts"}), "1 second", leaf),
                                      environment_).ValueOrDie());
  }
  PlanPtr Sql(const std::string& text) {
    const PlanPtr plan = Analyze(ParsePlan(text, {}).ValueOrDie(), environment_).ValueOrDie();
    return EliminateAliases(plan).ValueOrDie();
  }
  /// The tree without ids.
  static std::string Text(const Result<PlanPtr>& plan) {
    if (!plan.ok()) return plan.status().message();
    return std::regex_replace((*plan)->TreeText(), std::regex("#\\d+L?"), "");
  }
  const EvalConfig& config() { return environment_.settings(); }
  TestEnvironment environment_;
};

TEST_F(RulesTest, DistinctAndSetOperationsBecomeAggregatesAndJoins) {
  EXPECT_EQ(Text(ReplaceSetOperations(Sql("SELECT DISTINCT k FROM t"), config())),
            "Aggregate [k], [k]\n+- Project [k]\n   +- Relation [k,v,x] memory\n");
  EXPECT_EQ(Text(ReplaceSetOperations(Sql("SELECT k FROM t EXCEPT SELECT k FROM u"), config())),
            "Aggregate [k], [k]\n"
            "+- Join LeftAnti, (k <=> k)\n"
            "   :- Project [k]\n"
            "   :  +- Relation [k,v,x] memory\n"
            "   +- Project [k]\n"
            "      +- Relation [k,v,x] memory\n");
  EXPECT_EQ(Text(ReplaceSetOperations(Sql("SELECT k FROM t EXCEPT ALL SELECT k FROM u"), config())),
            "Project [k]\n"
            "+- Generate explode(numbers), false, [number]\n"
            "   +- Project [k, sequence(1, (left_total - right_total)) AS numbers]\n"
            "      +- Filter ((left_total - right_total) > 0)\n"
            "         +- Aggregate [k], [k, sum(left_count) AS left_total, sum(right_count) AS right_total]\n"
            "            +- Union false, false\n"
            "               :- Project [k, 1 AS left_count, 0 AS right_count]\n"
            "               :  +- Project [k]\n"
            "               :     +- Relation [k,v,x] memory\n"
            "               +- Project [k, 0 AS left_count, 1 AS right_count]\n"
            "                  +- Project [k]\n"
            "                     +- Relation [k,v,x] memory\n");
}

TEST_F(RulesTest, PredicatesGoThroughProjectsAggregatesAndUnions) {
  EXPECT_EQ(Text(PushPredicates(Sql("SELECT * FROM (SELECT k, v + 1 AS w FROM t) WHERE w > 3 AND k = 'a'"), config())),
            "Project [k, w]\n"
            "+- Project [k, (v + 1) AS w]\n"
            "   +- Filter (((v + 1) > 3) AND (k = a))\n"
            "      +- Relation [k,v,x] memory\n");
  EXPECT_EQ(Text(PushPredicates(Sql("SELECT * FROM (SELECT k, count(*) AS c FROM t GROUP BY k) WHERE k = 'a' AND c > 1"), config())),
            "Project [k, c]\n"
            "+- Filter (c > cast(1 as bigint))\n"
            "   +- Aggregate [k], [k, count(1) AS c]\n"
            "      +- Filter (k = a)\n"
            "         +- Relation [k,v,x] memory\n");
  EXPECT_EQ(Text(PushPredicates(Sql("SELECT * FROM (SELECT k FROM t UNION ALL SELECT k FROM u) WHERE k = 'a'"), config())),
            "Project [k]\n"
            "+- Union false, false\n"
            "   :- Project [k]\n"
            "   :  +- Filter (k = a)\n"
            "   :     +- Relation [k,v,x] memory\n"
            "   +- Project [k]\n"
            "      +- Filter (k = a)\n"
            "         +- Relation [k,v,x] memory\n");
}

TEST_F(RulesTest, PredicatesStayAboveLimitsAndRandomProjects) {
  EXPECT_EQ(Text(PushPredicates(Sql("SELECT * FROM (SELECT k FROM t LIMIT 3) WHERE k = 'a'"), config())),
            "Project [k]\n"
            "+- Filter (k = a)\n"
            "   +- GlobalLimit 3\n"
            "      +- LocalLimit 3\n"
            "         +- Project [k]\n"
            "            +- Relation [k,v,x] memory\n");
}

TEST_F(RulesTest, JoinsGiveToEachSideWhatItMayFilter) {
  EXPECT_EQ(Text(PushPredicates(Sql("SELECT t.k FROM t JOIN u ON t.k = u.k AND t.v > 1 WHERE u.v > 2 AND t.x < u.x"), config())),
            "Project [k]\n"
            "+- Join Inner, ((k = k) AND (x < x))\n"
            "   :- Filter (v > 1)\n"
            "   :  +- Relation [k,v,x] memory\n"
            "   +- Filter (v > 2)\n"
            "      +- Relation [k,v,x] memory\n");
  EXPECT_EQ(Text(PushPredicates(Sql("SELECT t.k FROM t LEFT JOIN u ON t.k = u.k AND t.v > 1 AND u.v > 2 WHERE u.x > 1 AND t.x > 1"), config())),
            "Project [k]\n"
            "+- Filter (x > cast(1 as double))\n"
            "   +- Join LeftOuter, ((k = k) AND (v > 1))\n"
            "      :- Filter (x > cast(1 as double))\n"
            "      :  +- Relation [k,v,x] memory\n"
            "      +- Filter (v > 2)\n"
            "         +- Relation [k,v,x] memory\n");
}

TEST_F(RulesTest, OnlyPredicatesWithoutTheEventTimeGoBelowItsWatermark) {
  EXPECT_EQ(Text(PushPredicates(Sql("SELECT k FROM w WHERE k = 'a' AND ts IS NOT NULL"), config())),
            "~Project [k]\n"
            "+- ~Filter isnotnull(ts-T1000ms)\n"
            "   +- ~EventTimeWatermark ts: timestamp, 1 second\n"
            "      +- ~Filter (k = a)\n"
            "         +- ~StreamingRelationV2 s, [k, v, ts]\n");
}

TEST_F(RulesTest, ProjectsCollapseWhereNoWorkIsDoneTwice) {
  EXPECT_EQ(Text(CollapseProjects(Sql("SELECT w + 1 AS z, k FROM (SELECT k, v + 1 AS w FROM t)"))),
            "Project [((v + 1) + 1) AS z, k]\n+- Relation [k,v,x] memory\n");
  EXPECT_EQ(Text(CollapseProjects(Sql("SELECT w + w AS z FROM (SELECT v + 1 AS w FROM t)"))),
            "Project [(w + w) AS z]\n+- Project [(v + 1) AS w]\n   +- Relation [k,v,x] memory\n");
  EXPECT_EQ(Text(CollapseProjects(Sql("SELECT c, k AS key FROM (SELECT k, count(*) AS c FROM t GROUP BY k)"))),
            "Aggregate [k], [count(1) AS c, k AS key]\n+- Relation [k,v,x] memory\n");
}

TEST_F(RulesTest, UnusedColumnsAreNotComputed) {
  EXPECT_EQ(Text(PruneColumns(Sql("SELECT k FROM (SELECT k, count(*) AS c, max(v) AS m FROM t GROUP BY k)"), true)),
            "Project [k]\n+- Aggregate [k], [k]\n   +- Relation [k] memory\n");
  EXPECT_EQ(Text(PruneColumns(Sql("SELECT t.v FROM t JOIN u ON t.k = u.k"), true)),
            "Project [v]\n"
            "+- Join Inner, (k = k)\n"
            "   :- Relation [k,v] memory\n"
            "   +- Relation [k] memory\n");
  EXPECT_EQ(Text(PruneColumns(Sql("SELECT k FROM (SELECT * FROM t UNION ALL SELECT * FROM u) WHERE v > 1"), true)),
            "Project [k]\n"
            "+- Filter (v > 1)\n"
            "   +- Union false, false\n"
            "      :- Project [k, v]\n"
            "      :  +- Relation [k,v] memory\n"
            "      +- Project [k, v]\n"
            "         +- Relation [k,v] memory\n");
}

/// A node that the rules have no case for.
struct Unheard final : PlanNode<Unheard, PlanKind::kHint> {
  Unheard(bool p, PlanPtr child) : PlanNode({std::move(child)}), passes(p) {}
  bool passes;
  AttributeList output() const override { return child()->output(); }
  bool keeps_columns() const override { return passes; }
  bool passes_predicate(const ExprPtr&) const override { return passes; }
  std::string NodeText() const override { return "Unheard"; }
};

TEST_F(RulesTest, WhatANodeSaysOfItselfIsEnough) {
  const PlanPtr query = Sql("SELECT k FROM t WHERE v > 1");  // Project, Filter, Relation
  const PlanPtr& filter = query->child();
  const auto over = [&](bool passes) {
    return query->WithChildren({filter->WithChildren({std::make_shared<Unheard>(passes, filter->child())})});
  };
  EXPECT_EQ(Text(PruneColumns(PushPredicates(over(true), config()).ValueOrDie(), true)),
            "Project [k]\n+- Unheard\n   +- Filter (v > 1)\n      +- Relation [k,v] memory\n");
  EXPECT_EQ(Text(PruneColumns(PushPredicates(over(false), config()).ValueOrDie(), true)),
            "Project [k]\n+- Filter (v > 1)\n   +- Unheard\n      +- Relation [k,v,x] memory\n");
}

TEST_F(RulesTest, OuterJoinsWhoseNullRowsAreDroppedAreInner) {
  EXPECT_EQ(Text(EliminateOuterJoins(Sql("SELECT t.k FROM t LEFT JOIN u ON t.k = u.k WHERE u.v > 1"))),
            "Project [k]\n"
            "+- Filter (v > 1)\n"
            "   +- Join Inner, (k = k)\n"
            "      :- Relation [k,v,x] memory\n"
            "      +- Relation [k,v,x] memory\n");
  const std::string kept = Text(EliminateOuterJoins(Sql("SELECT t.k FROM t LEFT JOIN u ON t.k = u.k WHERE u.v IS NULL AND t.v > 1")));
  EXPECT_NE(kept.find("LeftOuter"), std::string::npos) << kept;
  const std::string half = Text(EliminateOuterJoins(Sql("SELECT t.k FROM t FULL JOIN u ON t.k = u.k WHERE t.v > 1")));
  EXPECT_NE(half.find("LeftOuter"), std::string::npos) << half;
}

TEST_F(RulesTest, GroupingIsSimplified) {
  EXPECT_EQ(Text(SimplifyGrouping(Sql("SELECT count(*) FROM t GROUP BY 'a', k, k"))),
            "Aggregate [k], [count(1) AS count(1)]\n+- Relation [k,v,x] memory\n");
  EXPECT_EQ(Text(SimplifyGrouping(Sql("SELECT count(*) FROM t GROUP BY 'a'"))),
            "Aggregate [0], [count(1) AS count(1)]\n+- Relation [k,v,x] memory\n");
}

TEST_F(RulesTest, GroupingExpressionsAreComputedBelow) {
  EXPECT_EQ(Text(PullOutGrouping(Sql("SELECT v % 3 AS m, count(v % 3) FROM t GROUP BY v % 3"))),
            "Aggregate [_groupingexpression], [_groupingexpression AS m, count(_groupingexpression) AS count((v % 3))]\n"
            "+- Project [k, v, x, (v % 3) AS _groupingexpression]\n"
            "   +- Relation [k,v,x] memory\n");
}

TEST_F(RulesTest, CountsOfWhatIsNeverNullCountRows) {
  EXPECT_EQ(Text(CountRows(Sql("SELECT count('x'), count(k) FROM t"), config())),
            "Aggregate [], [count(1) AS count(x), count(k) AS count(k)]\n+- Relation [k,v,x] memory\n");
}

TEST_F(RulesTest, ShortDecimalsAreSummedAsIntegers) {
  const PlanPtr plan = RewriteDecimalAggregates(Sql("SELECT sum(p), sum(q), avg(p), avg(q), sum(r) FROM d"), config()).ValueOrDie();
  const std::string text = Text(plan);
  EXPECT_NE(text.find("makedecimal(sum(unscaledvalue(p))) AS sum(p)"), std::string::npos) << text;
  EXPECT_NE(text.find("sum(q) AS sum(q)"), std::string::npos) << text;
  EXPECT_NE(text.find("cast((avg(unscaledvalue(p)) / 100.0) as decimal(12,6)) AS avg(p)"), std::string::npos) << text;
  EXPECT_NE(text.find("avg(q) AS avg(q)"), std::string::npos) << text;
  EXPECT_NE(text.find("sum(r) AS sum(r)"), std::string::npos) << text;
  EXPECT_EQ(plan->output()[0]->type(), DataType::Decimal(18, 2));
}

}  // namespace
}  // namespace thalweg::sql
