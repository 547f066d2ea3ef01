#include "engine/stateful/join_side_state.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "base/random.h"
#include "data/columnar/builder.h"
#include "data/rowformat/unsafe_row_reader.h"
#include "data/rowformat/unsafe_row_writer.h"
#include "engine/state/row_hash.h"
#include "engine/state/state_test_support.h"
#include "engine/stateful/join_state_format.h"

namespace thalweg::engine {
namespace {

using data::DataType;
using data::Value;
using data::ValueList;

const std::vector<DataType> kKey = {DataType::String(), DataType::Integer()};
const std::vector<DataType> kRow = {DataType::Long(), DataType::Timestamp()};

class JoinSideStateTest : public ::testing::Test {
 protected:
  void Open() {
    side_.reset();
    query_ = harness_.OpenQuery();
    JoinSideOptions options{"left", kKey, kRow, false, KeyEventTime{1, false}};
    side_ = JoinSideState::Open(query_, OperatorId(0), PartitionId(0), std::move(options), nullptr).ValueOrDie();
    ASSERT_TRUE(side_->BeginVersion(version_).ok());
  }
  JoinKeys Keys(const std::vector<ValueList>& keys) {
    JoinKeys made;
    const data::Chunk chunk = data::ChunkFromRows(kKey, keys);
    EXPECT_TRUE(data::UnsafeRowWriter(kKey).Write(chunk.columns(), chunk.num_rows(), nullptr, &made.rows).ok());
    for (int64_t i = 0; i < made.size(); ++i) made.hashes.push_back(HashRow(made.rows.row(i)));
    return made;
  }
  void Add(const std::vector<ValueList>& keys, const std::vector<ValueList>& rows) {
    std::vector<DataType> types = kRow;
    types.push_back(DataType::Boolean());
    const data::Chunk chunk = data::ChunkFromRows(types, rows);
    data::RowBatch batch;
    ASSERT_TRUE(data::UnsafeRowWriter(types).Write(chunk.columns(), chunk.num_rows(), nullptr, &batch).ok());
    std::vector<int32_t> all(rows.size());
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int32_t>(i);
    ASSERT_TRUE(side_->Append(Keys(keys), batch, all).ok());
  }
  void Commit() {
    version_ = StateVersion(version_.value() + 1);
    ASSERT_TRUE(side_->Stage(version_).ok());
    while (true) {
      const Result<bool> durable = side_->Finish();
      ASSERT_TRUE(durable.ok()) << durable.status().message();
      if (*durable) break;
      side_->commit_signal()->Wait({});
    }
    ASSERT_TRUE(side_->BeginVersion(version_).ok());
  }
  /// The first column of a key's rows by index, and whether they are matched.
  std::vector<std::pair<int64_t, bool>> Rows(const ValueList& key) {
    std::vector<JoinSideState::Group> groups;
    side_->Find(Keys({key}), &groups);
    std::vector<std::pair<int64_t, bool>> found;
    if (groups[0] == JoinSideState::kNone) return found;
    for (const auto slot : side_->Rows(groups[0])) {
      found.emplace_back(data::UnsafeRowReader({DataType::Long(), DataType::Timestamp(), DataType::Boolean()})
                             .Read(std::vector<std::string_view>{side_->row(slot)})
                             .ValueOrDie()[0]
                             ->GetValue(0)
                             .AsInt64(),
                         side_->matched(slot));
    }
    return found;
  }
  std::vector<int64_t> GiveUp(int64_t bound_us) {
    std::vector<int64_t> gone;
    side_->CollectExpired(bound_us);
    for (std::vector<JoinSideState::Slot> slots;;) {
      side_->DetachExpired(2, &slots);
      if (slots.empty()) return gone;
      for (const auto slot : slots) {
        gone.push_back(data::UnsafeRowReader({DataType::Long(), DataType::Timestamp(), DataType::Boolean()})
                           .Read(std::vector<std::string_view>{side_->row(slot)})
                           .ValueOrDie()[0]
                           ->GetValue(0)
                           .AsInt64());
      }
      side_->Free(slots);
    }
  }
  std::map<std::string, std::string> OnDisk(const std::string& store, std::vector<DataType> key, std::vector<DataType> value) {
    auto member = query_->Open(OperatorId(0), PartitionId(0), store, {std::move(key), std::move(value), true}).ValueOrDie();
    return LoadAll(member->persister(), version_).ValueOrDie();
  }

