// Joins of two streams from SQL, run epoch by epoch with real state, against a naive evaluator that keeps everything.

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "base/random.h"
#include "data/columnar/builder.h"
#include "engine/exec/testing.h"
#include "engine/planner/planner.h"
#include "engine/state/state_test_support.h"
#include "sql/analyzer/test_environment.h"
#include "sql/optimizer/optimizer.h"
#include "sql/parser/parser.h"

namespace thalweg::engine {
namespace {

using data::Value;
using data::ValueList;

constexpr int64_t kSecondMs = 1000;
constexpr int kDelayS = 5;
constexpr char kSchema[] = "k STRING, ts TIMESTAMP, v INT";

/// A row of either stream. `v` is unique within its stream.
struct Event {
  std::optional<std::string> key;
  std::optional<int64_t> second;
  int32_t v = 0;
};
/// `v` of the left and of the right row; -1 where there is none.
using Pairs = std::vector<std::pair<int, int>>;

class StreamJoinPlan : public ::testing::Test {
 protected:
  StreamJoinPlan() {
    for (const std::string name : {"l", "r"}) {
      environment_.AddTable("raw_" + name, kSchema, true);
      const auto relation =
          std::make_shared<sql::UnresolvedRelation>(std::vector<std::string>{"raw_" + name}, sql::OptionMap{}, true);
      const auto watermark = std::make_shared<sql::EventTimeWatermark>(sql::UnresolvedAttribute::Make({"ts"}),
                                                                       std::to_string(kDelayS) + " seconds", relation);
      environment_.AddView(name, sql::Analyze(watermark, environment_).ValueOrDie());
    }
    fields_ = data::ParseSchemaDdl(kSchema).ValueOrDie();
  }

  Result<std::shared_ptr<const PhysicalPlan>> Plan(const std::string& sql, sql::OutputMode mode) {
    TW_ASSIGN_OR_RETURN(const sql::PlanPtr parsed, sql::ParsePlan(sql, {}));
    TW_ASSIGN_OR_RETURN(const sql::PlanPtr analyzed, sql::Analyze(parsed, environment_));
    TW_RETURN_NOT_OK(sql::CheckStreamingSupported(analyzed, mode));
    TW_ASSIGN_OR_RETURN(shaped_, sql::ShapeForState(analyzed, mode, *environment_.config()));
    TW_ASSIGN_OR_RETURN(const sql::PlanPtr optimized, sql::Optimize(shaped_.plan, {environment_.config(), true}));
    const RunId run_id{Uuid::MakeRandom()};
    TW_ASSIGN_OR_RETURN(state_, harness_.services.OpenQuery(run_id, "/ckpt", {}, nullptr));
    StreamPlanOptions options;
    options.config = environment_.config();
    options.mode = mode;
    options.shuffle_partitions = partitions_;
    options.parallelism = 2;
    options.checkpoint_root = "/ckpt";
    options.state = &harness_.services;
    options.run_id = run_id;
    return PlanStream({optimized, shaped_.layout}, options);
  }

  /// Also a restart: state goes on from the disk.
  void Start(const std::string& sql, sql::OutputMode mode = sql::OutputMode::kAppend) {
    Stop();
    plan_ = Plan(sql, mode).ValueOrDie();
    runner_ = std::make_unique<testing::Runner>(plan_);
  }

  void Stop() {
    runner_.reset();
    plan_.reset();
    state_.reset();
  }

