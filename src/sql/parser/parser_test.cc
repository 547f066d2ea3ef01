#include "sql/parser/parser.h"

#include <regex>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace thalweg::sql {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string Sql(std::string_view text) {
  Result<ExprPtr> parsed = ParseExpression(text, {});
  return parsed.ok() ? (*parsed)->Sql() : parsed.status().condition();
}

std::string Condition(std::string_view text) { return ParsePlan(text, {}).status().condition(); }

template <typename T>
const T* Root(const Result<PlanPtr>& plan) {
  return plan.ok() ? (*plan)->As<T>() : nullptr;
}

TEST(ParseExpression, BindsOperatorsByPrecedence) {
  EXPECT_EQ(Sql("1 + 2 * 3"), "(1 + (2 * 3))");
  EXPECT_EQ(Sql("(1 + 2) * 3"), "((1 + 2) * 3)");
  EXPECT_EQ(Sql("a OR b AND NOT c"), "(a OR (b AND not(c)))");
  EXPECT_EQ(Sql("1 - 2 - 3"), "((1 - 2) - 3)");
  EXPECT_EQ(Sql("a & 1 = 1"), "((a & 1) = 1)");
}

TEST(ParseExpression, ReadsLiterals) {
  EXPECT_EQ(Sql("1"), "1");
  EXPECT_EQ(Sql("2147483648"), "2147483648L");
  EXPECT_EQ(Sql("-2147483648"), "-2147483648");
  EXPECT_EQ(Sql("1.50"), "1.50BD");
  EXPECT_EQ(Sql("1e2"), "100.0D");
  EXPECT_EQ(Sql("DATE '2024-02-29'"), "DATE '2024-02-29'");
  EXPECT_EQ(Sql("DATE 'x'"), "INVALID_TYPED_LITERAL");
  EXPECT_EQ(Sql("X'0aFF'"), "X'0AFF'");
  EXPECT_EQ(Sql("INTERVAL '1-2' YEAR TO MONTH"), "INTERVAL '1-2' YEAR TO MONTH");
  EXPECT_EQ(Sql("INTERVAL 90 MINUTES"), "INTERVAL '90' MINUTE");
  EXPECT_EQ(Sql("300Y"), "INVALID_NUMERIC_LITERAL_RANGE");
  EXPECT_EQ(Sql("-300Y"), "INVALID_NUMERIC_LITERAL_RANGE");
  EXPECT_EQ(Sql("1e400"), "INVALID_NUMERIC_LITERAL_RANGE");
  EXPECT_EQ(Sql("-1e400D"), "INVALID_NUMERIC_LITERAL_RANGE");
  EXPECT_EQ(Sql("3.5e38F"), "INVALID_NUMERIC_LITERAL_RANGE");
  EXPECT_EQ(Sql("1.5e-400"), "0.0D");
}

TEST(ParseExpression, UnescapesStrings) {
  const auto text = [](std::string_view sql) {
    const Result<ExprPtr> parsed = ParseExpression(sql, {});
    return parsed.ok() ? (*parsed)->As<Literal>()->value().get<std::string>()
                       : parsed.status().message();
  };
  EXPECT_EQ(text(R"('a\tb\u0041\101')"), "a\tbAA");
  EXPECT_EQ(text(R"(r'a\tb')"), "a\\tb");
  EXPECT_EQ(text("'it''s'"), "it's");
  EXPECT_EQ(text(R"('50\%')"), "50\\%");
  EXPECT_EQ(text("'a' 'b'"), "ab");
  EXPECT_EQ(text("\"x\""), "x");
}

