// SQL queries through parser, analyzer, optimizer and planner, run with one and with several tasks a stage; expected texts come
// from Spark.

#include "engine/planner/planner.h"

#include <algorithm>
#include <cctype>
#include <fstream>

#include <gtest/gtest.h>

#include "engine/exec/testing.h"
#include "sql/analyzer/test_environment.h"
#include "sql/optimizer/optimizer.h"
#include "sql/parser/parser.h"

namespace thalweg::engine {
namespace {

const std::vector<std::pair<std::string, std::string>>& Views() {
  static const auto* const kViews = new std::vector<std::pair<std::string, std::string>>{
      {"t",
       "SELECT id, CAST(id % 7 AS INT) AS k, IF(id % 5 = 0, NULL, CAST(id % 11 AS INT)) AS n, "
       "concat('name ', CAST(id % 13 AS STRING)) AS s, CAST(id AS DOUBLE) / 4 AS d, id % 2 = 0 AS b FROM range(0, 1000, 1, 3)"},
      {"u",
       "SELECT id AS uid, CAST(id % 9 AS INT) AS k, IF(id % 4 = 0, NULL, CAST(id % 5 AS INT)) AS n, "
       "concat('name ', CAST(id AS STRING)) AS s FROM range(0, 60, 1, 2)"},
      {"e", "SELECT * FROM u WHERE uid < 0"}};
  return *kViews;
}

/// A table of given chunks, spread over splits.
class RowsTable final : public sql::Table {
 public:
  RowsTable(data::Schema schema, std::vector<data::Chunk> chunks) : schema_(std::move(schema)), chunks_(std::move(chunks)) {}
  std::string name() const override { return "rows"; }
  data::Schema schema() const override { return schema_; }
  sql::TableCapabilities capabilities() const override { return {true, false, false, false}; }
  Result<std::unique_ptr<sql::Scan>> NewScan(const sql::ScanRequest& request, std::shared_ptr<const sql::EvalConfig>) override {
    SplitList splits;
    for (const data::Chunk& chunk : chunks_) {
      std::vector<data::ColumnPtr> columns;
      for (const std::string& name : request.columns) {
        for (size_t i = 0; i < schema_.size(); ++i) {
          if (schema_[i].name == name) columns.push_back(chunk.column(static_cast<int>(i)));
        }
      }
      splits.push_back(testing::ChunksSplit({data::Chunk(std::move(columns), chunk.num_rows())}));
    }
    return std::unique_ptr<sql::Scan>(std::make_unique<Scan>(std::move(splits), chunks_));
  }

 private:
  class Scan final : public sql::Scan {
   public:
    Scan(SplitList splits, const std::vector<data::Chunk>& chunks) : splits_(std::move(splits)) {
      for (const auto& chunk : chunks) rows_ += chunk.num_rows();
    }
    data::Schema schema() const override { return {}; }
    std::string Describe() const override { return "RowsScan"; }
    Result<std::vector<sql::InputSplitPtr>> PlanSplits() override { return splits_; }
    std::optional<int64_t> EstimatedRows() const override { return rows_; }

   private:
    SplitList splits_;
    int64_t rows_ = 0;
  };
  const data::Schema schema_;
  const std::vector<data::Chunk> chunks_;
};

class PlannerTest : public ::testing::Test {
 protected:
  Result<std::shared_ptr<const PhysicalPlan>> Plan(const sql::PlanPtr& plan, int parallelism) {
    TW_ASSIGN_OR_RETURN(const sql::PlanPtr analyzed, sql::Analyze(plan, environment_));
    TW_ASSIGN_OR_RETURN(const sql::PlanPtr optimized, sql::Optimize(analyzed, {environment_.config(), false}));
    return PlanBatch(optimized, {environment_.config(), parallelism});
  }

  Result<sql::PlanPtr> Parse(const std::string& sql) { return sql::ParsePlan(sql, {}); }

