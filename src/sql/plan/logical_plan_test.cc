#include "sql/plan/logical_plan.h"

#include <gtest/gtest.h>

#include "sql/expr/function.h"
#include "sql/plan/commands.h"

namespace thalweg::sql {
namespace {

PlanPtr MakeRange() { return std::make_shared<Range>(0, 10, 1, 4); }

PlanPtr ProjectAll(const PlanPtr& child) {
  const AttributeList output = child->output();
  return std::make_shared<Project>(ExprList(output.begin(), output.end()), child);
}

TEST(LogicalPlanTest, TreeTextIsSparks) {
  const PlanPtr left = MakeRange();
  const PlanPtr right = std::make_shared<Limit>(Literal::Integer(5), MakeRange());
  const PlanPtr join = std::make_shared<Join>(left, right, JoinType::kLeftOuter, nullptr);
  const PlanPtr top = std::make_shared<Distinct>(join);
  EXPECT_EQ(top->TreeText(),
            "Distinct\n"
            "+- Join LeftOuter\n"
            "   :- Range (0, 10, step=1, splits=Some(4))\n"
            "   +- GlobalLimit 5\n"
            "      +- LocalLimit 5\n"
            "         +- Range (0, 10, step=1, splits=Some(4))\n");
}

TEST(LogicalPlanTest, UnresolvedNodesAreMarked) {
  const PlanPtr plan = std::make_shared<Filter>(UnresolvedAttribute::Make({"a"}), MakeRange());
  EXPECT_FALSE(plan->resolved());
  EXPECT_EQ(plan->TreeText(), "'Filter 'a\n+- Range (0, 10, step=1, splits=Some(4))\n");
}

TEST(LogicalPlanTest, OuterJoinsMakeColumnsNullable) {
  const auto output = Join(MakeRange(), MakeRange(), JoinType::kLeftOuter, nullptr).output();
  ASSERT_EQ(output.size(), 2u);
  EXPECT_FALSE(output[0]->nullable());
  EXPECT_TRUE(output[1]->nullable());
  EXPECT_EQ(Join(MakeRange(), MakeRange(), JoinType::kLeftAnti, nullptr).output().size(), 1u);
}

TEST(LogicalPlanTest, AliasQualifiesItsOutput) {
  const PlanPtr plan = std::make_shared<SubqueryAlias>(std::vector<std::string>{"t"}, MakeRange());
  EXPECT_EQ(plan->output()[0]->qualifier(), std::vector<std::string>{"t"});
}

TEST(LogicalPlanTest, WatermarkMarksTheEventTimeAndUnmarksOlderOnes) {
  const AttributePtr ts = Attribute::Make("ts", DataType::Timestamp(), true, ExprId(900));
  const AttributePtr old = Attribute::Make("old", DataType::Timestamp(), true, ExprId(901), {},
                                           WithWatermarkDelayMs("{}", 5));
  const PlanPtr leaf = std::make_shared<LocalRelation>(AttributeList{ts, old}, std::vector<data::Chunk>{});
  auto node = std::make_shared<EventTimeWatermark>(ts, "10 minutes", leaf);
  node->delay_ms = 600000;
  node->delay_resolved = true;
  const AttributeList output = node->output();
  EXPECT_EQ(WatermarkDelayMs(output[0]->metadata_json()), 600000);
  EXPECT_EQ(WatermarkDelayMs(output[1]->metadata_json()), std::nullopt);
}

TEST(LogicalPlanTest, PlanIdSurvivesRewriting) {
  const PlanPtr plan = ProjectAll(MakeRange())->WithPlanId(7);
  EXPECT_EQ(plan->WithChildren({MakeRange()})->plan_id(), 7);
  EXPECT_EQ(plan->WithExpressions(plan->expressions())->plan_id(), 7);
}

TEST(LogicalPlanTest, FreshIdsRenameEverythingConsistently) {
  const PlanPtr range = MakeRange();
  const PlanPtr plan = std::make_shared<Filter>(
      Cast::Make(range->output()[0], DataType::Boolean(), EvalMode::kAnsi),
      std::make_shared<Project>(ExprList{range->output()[0], Alias::Make(range->output()[0], "b")}, range));
  const PlanPtr fresh = WithFreshIds(plan).ValueOrDie();
  const AttributeList before = plan->output();
  const AttributeList after = fresh->output();
  ASSERT_EQ(after.size(), 2u);
  EXPECT_NE(before[0]->id(), after[0]->id());
  EXPECT_NE(before[1]->id(), after[1]->id());
  EXPECT_EQ(References(fresh->expressions()[0])[0], after[0]->id());
  EXPECT_EQ(after[0]->name(), "id");
}

/// A node of nobody else's: every row with a column beside it.
struct Numbered final : PlanNode<Numbered, PlanKind::kHint> {
  explicit Numbered(PlanPtr child, bool t = true) : PlanNode({std::move(child)}), tells(t) {}
  bool tells;
  AttributePtr number = Attribute::Make("number", DataType::Long(), false);
  AttributeList output() const override {
    AttributeList output = child()->output();
    output.push_back(number);
    return output;
  }
  AttributeList produced() const override { return tells ? AttributeList{number} : AttributeList{}; }
  PlanPtr WithProduced(AttributeList columns) const override {
    auto copy = std::make_shared<Numbered>(*this);
    copy->number = columns[0];
    return copy;
  }
  std::string NodeText() const override { return "Numbered"; }
};

TEST(LogicalPlanTest, FreshIdsOfColumnsThatAnyNodeMakes) {
  const PlanPtr plan = ProjectAll(std::make_shared<Numbered>(MakeRange()));
  const PlanPtr fresh = WithFreshIds(plan).ValueOrDie();
  ASSERT_EQ(fresh->output().size(), 2u);
  EXPECT_NE(fresh->output()[1]->id(), plan->output()[1]->id());
  EXPECT_EQ(fresh->output()[1]->id(), fresh->child()->output()[1]->id());
}

// The two sides of a self join would have the column in common.
TEST(LogicalPlanTest, ANodeThatDoesNotTellOfItsColumnsIsRefused) {
  EXPECT_EQ(WithFreshIds(std::make_shared<Numbered>(MakeRange(), false)).status().condition(), "INTERNAL_ERROR");
}

TEST(LogicalPlanTest, ThousandLevelsAreFineAndEndlessOnesRefused) {
  PlanPtr plan = MakeRange();
  for (int i = 0; i < 1000; ++i) plan = ProjectAll(plan);
  const auto keep = [](const PlanPtr&) -> Result<PlanPtr> { return PlanPtr(); };
  EXPECT_EQ(TransformUp(plan, keep).ValueOrDie(), plan);
  EXPECT_TRUE(plan->resolved());
  EXPECT_TRUE(WithFreshIds(plan).ok());
  for (int i = 0; i < 5000; ++i) plan = ProjectAll(plan);
  EXPECT_EQ(TransformDown(plan, keep).status().condition(), "UNSUPPORTED_FEATURE.THALWEG");
}

TEST(LogicalPlanTest, ExpandTakesItsProjectionsBack) {
  const PlanPtr range = MakeRange();
  const ExprPtr id = range->output()[0];
  const PlanPtr expand = std::make_shared<Expand>(std::vector<ExprList>{{id, Literal::Long(0)}, {id, Literal::Long(1)}},
                                                  AttributeList{range->output()[0],
                                                                Attribute::Make("n", DataType::Long(), false)},
                                                  range);
  ExprList expressions = expand->expressions();
  ASSERT_EQ(expressions.size(), 4u);
  expressions[3] = Literal::Long(9);
  EXPECT_EQ(expand->WithExpressions(expressions)->expressions()[3]->PlanText(), "9");
  EXPECT_EQ(expand->output().size(), 2u);
}

TEST(CommandTest, AnswersWithSparksColumns) {
  const Command show{ShowTables{}};
  ASSERT_EQ(show.output().size(), 3u);
  EXPECT_EQ(show.output()[2]->name(), "isTemporary");
  EXPECT_TRUE(Command{ClearCache{}}.output().empty());
}

}  // namespace
}  // namespace thalweg::sql
