// Promise: DataFrames answer what Spark answers, whatever engine runs them.
#include "test_session.h"

namespace thalweg {
namespace {

using namespace thalweg::functions;  // NOLINT(google-build-using-namespace): as programs do
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::UnorderedElementsAre;

class FramesTest : public SessionTest {
 protected:
  static DataFrame Clicks() {
    return Frame("page STRING, n INT, cost DOUBLE",
                 {{"home", 3, 0.5}, {"cart", 1, nullptr}, {"home", 4, 1.5}, {nullptr, 7, 2.0}});
  }
};

TEST_F(FramesTest, SelectTakesNamesAndExpressions) {
  EXPECT_THAT(Rows(Clicks().Select({"page", (col("n") * 2).Alias("twice")}).Limit(2)), ElementsAre(Row{"home", 6}, Row{"cart", 2}));
  EXPECT_THAT(Rows(Clicks().SelectExpr({"n + 1 AS m", "upper(page)"}).Limit(1)), ElementsAre(Row{4, "HOME"}));
  EXPECT_EQ(Rows(Clicks().Select({"*"})).size(), 4U);
}

TEST_F(FramesTest, FilterByColumnAndByText) {
  EXPECT_THAT(Rows(Clicks().Filter(col("n") > 3).Select({"n"})), ElementsAre(Row{4}, Row{7}));
  EXPECT_THAT(Rows(Clicks().Filter("page = 'cart'").Select({"n"})), ElementsAre(Row{1}));
}

TEST_F(FramesTest, ColumnsAreAddedReplacedRenamedAndDropped) {
  const DataFrame frame = Clicks().WithColumn("n", col("n") + 1).WithColumns({{"a", lit(1)}, {"b", lit("x")}}).Limit(1);
  EXPECT_THAT(frame.Columns().ValueOrDie(), ElementsAre("page", "n", "cost", "a", "b"));
  EXPECT_THAT(Rows(frame), ElementsAre(Row{"home", 4, 0.5, 1, "x"}));
  EXPECT_THAT(frame.Drop({"a", "cost", "absent"}).WithColumnRenamed("b", "c").Columns().ValueOrDie(), ElementsAre("page", "n", "c"));
  EXPECT_THAT(Clicks().ToDF({"x", "y", "z"}).Columns().ValueOrDie(), ElementsAre("x", "y", "z"));
}

TEST_F(FramesTest, SchemasInDdlAndAsTree) {
  EXPECT_THAT(Clicks().Schema().ValueOrDie(), ElementsAre(std::pair<std::string, std::string>("page", "string"),
                                                          std::pair<std::string, std::string>("n", "int"),
                                                          std::pair<std::string, std::string>("cost", "double")));
  EXPECT_EQ(Clicks().Select({"n"}).TreeString().ValueOrDie(), "root\n |-- n: integer (nullable = true)\n");
}

TEST_F(FramesTest, GroupsAndAggregates) {
  EXPECT_THAT(Rows(Clicks().GroupBy({"page"}).Count().OrderBy({"page"})), ElementsAre(Row{nullptr, 1}, Row{"cart", 1}, Row{"home", 2}));
  EXPECT_THAT(Rows(Clicks().GroupBy({"page"}).Agg({sum("n").Alias("s"), max("cost")}).OrderBy({col("s").Desc()})),
              ElementsAre(Row{"home", 7, 1.5}, Row{nullptr, 7, 2.0}, Row{"cart", 1, nullptr}));
  EXPECT_THAT(Rows(Clicks().Agg({count(), count("cost"), avg("n"), min("n"), count_distinct({"page"})})),
              ElementsAre(Row{4, 3, 3.75, 1, 2}));
  EXPECT_THAT(Rows(Clicks().GroupBy({"page"}).Sum({"n"}).Filter("page = 'home'")), ElementsAre(Row{"home", 7}));
  EXPECT_THAT(Rows(Clicks().Rollup({"page"}).Count().Filter("count = 4")), ElementsAre(Row{nullptr, 4}));
  EXPECT_EQ(Rows(Clicks().Cube({"page", "n"}).Count()).size(), 4U + 3U + 4U + 1U);
}

TEST_F(FramesTest, OrdersAndLimits) {
  EXPECT_THAT(Rows(Clicks().Select({"cost"}).OrderBy({"cost"})), ElementsAre(Row{nullptr}, Row{0.5}, Row{1.5}, Row{2.0}));
  EXPECT_THAT(Rows(Clicks().Select({"cost"}).OrderBy({col("cost").AscNullsLast()}).Limit(1)), ElementsAre(Row{0.5}));
  EXPECT_THAT(Rows(Clicks().Select({"cost"}).OrderBy({col("cost").DescNullsFirst()}).Limit(1)), ElementsAre(Row{nullptr}));
  EXPECT_THAT(Rows(Clicks().Select({"n"}).OrderBy({"n"}).Offset(1).Limit(2)), ElementsAre(Row{3}, Row{4}));
  EXPECT_THAT(Clicks().Select({"n"}).OrderBy({"n"}).Tail(1).ValueOrDie(), ElementsAre(Row{7}));
  EXPECT_THAT(Clicks().Select({"n"}).Take(1).ValueOrDie(), ElementsAre(Row{3}));
}

TEST_F(FramesTest, DuplicatesGo) {
  const DataFrame frame = Frame("a INT, b STRING", {{1, "x"}, {1, "x"}, {1, "y"}, {2, "x"}});
  EXPECT_THAT(Rows(frame.Distinct()), UnorderedElementsAre(Row{1, "x"}, Row{1, "y"}, Row{2, "x"}));
  EXPECT_EQ(frame.DropDuplicates({"a"}).Count().ValueOrDie(), 2);
}

TEST_F(FramesTest, SetsOfRows) {
  const DataFrame left = Frame("a INT", {{1}, {1}, {2}}), right = Frame("a INT", {{1}, {3}});
  EXPECT_THAT(Rows(left.Union(right)), UnorderedElementsAre(Row{1}, Row{1}, Row{2}, Row{1}, Row{3}));
  EXPECT_THAT(Rows(left.Intersect(right)), ElementsAre(Row{1}));
  EXPECT_THAT(Rows(left.Subtract(right)), ElementsAre(Row{2}));
  const Result<std::vector<Row>> except_all = left.ExceptAll(right).Collect();
  if (except_all.ok()) {
    EXPECT_THAT(*except_all, UnorderedElementsAre(Row{1}, Row{2}));
  } else {
    EXPECT_EQ(except_all.status().condition(), "UNSUPPORTED_FEATURE.THALWEG");  // of this engine
  }
  EXPECT_THAT(Rows(left.Limit(1).UnionByName(Frame("b INT, a INT", {{5, 6}}), true)),
              UnorderedElementsAre(Row{1, nullptr}, Row{6, 5}));
}

TEST_F(FramesTest, Joins) {
  const DataFrame left = Frame("id INT, l STRING", {{1, "a"}, {2, "b"}}), right = Frame("id INT, r STRING", {{2, "c"}, {3, "d"}});
  EXPECT_THAT(Rows(left.Join(right, "id")), ElementsAre(Row{2, "b", "c"}));
  EXPECT_THAT(Rows(left.Join(right, {"id"}, "left").OrderBy({"id"})), ElementsAre(Row{1, "a", nullptr}, Row{2, "b", "c"}));
  EXPECT_THAT(Rows(left.Join(right, {"id"}, "full").OrderBy({"id"})),
              ElementsAre(Row{1, "a", nullptr}, Row{2, "b", "c"}, Row{3, nullptr, "d"}));
  EXPECT_THAT(Rows(left.Join(right, left["id"] == right["id"]).Select({left["id"], "r"})), ElementsAre(Row{2, "c"}));
  EXPECT_THAT(Rows(left.Join(right, {"id"}, "left_anti")), ElementsAre(Row{1, "a"}));
  EXPECT_THAT(Rows(left.Alias("x").Join(right.Alias("y"), col("x.id") == col("y.id"), "left_semi")), ElementsAre(Row{2, "b"}));
  EXPECT_EQ(left.CrossJoin(right).Count().ValueOrDie(), 4);
  EXPECT_FALSE(left.Join(right, {"id"}, "sideways").Collect().ok());
}

TEST_F(FramesTest, NullsAreFilledOrLeftOut) {
  EXPECT_THAT(Rows(Clicks().FillNa("none").FillNa(0.0, {"cost"}).Filter("n IN (1, 7)").OrderBy({"n"})),
              ElementsAre(Row{"cart", 1, 0.0}, Row{"none", 7, 2.0}));
  EXPECT_EQ(Clicks().DropNa().Count().ValueOrDie(), 2);
  EXPECT_EQ(Clicks().DropNa({"page"}).Count().ValueOrDie(), 3);
}

TEST_F(FramesTest, PartitionsChangeNoRows) {
  EXPECT_EQ(spark().Range(0, 100).Repartition(3).Count().ValueOrDie(), 100);
  EXPECT_EQ(spark().Range(0, 100).Repartition({"id"}).Coalesce(1).Count().ValueOrDie(), 100);
  EXPECT_EQ(spark().Range(0, 10).Hint("broadcast").SortWithinPartitions({col("id").Desc()}).Count().ValueOrDie(), 10);
  const int64_t sampled = spark().Range(0, 1000).Sample(0.5, 42).Count().ValueOrDie();
  EXPECT_GT(sampled, 400);
  EXPECT_LT(sampled, 600);
}

TEST_F(FramesTest, TablesAreShown) {
  EXPECT_EQ(spark().Range(0, 2).ShowString().ValueOrDie(), "+---+\n| id|\n+---+\n|  0|\n|  1|\n+---+\n");
  EXPECT_THAT(Frame("s STRING", {{"abcdefghij"}}).ShowString(1, 5).ValueOrDie(), HasSubstr("|ab...|"));
  EXPECT_THAT(spark().Range(0, 2).ShowString(20, 20, true).ValueOrDie(), HasSubstr("-RECORD 0-"));
}

TEST_F(FramesTest, PlansAreExplained) {
  EXPECT_THAT(spark().Range(0, 2).Filter("id > 0").Explain().ValueOrDie(), HasSubstr("== Physical Plan =="));
  EXPECT_THAT(spark().Range(0, 2).Explain("extended").ValueOrDie(), HasSubstr("== Analyzed Logical Plan =="));
  EXPECT_EQ(spark().Range(0, 2).Explain("poem").status().condition(), "ILLEGAL_ARGUMENT");
}

TEST_F(FramesTest, EmptyAndStreaming) {
  EXPECT_TRUE(spark().Range(0, 0).IsEmpty().ValueOrDie());
  EXPECT_FALSE(spark().Range(0, 1).IsEmpty().ValueOrDie());
  EXPECT_FALSE(spark().Range(0, 1).IsStreaming().ValueOrDie());
  EXPECT_TRUE(spark().ReadStream().Format("rate").Load().IsStreaming().ValueOrDie());
}

TEST_F(FramesTest, ViewsAreSeenBySql) {
  ASSERT_TRUE(Clicks().CreateOrReplaceTempView("clicks").ok());
  EXPECT_EQ(Clicks().CreateTempView("clicks").condition(), "TEMP_TABLE_OR_VIEW_ALREADY_EXISTS");
  EXPECT_THAT(Rows(spark().Sql("SELECT max(n) FROM clicks")), ElementsAre(Row{7}));
  EXPECT_THAT(Rows(spark().Table("clicks").Agg({count()})), ElementsAre(Row{4}));
  ASSERT_TRUE(Clicks().CreateOrReplaceGlobalTempView("all_clicks").ok());
  EXPECT_THAT(Rows(spark().Sql("SELECT count(*) FROM global_temp.all_clicks")), ElementsAre(Row{4}));
  EXPECT_TRUE(spark().Catalog().DropGlobalTempView("all_clicks").ValueOrDie());
}

TEST_F(FramesTest, SqlTakesParameters) {
  EXPECT_THAT(Rows(spark().Sql("SELECT :a + 1, :b", {{"a", lit(41)}, {"b", lit("x")}})), ElementsAre(Row{42, "x"}));
  EXPECT_THAT(Rows(spark().Sql("SELECT ? + ?", std::vector<Column>{lit(1), lit(2)})), ElementsAre(Row{3}));
}

TEST_F(FramesTest, CachedRowsAreTheSame) {
  const DataFrame frame = spark().Range(0, 3).SelectExpr({"id", "id * 2 AS twice"});
  ASSERT_TRUE(frame.Cache().ok());
  EXPECT_THAT(Rows(frame.OrderBy({"id"})), ElementsAre(Row{0, 0}, Row{1, 2}, Row{2, 4}));
  EXPECT_TRUE(frame.Unpersist().ok());
  EXPECT_THAT(Rows(frame.OrderBy({"id"})), ElementsAre(Row{0, 0}, Row{1, 2}, Row{2, 4}));
}

TEST_F(FramesTest, ErrorsCarryConditionAndContext) {
  const Status missing = Clicks().Select({"pagge"}).Collect().status();
  EXPECT_EQ(missing.condition(), "UNRESOLVED_COLUMN.WITH_SUGGESTION");
  EXPECT_EQ(missing.sql_state(), "42703");
  EXPECT_THAT(missing.message(), HasSubstr("[UNRESOLVED_COLUMN.WITH_SUGGESTION]"));
  EXPECT_THAT(missing.message_text(), Not(HasSubstr("SQLSTATE")));
  EXPECT_THAT(missing.parameters(), testing::Contains(testing::Pair("objectName", "`pagge`")));

  const Status division = spark().Sql("SELECT 1 / (id - id) FROM range(1)").ValueOrDie().Collect().status();
  EXPECT_EQ(division.condition(), "DIVIDE_BY_ZERO");
  EXPECT_EQ(division.sql_state(), "22012");
  ASSERT_FALSE(division.query_context().empty());
  EXPECT_EQ(division.query_context()[0].fragment, "1 / (id - id)");

  EXPECT_EQ(spark().Sql("SELEC 1").status().condition(), "PARSE_SYNTAX_ERROR");
  EXPECT_EQ(spark().Sql("SELECT * FROM nowhere").status().condition(), "TABLE_OR_VIEW_NOT_FOUND");
  EXPECT_EQ(spark().Table("nowhere").Collect().status().condition(), "TABLE_OR_VIEW_NOT_FOUND");
}

}  // namespace
}  // namespace thalweg