  Result<std::string> Show(const std::string& sql, int parallelism) {
    TW_ASSIGN_OR_RETURN(const sql::PlanPtr parsed, Parse(sql));
    TW_ASSIGN_OR_RETURN(const auto plan, Plan(std::make_shared<sql::ShowString>(100'000, 0, false, parsed), parallelism));
    TW_ASSIGN_OR_RETURN(const std::vector<data::Chunk> chunks, testing::RunPlan(plan));
    return chunks.at(0).column(0)->GetValue(0).get<std::string>();
  }

  // Views as plans over ranges, or as tables of their rows (which carry statistics and splits).
  void AddViews(bool as_tables) {
    for (const auto& [name, sql] : Views()) {
      const sql::PlanPtr analyzed = sql::Analyze(Parse(sql).ValueOrDie(), environment_).ValueOrDie();
      if (!as_tables) {
        environment_.AddView(name, analyzed);
        continue;
      }
      const auto plan = PlanBatch(sql::Optimize(analyzed, {environment_.config(), false}).ValueOrDie(), {environment_.config(), 2}).ValueOrDie();
      std::vector<data::Chunk> pieces;
      for (const data::Chunk& chunk : testing::RunPlan(plan).ValueOrDie()) {
        const data::Chunk dense = chunk.Dense();
        for (int64_t first = 0; first < dense.num_rows(); first += 100) {
          pieces.push_back(dense.Slice(first, std::min<int64_t>(100, dense.num_rows() - first)));
        }
      }
      auto table = std::make_shared<RowsTable>(analyzed->schema(), std::move(pieces));
      sql::AttributeList attributes;
      for (const auto& field : analyzed->schema()) attributes.push_back(sql::Attribute::Make(field.name, field.type, field.nullable));
      environment_.AddView(name, std::make_shared<sql::Relation>(std::move(table), std::move(attributes), false));
    }
  }

  sql::TestEnvironment environment_;
};

// Header and rows as lines; the rows sorted where the query does not order them.
std::vector<std::string> Lines(const std::string& text, bool sorted) {
  std::vector<std::string> lines;
  size_t from = 0;
  while (from < text.size()) {
    const size_t to = std::min(text.find('\n', from), text.size());
    lines.push_back(text.substr(from, to - from));
    from = to + 1;
  }
  if (sorted) std::sort(lines.begin(), lines.end());
  return lines;
}

struct Recorded {
  std::string sql;
  std::string text;
};

std::vector<Recorded> RecordedQueries() {
  std::ifstream file(std::string(TW_SOURCE_DIR) + "/src/engine/planner/testdata/queries.txt");
  std::vector<Recorded> out;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("=== ")) {
      out.push_back({line.substr(4), ""});
    } else if (!out.empty()) {
      out.back().text += line + "\n";
    }
  }
  return out;
}

void ExpectRecorded(const std::string& sql, const Result<std::string>& actual, const std::string& expected) {
  ASSERT_TRUE(actual.ok()) << sql << "\n" << actual.status().message();
  const bool ordered = sql.find("ORDER BY") != std::string::npos && sql.find("(SELECT") == std::string::npos;
  EXPECT_EQ(Lines(*actual, !ordered), Lines(expected, !ordered)) << sql;
}

TEST_F(PlannerTest, QueriesOverRangesAgreeWithSpark) {
  AddViews(false);
  const auto queries = RecordedQueries();
  ASSERT_GT(queries.size(), 70U);
  for (const Recorded& query : queries) {
    for (const int parallelism : {1, 3}) ExpectRecorded(query.sql, Show(query.sql, parallelism), query.text);
  }
}

TEST_F(PlannerTest, QueriesOverTablesAgreeWithSpark) {
  AddViews(true);
  for (const Recorded& query : RecordedQueries()) {
    for (const int parallelism : {1, 4}) ExpectRecorded(query.sql, Show(query.sql, parallelism), query.text);
  }
}

// A bound lies `below` before and `above` behind the row in the order, whatever the precision and scale of the decimals are.
TEST_F(PlannerTest, RangesOfDecimalsEndWhereTheirBoundsLie) {
  const std::vector<int64_t> values = {1, 2, 3, 10, 11, -5, 11, 0, -9};
  std::string rows;
  for (const int64_t value : values) rows += (rows.empty() ? "(" : ", (") + std::to_string(value) + ")";
  for (const char* type : {"DECIMAL(5,0)", "DECIMAL(9,2)", "DECIMAL(18,0)", "DECIMAL(18,10)", "DECIMAL(38,0)", "DECIMAL(38,10)", "DECIMAL(38,20)", "DECIMAL(38,36)"}) {
    for (const bool ascending : {true, false}) {
      for (const auto& [below, above] : std::vector<std::pair<int64_t, int64_t>>{{1, 0}, {2, 1}, {-1, 8}, {9, 9}}) {
        const std::string frame = std::to_string(below) + " PRECEDING AND " + std::to_string(above) + " FOLLOWING";
        const std::string sql = "SELECT x, sum(x) OVER (ORDER BY CAST(x AS " + std::string(type) + ")" + (ascending ? "" : " DESC") + " RANGE BETWEEN " +
                                frame + ") FROM VALUES " + rows + " AS t(x)";
        SCOPED_TRACE(sql);
        const auto plan = Plan(Parse(sql).ValueOrDie(), 2);
        ASSERT_TRUE(plan.ok()) << plan.status().message();
        size_t seen = 0;
        for (const data::Chunk& chunk : testing::RunPlan(*plan).ValueOrDie()) {
          for (int64_t row = 0; row < chunk.num_rows(); ++row, ++seen) {
            const int64_t x = chunk.column(0)->GetValue(row).AsInt64();
            std::optional<int64_t> sum;
            for (const int64_t other : values) {
              const int64_t behind = ascending ? other - x : x - other;
              if (behind >= -below && behind <= above) sum = sum.value_or(0) + other;
            }
            EXPECT_EQ(chunk.column(1)->GetValue(row), sum ? data::Value(*sum) : data::Value()) << x;
          }
        }
        EXPECT_EQ(seen, values.size());
      }
    }
  }
}

// A bound may have more digits than its type, and more than 128 bits have.
TEST_F(PlannerTest, BoundsOfDecimalsMayLieOutsideOfTheirType) {
  const std::string most(38, '9');
  const std::string values = " FROM VALUES (1, " + most + "BD), (2, -" + most + "BD), (3, 0BD) AS t(id, d) ORDER BY id";
  const auto count = [&](const std::string& frame) { return Show("SELECT count(*) OVER (ORDER BY d RANGE BETWEEN " + frame + ") AS c" + values, 1).ValueOrDie(); };
  const auto table = [](const std::string& a, const std::string& b, const std::string& c) {
    return "+---+\n|c  |\n+---+\n|" + a + "  |\n|" + b + "  |\n|" + c + "  |\n+---+\n";
  };
  EXPECT_EQ(count(most + "BD PRECEDING AND " + most + "BD FOLLOWING"), table("2", "2", "3"));
  EXPECT_EQ(count(most + "BD PRECEDING AND CURRENT ROW"), table("2", "1", "2"));
  EXPECT_EQ(count("CURRENT ROW AND 1 FOLLOWING"), table("1", "1", "1"));
  EXPECT_EQ(count("1 FOLLOWING AND " + most + "BD FOLLOWING"), table("0", "1", "1"));
}

// Rows meet by the hash of their keys as they are: both zeros have one, so have all NaN.
TEST_F(PlannerTest, WindowsAreSpreadByTheirKeysAlone) {
  AddViews(true);
  const auto plan = Plan(Parse("SELECT d, count(*) OVER (PARTITION BY d) AS c FROM t").ValueOrDie(), 3).ValueOrDie();
  const PhysicalNode* node = plan->root.get();
  while (!node->inputs.empty() && node->inputs[0].distribution != Distribution::kHash) node = node->inputs[0].node.get();
  ASSERT_FALSE(node->inputs.empty());
  EXPECT_EQ(node->inputs[0].node->output.size(), 1U);
  EXPECT_EQ(node->inputs[0].key_columns, (std::vector<int>{0}));
  const std::string counts = Show(
      "SELECT isnan(d) AS nan, c, count(*) AS n FROM (SELECT d, count(*) OVER (PARTITION BY d) AS c FROM (SELECT CASE id % 4 WHEN 0 THEN 0.0D "
      "WHEN 1 THEN -0.0D WHEN 2 THEN double('NaN') ELSE -double('NaN') END AS d FROM range(0, 1000, 1, 3))) GROUP BY isnan(d), c ORDER BY nan", 3).ValueOrDie();
  EXPECT_EQ(counts, "+-----+---+---+\n|nan  |c  |n  |\n+-----+---+---+\n|false|500|500|\n|true |500|500|\n+-----+---+---+\n");
}

// Spark's Lag negates its offset when it is made.
TEST_F(PlannerTest, LagByTheLeastIntegerOverflows) {
  const std::string sql = "SELECT lag(id, -2147483648) OVER (ORDER BY id) AS l FROM range(2)";
  EXPECT_EQ(Show(sql, 1).status().condition(), "ARITHMETIC_OVERFLOW");
  EXPECT_EQ(Show("SELECT lag(id, -2147483647) OVER (ORDER BY id) AS l FROM range(2)", 1).ValueOrDie(),
            "+----+\n|l   |\n+----+\n|NULL|\n|NULL|\n+----+\n");
  environment_.settings().ansi = false;
  EXPECT_EQ(Show(sql, 1).ValueOrDie(), "+----+\n|l   |\n+----+\n|NULL|\n|NULL|\n+----+\n");
}

// The text of a plan without the numbers of its attributes.
std::string WithoutIds(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '#') {
      out += text[i];
      continue;
    }
    while (i + 1 < text.size() && std::isdigit(static_cast<unsigned char>(text[i + 1])) != 0) ++i;
  }
  return out;
}

TEST_F(PlannerTest, ExplainsItsPlans) {
  AddViews(true);
  const auto explain = [&](const std::string& sql, int parallelism) {
    return WithoutIds(Plan(Parse(sql).ValueOrDie(), parallelism).ValueOrDie()->ToString());
  };
  EXPECT_EQ(explain("SELECT k, count(*) AS c FROM t WHERE n > 3 GROUP BY k ORDER BY c DESC LIMIT 5", 4), R"(TakeOrdered 5, [cL DESC NULLS LAST]
+- Exchange SinglePartition
   +- TakeOrdered 5, [cL DESC NULLS LAST]
      +- Project [k, count(1)L AS cL]
         +- HashAggregate(keys=[k], functions=[count(1)])
            +- Exchange hashpartitioning(k, 4)
               +- HashAggregate(keys=[k], functions=[partial_count(1)])
                  +- Filter (n > 3)
                     +- RowsScan
)");
  EXPECT_EQ(explain("SELECT t.id, u.uid FROM t JOIN u ON t.k = u.k AND t.id > u.uid", 2), R"(Project [idL, uidL]
+- HashJoin [k], [k], Inner, BuildRight, (idL > uidL)
   :- RowsScan
   +- BroadcastExchange
      +- RowsScan
)");
}

TEST_F(PlannerTest, SmallerSideIsBuilt) {
  AddViews(true);
  const auto text = [&](const std::string& sql) { return Plan(Parse(sql).ValueOrDie(), 2).ValueOrDie()->ToString(); };
  EXPECT_NE(text("SELECT * FROM t JOIN u ON t.k = u.k").find("BuildRight"), std::string::npos);
  EXPECT_NE(text("SELECT * FROM u JOIN t ON t.k = u.k").find("BuildLeft"), std::string::npos);
  // Unmatched left rows are wanted: only a much smaller left side is built.
  EXPECT_NE(text("SELECT * FROM t LEFT JOIN u ON t.k = u.k").find("BuildRight"), std::string::npos);
  EXPECT_NE(text("SELECT * FROM u LEFT JOIN t ON t.k = u.k").find("BuildLeft"), std::string::npos);
  EXPECT_NE(text("SELECT * FROM u LEFT SEMI JOIN t ON t.k = u.k").find("BuildRight"), std::string::npos);
}

}  // namespace
}  // namespace thalweg::engine
