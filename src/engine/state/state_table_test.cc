#include "engine/state/state_table.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <set>

#include "base/random.h"
#include "data/columnar/builder.h"
#include "data/columnar/chunk.h"
#include "data/columnar/random_column.h"
#include "data/rowformat/unsafe_row_reader.h"
#include "data/rowformat/unsafe_row_writer.h"
#include "engine/state/state_test_support.h"

namespace thalweg::engine {
namespace {

using Slot = StateTable::Slot;

// count(*): one bigint.
class CountPayload final : public StatePayload {
 public:
  int size() const override { return 8; }
  Status Encode(std::span<uint8_t* const> payloads, data::RowBatch* values) override {
    data::FixedBuilder<int64_t> builder(data::DataType::Long());
    for (const uint8_t* payload : payloads) builder.Append(*reinterpret_cast<const int64_t*>(payload));
    const data::ColumnPtr column = builder.Finish();
    return data::UnsafeRowWriter({data::DataType::Long()}).Write({&column, 1}, column->length(), nullptr, values);
  }
  Status Decode(std::span<const std::string_view> values, std::span<uint8_t* const> payloads) override {
    TW_ASSIGN_OR_RETURN(const auto columns, data::UnsafeRowReader({data::DataType::Long()}).Read(values));
    for (size_t i = 0; i < payloads.size(); ++i) {
      *reinterpret_cast<int64_t*>(payloads[i]) = columns[0]->values<int64_t>()[i];
    }
    return Status::OK();
  }
};

// The last text: owns memory beyond its bytes; `alive` counts it.
class TextPayload final : public StatePayload {
 public:
  explicit TextPayload(int64_t* alive) : alive_(alive) {}
  int size() const override { return 8; }
  void Init(std::span<uint8_t* const> payloads) override {
    for (uint8_t* payload : payloads) At(payload) = new std::string();
    *alive_ += static_cast<int64_t>(payloads.size());
  }
  void Destroy(std::span<uint8_t* const> payloads) override {
    for (uint8_t* payload : payloads) delete At(payload);
    *alive_ -= static_cast<int64_t>(payloads.size());
  }
  Status Encode(std::span<uint8_t* const> payloads, data::RowBatch* values) override {
    data::TextBuilder builder(data::DataType::String());
    for (uint8_t* payload : payloads) builder.Append(*At(payload));
    const data::ColumnPtr column = builder.Finish();
    return data::UnsafeRowWriter({data::DataType::String()}).Write({&column, 1}, column->length(), nullptr, values);
  }
  Status Decode(std::span<const std::string_view> values, std::span<uint8_t* const> payloads) override {
    TW_ASSIGN_OR_RETURN(const auto columns, data::UnsafeRowReader({data::DataType::String()}).Read(values));
    for (size_t i = 0; i < payloads.size(); ++i) *At(payloads[i]) = columns[0]->values<data::TextView>()[i].view();
    return Status::OK();
  }
  static std::string*& At(uint8_t* payload) { return *reinterpret_cast<std::string**>(payload); }

