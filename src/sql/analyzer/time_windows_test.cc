#include "sql/analyzer/time_windows.h"

#include <gtest/gtest.h>

#include "sql/analyzer/test_environment.h"
#include "data/columnar/builder.h"
#include "sql/expr/evaluator.h"
#include "sql/parser/parser.h"

namespace thalweg::sql {
namespace {

constexpr int64_t kMinute = 60000000;

TEST(LatestWindowStartTest, RoundsDownBeforeAndAfter1970) {
  const TimeWindowShape ten{10 * kMinute, 5 * kMinute, 0};
  EXPECT_EQ(LatestWindowStart(12 * kMinute + 1, ten), 10 * kMinute);
  EXPECT_EQ(LatestWindowStart(-1, {10000000, 10000000, 0}), -10000000);
  EXPECT_EQ(LatestWindowStart(725 * kMinute, {12 * kMinute, 5 * kMinute, 2 * kMinute}), 722 * kMinute);
}

class TimeWindowTest : public ::testing::Test {
 protected:
  TimeWindowTest() {
    environment_.AddTable("batch", "ts TIMESTAMP, k STRING, d DATE, n TIMESTAMP_NTZ, i INT");
    environment_.AddTable("stream", "ts TIMESTAMP, k STRING, txt STRING, tn TIMESTAMP_NTZ, s STRUCT<t: TIMESTAMP>", true);
  }
  Result<PlanPtr> Sql(std::string_view text) {
    TW_ASSIGN_OR_RETURN(const PlanPtr plan, ParsePlan(text, {}));
    return Analyze(plan, environment_);
  }
  std::string Fails(const Result<PlanPtr>& plan) {
    if (plan.ok()) return "ok\n" + (*plan)->TreeText();
    std::string text = plan.status().condition();
    for (const auto& [name, value] : plan.status().parameters()) text += " " + name + "=" + value;
    return text;
  }
  Result<PlanPtr> Watermark(std::vector<std::string> column, const std::string& delay) {
    const PlanPtr leaf =
        std::make_shared<UnresolvedRelation>(std::vector<std::string>{"stream"}, OptionMap{}, true);
    return Analyze(std::make_shared<EventTimeWatermark>(UnresolvedAttribute::Make(std::move(column)), delay, leaf),
                   environment_);
  }
  TestEnvironment environment_;
};

TEST_F(TimeWindowTest, TumblingWindowsAreAProjectOverRowsWithATime) {
  const PlanPtr plan = Sql("SELECT window, k, count(*) FROM batch GROUP BY window(ts, '5 minutes'), k").ValueOrDie();
  ASSERT_TRUE(plan->resolved());
  const AttributePtr window = plan->output()[0];
  EXPECT_EQ(window->type().SimpleString(), "struct<start:timestamp,end:timestamp>");
  EXPECT_FALSE(window->nullable());
  EXPECT_EQ(window->metadata_json(), "{\"spark.timeWindow\":true}");
  ASSERT_EQ(plan->child()->kind(), PlanKind::kProject);
  EXPECT_EQ(plan->child()->output()[0]->id(), window->id());
  EXPECT_EQ(plan->child()->child()->kind(), PlanKind::kFilter);
}

TEST_F(TimeWindowTest, SlidingWindowsExpandRows) {
  const PlanPtr plan = Sql("SELECT window.start, count(*) FROM batch GROUP BY window(ts, '10 minutes', '5 minutes')").ValueOrDie();
  EXPECT_EQ(plan->output()[0]->name(), "start");
  ASSERT_EQ(plan->child()->kind(), PlanKind::kFilter);
  const auto* expand = plan->child()->child()->As<Expand>();
  ASSERT_NE(expand, nullptr);
  EXPECT_EQ(expand->projections.size(), 2u);
  EXPECT_TRUE(expand->output()[0]->nullable());
}

TEST_F(TimeWindowTest, UnevenSlidesFilterByTheWindow) {
  const PlanPtr plan = Sql("SELECT count(*) FROM batch GROUP BY window(ts, '12 minutes', '5 minutes', '2 minutes')").ValueOrDie();
  const auto* filter = plan->child()->As<Filter>();
  ASSERT_NE(filter, nullptr);
  EXPECT_EQ(SplitConjunction(filter->condition).size(), 2u);
  EXPECT_EQ(filter->child()->As<Expand>()->projections.size(), 3u);
}

TEST_F(TimeWindowTest, ArgumentsAreChecked) {
  const auto window = [&](const std::string& arguments) {
    return Fails(Sql("SELECT count(*) FROM batch GROUP BY window(" + arguments + ")"));
  };
  EXPECT_EQ(window("ts, '5 seconds', '10 seconds'"),
            "DATATYPE_MISMATCH.PARAMETER_CONSTRAINT_VIOLATION sqlExpr=\"window(ts, 5000000, 10000000, 0)\" "
            "leftExprName=`slide_duration` leftExprValue=10000000L constraint=<= rightExprName=`window_duration` "
            "rightExprValue=5000000L");
  EXPECT_EQ(window("ts, '0 seconds'"),
            "DATATYPE_MISMATCH.VALUE_OUT_OF_RANGE sqlExpr=\"window(ts, 0, 0, 0)\" exprName=`window_duration` "
            "valueRange=(0, 9223372036854775807] currentValue=0L");
  EXPECT_EQ(window("ts, '5 seconds', '5 seconds', '7 seconds'"),
            "DATATYPE_MISMATCH.PARAMETER_CONSTRAINT_VIOLATION sqlExpr=\"window(ts, 5000000, 5000000, 7000000)\" "
            "leftExprName=`abs(start_time)` leftExprValue=7000000L constraint=< rightExprName=`slide_duration` "
            "rightExprValue=5000000L");
  EXPECT_EQ(window("ts, '1 month'"), "_LEGACY_ERROR_TEMP_3231 interval=1 month");
  EXPECT_EQ(window("ts, 'abc'"), "CANNOT_PARSE_INTERVAL intervalString='abc'");
  EXPECT_EQ(window("i, '5 seconds'").substr(0, 39), "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE");
  EXPECT_EQ(Fails(Sql("SELECT count(*) FROM batch GROUP BY window(ts, '5 seconds'), window(ts, '9 seconds')")),
            "_LEGACY_ERROR_TEMP_1039");
}

TEST_F(TimeWindowTest, DatesAndStringsAreCastAndLocalTimesStay) {
  EXPECT_EQ(Sql("SELECT window FROM batch GROUP BY window(d, '5 seconds')").ValueOrDie()->output()[0]->type().SimpleString(),
            "struct<start:timestamp,end:timestamp>");
  EXPECT_EQ(Sql("SELECT window FROM batch GROUP BY window(n, '5 seconds')").ValueOrDie()->output()[0]->type().SimpleString(),
            "struct<start:timestamp_ntz,end:timestamp_ntz>");
}

TEST_F(TimeWindowTest, WindowsOverWindowsGoByTheirLastMoment) {
  const PlanPtr plan =
      Sql("SELECT window(window, '20 seconds') AS w, sum(c) FROM (SELECT window, count(*) AS c FROM batch GROUP BY window(ts, '10 seconds')) "
          "GROUP BY window(window, '20 seconds')").ValueOrDie();
  ASSERT_EQ(plan->child()->kind(), PlanKind::kProject);
  EXPECT_EQ(plan->child()->output()[1]->name(), "window_time(window)");
  EXPECT_EQ(Fails(Sql("SELECT window_time(ts) FROM batch")).substr(0, 39), "DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE");
}

TEST_F(TimeWindowTest, SessionsAreAStructFromTheTimeOn) {
  const PlanPtr plan = Sql("SELECT session_window, k, count(*) FROM batch GROUP BY session_window(ts, '10 seconds'), k").ValueOrDie();
  EXPECT_EQ(plan->output()[0]->metadata_json(), "{\"spark.sessionWindow\":true}");
  EXPECT_EQ(plan->child()->kind(), PlanKind::kFilter);
}

TEST_F(TimeWindowTest, WindowsKeepTheWatermarkOfTheirTime) {
  environment_.AddView("w", Watermark({"ts"}, "10 seconds").ValueOrDie());
  const PlanPtr plan = Sql("SELECT window, count(*) FROM w GROUP BY window(ts, '5 seconds')").ValueOrDie();
  EXPECT_EQ(plan->output()[0]->metadata_json(), "{\"spark.timeWindow\":true,\"spark.watermarkDelayMs\":10000}");
}

// Case P03 of the user cases.
TEST_F(TimeWindowTest, WatermarksAreChecked) {
  EXPECT_EQ(Watermark({"ts"}, "-5 seconds").status().message_text(),
            "requirement failed: delay threshold (-5 seconds) should not be negative.");
  EXPECT_EQ(Fails(Watermark({"ts"}, "ten minutes")), "CANNOT_PARSE_INTERVAL intervalString='ten minutes'");
  EXPECT_EQ(Fails(Watermark({"txt"}, "5 seconds")),
            "EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE eventName=`txt` eventType=\"STRING\"");
  EXPECT_EQ(Fails(Watermark({"nope"}, "5 seconds")).substr(0, 33), "UNRESOLVED_COLUMN.WITH_SUGGESTION");
  EXPECT_EQ(Fails(Watermark({"s", "t"}, "5 seconds")), "EVENT_TIME_MUST_BE_TOP_LEVEL_COLUMN eventExpr=s.t");
  EXPECT_EQ(Fails(Watermark({"tn"}, "5 seconds")),
            "EVENT_TIME_IS_NOT_ON_TIMESTAMP_TYPE eventName=`tn` eventType=\"TIMESTAMP_NTZ\"");
  const PlanPtr fine = Watermark({"ts"}, "1 month").ValueOrDie();
  EXPECT_EQ(fine->As<EventTimeWatermark>()->delay_ms, int64_t{31} * 86400000);
}

TEST_F(TimeWindowTest, KernelsFollowTheArithmetic) {
  const AttributePtr ts = Attribute::Make("ts", DataType::Timestamp(), true);
  const ExprPtr window = MakeWindowStruct(ts, {12 * kMinute, 5 * kMinute, 2 * kMinute}, 1);
  const ExprPtr last = MakeWindowTime(window);
  auto config = std::make_shared<const EvalConfig>();
  const auto program = Program::Compile({window, last}, {ts}, config).ValueOrDie();
  const data::Chunk chunk = data::ChunkFromRows({DataType::Timestamp()}, {{Value(725 * kMinute)}, {Value()}});
  EpochContext epoch;
  EvalContext context{config.get(), &epoch, 0, 0};
  const data::Chunk result = program->Run(chunk, context).ValueOrDie();
  EXPECT_EQ(result.column(0)->GetValue(0),
            Value(data::ValueList{Value(717 * kMinute), Value(729 * kMinute)}));
  EXPECT_EQ(result.column(1)->GetValue(0), Value(729 * kMinute - 1));
  EXPECT_EQ(result.column(0)->GetValue(1), Value(data::ValueList{Value(), Value()}));
  EXPECT_TRUE(result.column(1)->IsNull(1));
}

TEST_F(TimeWindowTest, SessionGapsAddDaysInTheSessionZone) {
  const AttributePtr ts = Attribute::Make("ts", DataType::Timestamp(), true);
  data::CalendarInterval day;
  day.days = 1;
  const ExprPtr session = MakeSessionStruct(ts, Literal::Make(Value(day), DataType::CalendarInterval()));
  auto config = std::make_shared<EvalConfig>();
  config->time_zone = "Europe/Berlin";
  const auto program = Program::Compile({session}, {ts}, config).ValueOrDie();
  const int64_t before_change = 1711796400000000;  // 2024-03-30 12:00 in Berlin; the clock changes that night
  const data::Chunk chunk = data::ChunkFromRows({DataType::Timestamp()}, {{Value(before_change)}});
  EpochContext epoch;
  EvalContext context{config.get(), &epoch, 0, 0};
  const data::Chunk result = program->Run(chunk, context).ValueOrDie();
  EXPECT_EQ(result.column(0)->GetValue(0),
            Value(data::ValueList{Value(before_change), Value(before_change + 23 * 60 * kMinute)}));
}

}  // namespace
}  // namespace thalweg::sql
