// Layouts against what Spark 4.2.0 wrote: tests/compat/streaming/state_schemas.jsonl (made by tools/record_state_schemas.py) and
// the checkpoints in tests/checkpoints.

#include "sql/stateful_shape/state_layout.h"

#include <fstream>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "sql/analyzer/test_environment.h"
#include "sql/parser/parser.h"

namespace thalweg::sql {
namespace {

using Json = nlohmann::json;

constexpr const char* kRecorded = TW_SOURCE_DIR "/tests/compat/streaming/state_schemas.jsonl";
constexpr const char* kCheckpoints = TW_SOURCE_DIR "/tests/checkpoints/spark-4.2.0/";

std::string SchemaJson(const data::Schema& schema) { return DataType::Struct(schema).Json(); }

OutputMode ModeOf(const std::string& name) {
  if (name == "append") return OutputMode::kAppend;
  return name == "update" ? OutputMode::kUpdate : OutputMode::kComplete;
}

class StateLayoutTest : public ::testing::Test {
 protected:
  void AddStreams(const char* columns, const std::string& delay) {
    for (const std::string name : {"s", "s2"}) {
      environment_.AddTable(name, columns, true);
      const PlanPtr leaf = std::make_shared<UnresolvedRelation>(std::vector<std::string>{name}, OptionMap{}, true);
      environment_.AddView("w" + name.substr(1),
                           Analyze(std::make_shared<EventTimeWatermark>(UnresolvedAttribute::Make({"ts"}), delay, leaf),
                                   environment_).ValueOrDie());
    }
  }
  Result<ShapedPlan> Shape(const PlanPtr& plan, OutputMode mode) {
    TW_ASSIGN_OR_RETURN(const PlanPtr resolved, Analyze(plan, environment_));
    TW_RETURN_NOT_OK(CheckStreamingSupported(resolved, mode));
    return ShapeForState(resolved, mode, environment_.settings());
  }
  Result<ShapedPlan> ShapeSql(const std::string& sql, OutputMode mode) {
    TW_ASSIGN_OR_RETURN(const PlanPtr plan, ParsePlan(sql, {}));
    return Shape(plan, mode);
  }
  PlanPtr Dedup(const std::string& name, std::vector<std::string> columns, bool within) {
    auto dedup = std::make_shared<Deduplicate>(
        std::make_shared<UnresolvedRelation>(std::vector<std::string>{name}, OptionMap{}, true));
    dedup->column_names = std::move(columns);
    dedup->within_watermark = within;
    return dedup;
  }
  /// The operators of a checkpoint of tests/checkpoints.
  void ExpectCheckpoint(const std::string& name, const StateLayout& layout);