TEST(ParseExpression, ReadsCallsAndPredicates) {
  EXPECT_EQ(Sql("count(DISTINCT a)"), "count(DISTINCT a)");
  EXPECT_EQ(Sql("CASE WHEN a THEN 1 ELSE 2 END"), "when(a, 1, 2)");
  EXPECT_EQ(Sql("CAST(a AS DECIMAL(10, 2))"), "CAST(a AS DECIMAL(10,2))");
  EXPECT_EQ(Sql("a::int"), "CAST(a AS INT)");
  EXPECT_EQ(Sql("a IS NOT NULL"), "isnotnull(a)");
  EXPECT_EQ(Sql("a NOT IN (1, 2)"), "not(in(a, 1, 2))");
  EXPECT_EQ(Sql("trim(BOTH 'x' FROM a)"), "trim('x', a)");
  EXPECT_EQ(Sql("trim(LEADING 'x' FROM a)"), "ltrim('x', a)");
  EXPECT_EQ(Sql("trim(TRAILING 'x' FROM a)"), "rtrim('x', a)");
  EXPECT_EQ(Sql("trim('x' FROM a)"), "trim('x', a)");
  EXPECT_EQ(Sql("a NOT LIKE ALL ('x', 'y')"), "notlikeall(a, 'x', 'y')");
  EXPECT_EQ(Sql("a LIKE ANY ('x', b)"), "(like(a, 'x') OR like(a, b))");
  EXPECT_EQ(Sql("a NOT LIKE ALL ('x', b)"), "(not(like(a, 'x')) AND not(like(a, b)))");
  EXPECT_EQ(Sql("a NOT ILIKE ANY ('X', 'y')"), "(not(like(lower(a), lower('X'))) OR not(like(lower(a), lower('y'))))");
  const Result<ExprPtr> cast =
      ParseExpression("CAST(x AS ARRAY<STRUCT<a: INT, b: MAP<STRING, ARRAY<INT>>>>)", {});
  ASSERT_TRUE(cast.ok());
  EXPECT_EQ((*cast)->type().Sql(), "ARRAY<STRUCT<a: INT, b: MAP<STRING, ARRAY<INT>>>>");
}

TEST(ParseExpression, ReadsWindows) {
  const auto window = [](const std::string& text) { return ParseExpression(text, {}).ValueOrDie()->Sql(); };
  EXPECT_EQ(window("sum(v) over ()"), "sum(v) OVER ()");
  EXPECT_EQ(window("row_number() OVER (PARTITION BY a, b + 1 ORDER BY c DESC, d NULLS LAST)"),
            "row_number() OVER (PARTITION BY a, (b + 1) ORDER BY c DESC NULLS LAST, d ASC NULLS LAST)");
  EXPECT_EQ(window("sum(v) OVER (ORDER BY c ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)"),
            "sum(v) OVER (ORDER BY c ASC NULLS FIRST ROWS BETWEEN 2 PRECEDING AND CURRENT ROW)");
  EXPECT_EQ(window("sum(v) OVER (ORDER BY c RANGE INTERVAL '1' DAY PRECEDING)"),
            "sum(v) OVER (ORDER BY c ASC NULLS FIRST RANGE BETWEEN INTERVAL '1' DAY PRECEDING AND CURRENT ROW)");
  EXPECT_EQ(window("sum(v) OVER (DISTRIBUTE BY a SORT BY b ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING) + 1"),
            "(sum(v) OVER (PARTITION BY a ORDER BY b ASC NULLS FIRST ROWS BETWEEN UNBOUNDED PRECEDING AND 1 FOLLOWING) + 1)");
  EXPECT_EQ(window("count(*) FILTER (WHERE v > 1) OVER w"), "count(*) FILTER (WHERE (v > 1)) OVER w");
  EXPECT_EQ(ParseExpression("sum(v) OVER (ORDER BY c ROWS v PRECEDING)", {}).status().condition(), "_LEGACY_ERROR_TEMP_0064");
  EXPECT_EQ(ParseExpression("sum(v) OVER (ORDER BY c ROWS 1)", {}).status().condition(), "PARSE_SYNTAX_ERROR");
  EXPECT_EQ(ParseExpression("v OVER (ORDER BY c)", {}).status().condition(), "PARSE_SYNTAX_ERROR");
}