  Pairs Batch(const std::vector<Event>& left, const std::vector<Event>& right, int64_t late_ms, int64_t eviction_ms) {
    EpochInput input;
    input.context.batch_id = BatchId(batch_++);
    input.context.late_watermark_ms = late_ms;
    input.context.eviction_watermark_ms = eviction_ms;
    input.context.has_watermark = true;
    for (const LeafSlot& leaf : plan_->leaves) {
      const std::vector<Event>& events = leaf.stream_index == 0 ? left : right;
      SplitList splits;
      for (size_t first = 0; first < events.size(); first += 3) {
        splits.push_back(testing::ChunksSplit({ReadColumns(leaf, events, first, std::min(events.size(), first + 3))}));
      }
      input.leaf_splits.push_back(std::move(splits));
    }
    testing::Collector collector;
    result_ = runner_->execution->RunEpoch(input, collector.consumer()).ValueOrDie();
    EXPECT_TRUE(runner_->execution->Prepare().ok());
    EXPECT_TRUE(runner_->execution->Committed().ok());
    Pairs out;
    for (const data::Chunk& chunk : collector.chunks()) {
      const data::Chunk dense = chunk.Dense();
      const auto at = [&](int column, int64_t row) {
        if (column >= dense.num_columns() || dense.column(column)->IsNull(row)) return -1;
        return static_cast<int>(dense.column(column)->GetValue(row).AsInt64());
      };
      for (int64_t row = 0; row < dense.num_rows(); ++row) out.emplace_back(at(0, row), at(1, row));
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  data::Chunk ReadColumns(const LeafSlot& leaf, const std::vector<Event>& events, size_t begin, size_t end) const {
    std::vector<data::DataType> types;
    std::vector<ValueList> rows(end - begin);
    for (const std::string& name : leaf.request.columns) {
      for (const data::StructField& field : fields_) {
        if (field.name == name) types.push_back(field.type);
      }
      for (size_t i = begin; i < end; ++i) {
        const Event& event = events[i];
        Value value(event.v);
        if (name == "k") value = event.key ? Value(*event.key) : Value();
        if (name == "ts") value = event.second ? Value(*event.second * 1'000'000) : Value();
        rows[i - begin].push_back(value);
      }
    }
    return data::ChunkFromRows(types, rows);
  }

  std::map<std::string, int64_t> Counters() const {
    for (const NodeMetrics& node : runner_->execution->Metrics()) {
      if (node.node->stateful_id) return node.total.custom;
    }
    return {};
  }

  sql::TestEnvironment environment_;
  StateHarness harness_;
  data::Schema fields_;
  int partitions_ = 3;
  sql::ShapedPlan shaped_;
  std::shared_ptr<QueryState> state_;
  std::shared_ptr<const PhysicalPlan> plan_;
  std::unique_ptr<testing::Runner> runner_;
  int64_t batch_ = 0;
  EpochResult result_;
};

/// What the query means without any state: every row that was not late meets every other one.
struct Naive {
  std::function<bool(const Event&, const Event&)> matches;  // beside equal keys
  std::function<bool(const Event&)> may_match[2];           // what the condition says of a left, of a right row alone
  std::vector<Event> left, right;

  static bool Late(const Event& event, int64_t late_ms) { return event.second && *event.second * kSecondMs <= late_ms; }
  void Add(const std::vector<Event>& more_left, const std::vector<Event>& more_right, int64_t late_ms) {
    for (const Event& event : more_left) {
      if (!Late(event, late_ms)) left.push_back(event);
    }
    for (const Event& event : more_right) {
      if (!Late(event, late_ms)) right.push_back(event);
    }
  }
  bool Meets(const Event& l, const Event& r) const { return l.key && r.key && *l.key == *r.key && matches(l, r); }
  /// After the watermark has passed everything. Rows without a time are never given up, so they come out alone only when it is
  /// known at once that they match nothing.
  Pairs Answer(const std::string& type) const {
    Pairs out;
    const bool keep_left = type == "LEFT" || type == "FULL";
    const bool keep_right = type == "RIGHT" || type == "FULL";
    for (const Event& l : left) {
      const bool any = std::any_of(right.begin(), right.end(), [&](const Event& r) { return Meets(l, r); });
      if (type == "LEFT SEMI") {
        if (any) out.emplace_back(l.v, -1);
        continue;
      }
      for (const Event& r : right) {
        if (Meets(l, r)) out.emplace_back(l.v, r.v);
      }
      if (!any && keep_left && (l.second || !may_match[0](l))) out.emplace_back(l.v, -1);
    }
    for (const Event& r : right) {
      const bool any = std::any_of(left.begin(), left.end(), [&](const Event& l) { return Meets(l, r); });
      if (!any && keep_right && (r.second || !may_match[1](r))) out.emplace_back(-1, r.v);
    }
    std::sort(out.begin(), out.end());
    return out;
  }
};

struct Variant {
  std::string name;
  std::string condition;
  std::function<bool(const Event&, const Event&)> matches;
};

bool Within(const Event& l, const Event& r, int seconds) {
  return l.second && r.second && *r.second >= *l.second && *r.second <= *l.second + seconds;
}

std::vector<Variant> Variants() {
  return {
      {"range", "r.ts >= l.ts AND r.ts <= l.ts + INTERVAL 10 SECONDS", [](const Event& l, const Event& r) { return Within(l, r, 10); }},
      {"between", "r.ts BETWEEN l.ts AND l.ts + INTERVAL 4 SECONDS", [](const Event& l, const Event& r) { return Within(l, r, 4); }},
      {"time_key", "l.ts = r.ts", [](const Event& l, const Event& r) { return l.second && r.second && *l.second == *r.second; }},
      {"one_sided", "r.ts BETWEEN l.ts AND l.ts + INTERVAL 10 SECONDS AND l.v % 3 > 0 AND r.v % 4 > 0",
       [](const Event& l, const Event& r) { return Within(l, r, 10) && l.v % 3 > 0 && r.v % 4 > 0; }},
  };
}

std::vector<Event> RandomEvents(Random& random, int64_t now_s, int32_t* next_v) {
  std::vector<Event> events(random.NextBelow(9));
  for (Event& event : events) {
    if (random.NextBelow(12) > 0) event.key = std::string(1, static_cast<char>('a' + random.NextBelow(4)));
    if (random.NextBelow(20) > 0) event.second = now_s - 8 + static_cast<int64_t>(random.NextBelow(14));
    event.v = (*next_v)++;
  }
  return events;
}

int64_t MaxSecond(const std::vector<Event>& events, int64_t least) {
  for (const Event& event : events) {
    if (event.second) least = std::max(least, *event.second);
  }
  return least;
}

class StreamJoinRandom : public StreamJoinPlan, public ::testing::WithParamInterface<std::tuple<std::string, int>> {};

TEST_P(StreamJoinRandom, GivesWhatANaiveJoinGives) {
  const auto& [type, number] = GetParam();
  const Variant variant = Variants()[static_cast<size_t>(number)];
  const std::string columns = type == "LEFT SEMI" ? "l.v" : "l.v, r.v";
  const std::string sql = "SELECT " + columns + " FROM l " + type + " JOIN r ON l.k = r.k AND " + variant.condition;
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Random random(seed * 977 + static_cast<uint64_t>(number));
    Stop();
    ASSERT_TRUE(harness_.files.RemoveTree("/ckpt").ok());
    batch_ = 0;
    Start(sql);
    const bool one_sided = variant.name == "one_sided";
    Naive naive{variant.matches,
                {[one_sided](const Event& l) { return !one_sided || l.v % 3 > 0; },
                 [one_sided](const Event& r) { return !one_sided || r.v % 4 > 0; }},
                {},
                {}};
    Pairs all;
    int32_t next_left = 0;
    int32_t next_right = 0;
    int64_t max_left = 0;
    int64_t max_right = 0;
    int64_t late_ms = 0;
    int64_t now_s = 1000;
    const auto run = [&](const std::vector<Event>& left, const std::vector<Event>& right, int64_t eviction_ms) {
      naive.Add(left, right, late_ms);
      const Pairs out = Batch(left, right, late_ms, eviction_ms);
      all.insert(all.end(), out.begin(), out.end());
      late_ms = eviction_ms;
    };
    for (int i = 0; i < 25; ++i) {
      now_s += static_cast<int64_t>(random.NextBelow(6));
      if (random.NextBelow(6) == 0) Start(sql);
      const std::vector<Event> left = random.NextBelow(5) > 0 ? RandomEvents(random, now_s, &next_left) : std::vector<Event>{};
      const std::vector<Event> right = random.NextBelow(5) > 0 ? RandomEvents(random, now_s, &next_right) : std::vector<Event>{};
      const int64_t watermark_s = std::max<int64_t>(0, std::min(max_left, max_right) - kDelayS);
      run(left, right, std::max(late_ms, watermark_s * kSecondMs));
      max_left = MaxSecond(left, max_left);
      max_right = MaxSecond(right, max_right);
    }
    run({}, {}, (now_s + 1000) * kSecondMs);
    std::sort(all.begin(), all.end());
    EXPECT_EQ(all, naive.Answer(type));
  }
}

INSTANTIATE_TEST_SUITE_P(Types, StreamJoinRandom,
                         ::testing::Combine(::testing::Values("INNER", "LEFT", "RIGHT", "FULL", "LEFT SEMI"), ::testing::Range(0, 4)));

constexpr char kRange[] = " ON l.k = r.k AND r.ts > l.ts AND r.ts <= l.ts + INTERVAL 10 SECONDS";

TEST_F(StreamJoinPlan, RowsAreGivenUpWhenTheConditionAllows) {
  Start("SELECT l.v, r.v FROM l LEFT JOIN r" + std::string(kRange));
  EXPECT_EQ(Batch({{"a", 10, 1}}, {}, 0, 0), Pairs{});
  EXPECT_EQ(Batch({}, {}, 0, 20 * kSecondMs), Pairs{});
  EXPECT_EQ(Batch({}, {}, 20 * kSecondMs, 21 * kSecondMs), (Pairs{{1, -1}}));
  EXPECT_EQ(Counters().at("numRowsTotal"), 0);
  EXPECT_EQ(Counters().at("numRowsRemoved"), 0);
  EXPECT_EQ(Counters().at("numStateStoreInstances"), 12);
}

TEST_F(StreamJoinPlan, RightRowsGoEarlierAndAreCounted) {
  Start("SELECT l.v, r.v FROM l JOIN r" + std::string(kRange));
  EXPECT_EQ(Batch({{"a", 9, 1}}, {{"a", 10, 2}}, 0, 0), (Pairs{{1, 2}}));
  EXPECT_EQ(Counters().at("numRowsUpdated"), 2);
  EXPECT_EQ(Batch({}, {}, 0, 10 * kSecondMs), Pairs{});
  EXPECT_EQ(Counters().at("numRowsTotal"), 1);
  EXPECT_EQ(Counters().at("numRowsRemoved"), 1);
  // A late row of either side is dropped before it can join.
  EXPECT_EQ(Batch({}, {{"a", 10, 3}, {"a", 11, 4}}, 10 * kSecondMs, 11 * kSecondMs), (Pairs{{1, 4}}));
  EXPECT_EQ(Counters().at("numRowsDroppedByWatermark"), 1);
}

TEST_F(StreamJoinPlan, WithoutAWatermarkedBoundNothingIsGivenUp) {
  Start("SELECT l.v, r.v FROM l JOIN r ON l.k = r.k");
  EXPECT_EQ(Batch({{"a", 10, 1}}, {}, 0, 0), Pairs{});
  EXPECT_EQ(Batch({}, {}, 0, 1'000'000 * kSecondMs), Pairs{});
  EXPECT_EQ(Counters().at("numRowsTotal"), 1);
  EXPECT_EQ(Batch({}, {{"a", 2'000'000, 2}}, 0, 0), (Pairs{{1, 2}}));
}

TEST_F(StreamJoinPlan, NullSafeKeysMatchNulls) {
  Start("SELECT l.v, r.v FROM l JOIN r ON l.k <=> r.k");
  EXPECT_EQ(Batch({{std::nullopt, 10, 1}, {"", 10, 2}}, {{std::nullopt, 10, 3}, {"", 10, 4}}, 0, 0), (Pairs{{1, 3}, {2, 4}}));
}

TEST_F(StreamJoinPlan, ManyRowsOfOneKeyComeInSeveralChunks) {
  Start("SELECT l.v, r.v FROM l JOIN r" + std::string(kRange));
  std::vector<Event> left;
  std::vector<Event> right;
  for (int32_t i = 0; i < 150; ++i) {
    left.push_back({"a", 10, i});
    right.push_back({"a", 12, i});
  }
  EXPECT_EQ(Batch(left, right, 0, 0).size(), 150U * 150U);
}

TEST_F(StreamJoinPlan, TheOutputMayBeOlderThanTheWatermark) {
  Start("SELECT l.v, r.v FROM l JOIN r" + std::string(kRange));
  std::function<const PhysicalNode*(const PhysicalNode&)> find = [&](const PhysicalNode& node) -> const PhysicalNode* {
    if (node.stateful_id) return &node;
    for (const PhysicalInput& input : node.inputs) {
      if (const PhysicalNode* found = find(*input.node)) return found;
    }
    return nullptr;
  };
  const PhysicalNode* join = find(*plan_->root);
  ASSERT_NE(join, nullptr);
  ASSERT_TRUE(join->output_watermark);
  // A left row of 10 s may still meet one of 20 s; the range is inclusive there, so it waits for one more millisecond.
  EXPECT_EQ(join->output_watermark(20 * kSecondMs), 20 * kSecondMs - 10 * kSecondMs - 1);
}

}  // namespace
}  // namespace thalweg::engine