  TestEnvironment environment_;
};

std::string ReadFile(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file.is_open()) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The JSON texts of a schema file of version 2, each in one chunk.
std::pair<std::string, std::string> ReadSchemaFile(const std::string& path) {
  const std::string bytes = ReadFile(path);
  const auto text_at = [&](size_t at) {
    const size_t size = static_cast<uint8_t>(bytes[at]) * 256u + static_cast<uint8_t>(bytes[at + 1]);
    return bytes.substr(at + 2, size);
  };
  const std::string key = text_at(8);  // after "v2" and a count of one
  return {key, text_at(8 + 2 + key.size() + 4)};
}

void StateLayoutTest::ExpectCheckpoint(const std::string& name, const StateLayout& layout) {
  SCOPED_TRACE(name);
  const std::string root = std::string(kCheckpoints) + name + "/checkpoint/state/";
  for (const StatefulOperatorLayout& one : layout.operators) {
    const std::string folder = root + std::to_string(one.id) + "/";
    const std::string metadata = ReadFile(folder + "_metadata/metadata");
    const Json json = Json::parse(metadata.substr(metadata.find('\n') + 1));
    EXPECT_EQ(json["operatorInfo"]["operatorName"], one.name);
    ASSERT_EQ(json["stateStoreInfo"].size(), one.stores.size());
    for (size_t i = 0; i < one.stores.size(); ++i) {
      const StateStoreLayout& store = one.stores[i];
      EXPECT_EQ(json["stateStoreInfo"][i]["storeName"], store.name);
      EXPECT_EQ(json["stateStoreInfo"][i]["numColsPrefixKey"], store.prefix_key_columns);
      const std::string middle = store.name == "default" ? "" : store.name + "/";
      const auto [key, value] = ReadSchemaFile(folder + "0/" + middle + "_metadata/schema");
      EXPECT_EQ(SchemaJson(store.key_schema), key);
      EXPECT_EQ(SchemaJson(store.value_schema), value);
    }
  }
}

TEST_F(StateLayoutTest, LayoutsAreThoseThatSparkWrote) {
  AddStreams("k STRING, v INT, ts TIMESTAMP, n BIGINT, x DOUBLE, d8 DECIMAL(8,2), d12 DECIMAL(12,2), b BOOLEAN, "
             "st STRUCT<a: INT, c: STRING>", "10 seconds");
  std::ifstream file(kRecorded);
  ASSERT_TRUE(file.is_open()) << kRecorded;
  int compared = 0;
  for (std::string line; std::getline(file, line);) {
    const Json record = Json::parse(line);
    const std::string sql = record["sql"];
    SCOPED_TRACE(sql);
    ASSERT_TRUE(record.contains("operators"));
    const Result<ShapedPlan> shaped = ShapeSql(sql, ModeOf(record["mode"]));
    ASSERT_TRUE(shaped.ok()) << shaped.status().message();
    ASSERT_EQ(shaped->layout.operators.size(), record["operators"].size()) << shaped->plan->TreeText();
    for (size_t i = 0; i < shaped->layout.operators.size(); ++i) {
      const StatefulOperatorLayout& one = shaped->layout.operators[i];
      const Json& expected = record["operators"][i];
      EXPECT_EQ(one.id, expected["id"]);
      EXPECT_EQ(one.name, expected["name"]);
      ASSERT_EQ(one.stores.size(), expected["stores"].size());
      for (size_t s = 0; s < one.stores.size(); ++s) {
        EXPECT_EQ(one.stores[s].name, expected["stores"][s]["name"]);
        EXPECT_EQ(one.stores[s].prefix_key_columns, expected["stores"][s]["prefix"]);
        EXPECT_EQ(SchemaJson(one.stores[s].key_schema), expected["stores"][s]["key"]) << shaped->plan->TreeText();
        EXPECT_EQ(SchemaJson(one.stores[s].value_schema), expected["stores"][s]["value"]) << shaped->plan->TreeText();
      }
    }
    ++compared;
  }
  EXPECT_GE(compared, 25);
}

TEST_F(StateLayoutTest, LayoutsAreThoseOfTheCheckpoints) {
  AddStreams("k STRING, v INT, ts TIMESTAMP", "5 seconds");
  const auto expect = [&](const std::string& name, const Result<ShapedPlan>& shaped) {
    ASSERT_TRUE(shaped.ok()) << name << ": " << shaped.status().message();
    ExpectCheckpoint(name, shaped->layout);
  };
  const OutputMode append = OutputMode::kAppend;
  expect("count", ShapeSql("SELECT k, count(*) FROM s GROUP BY k", OutputMode::kUpdate));
  expect("window-append",
         ShapeSql("SELECT window(ts, '10 seconds'), k, count(*), avg(v), max(k) FROM w GROUP BY window(ts, '10 seconds'), k", append));
  expect("session", ShapeSql("SELECT session_window(ts, '5 seconds'), k, count(*) FROM w GROUP BY session_window(ts, '5 seconds'), k", append));
  expect("chained-windows",
         ShapeSql("SELECT window(window_time(window), '10 seconds'), sum(count) FROM (SELECT window, count(*) AS count FROM w "
                  "GROUP BY window(ts, '5 seconds')) GROUP BY window(window_time(window), '10 seconds')", append));
  expect("limit", ShapeSql("SELECT * FROM s LIMIT 4", append));
  expect("dedup", Shape(Dedup("s", {"k"}, false), append));
  expect("dedup-watermark", Shape(Dedup("w", {"k", "ts"}, false), append));
  expect("dedup-within-watermark", Shape(Dedup("w", {"k"}, true), append));
  for (const std::string type : {"inner", "left-outer"}) {
    const std::string join = type == "inner" ? "JOIN" : "LEFT JOIN";
    expect("join-" + type, ShapeSql("SELECT l.k, l.v, r.v AS rv FROM w l " + join +
                                        " w2 r ON l.k = r.k AND r.ts BETWEEN l.ts AND l.ts + INTERVAL 5 SECONDS", append));
  }
}

TEST_F(StateLayoutTest, PartitionsGoByTheKeys) {
  AddStreams("k STRING, v INT, ts TIMESTAMP", "5 seconds");
  const StateLayout window =
      ShapeSql("SELECT window, k, count(*) FROM w GROUP BY window(ts, '10 seconds'), k", OutputMode::kAppend).ValueOrDie().layout;
  ASSERT_EQ(window.operators[0].partitioning.size(), 2u);
  EXPECT_EQ(window.operators[0].partitioning[0]->As<Attribute>()->name(), "window");
  ASSERT_EQ(window.sources.size(), 1u);
  const StateLayout join =
      ShapeSql("SELECT l.k FROM w l JOIN w2 r ON l.k = r.k AND l.ts = r.ts", OutputMode::kAppend).ValueOrDie().layout;
  EXPECT_EQ(join.operators[0].partitioning.size(), 2u);
  EXPECT_EQ(join.operators[0].right_partitioning.size(), 2u);
  EXPECT_EQ(join.sources.size(), 2u);
  const StateLayout total = ShapeSql("SELECT count(*) FROM s", OutputMode::kUpdate).ValueOrDie().layout;
  EXPECT_TRUE(total.operators[0].partitioning.empty());
}

TEST_F(StateLayoutTest, JoinsOfStreamsNeedAnEquality) {
  AddStreams("k STRING, v INT, ts TIMESTAMP", "5 seconds");
  EXPECT_EQ(ShapeSql("SELECT l.k FROM w l JOIN w2 r ON l.ts > r.ts", OutputMode::kAppend).status().condition(),
            "_LEGACY_ERROR_TEMP_1181");
}

}  // namespace
}  // namespace thalweg::sql