TEST(ParsePlan, PutsDefinitionsOfWindowsInTheirPlaces) {
  const auto plan = [](const std::string& text) {
    return std::regex_replace(ParsePlan(text, {}).ValueOrDie()->TreeText(), std::regex("#\\d+"), "");
  };
  EXPECT_EQ(plan("SELECT sum(v) OVER w AS s FROM t WINDOW w AS (PARTITION BY a)"), plan("SELECT sum(v) OVER (PARTITION BY a) AS s FROM t"));
  EXPECT_EQ(plan("SELECT a FROM t WINDOW v AS (PARTITION BY a), w AS v QUALIFY sum(v) OVER w > 1 ORDER BY a"),
            plan("SELECT a FROM t QUALIFY sum(v) OVER (PARTITION BY a) > 1 ORDER BY a"));
  const auto fails = [](const std::string& text) { return ParsePlan(text, {}).status().condition(); };
  EXPECT_EQ(fails("SELECT 1 FROM t WINDOW w AS (ORDER BY a), w AS (ORDER BY b)"), "INVALID_SQL_SYNTAX.REPETITIVE_WINDOW_DEFINITION");
  EXPECT_EQ(fails("SELECT 1 FROM t WINDOW w AS v"), "INVALID_SQL_SYNTAX.UNRESOLVED_WINDOW_REFERENCE");
  EXPECT_EQ(fails("SELECT 1 FROM t WINDOW w AS v, v AS u, u AS (ORDER BY a)"), "INVALID_SQL_SYNTAX.INVALID_WINDOW_REFERENCE");
  EXPECT_EQ(plan("SELECT a qualify FROM qualify"), plan("SELECT a AS qualify FROM qualify"));
}

TEST(ParseExpression, BoundsNesting) {
  EXPECT_EQ(Sql(std::string(100000, '(') + "1" + std::string(100000, ')')),
            "FAILED_TO_PARSE_TOO_COMPLEX");
  EXPECT_EQ(Sql(std::string(100000, '-') + "a"), "PARSE_SYNTAX_ERROR");  // a comment, then nothing
  std::string chain = "a = 0";
  for (int i = 1; i < 5000; ++i) chain += " OR a = " + std::to_string(i);
  EXPECT_TRUE(ParseExpression(chain, {}).ok());
}

TEST(ParsePlan, BuildsClausesInSparksOrder) {
  const Result<PlanPtr> plan = ParsePlan(
      "SELECT a, count(*) AS n FROM t WHERE b > 1 GROUP BY a HAVING n > 2 ORDER BY n DESC LIMIT 3",
      {});
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  const auto* limit = (*plan)->As<Limit>();
  ASSERT_NE(limit, nullptr);
  const auto* sort = limit->child()->As<Sort>();
  ASSERT_NE(sort, nullptr);
  EXPECT_FALSE(sort->orders[0]->As<SortOrder>()->ascending());
  const auto* having = sort->child()->As<UnresolvedHaving>();
  ASSERT_NE(having, nullptr);
  const auto* aggregate = having->child()->As<Aggregate>();
  ASSERT_NE(aggregate, nullptr);
  EXPECT_EQ(aggregate->grouping.size(), 1u);
  EXPECT_EQ(aggregate->aggregates.size(), 2u);
  EXPECT_NE(aggregate->child()->As<Filter>(), nullptr);
}

TEST(ParsePlan, NamesOfCommonTablesAreUnique) {
  EXPECT_EQ(Condition("WITH x AS (SELECT 1), x AS (SELECT 2) SELECT * FROM x"), "DUPLICATED_CTE_NAMES");
}

TEST(ParsePlan, JoinsLeftToRight) {
  const Result<PlanPtr> plan =
      ParsePlan("SELECT * FROM a JOIN b ON a.x = b.x LEFT JOIN c USING (x)", {});
  const auto* project = Root<Project>(plan);
  ASSERT_NE(project, nullptr);
  const auto* outer = project->child()->As<Join>();
  ASSERT_NE(outer, nullptr);
  EXPECT_EQ(outer->type, JoinType::kLeftOuter);
  EXPECT_THAT(outer->using_columns, ElementsAre("x"));
  EXPECT_NE(outer->child(0)->As<Join>(), nullptr);
}