  /// What the version changed: + for what is put, - for removals, in their order.
  std::string Changes(const std::string& store) {
    std::string text;
    auto member = query_->Open(OperatorId(0), PartitionId(0), store, {}).ValueOrDie();
    EXPECT_TRUE(member->persister().ReadChanges(version_, [&](std::span<const StateChange> all) {
                  for (const StateChange& change : all) text += change.removed ? "-" : "+";
                  return Status::OK();
                }).ok());
    return text;
  }

  StateHarness harness_;
  std::shared_ptr<QueryState> query_;
  std::unique_ptr<JoinSideState> side_;
  StateVersion version_{0};
};

ValueList Key(const std::string& text, int32_t number) { return {Value(text), Value(number)}; }
ValueList Row(int64_t id, int64_t time_us, bool matched = false) { return {Value(id), Value(time_us), Value(matched)}; }
using Found = std::vector<std::pair<int64_t, bool>>;

TEST_F(JoinSideStateTest, RowsOfAKeyAreNumberedInOrderAndSurviveARestart) {
  Open();
  Add({Key("a", 1), Key("b", 1), Key("a", 1)}, {Row(1, 10), Row(2, 20), Row(3, 30, true)});
  EXPECT_EQ(Rows(Key("a", 1)), (Found{{1, false}, {3, true}}));
  EXPECT_EQ(Rows(Key("a", 2)), Found{});
  Commit();
  Open();
  EXPECT_EQ(side_->num_rows(), 3);
  EXPECT_EQ(Rows(Key("a", 1)), (Found{{1, false}, {3, true}}));
  EXPECT_EQ(Rows(Key("b", 1)), (Found{{2, false}}));
}

TEST_F(JoinSideStateTest, TheLastRowTakesThePlaceOfOneThatGoes) {
  Open();
  Add(std::vector<ValueList>(5, Key("a", 1)), {Row(0, 10), Row(1, 90), Row(2, 10), Row(3, 80), Row(4, 10)});
  Commit();
  // Index 0 goes and 4 moves there; it has expired as well, so 3 moves there; then 2 goes, being the last.
  EXPECT_EQ(GiveUp(10), (std::vector<int64_t>{0, 4, 2}));
  EXPECT_EQ(Rows(Key("a", 1)), (Found{{3, false}, {1, false}}));
  Commit();
  Open();
  EXPECT_EQ(Rows(Key("a", 1)), (Found{{3, false}, {1, false}}));
  EXPECT_EQ(GiveUp(100).size(), 2U);
  Commit();
  Open();
  EXPECT_EQ(side_->num_rows(), 0);
}

TEST_F(JoinSideStateTest, StoresHaveSparksForm) {
  Open();
  Add({{Value(), Value(7)}, Key("some text", 7)}, {Row(1, 10), Row(2, 20)});
  Commit();
  const IndexedKeyFormat format(kKey);
  const auto rows = OnDisk("left-keyWithIndexToValue", format.types(), {DataType::Long(), DataType::Timestamp(), DataType::Boolean()});
  const auto counts = OnDisk("left-keyToNumValues", kKey, {DataType::Long()});
  ASSERT_EQ(rows.size(), 2U);
  ASSERT_EQ(counts.size(), 2U);
  const data::Chunk keys = data::ChunkFromRows(format.types(), {{Value(), Value(7), Value(int64_t{0})},
                                                               {Value("some text"), Value(7), Value(int64_t{0})}});
  data::RowBatch expected;
  ASSERT_TRUE(data::UnsafeRowWriter(format.types()).Write(keys.columns(), 2, nullptr, &expected).ok());
  EXPECT_EQ(rows.count(std::string(expected.row(0))), 1U);
  EXPECT_EQ(rows.count(std::string(expected.row(1))), 1U);
}

// As Spark 4.2.0 leaves it (make handover, join-file): rows that came and went are removals, a count is put again though it is the same.
TEST_F(JoinSideStateTest, WhatCameAndWentInOneVersionIsARemoval) {
  Open();
  Add({Key("a", 1), Key("a", 1)}, {Row(1, 10), Row(2, 20)});
  EXPECT_EQ(GiveUp(15), (std::vector<int64_t>{1}));
  Add({Key("c", 1)}, {Row(3, 30)});
  Commit();
  EXPECT_EQ(Changes("left-keyWithIndexToValue"), "-++");
  EXPECT_EQ(Changes("left-keyToNumValues"), "++");
  Open();
  EXPECT_EQ(side_->num_rows(), 2);
  EXPECT_EQ(Rows(Key("a", 1)), (Found{{2, false}}));
  EXPECT_EQ(OnDisk("left-keyToNumValues", kKey, {DataType::Long()}).size(), 2U);
  Add({Key("a", 1), Key("d", 1)}, {Row(4, 40), Row(5, 20)});
  EXPECT_EQ(GiveUp(20), (std::vector<int64_t>{5, 2}));
  Commit();
  EXPECT_EQ(Changes("left-keyWithIndexToValue"), "--+") << "d's row, index 1 of a; index 0 of a";
  EXPECT_EQ(Changes("left-keyToNumValues"), "+-") << "a has one row as before, d none";
  Open();
  EXPECT_EQ(Rows(Key("a", 1)), (Found{{4, false}}));
}

TEST_F(JoinSideStateTest, TheDiskHoldsWhatMemoryHolds) {
  Random random(42);
  std::map<std::pair<std::string, int32_t>, std::map<int64_t, int64_t>> model;  // key -> id -> time
  Open();
  int64_t id = 0;
  for (int version = 0; version < 40; ++version) {
    std::vector<ValueList> keys;
    std::vector<ValueList> rows;
    for (uint64_t i = random.NextBelow(20); i > 0; --i) {
      const auto number = static_cast<int32_t>(random.NextBelow(3));
      const std::string text(1 + random.NextBelow(2) * 9, static_cast<char>('a' + random.NextBelow(3)));
      const int64_t time = version * 10 + static_cast<int64_t>(random.NextBelow(60'000'000));
      keys.push_back(Key(text, number));
      rows.push_back(Row(++id, time));
      model[{text, number}][id] = time;
    }
    if (!rows.empty()) Add(keys, rows);
    const auto bound = static_cast<int64_t>(random.NextBelow(3) == 0 ? random.NextBelow(40'000'000) : 0);
    size_t expected = 0;
    for (auto& [key, of_key] : model) expected += std::erase_if(of_key, [&](const auto& row) { return row.second <= bound; });
    EXPECT_EQ(GiveUp(bound).size(), expected);
    if (random.NextBelow(4) > 0) Commit();
    if (random.NextBelow(5) == 0) {
      Commit();
      Open();
    }
    for (const auto& [key, of_key] : model) {
      std::vector<int64_t> ids;
      for (const auto& [row, matched] : Rows(Key(key.first, key.second))) ids.push_back(row);
      std::sort(ids.begin(), ids.end());
      std::vector<int64_t> right;
      for (const auto& [row, time] : of_key) right.push_back(row);
      ASSERT_EQ(ids, right) << key.first << key.second << " in version " << version;
    }
  }
}

}  // namespace
}  // namespace thalweg::engine
