#include "engine/exec/operators/sort.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "base/random.h"
#include "data/columnar/builder.h"
#include "data/columnar/random_column.h"
#include "engine/exec/testing.h"

namespace thalweg::engine {
namespace {

using data::DataType;
using data::Value;

int NaiveCompare(const Value& a, const Value& b, bool nulls_first);

/// Order of two values written down once more, by variant.
int NaiveValues(const Value& a, const Value& b) {
  return std::visit(
      [&](const auto& x) -> int {
        using T = std::decay_t<decltype(x)>;
        const auto& y = b.get<T>();
        if constexpr (std::is_same_v<T, data::ValueList>) {
          for (size_t i = 0; i < std::min(x.size(), y.size()); ++i) {
            const int order = NaiveCompare(x[i], y[i], true);
            if (order != 0) return order;
          }
          return x.size() < y.size() ? -1 : x.size() > y.size();
        } else if constexpr (std::is_floating_point_v<T>) {
          if (x != x || y != y) return x != x ? (y != y ? 0 : 1) : -1;
          return x < y ? -1 : x > y;
        } else if constexpr (std::is_same_v<T, std::monostate> || std::is_same_v<T, data::CalendarInterval>) {
          return 0;
        } else {
          return x < y ? -1 : y < x;
        }
      },
      a.variant());
}

int NaiveCompare(const Value& a, const Value& b, bool nulls_first) {
  if (a.is_null() || b.is_null()) {
    if (a.is_null() && b.is_null()) return 0;
    return a.is_null() == nulls_first ? -1 : 1;
  }
  return NaiveValues(a, b);
}

void CheckSort(uint64_t seed, const std::vector<DataType>& types, int64_t limit, int runs) {
  Random random(seed);
  std::vector<SortKey> keys;
  for (size_t i = 0; i < types.size(); ++i) keys.push_back({static_cast<int>(i), types[i], random.NextBelow(2) == 0, random.NextBelow(2) == 0});
  std::vector<DataType> all = types;
  all.push_back(DataType::Long());
  std::vector<data::ValueList> rows;
  std::vector<data::Chunk> chunks;
  int64_t number = 0;
  const auto less = [&](const data::ValueList& a, const data::ValueList& b) {
    for (size_t k = 0; k < keys.size(); ++k) {
      const bool null = a[k].is_null() || b[k].is_null();
      const int order = NaiveCompare(a[k], b[k], keys[k].nulls_first);
      if (order != 0) return (order < 0) == (null || keys[k].ascending);
    }
    return false;
  };
  for (int c = 0; c < 6; ++c) {
    const int64_t count = 1 + static_cast<int64_t>(random.NextBelow(500));
    std::vector<data::ValueList> part(count);
    for (const DataType& type : types) {
      const auto column = data::RandomColumn(random, type, count);
      for (int64_t i = 0; i < count; ++i) part[i].push_back(column->GetValue(i));
    }
    if (runs > 0) std::stable_sort(part.begin(), part.end(), less);
    for (auto& row : part) row.push_back(Value(number++));
    chunks.push_back(data::ChunkFromRows(all, part));
    rows.insert(rows.end(), part.begin(), part.end());
  }
  std::stable_sort(rows.begin(), rows.end(), less);
  if (static_cast<int64_t>(rows.size()) > limit) rows.resize(limit);

  auto source = testing::Node("Source", {}, 1, [chunks](PartitionId) -> Result<std::unique_ptr<Operator>> {
    return std::make_unique<testing::ChunkSource>(chunks);
  });
  const auto sort = testing::Node("Sort", {{source, Distribution::kSame, {}}}, 1,
                                  [keys, all, limit](PartitionId) -> Result<std::unique_ptr<Operator>> {
                                    return std::make_unique<Sort>(keys, all, limit);
                                  });
  std::vector<int64_t> actual;
  for (const auto& chunk : testing::RunPlan(testing::Plan(sort)).ValueOrDie()) {
    const auto part = testing::Longs(chunk, static_cast<int>(types.size()));
    actual.insert(actual.end(), part.begin(), part.end());
  }
  std::vector<int64_t> expected;
  for (const auto& row : rows) expected.push_back(row.back().AsInt64());
  ASSERT_EQ(actual, expected);
}

TEST(Sort, AgreesWithAStableSortForEveryType) {
  uint64_t seed = 7;
  for (const DataType& type : data::EveryScalarType()) {
    if (!type.IsOrderable() || !CheckSortable(type).ok()) continue;
    SCOPED_TRACE(type.Sql());
    CheckSort(++seed, {type}, INT64_MAX, 0);
    CheckSort(++seed, {type}, INT64_MAX, 1);
    CheckSort(++seed, {DataType::Boolean(), type, DataType::String()}, INT64_MAX, 0);
    CheckSort(++seed, {type, DataType::Byte()}, 10, 0);
  }
}

TEST(Sort, NestedKeys) {
  CheckSort(1, {DataType::Array(DataType::Integer())}, INT64_MAX, 0);
  CheckSort(2, {DataType::Struct({{"a", DataType::String(), true, "{}"}, {"b", DataType::Double(), true, "{}"}})}, INT64_MAX, 0);
  CheckSort(3, {DataType::Boolean(), DataType::Array(DataType::Array(DataType::String()))}, 100, 1);
}

TEST(Sort, LimitedSortHoldsLittle) {
  MemoryAccount account("test", nullptr);
  Sorter sorter({{0, DataType::Long(), false, false}}, {DataType::Long()}, 5, MemoryReservation(account));
  int64_t value = 0;
  for (int chunk = 0; chunk < 500; ++chunk) {
    std::vector<int64_t> values(4096);
    for (int64_t& v : values) v = (value++ * 7919) % 2'048'000;
    ASSERT_TRUE(sorter.Add(testing::LongChunk(values)).ok());
  }
  ASSERT_TRUE(sorter.Finish().ok());
  EXPECT_EQ(testing::Longs(*sorter.Next()), (std::vector<int64_t>{2047999, 2047998, 2047997, 2047996, 2047995}));
  EXPECT_LT(account.peak_bytes(), 4 << 20);
  EXPECT_EQ(account.used_bytes(), 0);
}

TEST(Sort, ChargesAndFailsByName) {
  MemoryAccount account("query", nullptr, 100'000);
  Sorter sorter({{0, DataType::Long(), true, true}}, {DataType::Long()}, INT64_MAX, MemoryReservation(account));
  Status status;
  for (int i = 0; i < 100 && status.ok(); ++i) status = sorter.Add(testing::LongChunk(std::vector<int64_t>(4096, i)));
  EXPECT_EQ(status.condition(), "OUT_OF_MEMORY");
}

}  // namespace
}  // namespace thalweg::engine