TEST(ParsePlan, GroupingSetsCombine) {
  const auto sets = [](const std::string& group_by) {
    const Result<PlanPtr> plan = ParsePlan("SELECT 1 FROM t GROUP BY " + group_by, {});
    const auto* node = Root<Aggregate>(plan);
    std::string text = node->grouping_kind == Aggregate::Grouping::kSets ? "" : std::to_string(static_cast<int>(node->grouping_kind));
    for (const ExprPtr& key : node->grouping) text += " " + key->Sql();
    for (const ExprList& set : node->grouping_sets) {
      text += " (";
      for (const ExprPtr& expr : set) text += (text.back() == '(' ? "" : ", ") + expr->Sql();
      text += ")";
    }
    return text;
  };
  EXPECT_EQ(sets("a, b"), "0 a b");
  EXPECT_EQ(sets("ROLLUP(a, b)"), "1 a b");
  EXPECT_EQ(sets("a, b WITH CUBE"), "2 a b");
  EXPECT_EQ(sets("GROUPING SETS ((a, b), a, ())"), " (a, b) (a) ()");
  EXPECT_EQ(sets("a, b GROUPING SETS ((a), (b))"), " a b (a) (b)");
  EXPECT_EQ(sets("a, ROLLUP(b, c)"), " (a, b, c) (a, b) (a)");
  EXPECT_EQ(sets("ROLLUP((a, b), c)"), " (a, b, c) (a, b) ()");
  EXPECT_EQ(sets("CUBE(a), ROLLUP(b)"), " (a, b) (a) (b) ()");
  EXPECT_EQ(sets("GROUPING SETS (a, ROLLUP(a, b))"), " (a) (a, b) (a) ()");
}

TEST(ParsePlan, SamplesTables) {
  const Result<PlanPtr> fraction = ParsePlan("SELECT * FROM t TABLESAMPLE (12.5 PERCENT) REPEATABLE (42) s", {});
  const auto* sample = Root<Project>(fraction)->child()->child()->As<Sample>();
  ASSERT_NE(sample, nullptr);
  EXPECT_EQ(sample->upper, 0.125);
  EXPECT_EQ(sample->seed, 42);
  const Result<PlanPtr> rows = ParsePlan("SELECT * FROM (SELECT 1) TABLESAMPLE (5 ROWS)", {});
  EXPECT_NE(Root<Project>(rows)->child()->As<Limit>(), nullptr);
  EXPECT_EQ(Condition("SELECT * FROM t TABLESAMPLE (101 PERCENT)"), "_LEGACY_ERROR_TEMP_0064");
  EXPECT_EQ(Condition("SELECT * FROM t TABLESAMPLE (-1 PERCENT)"), "_LEGACY_ERROR_TEMP_0064");
  EXPECT_EQ(Condition("SELECT * FROM t TABLESAMPLE (10M)"), "_LEGACY_ERROR_TEMP_0015");
  EXPECT_EQ(Condition("SELECT * FROM t TABLESAMPLE (BUCKET 4 OUT OF 10 ON id)"), "_LEGACY_ERROR_TEMP_0015");
  EXPECT_EQ(Condition("SELECT * FROM t TABLESAMPLE ()"), "_LEGACY_ERROR_TEMP_0014");
  EXPECT_EQ(Condition("SELECT * FROM t AS s TABLESAMPLE (2 ROWS)"), "PARSE_SYNTAX_ERROR");
}

TEST(ParsePlan, IntersectBindsTighterThanUnion) {
  const Result<PlanPtr> plan = ParsePlan("SELECT 1 UNION ALL SELECT 2 INTERSECT SELECT 3", {});
  const auto* node = Root<Union>(plan);
  ASSERT_NE(node, nullptr);
  EXPECT_EQ(node->op, SetOp::kUnion);
  EXPECT_EQ(node->child(1)->As<Union>()->op, SetOp::kIntersect);
}