 private:
  int64_t* alive_;
};

// expiresAtMicros of deduplication within the watermark.
class ExpiryPayload final : public StatePayload {
 public:
  int size() const override { return 8; }
  Status Encode(std::span<uint8_t* const> payloads, data::RowBatch* values) override {
    return CountPayload().Encode(payloads, values);
  }
  Status Decode(std::span<const std::string_view> values, std::span<uint8_t* const> payloads) override {
    return CountPayload().Decode(values, payloads);
  }
  bool EventTimes(std::span<uint8_t* const> payloads, std::span<int64_t> times) override {
    for (size_t i = 0; i < payloads.size(); ++i) times[i] = *reinterpret_cast<const int64_t*>(payloads[i]);
    return true;
  }
};

std::unique_ptr<StateTable> OpenTable(const std::shared_ptr<QueryState>& query, StateTableOptions options,
                                      std::unique_ptr<StatePayload> payload = std::make_unique<CountPayload>(),
                                      MemoryAccount* memory = nullptr) {
  return StateTable::Open(query, OperatorId(0), PartitionId(0), std::move(options), std::move(payload), memory)
      .ValueOrDie();
}

// What a key counts as in the reference: the text of its values, with floats as state normalises them.
std::string FloatText(double value) { return value != value ? "nan" : fmt::format("{:a}", value == 0 ? 0.0 : value); }

std::string KeyText(const data::Value& value) {
  if (const auto* d = value.get_if<double>()) return FloatText(*d);
  if (const auto* f = value.get_if<float>()) return FloatText(*f);
  if (const auto* s = value.get_if<std::string>()) return "'" + *s + "'";
  if (const auto* list = value.get_if<data::ValueList>()) {
    std::string text = "[";
    for (const auto& item : *list) text += KeyText(item) + ",";
    return text + "]";
  }
  if (const auto* big = value.get_if<data::Int128>()) {
    return std::to_string(static_cast<int64_t>(*big >> 64)) + ":" + std::to_string(static_cast<uint64_t>(*big));
  }
  if (const auto* interval = value.get_if<data::CalendarInterval>()) {
    return std::to_string(interval->months) + "/" + std::to_string(interval->days) + "/" +
           std::to_string(interval->microseconds);
  }
  if (const auto* flag = value.get_if<bool>()) return *flag ? "true" : "false";
  return value.is_null() ? "null" : std::to_string(value.AsInt64());
}

std::string KeyText(const std::vector<data::ColumnPtr>& columns, int64_t row) {
  std::string text;
  for (const auto& column : columns) text += KeyText(column->GetValue(row)) + "|";
  return text;
}

std::map<std::string, int64_t> Contents(const StateTable& table) {
  std::map<std::string, int64_t> contents;
  uint64_t cursor = 0;
  std::vector<Slot> slots;
  for (table.Scan(&cursor, 100, &slots); !slots.empty(); table.Scan(&cursor, 100, &slots)) {
    const auto keys = table.Keys(slots).ValueOrDie();
    for (size_t i = 0; i < slots.size(); ++i) {
      contents[KeyText(keys, static_cast<int64_t>(i))] = *reinterpret_cast<int64_t*>(table.payload(slots[i]));
    }
  }
  return contents;
}

class StateTableProperty : public testing::TestWithParam<uint64_t> {};

// Counting against a map, over micro-batches with removals, aborts and restarts.
TEST_P(StateTableProperty, CountsAsAMapDoes) {
  Random random(GetParam());
  for (int round = 0; round < 12; ++round) {
    std::vector<data::DataType> key_types;
    for (uint64_t i = 1 + random.NextBelow(3); i > 0; --i) {
      data::DataType type = data::RandomType(random, round % 3 == 0 ? 2 : 0);
      while (type.physical() == data::PhysicalType::kMap) type = data::RandomType(random, 0);
      key_types.push_back(type);
    }
    StateHarness harness;
    auto query = harness.OpenQuery();
    auto table = OpenTable(query, {.key_types = key_types, .value_types = {data::DataType::Long()}});
    std::map<std::string, int64_t> committed;
    int64_t version = 0;
    for (int batch = 0; batch < 10; ++batch) {
      if (random.NextBelow(4) == 0) {  // a restart
        table.reset();
        query.reset();
        query = harness.OpenQuery();
        table = OpenTable(query, {.key_types = key_types, .value_types = {data::DataType::Long()}});
      }
      ASSERT_TRUE(table->BeginVersion(StateVersion(version)).ok());
      ASSERT_EQ(Contents(*table), committed);
      std::map<std::string, int64_t> expected = committed;
      std::set<std::string> touched;
      std::vector<Slot> slots;
      for (int chunk = 0; chunk < 3; ++chunk) {
        std::vector<data::ColumnPtr> keys;
        for (const auto& type : key_types) keys.push_back(data::RandomColumn(random, type, 50));
        std::vector<int32_t> rows(random.NextBelow(70));
        for (int32_t& row : rows) row = static_cast<int32_t>(random.NextBelow(50));
        std::vector<uint8_t> inserted;
        ASSERT_TRUE(table->FindOrInsert(keys, 50, &rows, &slots, &inserted).ok());
        for (size_t i = 0; i < rows.size(); ++i) {
          const std::string key = KeyText(keys, rows[i]);
          ASSERT_EQ(inserted[i] != 0, !expected.contains(key)) << key;
          ASSERT_EQ(++*reinterpret_cast<int64_t*>(table->payload(slots[i])), ++expected[key]);
          touched.insert(key);
        }
        table->MarkChanged(slots);
        std::vector<Slot> found;
        ASSERT_TRUE(table->Find(keys, 50, &rows, &found).ok());
        ASSERT_EQ(found, slots);
      }
      const auto updated = static_cast<int64_t>(touched.size());
      // Removes some of everything, changed or not.
      uint64_t cursor = 0;
      std::vector<Slot> all;
      table->Scan(&cursor, 1'000'000, &all);
      std::vector<Slot> doomed;
      for (const Slot slot : all) {
        if (random.NextBelow(5) == 0) doomed.push_back(slot);
      }
      const auto doomed_keys = table->Keys(doomed).ValueOrDie();
      for (size_t i = 0; i < doomed.size(); ++i) {
        const std::string key = KeyText(doomed_keys, static_cast<int64_t>(i));
        ASSERT_EQ(expected.erase(key), 1U);
        touched.erase(key);
      }
      table->Remove(doomed);
      ASSERT_EQ(table->ChangedSlots().size(), touched.size());
      if (random.NextBelow(4) == 0) {
        table->Abort();
        continue;
      }
      ASSERT_TRUE(CommitAndWait(*table, StateVersion(++version)).ok());
      EXPECT_EQ(table->metrics().num_rows_updated, updated);
      EXPECT_EQ(table->metrics().num_rows_removed, static_cast<int64_t>(doomed.size()));
      EXPECT_EQ(table->metrics().num_rows_total, static_cast<int64_t>(expected.size()));
      committed = std::move(expected);
      if (random.NextBelow(5) == 0) {
        ASSERT_TRUE(harness.services.MaintainAll(true).ok());
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, StateTableProperty, testing::Range<uint64_t>(1, 7));

data::Chunk Longs(const std::vector<std::optional<int64_t>>& values, const data::DataType& type = data::DataType::Long()) {
  std::vector<data::ValueList> rows;
  for (const auto& value : values) rows.push_back({value ? data::Value(*value) : data::Value()});
  return data::ChunkFromRows({type}, rows);
}

TEST(StateTable, NullZeroAndNanAreKeys) {
  StateHarness harness;
  auto table = OpenTable(harness.OpenQuery(), {.key_types = {data::DataType::Double()}});
  ASSERT_TRUE(table->BeginVersion(StateVersion(0)).ok());
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const data::Chunk chunk = data::ChunkFromRows(
      {data::DataType::Double()},
      {{data::Value(0.0)}, {data::Value(-0.0)}, {data::Value(nan)}, {data::Value(-nan)}, {data::Value()}, {data::Value()}});
  std::vector<Slot> slots;
  ASSERT_TRUE(table->FindOrInsert(chunk.columns(), 6, nullptr, &slots).ok());
  EXPECT_EQ(table->num_entries(), 3);
  EXPECT_EQ(slots[0], slots[1]);
  EXPECT_EQ(slots[2], slots[3]);
  EXPECT_EQ(slots[4], slots[5]);
  const auto keys = table->Keys(slots).ValueOrDie();
  EXPECT_TRUE(keys[0]->GetValue(1) == data::Value(0.0));
  EXPECT_TRUE(keys[0]->IsNull(4));
}

TEST(StateTable, KeysWithoutColumnsAreOneEntry) {
  StateHarness harness;
  auto table = OpenTable(harness.OpenQuery(), {.key_types = {}});
  ASSERT_TRUE(table->BeginVersion(StateVersion(0)).ok());
  std::vector<Slot> slots;
  ASSERT_TRUE(table->FindOrInsert({}, 3, nullptr, &slots).ok());
  EXPECT_EQ(table->num_entries(), 1);
  table->MarkChanged(slots);
  ASSERT_TRUE(CommitAndWait(*table, StateVersion(1)).ok());
  table->Abort();
  ASSERT_TRUE(table->BeginVersion(StateVersion(1)).ok());
  EXPECT_EQ(table->num_entries(), 1);
}

TEST(StateTable, ExpiredKeysComeInOrderOfTime) {
  StateHarness harness;
  auto query = harness.OpenQuery();
  const StateTableOptions options{.key_types = {data::DataType::Timestamp()}, .event_time = KeyEventTime{.column = 0}};
  auto table = OpenTable(query, options);
  ASSERT_TRUE(table->BeginVersion(StateVersion(0)).ok());
  Random random(4);
  std::vector<std::optional<int64_t>> times = {std::nullopt};
  for (int i = 0; i < 1000; ++i) times.push_back(1 + static_cast<int64_t>(random.NextBelow(5000)));
  std::vector<Slot> slots;
  const data::Chunk chunk = Longs(times, data::DataType::Timestamp());
  ASSERT_TRUE(table->FindOrInsert(chunk.columns(), chunk.num_rows(), nullptr, &slots).ok());
  table->MarkChanged(slots);
  const std::set<std::optional<int64_t>> distinct(times.begin(), times.end());
  for (const bool reloaded : {false, true}) {
    if (reloaded) {
      table->Abort();
      ASSERT_TRUE(table->BeginVersion(StateVersion(1)).ok());
    } else {
      ASSERT_TRUE(CommitAndWait(*table, StateVersion(1)).ok());
    }
    std::vector<int64_t> taken;
    std::vector<Slot> expired;
    for (table->TakeExpired(2500, 64, &expired); !expired.empty(); table->TakeExpired(2500, 64, &expired)) {
      for (const Slot slot : expired) taken.push_back(table->EventTime(slot));
      table->Remove(expired);
    }
    EXPECT_TRUE(std::is_sorted(taken.begin(), taken.end()));
    EXPECT_EQ(static_cast<int64_t>(taken.size()), std::count_if(distinct.begin(), distinct.end(), [](const auto& time) {
                return time.has_value() && *time <= 2500;
              }));
    EXPECT_EQ(table->num_entries() + static_cast<int64_t>(taken.size()), static_cast<int64_t>(distinct.size()));
  }
}

TEST(StateTable, WindowsExpireByTheirEnd) {
  StateHarness harness;
  const data::DataType window = data::DataType::Struct(
      {{.name = "start", .type = data::DataType::Timestamp()}, {.name = "end", .type = data::DataType::Timestamp()}});
  auto table = OpenTable(harness.OpenQuery(), {.key_types = {data::DataType::String(), window},
                                               .event_time = KeyEventTime{.column = 1, .window_end = true}});
  ASSERT_TRUE(table->BeginVersion(StateVersion(0)).ok());
  const auto row = [](const char* k, int64_t start) {
    return data::ValueList{data::Value(std::string(k)),
                           data::Value(data::ValueList{data::Value(start), data::Value(start + 10)})};
  };
  const data::Chunk chunk = data::ChunkFromRows({data::DataType::String(), window},
                                                {row("a key of more than twelve bytes", 20), row("b", 0), row("b", 10)});
  std::vector<Slot> slots;
  ASSERT_TRUE(table->FindOrInsert(chunk.columns(), 3, nullptr, &slots).ok());
  std::vector<Slot> expired;
  table->TakeExpired(20, 10, &expired);
  EXPECT_EQ(expired, (std::vector<Slot>{slots[1], slots[2]}));
  EXPECT_EQ(table->EventTime(slots[0]), 30);
}

TEST(StateTable, PayloadsMayHoldTheTime) {
  StateHarness harness;
  auto query = harness.OpenQuery();
  const StateTableOptions options{.key_types = {data::DataType::Long()}};
  auto table = OpenTable(query, options, std::make_unique<ExpiryPayload>());
  ASSERT_TRUE(table->BeginVersion(StateVersion(0)).ok());
  std::vector<Slot> slots;
  const data::Chunk chunk = Longs({1, 2, 3});
  ASSERT_TRUE(table->FindOrInsert(chunk.columns(), 3, nullptr, &slots).ok());
  const std::vector<int64_t> times = {30, 10, 20};
  for (size_t i = 0; i < 3; ++i) *reinterpret_cast<int64_t*>(table->payload(slots[i])) = times[i];
  table->Schedule(slots, times);
  table->MarkChanged(slots);
  ASSERT_TRUE(CommitAndWait(*table, StateVersion(1)).ok());
  const std::vector<int64_t> later = {40};
  table->Schedule({slots.data() + 1, 1}, later);
  std::vector<Slot> expired;
  table->TakeExpired(25, 10, &expired);
  EXPECT_EQ(expired, (std::vector<Slot>{slots[2]})) << "the older place of the second does not count";
  table->Abort();
  ASSERT_TRUE(table->BeginVersion(StateVersion(1)).ok());
  table->TakeExpired(25, 10, &expired);
  EXPECT_EQ(expired.size(), 2U) << "read back with the times of the version";
}

TEST(StateTable, PayloadsThatOwnMemoryAreDestroyedOnce) {
  int64_t alive = 0;
  {
    StateHarness harness;
    auto query = harness.OpenQuery();
    const StateTableOptions options{.key_types = {data::DataType::Long()}, .value_types = {data::DataType::String()}};
    auto table = OpenTable(query, options, std::make_unique<TextPayload>(&alive));
    ASSERT_TRUE(table->BeginVersion(StateVersion(0)).ok());
    std::vector<Slot> slots;
    const data::Chunk chunk = Longs({1, 2, 3, 2});
    ASSERT_TRUE(table->FindOrInsert(chunk.columns(), 4, nullptr, &slots).ok());
    EXPECT_EQ(alive, 3);
    *TextPayload::At(table->payload(slots[1])) = "a text that is long enough to be allocated";
    table->MarkChanged(slots);
    table->Remove({slots.data(), 1});
    EXPECT_EQ(alive, 2);
    ASSERT_TRUE(CommitAndWait(*table, StateVersion(1)).ok());
    table->Abort();
    ASSERT_TRUE(table->BeginVersion(StateVersion(1)).ok());
    EXPECT_EQ(alive, 2);
    ASSERT_TRUE(table->Find(chunk.columns(), 4, nullptr, &slots).ok());
    EXPECT_EQ(slots[0], StateTable::kNoSlot);
    EXPECT_EQ(*TextPayload::At(table->payload(slots[1])), "a text that is long enough to be allocated");
  }
  EXPECT_EQ(alive, 0);
}

TEST(StateTable, AnEntryOfEightAndEightBytesTakesLessThan64) {
  StateHarness harness;
  MemoryAccount account("query", nullptr);
  auto table = OpenTable(harness.OpenQuery(), {.key_types = {data::DataType::Long()}}, std::make_unique<CountPayload>(),
                         &account);
  ASSERT_TRUE(table->BeginVersion(StateVersion(0)).ok());
  constexpr int64_t kEntries = 1'000'000;
  std::vector<Slot> slots;
  for (int64_t begin = 0; begin < kEntries; begin += 4000) {
    data::FixedBuilder<int64_t> builder(data::DataType::Long());
    for (int64_t i = begin; i < begin + 4000; ++i) builder.Append(i * 7919);
    const data::ColumnPtr column = builder.Finish();
    ASSERT_TRUE(table->FindOrInsert({&column, 1}, 4000, nullptr, &slots).ok());
  }
  EXPECT_EQ(table->num_entries(), kEntries);
  EXPECT_LT(table->memory_bytes(), 40 * kEntries);
  EXPECT_NEAR(static_cast<double>(account.used_bytes()), static_cast<double>(table->memory_bytes()), 70'000);
}

TEST(StateTable, OverBudgetNothingIsCommitted) {
  StateHarness harness;
  MemoryAccount account("query", nullptr, 1 << 20);
  auto query = harness.OpenQuery();
  auto table =
      OpenTable(query, {.key_types = {data::DataType::Long()}}, std::make_unique<CountPayload>(), &account);
  ASSERT_TRUE(table->BeginVersion(StateVersion(0)).ok());
  data::FixedBuilder<int64_t> builder(data::DataType::Long());
  for (int64_t i = 0; i < 100'000; ++i) builder.Append(i);
  const data::ColumnPtr column = builder.Finish();
  std::vector<Slot> slots;
  EXPECT_EQ(table->FindOrInsert({&column, 1}, 100'000, nullptr, &slots).condition(), "OUT_OF_MEMORY");
  table->Abort();
  EXPECT_FALSE(harness.files.Exists("/ckpt/state/0/0/1.delta").ValueOrDie());
}

}  // namespace
}  // namespace thalweg::engine
