#include "engine/state/state_store.h"

#include <gtest/gtest.h>

#include <map>

#include "base/random.h"
#include "data/columnar/chunk.h"
#include "data/columnar/builder.h"
#include "data/rowformat/unsafe_row_writer.h"
#include "engine/state/state_test_support.h"

namespace thalweg::engine {
namespace {

std::string Row(const std::vector<data::DataType>& types, const data::ValueList& values) {
  const data::Chunk chunk = data::ChunkFromRows(types, {values});
  data::RowBatch batch;
  EXPECT_TRUE(data::UnsafeRowWriter(types).Write(chunk.columns(), 1, nullptr, &batch).ok());
  return std::string(batch.row(0));
}

const std::vector<data::DataType> kSessionKey = {data::DataType::String(), data::DataType::Timestamp()};

std::string SessionKey(const std::string& key, int64_t start) {
  return Row(kSessionKey, {data::Value(key), data::Value(start)});
}
std::string Prefix(const std::string& key) { return Row({data::DataType::String()}, {data::Value(key)}); }
std::string Count(int64_t count) { return Row({data::DataType::Long()}, {data::Value(count)}); }

std::unique_ptr<StateStore> OpenSessions(const std::shared_ptr<QueryState>& query) {
  StateStoreSchema schema{.key_types = kSessionKey, .value_types = {data::DataType::Long()}, .prefix_columns = 1};
  return StateStore::Open(query, OperatorId(3), PartitionId(2), "default", schema).ValueOrDie();
}

// Puts, removals, prefix scans, commits, aborts and restarts against a map.
TEST(StateStore, BehavesAsAMapWithVersions) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    Random random(seed);
    StateHarness harness;
    auto query = harness.OpenQuery();
    auto store = OpenSessions(query);
    std::map<std::pair<std::string, int64_t>, int64_t> committed;
    int64_t version = 0;
    for (int batch = 0; batch < 25; ++batch) {
      if (random.NextBelow(5) == 0) {
        store.reset();
        query.reset();
        query = harness.OpenQuery();
        store = OpenSessions(query);
      }
      ASSERT_TRUE(store->BeginVersion(StateVersion(version)).ok());
      auto expected = committed;
      for (int step = 0; step < 60; ++step) {
        const std::string key = "user number " + std::to_string(random.NextBelow(8));
        const auto start = static_cast<int64_t>(random.NextBelow(6));
        if (random.NextBelow(3) > 0) {
          const auto count = static_cast<int64_t>(random.NextBelow(100));
          store->Put(SessionKey(key, start), Count(count));
          expected[{key, start}] = count;
        } else {
          ASSERT_EQ(store->Remove(SessionKey(key, start)), expected.erase({key, start}) == 1);
        }
      }
      for (int user = 0; user < 8; ++user) {
        const std::string key = "user number " + std::to_string(user);
        std::map<std::string, std::string> found;
        store->PrefixScan(Prefix(key), [&](std::string_view k, std::string_view v) {
          found.emplace(k, v);
          return true;
        });
        std::map<std::string, std::string> wanted;
        for (const auto& [k, v] : expected) {
          if (k.first == key) wanted[SessionKey(key, k.second)] = Count(v);
        }
        ASSERT_EQ(found, wanted);
      }
      ASSERT_EQ(store->num_entries(), static_cast<int64_t>(expected.size()));
      if (random.NextBelow(4) == 0) {
        store->Abort();
        continue;
      }
      ASSERT_TRUE(CommitAndWait(*store, StateVersion(++version)).ok());
      committed = std::move(expected);
    }
    ASSERT_TRUE(store->BeginVersion(StateVersion(version)).ok());
    int64_t scanned = 0;
    store->Scan([&](std::string_view, std::string_view) { return ++scanned > 0; });
    EXPECT_EQ(scanned, static_cast<int64_t>(committed.size()));
    // Older versions can be had again.
    ASSERT_TRUE(store->BeginVersion(StateVersion(0)).ok());
    EXPECT_EQ(store->num_entries(), 0);
  }
}

TEST(StateStore, GetManyAnswersInOrder) {
  StateHarness harness;
  auto query = harness.OpenQuery();
  auto store = OpenSessions(query);
  ASSERT_TRUE(store->BeginVersion(StateVersion(0)).ok());
  for (int64_t i = 0; i < 100; i += 2) store->Put(SessionKey("k", i), Count(i));
  std::vector<std::string> keys;
  for (int64_t i = 0; i < 100; ++i) keys.push_back(SessionKey("k", i));
  const std::vector<std::string_view> views(keys.begin(), keys.end());
  std::vector<std::optional<std::string_view>> values;
  store->GetMany(views, &values);
  for (int64_t i = 0; i < 100; ++i) {
    const auto& value = values[static_cast<size_t>(i)];
    ASSERT_EQ(value.has_value(), i % 2 == 0);
    if (value) {
      EXPECT_EQ(*value, Count(i));
    }
  }
}

TEST(StateStore, RemovalsAreWrittenAsSparkDoesIt) {
  StateHarness harness;
  auto query = harness.OpenQuery();
  auto store = OpenSessions(query);
  ASSERT_TRUE(store->BeginVersion(StateVersion(0)).ok());
  store->Put(SessionKey("kept", 1), Count(1));
  store->Put(SessionKey("gone", 1), Count(1));
  EXPECT_TRUE(store->Remove(SessionKey("gone", 1)));
  EXPECT_FALSE(store->Remove(SessionKey("never", 1)));
  ASSERT_TRUE(CommitAndWait(*store, StateVersion(1)).ok());
  ASSERT_TRUE(store->BeginVersion(StateVersion(1)).ok());
  EXPECT_TRUE(store->Remove(SessionKey("kept", 1)));
  ASSERT_TRUE(CommitAndWait(*store, StateVersion(2)).ok());
  auto member = query->Open(OperatorId(3), PartitionId(2), "default", {}).ValueOrDie();
  const auto changes = [&](int64_t version) {
    std::string text;
    EXPECT_TRUE(member->persister().ReadChanges(StateVersion(version), [&](std::span<const StateChange> all) {
                  for (const auto& change : all) text += change.removed ? "-" : "+";
                  return Status::OK();
                }).ok());
    return text;
  };
  EXPECT_EQ(changes(1), "-+") << "put and removed in one version: a removal all the same, which loading does not mind";
  EXPECT_EQ(changes(2), "-");
}

}  // namespace
}  // namespace thalweg::engine