TEST(ParsePlan, ReadsStatements) {
  const auto body = [](std::string_view sql) { return Root<Command>(ParsePlan(sql, {}))->body; };
  const CommandBody create = body(
      "CREATE TABLE IF NOT EXISTS db.t (a INT NOT NULL, b DECIMAL(10,2)) USING delta PARTITIONED "
      "BY (a) TBLPROPERTIES ('k'='v')");
  const auto& table = std::get<CreateTable>(create);
  EXPECT_THAT(table.table, ElementsAre("db", "t"));
  EXPECT_EQ(table.schema.size(), 2u);
  EXPECT_EQ(table.format, "delta");
  EXPECT_THAT(table.partition_columns, ElementsAre("a"));
  EXPECT_EQ(table.properties.at("k"), "v");
  EXPECT_EQ(*std::get<SetConfig>(body("SET spark.sql.x = a b")).value, "a b");
  EXPECT_TRUE(std::get<DropDatabase>(body("DROP DATABASE IF EXISTS d CASCADE")).cascade);
  EXPECT_EQ(std::get<CreateView>(body("CREATE OR REPLACE TEMP VIEW v AS SELECT 1 AS x")).sql,
            "SELECT 1 AS x");
  EXPECT_TRUE(std::get<InsertInto>(body("INSERT OVERWRITE t VALUES (1, 'x')")).overwrite);
}

TEST(ParsePlan, SaysWhereItStopped) {
  const Status status = ParsePlan("SELECT a FROM\n       )", {}).status();
  EXPECT_EQ(status.condition(), "PARSE_SYNTAX_ERROR");
  EXPECT_THAT(status.message(), HasSubstr("(line 2, pos 7)"));
  EXPECT_THAT(status.message(), HasSubstr("-------^^^"));
  EXPECT_EQ(Condition(""), "PARSE_EMPTY_STATEMENT");
  EXPECT_EQ(Condition("SELEC 1"), "PARSE_SYNTAX_ERROR");
  EXPECT_EQ(Condition("SELECT 1 /* open"), "UNCLOSED_BRACKETED_COMMENT");
  EXPECT_EQ(Condition("MERGE INTO t USING s ON 1 = 1"), "MERGE_WITHOUT_WHEN");
}

TEST(ParsePlan, ReadsMerge) {
  const Result<PlanPtr> plan = ParsePlan(
      "MERGE WITH SCHEMA EVOLUTION INTO delta.`/t` AS a USING (SELECT 1 AS id) b ON a.id = b.id "
      "WHEN MATCHED AND b.id > 1 THEN DELETE WHEN MATCHED THEN UPDATE SET a.x.y = 1, z = b.id "
      "WHEN NOT MATCHED BY TARGET THEN INSERT (id, z) VALUES (b.id, 2) "
      "WHEN NOT MATCHED BY SOURCE AND z IS NULL THEN UPDATE SET z = 0 WHEN NOT MATCHED BY SOURCE THEN DELETE",
      {});
  ASSERT_TRUE(plan.ok()) << plan.status().message();
  const auto& merge = std::get<MergeIntoTable>(Root<Command>(plan)->body);
  EXPECT_TRUE(merge.with_schema_evolution);
  EXPECT_THAT(merge.target->As<SubqueryAlias>()->child()->As<UnresolvedRelation>()->name_parts, ElementsAre("delta", "/t"));
  EXPECT_THAT(merge.source->As<SubqueryAlias>()->name_parts, ElementsAre("b"));
  ASSERT_EQ(merge.matched.size(), 2u);
  EXPECT_EQ(merge.matched[0].kind, MergeAction::Kind::kDelete);
  EXPECT_EQ(merge.matched[0].condition->Sql(), "(b.id > 1)");
  EXPECT_THAT(merge.matched[1].assignments[0].column->As<UnresolvedAttribute>()->name_parts(), ElementsAre("a", "x", "y"));
  ASSERT_EQ(merge.not_matched.size(), 1u);
  EXPECT_EQ(merge.not_matched[0].assignments[1].value->Sql(), "2");
  ASSERT_EQ(merge.not_matched_by_source.size(), 2u);
  EXPECT_EQ(merge.not_matched_by_source[1].condition, nullptr);
}

