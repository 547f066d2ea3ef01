// Promise: operators and functions mean what Spark means by them; values of all types go to the engine and come back.
#include "test_session.h"

namespace thalweg {
namespace {

using namespace thalweg::functions;  // NOLINT(google-build-using-namespace): as programs do
using testing::ElementsAre;

class ColumnsTest : public SessionTest {
 protected:
  /// The value of an expression over one row: i = 7, s = 'Thalweg', t = 2026-03-01 12:34:56 UTC, a = [3, 1, null], m = {k: 5}, n = null.
  static Cell Eval(const Column& column) {
    const DataFrame row = Frame("i INT, s STRING, t TIMESTAMP, a ARRAY<INT>, m MAP<STRING, INT>, n INT",
                                {{7, "Thalweg", TimestampMicros{1'772'368'496'000'000}, CellList{3, 1, nullptr}, CellList{"k", 5}, nullptr}});
    const std::vector<Row> rows = Rows(row.Select({column}));
    return rows.size() == 1 ? rows[0][0] : Cell("no row");
  }
};

TEST_F(ColumnsTest, Operators) {
  const Column i = col("i");
  EXPECT_EQ(Eval(i + 1), Cell(8));
  EXPECT_EQ(Eval(1 - i), Cell(-6));
  EXPECT_EQ(Eval(i * 2), Cell(14));
  EXPECT_EQ(Eval(i / 2), Cell(3.5));
  EXPECT_EQ(Eval(i % 4), Cell(3));
  EXPECT_EQ(Eval(-i), Cell(-7));
  EXPECT_EQ(Eval(~i), Cell(-8));
  EXPECT_EQ(Eval(i == 7 && !(i != 7)), Cell(true));
  EXPECT_EQ(Eval(i < 7 || i >= 8), Cell(false));
  EXPECT_EQ(Eval(i <= 7 && i > 6), Cell(true));
  EXPECT_EQ(Eval(i.BitwiseAnd(5)), Cell(5));
  EXPECT_EQ(Eval(i.BitwiseOr(8)), Cell(15));
  EXPECT_EQ(Eval(i.BitwiseXor(1)), Cell(6));
  EXPECT_EQ(Eval(col("n") + 1), Cell());
}

TEST_F(ColumnsTest, Predicates) {
  const Column s = col("s");
  EXPECT_EQ(Eval(s.Like("Thal%")), Cell(true));
  EXPECT_EQ(Eval(s.ILike("thal%")), Cell(true));
  EXPECT_EQ(Eval(s.RLike("w.g$")), Cell(true));
  EXPECT_EQ(Eval(s.StartsWith("Th") && s.EndsWith("eg") && s.Contains("alw")), Cell(true));
  EXPECT_EQ(Eval(s.Substr(2, 3)), Cell("hal"));
  EXPECT_EQ(Eval(col("i").IsIn({1, 7})), Cell(true));
  EXPECT_EQ(Eval(col("i").Between(7, 9)), Cell(true));
  EXPECT_EQ(Eval(col("n").IsNull()), Cell(true));
  EXPECT_EQ(Eval(col("n").IsNotNull()), Cell(false));
  EXPECT_EQ(Eval(col("n").EqNullSafe(nullptr)), Cell(true));
  EXPECT_EQ(Eval((col("i") / 1).IsNaN()), Cell(false));
}

TEST_F(ColumnsTest, Casts) {
  EXPECT_EQ(Eval(col("i").Cast("string")), Cell("7"));
  EXPECT_EQ(Eval(col("i").Cast("decimal(5,2)")), Cell(DecimalText{"7.00"}));
  EXPECT_EQ(Eval(col("s").TryCast("int")), Cell());
  EXPECT_EQ(Rows(spark().Range(0, 1).Select({lit("3").Cast("bigint").Alias("x")})), std::vector<Row>{{3}});
}

TEST_F(ColumnsTest, NestedValues) {
  EXPECT_EQ(Eval(col("a").GetItem(0)), Cell(3));
  EXPECT_EQ(Eval(col("m").GetItem("k")), Cell(5));
  const Column pair = struct_({lit(1).Alias("x"), lit("y").Alias("y")});
  EXPECT_EQ(Eval(pair), Cell(CellList{1, "y"}));
  EXPECT_EQ(Eval(pair.GetField("y")), Cell("y"));
  EXPECT_EQ(Eval(array({"i", lit(8)})), Cell(CellList{7, 8}));
  EXPECT_EQ(Eval(create_map({lit("a"), "i"})), Cell(CellList{"a", 7}));
  EXPECT_EQ(Eval(size("a")), Cell(3));
  EXPECT_EQ(Eval(sort_array("a")), Cell(CellList{nullptr, 1, 3}));
  EXPECT_EQ(Eval(array_contains("a", 1)), Cell(true));
  EXPECT_EQ(Eval(map_keys("m")), Cell(CellList{"k"}));
}

TEST_F(ColumnsTest, FieldsOfStructsAreChanged) {
  const Column pair = struct_({lit(1).Alias("x"), lit("y").Alias("y")});
  const Result<std::vector<Row>> rows = spark().Range(0, 1).Select({pair.WithField("x", 5), pair.DropField("x")}).Collect();
  if (rows.ok()) {
    EXPECT_THAT(*rows, ElementsAre(Row{CellList{5, "y"}, CellList{"y"}}));
  } else {
    EXPECT_EQ(rows.status().condition(), "UNSUPPORTED_FEATURE.THALWEG");  // of this engine; Spark changes them
  }
}

TEST_F(ColumnsTest, FunctionsOfTheSlice) {
  EXPECT_EQ(Eval(upper("s")), Cell("THALWEG"));
  EXPECT_EQ(Eval(concat({"s", lit("!")})), Cell("Thalweg!"));
  EXPECT_EQ(Eval(concat_ws("-", {"s", lit("x")})), Cell("Thalweg-x"));
  EXPECT_EQ(Eval(length("s")), Cell(7));
  EXPECT_EQ(Eval(substring("s", 2, 2)), Cell("ha"));
  EXPECT_EQ(Eval(lpad("s", 9, "*")), Cell("**Thalweg"));
  EXPECT_EQ(Eval(regexp_extract("s", "(w.)", 1)), Cell("we"));
  EXPECT_EQ(Eval(regexp_replace("s", "[aeiou]", "_")), Cell("Th_lw_g"));
  EXPECT_EQ(Eval(coalesce({"n", "i"})), Cell(7));
  EXPECT_EQ(Eval(when(col("i") > 5, "big", "small")), Cell("big"));
  EXPECT_EQ(Eval(when(col("i") > 9, "big")), Cell());
  EXPECT_EQ(Eval(round(lit(2.345), 2)), Cell(2.35));
  EXPECT_EQ(Eval(pow("i", lit(2))), Cell(49.0));
  EXPECT_EQ(Eval(greatest({"i", lit(9)})), Cell(9));
  EXPECT_EQ(Eval(year("t")), Cell(2026));
  EXPECT_EQ(Eval(date_format("t", "yyyy-MM-dd HH:mm")), Cell("2026-03-01 12:34"));
  EXPECT_EQ(Eval(date_trunc("hour", "t")), Cell(TimestampMicros{1'772'366'400'000'000}));
  EXPECT_EQ(Eval(to_date("t")), Cell(DateDays{20513}));
  EXPECT_EQ(Eval(to_timestamp(lit("01/03/2026"), "dd/MM/yyyy")), Cell(TimestampMicros{1'772'323'200'000'000}));
  EXPECT_EQ(Eval(from_json(lit(R"({"a": 5, "b": "c"})"), "a INT, b STRING")), Cell(CellList{5, "c"}));
  EXPECT_EQ(Eval(to_json(struct_({"i"}))), Cell(R"({"i":7})"));
  EXPECT_EQ(Eval(window("t", "5 minutes").GetField("start")), Cell(TimestampMicros{1'772'368'200'000'000}));
  EXPECT_EQ(Eval(Call("levenshtein", {"s", lit("Talweg")})), Cell(1));
  EXPECT_EQ(Eval(expr("i * 2 + 1")), Cell(15));
}

TEST_F(ColumnsTest, AggregatesOfTheSlice) {
  const DataFrame frame = Frame("k INT, v INT", {{1, 2}, {1, 4}, {2, 9}});
  EXPECT_THAT(Rows(frame.Agg({sum("v"), sum_distinct("k"), stddev("v"), first("v"), collect_set("k"), count_if(col("v") > 3)})
                       .Select({col("`sum(v)`"), col("`sum(DISTINCT k)`"), size("collect_set(k)"), col("`count_if((v > 3))`")})),
              ElementsAre(Row{15, 3, 2, 2}));
  EXPECT_THAT(Rows(frame.GroupBy({"k"}).Agg({max_by("v", "v").Alias("m"), collect_list("v")}).OrderBy({"k"})),
              ElementsAre(Row{1, 4, CellList{2, 4}}, Row{2, 9, CellList{9}}));
}

TEST_F(ColumnsTest, FunctionsOverWindows) {
  const DataFrame frame = Frame("k INT, v INT", {{1, 2}, {1, 4}, {2, 9}, {1, 4}});
  const Window by_key = Window().PartitionBy({"k"});
  const Window ordered = by_key.OrderBy({"v"});
  EXPECT_THAT(Rows(frame.Select({col("k"), col("v"), row_number().Over(by_key.OrderBy({col("v").Desc()})), rank().Over(ordered),
                                 sum("v").Over(by_key), lag("v", 1, 0).Over(ordered), nth_value("v", 2).Over(ordered)})
                       .OrderBy({col("k"), col("`row_number() OVER (PARTITION BY k ORDER BY v DESC NULLS LAST ROWS BETWEEN UNBOUNDED "
                                               "PRECEDING AND CURRENT ROW)`")})),
              ElementsAre(Row{1, 4, 1, 2, 10, 2, 4}, Row{1, 4, 2, 2, 10, 4, 4}, Row{1, 2, 3, 1, 10, 0, nullptr}, Row{2, 9, 1, 1, 9, 0, nullptr}));
  EXPECT_THAT(Rows(frame.Select({col("v"), count().Over(Window().OrderBy({"v"}).RowsBetween(-1, Window::kCurrentRow)).Alias("rows"),
                                 count().Over(Window().OrderBy({"v"}).RangeBetween(-2, Window::kUnboundedFollowing)).Alias("range")})
                       .OrderBy({"v", "rows", "range"})),
              ElementsAre(Row{2, 1, 4}, Row{4, 2, 4}, Row{4, 2, 4}, Row{9, 2, 1}));
}

TEST_F(ColumnsTest, LiteralsOfAllKinds) {
  EXPECT_EQ(Eval(lit(nullptr)), Cell());
  EXPECT_EQ(Eval(lit(true)), Cell(true));
  EXPECT_EQ(Eval(lit(int64_t{1} << 40)), Cell(int64_t{1} << 40));
  EXPECT_EQ(Eval(lit(0.25)), Cell(0.25));
  EXPECT_EQ(Eval(lit(DecimalText{"12.30"})), Cell(DecimalText{"12.30"}));
  EXPECT_EQ(Eval(lit(DateDays{1})), Cell(DateDays{1}));
  EXPECT_EQ(Eval(lit(TimestampMicros{-1})), Cell(TimestampMicros{-1}));
}

TEST_F(ColumnsTest, RowsOfAllTypesComeBack) {
  const std::string schema =
      "b BOOLEAN, y TINYINT, h SMALLINT, i INT, l BIGINT, f FLOAT, d DOUBLE, s STRING, x BINARY, c DECIMAL(38,2), "
      "o DATE, t TIMESTAMP, w TIMESTAMP_NTZ, a ARRAY<STRUCT<p: INT, q: STRING>>, m MAP<STRING, ARRAY<INT>>";
  const std::vector<Row> rows = {
      {true, -128, 32767, -5, int64_t{1} << 62, 0.5, -2.25, "Tälweg", std::string("\0\xff", 2), DecimalText{"123456789012345678901234567890.12"},
       DateDays{-1}, TimestampMicros{1}, TimestampMicros{2}, CellList{CellList{1, "x"}, CellList{nullptr, nullptr}},
       CellList{"k", CellList{1, nullptr}}},
      Row(15)};
  EXPECT_EQ(Rows(Frame(schema, rows)), rows);
  EXPECT_TRUE(Rows(Frame(schema, {})).empty());
}

TEST_F(ColumnsTest, RowsThatDoNotFitAreRefused) {
  EXPECT_EQ(spark().CreateDataFrame("a INT", {{1, 2}}).status().condition(), "INVALID_LOCAL_DATA");
  EXPECT_EQ(spark().CreateDataFrame("a INT", {{"x"}}).status().condition(), "INVALID_LOCAL_DATA");
  EXPECT_EQ(spark().CreateDataFrame("a TINYINT", {{128}}).status().condition(), "INVALID_LOCAL_DATA");
  EXPECT_EQ(spark().CreateDataFrame("a INT NOT NULL", {{nullptr}}).status().condition(), "INVALID_LOCAL_DATA");
  EXPECT_EQ(spark().CreateDataFrame("a DECIMAL(3,1)", {{DecimalText{"1234"}}}).status().condition(), "INVALID_LOCAL_DATA");
  EXPECT_FALSE(spark().CreateDataFrame("a NUMBER OF SORTS", {}).ok());
}

}  // namespace
}  // namespace thalweg
