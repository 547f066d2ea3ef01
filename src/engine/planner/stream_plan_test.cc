// Streaming plans from SQL over a watermarked stream, run epoch by epoch with real state.

#include <algorithm>

#include <gtest/gtest.h>

#include "data/columnar/builder.h"
#include "data/text/literal.h"
#include "engine/exec/testing.h"
#include "engine/planner/plan_context.h"
#include "engine/planner/planner.h"
#include "engine/state/state_test_support.h"
#include "sql/analyzer/test_environment.h"
#include "sql/optimizer/optimizer.h"
#include "sql/parser/parser.h"

namespace thalweg::engine {
namespace {

using data::Value;
using data::ValueList;

constexpr int64_t kMinute = 60;
/// Seconds of 2026-01-01 at an hour and minute, as microseconds.
int64_t At(int hour, int minute) { return (1'767'225'600 + hour * 3600 + minute * kMinute) * 1'000'000; }

class StreamPlan : public ::testing::Test {
 protected:
  StreamPlan() {
    environment_.AddTable("events", "ts TIMESTAMP, user STRING, v INT", true);
    const auto relation = std::make_shared<sql::UnresolvedRelation>(std::vector<std::string>{"events"}, sql::OptionMap{}, true);
    const auto watermark = std::make_shared<sql::EventTimeWatermark>(sql::UnresolvedAttribute::Make({"ts"}), "10 minutes", relation);
    environment_.AddView("s", sql::Analyze(watermark, environment_).ValueOrDie());
    fields_ = data::ParseSchemaDdl("ts TIMESTAMP, user STRING, v INT").ValueOrDie();
  }

  Result<std::shared_ptr<const PhysicalPlan>> Plan(const std::string& sql, sql::OutputMode mode) {
    TW_ASSIGN_OR_RETURN(const sql::PlanPtr parsed, sql::ParsePlan(sql, {}));
    TW_ASSIGN_OR_RETURN(const sql::PlanPtr analyzed, sql::Analyze(parsed, environment_));
    if (checks_) TW_RETURN_NOT_OK(sql::CheckStreamingSupported(analyzed, mode));
    TW_ASSIGN_OR_RETURN(shaped_, sql::ShapeForState(analyzed, mode, *environment_.config()));
    TW_ASSIGN_OR_RETURN(const sql::PlanPtr optimized, sql::Optimize(shaped_.plan, {environment_.config(), true}));
    run_id_ = RunId(Uuid::MakeRandom());
    TW_ASSIGN_OR_RETURN(state_, harness_.services.OpenQuery(run_id_, "/ckpt", {}, nullptr));
    StreamPlanOptions options;
    options.config = environment_.config();
    options.mode = mode;
    options.shuffle_partitions = 16;
    options.parallelism = 2;
    options.checkpoint_root = "/ckpt";
    options.state = &harness_.services;
    options.run_id = run_id_;
    options.write = write_;
    options.sink_accepts = sink_accepts_;
    return PlanStream({optimized, shaped_.layout}, options);
  }

  void Start(const std::string& sql, sql::OutputMode mode) {
    plan_ = Plan(sql, mode).ValueOrDie();
    runner_ = std::make_unique<testing::Runner>(plan_);
  }

  // One micro-batch: rows of `events`, the watermark of the batch before and of this one; what comes out as sorted text rows.
  std::vector<std::string> Batch(const std::vector<ValueList>& rows, int64_t late_ms = 0, int64_t eviction_ms = 0) {
    EpochInput input;
    input.context.batch_id = BatchId(batch_++);
    input.context.late_watermark_ms = late_ms;
    input.context.eviction_watermark_ms = eviction_ms;
    input.context.has_watermark = true;
    for (const LeafSlot& leaf : plan_->leaves) {
      SplitList splits;
      for (size_t first = 0; leaf.scan == nullptr && first < rows.size(); first += 3) {
        const std::vector<ValueList> part(rows.begin() + static_cast<int64_t>(first),
                                          rows.begin() + static_cast<int64_t>(std::min(rows.size(), first + 3)));
        splits.push_back(testing::ChunksSplit({ReadColumns(leaf, part)}));
      }
      if (leaf.scan != nullptr) splits = leaf.scan->PlanSplits().ValueOrDie();
      input.leaf_splits.push_back(std::move(splits));
    }
    testing::Collector collector;
    result_ = runner_->execution->RunEpoch(input, collector.consumer()).ValueOrDie();
    EXPECT_TRUE(runner_->execution->Prepare().ok());
    EXPECT_TRUE(runner_->execution->Committed().ok());
    std::vector<std::string> out;
    for (const data::Chunk& chunk : collector.chunks()) {
      const data::Chunk dense = chunk.Dense();
      for (int64_t row = 0; row < dense.num_rows(); ++row) {
        std::string text;
        for (int column = 0; column < dense.num_columns(); ++column) {
          if (column > 0) text += " ";
          text += data::ValueText(dense.column(column)->GetValue(row), plan_->output[column]->type());
        }
        out.push_back(text);
      }
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  data::Chunk ReadColumns(const LeafSlot& leaf, const std::vector<ValueList>& rows) const {
    std::vector<data::DataType> types;
    std::vector<ValueList> picked(rows.size());
    for (const std::string& name : leaf.request.columns) {
      for (size_t i = 0; i < fields_.size(); ++i) {
        if (fields_[i].name != name) continue;
        types.push_back(fields_[i].type);
        for (size_t row = 0; row < rows.size(); ++row) picked[row].push_back(rows[row][i]);
      }
    }
    if (types.empty()) return data::Chunk({}, static_cast<int64_t>(rows.size()));
    return data::ChunkFromRows(types, picked);
  }

  static ValueList Event(int64_t time, const std::string& user, int32_t v = 1) { return {Value(time), Value(user), Value(v)}; }

  sql::TestEnvironment environment_;
  StateHarness harness_;
  data::Schema fields_;
  sql::ShapedPlan shaped_;
  RunId run_id_;
  std::shared_ptr<QueryState> state_;
  sql::StreamingWrite* write_ = nullptr;
  sql::ChangelogMode sink_accepts_ = sql::ChangelogMode::kUpsert;
  bool checks_ = true;  // spark.sql.streaming.unsupportedOperationCheck
  std::shared_ptr<const PhysicalPlan> plan_;
  std::unique_ptr<testing::Runner> runner_;
  int64_t batch_ = 0;
  EpochResult result_;
};

using Texts = std::vector<std::string>;

TEST_F(StreamPlan, StatelessQueryPassesRowsOn) {
  Start("SELECT upper(user) AS u, v * 2 AS d FROM s WHERE v > 1", sql::OutputMode::kAppend);
  EXPECT_EQ(Batch({Event(At(12, 0), "ana", 1), Event(At(12, 1), "bo", 2), Event(At(12, 9), "cy", 5)}), (Texts{"BO 4", "CY 10"}));
  ASSERT_EQ(result_.event_time.size(), 1U);
  // Spark puts a filter that does not use the event time below the watermark.
  EXPECT_EQ(result_.event_time[0].count, 2);
  EXPECT_EQ(result_.event_time[0].max_ms, At(12, 9) / 1000);
  EXPECT_EQ(Batch({}), Texts{});
}

TEST_F(StreamPlan, WindowedCountInAppendMode) {
  Start("SELECT window.start, count(*) AS c FROM (SELECT window(ts, '5 minutes') AS window FROM s) GROUP BY window", sql::OutputMode::kAppend);
  EXPECT_EQ(Batch({Event(At(12, 0), "ana"), Event(At(12, 21), "bo"), Event(At(12, 22), "di")}), Texts{});
  EXPECT_EQ(result_.event_time.at(0).max_ms, At(12, 22) / 1000);
  const int64_t watermark = At(12, 12) / 1000;
  EXPECT_EQ(Batch({}, 0, watermark), (Texts{"2026-01-01 12:00:00 1"}));
  EXPECT_EQ(Batch({Event(At(12, 1), "cy")}, watermark, watermark), Texts{});
  bool found = false;
  for (const NodeMetrics& node : runner_->execution->Metrics()) {
    if (!node.node->stateful_id) continue;
    found = true;
    EXPECT_EQ(node.node->stateful_name, "stateStoreSave");
    EXPECT_EQ(node.total.custom.at("numRowsDroppedByWatermark"), 1);
    EXPECT_TRUE(node.node->evicts_by_watermark);
  }
  EXPECT_TRUE(found);
}

TEST_F(StreamPlan, UpdateAndCompleteMode) {
  Start("SELECT user, count(*) AS c, sum(v) AS total, avg(v) AS mean FROM s GROUP BY user", sql::OutputMode::kUpdate);
  EXPECT_EQ(Batch({Event(At(1, 0), "a", 1), Event(At(1, 0), "b", 2), Event(At(1, 0), "a", 3), Event(At(1, 0), "c", 9)}), (Texts{"a 2 4 2.0", "b 1 2 2.0", "c 1 9 9.0"}));
  EXPECT_EQ(Batch({Event(At(1, 0), "b", 5)}), (Texts{"b 2 7 3.5"}));
  EXPECT_EQ(Batch({}), Texts{});
}

TEST_F(StreamPlan, CompleteModeSortsAndCuts) {
  Start("SELECT user, count(*) AS c FROM s GROUP BY user ORDER BY c DESC, user LIMIT 2", sql::OutputMode::kComplete);
  EXPECT_EQ(Batch({Event(At(1, 0), "a"), Event(At(1, 0), "b"), Event(At(1, 0), "a"), Event(At(1, 0), "c")}), (Texts{"a 2", "b 1"}));
  EXPECT_EQ(Batch({Event(At(1, 0), "c"), Event(At(1, 0), "c")}), (Texts{"a 2", "c 3"}));
}

TEST_F(StreamPlan, KeylessCountIsThereFromTheFirstBatch) {
  Start("SELECT count(*) AS c FROM s", sql::OutputMode::kComplete);
  EXPECT_EQ(Batch({Event(At(1, 0), "a"), Event(At(1, 0), "b")}), (Texts{"2"}));
  EXPECT_EQ(Batch({Event(At(1, 0), "a")}), (Texts{"3"}));
}

TEST_F(StreamPlan, JoinWithAStaticSide) {
  const sql::PlanPtr names = sql::Analyze(sql::ParsePlan("SELECT * FROM VALUES ('a', 'Ana'), ('b', 'Bo') AS n(user, name)", {}).ValueOrDie(), environment_).ValueOrDie();
  environment_.AddView("names", names);
  Start("SELECT name, v FROM s JOIN names ON s.user = names.user", sql::OutputMode::kAppend);
  EXPECT_EQ(Batch({Event(At(1, 0), "a", 1), Event(At(1, 0), "x", 2), Event(At(1, 0), "b", 3), Event(At(1, 0), "a", 4)}), (Texts{"Ana 1", "Ana 4", "Bo 3"}));
  EXPECT_EQ(Batch({Event(At(1, 0), "b", 7)}), (Texts{"Bo 7"}));
  // The table over the constant side was built once.
  int64_t scanned = 0;
  for (const NodeMetrics& node : result_.nodes) {
    if (node.node->name == "LocalTableScan") scanned += node.total.output_rows;
  }
  EXPECT_EQ(scanned, 0);
  const std::string text = plan_->ToString();
  EXPECT_NE(text.find("HashJoin"), std::string::npos) << text;
  EXPECT_NE(text.find("BroadcastExchange"), std::string::npos) << text;
}

TEST_F(StreamPlan, LeftJoinAndUnionOfStreams) {
  const sql::PlanPtr names = sql::Analyze(sql::ParsePlan("SELECT * FROM VALUES ('a', 'Ana') AS n(user, name)", {}).ValueOrDie(), environment_).ValueOrDie();
  environment_.AddView("names", names);
  Start("SELECT s.user, name FROM s LEFT JOIN names ON s.user = names.user UNION ALL SELECT user, 'other' FROM s WHERE v > 10", sql::OutputMode::kAppend);
  EXPECT_EQ(Batch({Event(At(1, 0), "a", 11), Event(At(1, 0), "x", 2)}), (Texts{"a Ana", "a other", "x NULL"}));
}

TEST_F(StreamPlan, StateComesBackInAnotherRun) {
  const std::string sql = "SELECT user, sum(v) AS total FROM s GROUP BY user";
  Start(sql, sql::OutputMode::kUpdate);
  EXPECT_EQ(Batch({Event(At(1, 0), "a", 1), Event(At(1, 0), "b", 2)}), (Texts{"a 1", "b 2"}));
  EXPECT_EQ(Batch({Event(At(1, 0), "a", 5)}), (Texts{"a 6"}));
  runner_.reset();
  plan_.reset();
  state_.reset();
  Start(sql, sql::OutputMode::kUpdate);
  EXPECT_EQ(Batch({Event(At(1, 0), "a", 10), Event(At(1, 0), "b", 10)}), (Texts{"a 16", "b 12"}));
}

/// Counts what its writers wrote.
class CountingWrite final : public sql::StreamingWrite {
 public:
  struct Message final : sql::CommitMessage {
    int64_t rows = 0;
  };
  class Writer final : public sql::DataWriter {
   public:
    Status Write(const data::Chunk& chunk) override {
      rows_ += chunk.num_rows();
      return Status::OK();
    }
    Result<sql::CommitMessagePtr> Finish(std::shared_ptr<Signal>*) override {
      auto message = std::make_shared<Message>();
      message->rows = rows_;
      return sql::CommitMessagePtr(std::move(message));
    }
    void Abort() override {}

   private:
    int64_t rows_ = 0;
  };
  sql::DeliveryGuarantee guarantee() const override { return sql::DeliveryGuarantee::kExactlyOnce; }
  Result<std::unique_ptr<sql::DataWriter>> NewWriter(PartitionId, BatchId) override { return std::unique_ptr<sql::DataWriter>(std::make_unique<Writer>()); }
  Status Commit(BatchId, const std::vector<sql::CommitMessagePtr>&) override { return Status::OK(); }
  void Abort(BatchId, const std::vector<sql::CommitMessagePtr>&) override {}
  std::string Description() const override { return "CountingWrite"; }
};

TEST_F(StreamPlan, WritersAreTheRoot) {
  CountingWrite write;
  write_ = &write;
  Start("SELECT user FROM s", sql::OutputMode::kAppend);
  EXPECT_EQ(plan_->root->name, "WriteStream");
  Batch({Event(At(1, 0), "a"), Event(At(1, 0), "b"), Event(At(1, 0), "c"), Event(At(1, 0), "d")});
  int64_t rows = 0;
  for (const auto& message : result_.messages) rows += static_cast<const CountingWrite::Message&>(*message).rows;
  EXPECT_EQ(rows, 4);
  Batch({});
  EXPECT_TRUE(result_.messages.empty());
}

TEST_F(StreamPlan, TheLimitOfAnAppendingStreamIsOfItsWholeLife) {
  Start("SELECT user FROM s LIMIT 3", sql::OutputMode::kAppend);
  EXPECT_EQ(Batch({Event(At(1, 0), "a"), Event(At(1, 0), "b")}).size(), 2U);
  EXPECT_EQ(Batch({Event(At(1, 0), "c"), Event(At(1, 0), "d")}), Texts{"c"});
  EXPECT_EQ(Batch({Event(At(1, 0), "e")}), Texts{});
}

TEST_F(StreamPlan, SessionWindowsAreRefusedByName) {
  EXPECT_EQ(Plan("SELECT count(*) FROM s GROUP BY session_window(ts, '5 minutes'), user", sql::OutputMode::kAppend).status().condition(),
            "UNSUPPORTED_FEATURE.THALWEG");
}

constexpr const char* kUpdates = "SELECT user, c + 1 FROM (SELECT user, count(*) AS c FROM s GROUP BY user) WHERE c > 1";
constexpr const char* kChangesRefused = "UNSUPPORTED_FEATURE.CHANGES_OF_ROWS";

TEST_F(StreamPlan, ASinkThatTakesNewRowsOnlyGetsNoUpdates) {
  EXPECT_TRUE(Plan(kUpdates, sql::OutputMode::kUpdate).ok());
  sink_accepts_ = sql::ChangelogMode::kInsertOnly;
  const Status refused = Plan(kUpdates, sql::OutputMode::kUpdate).status();
  EXPECT_EQ(refused.condition(), kChangesRefused);
  EXPECT_NE(refused.message().find("the sink does not take rows that replace earlier ones"), std::string::npos) << refused.message();
  EXPECT_TRUE(Plan(kUpdates, sql::OutputMode::kComplete).ok());
  EXPECT_TRUE(Plan("SELECT user, v FROM s WHERE v > 1", sql::OutputMode::kUpdate).ok());
}

// What Spark's analysis refuses can be let through by a setting: it would count an updated row as one more.
TEST_F(StreamPlan, AnAggregateThatCountsInsertsGetsNoUpdates) {
  checks_ = false;
  const std::string groups = "SELECT count(*) AS n FROM (SELECT user, count(*) AS c FROM s GROUP BY user)";
  EXPECT_EQ(Plan(groups, sql::OutputMode::kUpdate).status().condition(), kChangesRefused);
  EXPECT_TRUE(Plan(groups, sql::OutputMode::kComplete).ok());
}

TEST_F(StreamPlan, RowsAreTakenBackOnlyWhereThatIsUnderstood) {
  const MakeOperator none;
  auto source = NewNode("Source", "", {}, {}, 2, none);
  source->changelog = sql::ChangelogMode::kRetract;
  PhysicalPlan plan;
  plan.root = Gathered(source);
  EXPECT_EQ(plan.root->changelog, sql::ChangelogMode::kRetract);
  EXPECT_TRUE(CheckChanges(plan, sql::ChangelogMode::kRetract).ok());
  EXPECT_EQ(CheckChanges(plan, sql::ChangelogMode::kUpsert).condition(), kChangesRefused);
  plan.root = NewMapNode("Count", "", plan.root, {}, none);
  EXPECT_EQ(CheckChanges(plan, sql::ChangelogMode::kRetract).condition(), kChangesRefused);
}

TEST_F(StreamPlan, ObservedMetricsOfAllPartitions) {
  const sql::PlanPtr child = sql::ParsePlan("SELECT * FROM s", {}).ValueOrDie();
  const auto metric = [](const std::string& text, const std::string& name) {
    return sql::Alias::Make(sql::ParseExpression(text, {}).ValueOrDie(), name);
  };
  const auto observed = std::make_shared<sql::CollectMetrics>("m", sql::ExprList{metric("count(1)", "rows"), metric("max(v)", "top"), metric("sum(v) + 1", "more")}, child);
  const sql::PlanPtr analyzed = sql::Analyze(observed, environment_).ValueOrDie();
  shaped_ = sql::ShapeForState(analyzed, sql::OutputMode::kAppend, *environment_.config()).ValueOrDie();
  StreamPlanOptions options;
  options.config = environment_.config();
  options.parallelism = 3;
  const sql::PlanPtr optimized = sql::Optimize(shaped_.plan, {environment_.config(), true}).ValueOrDie();
  plan_ = PlanStream({optimized, shaped_.layout}, options).ValueOrDie();
  runner_ = std::make_unique<testing::Runner>(plan_);
  std::vector<ValueList> rows;
  for (int32_t v = 1; v <= 10; ++v) rows.push_back(Event(At(1, 0), "a", v));
  EXPECT_EQ(Batch(rows).size(), 10U);
  ASSERT_EQ(result_.observed.count("m"), 1U);
  const data::Chunk row = result_.observed["m"].Dense();
  EXPECT_EQ(row.column(0)->GetValue(0).AsInt64(), 10);
  EXPECT_EQ(row.column(1)->GetValue(0).AsInt64(), 10);
  EXPECT_EQ(row.column(2)->GetValue(0).AsInt64(), 56);
  Batch({});
  EXPECT_EQ(result_.observed["m"].Dense().column(0)->GetValue(0).AsInt64(), 0);
}

}  // namespace
}  // namespace thalweg::engine