TEST(ParsePlan, ReadsUpdateAndDelete) {
  const Result<PlanPtr> update = ParsePlan("UPDATE t SET a = 1, b.c = a + 1 WHERE a > 0", {});
  ASSERT_TRUE(update.ok()) << update.status().message();
  const auto& set = std::get<UpdateTable>(Root<Command>(update)->body);
  EXPECT_EQ(set.assignments.size(), 2u);
  EXPECT_EQ(set.condition->Sql(), "(a > 0)");
  const Result<PlanPtr> all = ParsePlan("DELETE FROM db.t x", {});
  ASSERT_TRUE(all.ok()) << all.status().message();
  const auto& del = std::get<DeleteFromTable>(Root<Command>(all)->body);
  EXPECT_EQ(del.condition, nullptr);
  EXPECT_THAT(del.target->As<SubqueryAlias>()->name_parts, ElementsAre("x"));
}

TEST(ParsePlan, RefusesMergesThatSayTooLittle) {
  const std::string merge = "MERGE INTO t USING s ON t.id = s.id ";
  EXPECT_EQ(Condition(merge + "WHEN MATCHED THEN DELETE WHEN MATCHED THEN DELETE"), "NON_LAST_MATCHED_CLAUSE_OMIT_CONDITION");
  EXPECT_EQ(Condition(merge + "WHEN NOT MATCHED THEN INSERT * WHEN NOT MATCHED THEN INSERT *"),
            "NON_LAST_NOT_MATCHED_BY_TARGET_CLAUSE_OMIT_CONDITION");
  EXPECT_EQ(Condition(merge + "WHEN NOT MATCHED BY SOURCE THEN DELETE WHEN NOT MATCHED BY SOURCE THEN DELETE"),
            "NON_LAST_NOT_MATCHED_BY_SOURCE_CLAUSE_OMIT_CONDITION");
  EXPECT_EQ(Condition(merge + "WHEN NOT MATCHED THEN INSERT (a, b) VALUES (1)"), "MERGE_INSERT_VALUE_COUNT_MISMATCH");
  EXPECT_EQ(Condition(merge + "WHEN NOT MATCHED THEN INSERT * WHEN MATCHED THEN DELETE"), "PARSE_SYNTAX_ERROR");
  EXPECT_EQ(Condition(merge + "WHEN NOT MATCHED BY SOURCE THEN UPDATE SET *"), "PARSE_SYNTAX_ERROR");
}

TEST(ParsePlan, ReadsMaintenance) {
  const auto read = [](std::string_view sql) { return std::get<MaintainTable>(Root<Command>(ParsePlan(sql, {}))->body); };
  const MaintainTable optimize = read("OPTIMIZE db.t WHERE p = 1 AND q > 'x'");
  EXPECT_EQ(optimize.name, "OPTIMIZE");
  EXPECT_EQ(optimize.arguments.Get("predicate"), "p = 1 AND q > 'x'");
  EXPECT_NE(optimize.condition, nullptr);
  EXPECT_EQ(read("OPTIMIZE delta.`/a/b` ZORDER BY (x, y.z)").columns, (std::vector<std::string>{"x", "y.z"}));
  const MaintainTable vacuum = read("VACUUM '/a/b' RETAIN 1.5 HOURS DRY RUN");
  EXPECT_EQ(vacuum.target->As<UnresolvedDataSource>()->paths, std::vector<std::string>{"/a/b"});
  EXPECT_EQ(vacuum.arguments.Get("retainHours"), "1.5");
  EXPECT_EQ(vacuum.arguments.Get("dryRun"), "true");
  EXPECT_EQ(read("RESTORE TABLE t TO VERSION AS OF 3").arguments.Get("version"), "3");
  EXPECT_EQ(read("RESTORE t TO TIMESTAMP AS OF '2024-01-01'").arguments.Get("timestamp"), "2024-01-01");
  EXPECT_EQ(read("DESCRIBE HISTORY t LIMIT 5").arguments.Get("limit"), "5");
  EXPECT_EQ(read("DESC DETAIL t").name, "DESCRIBE DETAIL");
  EXPECT_TRUE(std::holds_alternative<DescribeTable>(Root<Command>(ParsePlan("DESCRIBE history", {}))->body));
  EXPECT_FALSE(ParsePlan("RESTORE t TO YESTERDAY", {}).ok());
}

