#include "sql/expr/expression.h"

#include <gtest/gtest.h>

#include "sql/expr/attribute_name.h"
#include "sql/expr/function.h"

namespace thalweg::sql {
namespace {

std::string InfixSql(const Call& call, bool plan_text) {
  const auto text = [&](const ExprPtr& e) { return plan_text ? e->PlanText() : e->Sql(); };
  return "(" + text(call.child(0)) + " " + std::string(call.bound().function->name) + " " + text(call.child(1)) + ")";
}

const ScalarFunction kPlus{.name = "+", .sql = &InfixSql};
const ScalarFunction kAnd{.name = "and", .sql = &InfixSql};
const ScalarFunction kField{.name = "getstructfield"};
const ScalarFunction kRand{.name = "rand", .deterministic = false};
const ScalarFunction kNow{.name = "current_timestamp", .batch_time = true};
const AggregateFunction kCount{.name = "count"};

ExprPtr MakeCall(const ScalarFunction& function, ExprList arguments, DataType type = DataType::Long()) {
  auto bound = std::make_shared<BoundScalar>();
  bound->function = &function;
  bound->type = std::move(type);
  return Call::Make(bound, std::move(arguments));
}

ExprPtr MakeCount(ExprList arguments, bool distinct = false, ExprPtr filter = nullptr) {
  auto bound = std::make_shared<BoundAggregate>();
  bound->function = &kCount;
  bound->type = DataType::Long();
  bound->nullable = false;
  return AggregateCall::Make(bound, std::move(arguments), distinct, std::move(filter));
}

AttributePtr Id() { return Attribute::Make("id", DataType::Long(), false, ExprId(3)); }

TEST(ExpressionTest, TextsAreThoseOfSpark) {
  const ExprPtr sum = MakeCall(kPlus, {Id(), Literal::Long(1)});
  EXPECT_EQ(sum->PlanText(), "(id#3L + 1)");
  EXPECT_EQ(AutoName(sum), "(id + 1)");
  EXPECT_EQ(AutoName(MakeCount({Literal::Integer(1)})), "count(1)");
  EXPECT_EQ(MakeCount({Id()}, true)->PlanText(), "count(distinct id#3L)");
  EXPECT_EQ(AutoName(MakeCount({Id()}, true, MakeCall(kPlus, {Id(), Id()}))),
            "count(DISTINCT id) FILTER (WHERE (id + id))");
}

TEST(ExpressionTest, CastsOfTheUserShowInNamesAndInsertedOnesDoNot) {
  const ExprPtr user = Cast::Make(Id(), DataType::String(), EvalMode::kAnsi, true);
  const ExprPtr inserted = Cast::Make(Id(), DataType::String(), EvalMode::kAnsi, false);
  EXPECT_EQ(AutoName(user), "CAST(id AS STRING)");
  EXPECT_EQ(AutoName(inserted), "id");
  EXPECT_EQ(user->PlanText(), "cast(id#3L as string)");
}

TEST(ExpressionTest, NamesOfLiteralsAreBare) {
  EXPECT_EQ(AutoName(Literal::String("abc")), "abc");
  EXPECT_EQ(AutoName(Literal::Null()), "NULL");
  EXPECT_EQ(AutoName(Literal::Integer(-3)), "-3");
  EXPECT_EQ(AutoName(Literal::Boolean(true)), "true");
}

TEST(ExpressionTest, AFieldIsNamedByItsPath) {
  const DataType type = DataType::Struct({{"a", DataType::Integer(), true, "{}"}});
  const ExprPtr field = MakeCall(kField, {Attribute::Make("s", type, true), Literal::String("a")}, DataType::Integer());
  EXPECT_EQ(AutoName(field), "s.a");
}

TEST(ExpressionTest, QualifiersAreQuotedOnlyWhenNeeded) {
  const AttributePtr attribute = Attribute::Make("a b", DataType::Integer(), true, ExprId(1), {"t"});
  EXPECT_EQ(attribute->Sql(), "t.`a b`");
}

TEST(ExpressionTest, WatermarkShowsInPlanText) {
  const AttributePtr ts = Attribute::Make("ts", DataType::Timestamp(), true, ExprId(7), {},
                                          WithWatermarkDelayMs("{\"comment\":\"c\"}", 600000));
  EXPECT_EQ(ts->metadata_json(), "{\"comment\":\"c\",\"spark.watermarkDelayMs\":600000}");
  EXPECT_EQ(ts->PlanText(), "ts#7-T600000ms");
  EXPECT_EQ(WatermarkDelayMs(WithWatermarkDelayMs(ts->metadata_json(), std::nullopt)), std::nullopt);
}

TEST(ExpressionTest, FoldableMeansWithoutColumnsChanceAndTime) {
  EXPECT_TRUE(MakeCall(kPlus, {Literal::Long(1), Literal::Long(2)})->foldable());
  EXPECT_FALSE(MakeCall(kPlus, {Literal::Long(1), Id()})->foldable());
  EXPECT_FALSE(MakeCall(kRand, {})->foldable());
  EXPECT_FALSE(MakeCall(kNow, {})->foldable());
  EXPECT_FALSE(MakeCall(kPlus, {MakeCall(kRand, {}), Literal::Long(1)})->deterministic());
}

TEST(ExpressionTest, ResolvedNeedsEveryChild) {
  const ExprPtr name = UnresolvedAttribute::Make({"t", "a"});
  EXPECT_FALSE(name->resolved());
  EXPECT_FALSE(Alias::Make(name, "b")->resolved());
  EXPECT_TRUE(Alias::Make(Id(), "b")->resolved());
  EXPECT_EQ(name->PlanText(), "'t.a");
  EXPECT_EQ(UnresolvedFunction::Make({"+"}, {name, Literal::Integer(1)})->Sql(), "(t.a + 1)");
  EXPECT_EQ(UnresolvedFunction::Make({"sum"}, {name}, true)->Sql(), "sum(DISTINCT t.a)");
}

TEST(TreeTest, TransformUpSharesWhatStays) {
  const ExprPtr left = MakeCall(kPlus, {Id(), Literal::Long(1)});
  const ExprPtr tree = MakeCall(kAnd, {left, Literal::Long(5)});
  const ExprPtr changed = TransformUp(tree, [](const ExprPtr& node) -> Result<ExprPtr> {
                            const auto* literal = node->As<Literal>();
                            if (literal != nullptr && literal->value().AsInt64() == 5) return Literal::Long(6);
                            return ExprPtr();
                          }).ValueOrDie();
  EXPECT_EQ(changed->child(0), left);
  EXPECT_EQ(changed->PlanText(), "((id#3L + 1) and 6)");
  EXPECT_FALSE(changed->Equals(*tree));
}

TEST(TreeTest, TransformReportsErrors) {
  const auto failed = TransformDown(MakeCall(kPlus, {Id(), Id()}), [](const ExprPtr& node) -> Result<ExprPtr> {
    if (node->kind() == ExprKind::kAttribute) return InternalError("no");
    return ExprPtr();
  });
  EXPECT_FALSE(failed.ok());
}

TEST(TreeTest, DeepTreesAreRefusedNotOverflown) {
  ExprPtr tree = Id();
  for (int i = 0; i < 6000; ++i) tree = MakeCall(kPlus, {tree, Literal::Long(1)});
  const auto keep = [](const ExprPtr&) -> Result<ExprPtr> { return ExprPtr(); };
  EXPECT_EQ(TransformUp(tree, keep).status().condition(), "UNSUPPORTED_FEATURE.THALWEG");
  EXPECT_EQ(References(tree).size(), 1u);
}

TEST(TreeTest, ConjunctsComeLeftToRight) {
  const ExprPtr a = Literal::Long(1);
  const ExprPtr b = Literal::Long(2);
  const ExprPtr c = Literal::Long(3);
  const ExprList parts = SplitConjunction(MakeCall(kAnd, {MakeCall(kAnd, {a, b}), c}));
  EXPECT_EQ(parts, (ExprList{a, b, c}));
}

// What Spark's UnresolvedAttribute makes of these names.
TEST(AttributeNameTest, SplitsAtDotsOutsideOfBackTicks) {
  using Parts = std::vector<std::string>;
  EXPECT_EQ(*ParseAttributeName("a.b"), (Parts{"a", "b"}));
  EXPECT_EQ(*ParseAttributeName("max(age)"), (Parts{"max(age)"}));
  EXPECT_EQ(*ParseAttributeName("select a b-1"), (Parts{"select a b-1"}));
  EXPECT_EQ(*ParseAttributeName("`a.b`.c"), (Parts{"a.b", "c"}));
  EXPECT_EQ(*ParseAttributeName("`a``b`"), (Parts{"a`b"}));
  for (const char* bad : {"a.", ".a", "a..b", "`a", "a`b`", "`a`b"}) {
    EXPECT_EQ(ParseAttributeName(bad).status().condition(), "INVALID_ATTRIBUTE_NAME_SYNTAX") << bad;
  }
}

TEST(CastTest, NullabilityFollowsSpark) {
  EXPECT_TRUE(CastForcesNullable(DataType::String(), DataType::Integer()));
  EXPECT_FALSE(CastForcesNullable(DataType::Integer(), DataType::Long()));
  EXPECT_TRUE(CastForcesNullable(DataType::Double(), DataType::Long()));
  EXPECT_TRUE(CastForcesNullable(DataType::Long(), DataType::Decimal(10, 2)));
  EXPECT_FALSE(CastForcesNullable(DataType::Long(), DataType::Decimal(20, 0)));
  EXPECT_FALSE(CastForcesNullable(DataType::Decimal(5, 2), DataType::Decimal(7, 2)));
}

}  // namespace
}  // namespace thalweg::sql