TEST(ParsePlan, ReadsChangesOfTables) {
  const auto read = [](std::string_view sql) { return std::get<AlterTable>(Root<Command>(ParsePlan(sql, {}))->body); };
  const auto change = [&](std::string_view sql) { return std::get<TableChange>(read(sql).change); };
  EXPECT_EQ(std::get<SetTableProperties>(change("ALTER TABLE t SET TBLPROPERTIES ('a.b' = 'c', d = 1)")).properties,
            (std::map<std::string, std::string>{{"a.b", "c"}, {"d", "1"}}));
  const auto unset = std::get<UnsetTableProperties>(change("ALTER VIEW t UNSET TBLPROPERTIES IF EXISTS ('a', 'b')"));
  EXPECT_EQ(unset.keys, (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(unset.if_exists);
  const auto added = std::get<AddTableColumns>(change("ALTER TABLE t ADD COLUMNS (x INT NOT NULL, s.y STRING COMMENT 'why')")).columns;
  ASSERT_EQ(added.size(), 2U);
  EXPECT_FALSE(added[0].second.nullable);
  EXPECT_EQ(added[1].first, (ColumnPath{"s", "y"}));
  EXPECT_EQ(added[1].second.Comment(), "why");
  EXPECT_EQ(std::get<SetTableComment>(change("COMMENT ON TABLE t IS NULL")).comment, std::nullopt);
  EXPECT_EQ(std::get<ChangeTableColumn>(change("ALTER TABLE t ALTER COLUMN c DROP NOT NULL")).nullable, true);
  EXPECT_EQ(std::get<ChangeTableColumn>(change("ALTER TABLE t CHANGE COLUMN c c BIGINT COMMENT 'n'")).type, DataType::Long());
  EXPECT_EQ(std::get<AlterTable::Rename>(read("ALTER TABLE a.t RENAME TO u").change).name, NameParts{"u"});
  const auto partitions = std::get<AlterTable::DropPartitions>(read("ALTER TABLE t DROP IF EXISTS PARTITION (p = 1), PARTITION (q)").change);
  ASSERT_EQ(partitions.partitions.size(), 2U);
  EXPECT_EQ(partitions.partitions[1][0].value, nullptr);
  EXPECT_EQ(ParsePlan("ALTER TABLE t ADD COLUMN x INT FIRST", {}).status().condition(), "UNSUPPORTED_FEATURE.THALWEG");
  EXPECT_FALSE(ParsePlan("ALTER TABLE t SET TBLPROPERTIES", {}).ok());
}

TEST(SplitStatements, KeepsSemicolonsInStrings) {
  EXPECT_THAT(SplitStatements("SELECT ';'; -- c;\nSELECT 2;;"),
              ElementsAre("SELECT ';'", " -- c;\nSELECT 2"));
}

TEST(EndsStatement, SeesSemicolonsThatEndSomething) {
  for (const char* ended : {"SELECT 1;", "SELECT 1; -- it is\n", "SELECT 1 /* a */ ; /* b */\n", "SELECT 'it\\'s', ';';", "SELECT r'\\';"}) {
    EXPECT_TRUE(EndsStatement(ended)) << ended;
  }
  for (const char* open : {"", "SELECT 1", "SELECT 1 -- no;\n", "SELECT 'a;", "SELECT 'a\n;\n", "SELECT `a;", "SELECT \"a\\\";", "SELECT 1 /* a;"}) {
    EXPECT_FALSE(EndsStatement(open)) << open;
  }
}

}  // namespace
}  // namespace thalweg::sql
