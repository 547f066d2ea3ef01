#include "engine/state/row_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <unordered_map>

#include "base/random.h"

namespace thalweg::engine {
namespace {

std::string RandomBytes(Random& random, size_t most) {
  std::string bytes(random.NextBelow(most), '\0');
  for (char& byte : bytes) byte = static_cast<char>(random.NextUint64());
  return bytes;
}

void ExpectSame(const RowMap& map, const std::map<std::string, std::string>& expected) {
  ASSERT_EQ(map.size(), static_cast<int64_t>(expected.size()));
  std::map<std::string, std::string> held;
  for (RowMap::Slot slot = 0; slot < map.slot_end(); ++slot) {
    if (map.live(slot)) held.emplace(map.key(slot), map.value(slot));
  }
  ASSERT_TRUE(held == expected);
}

TEST(RowMap, BehavesAsAMapOfStrings) {
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    Random random(seed);
    RowMap map;
    std::map<std::string, std::string> expected;
    const uint64_t keys = seed == 5 ? 60'000 : 300;  // the larger one splits the index
    for (int i = 0; i < 100'000; ++i) {
      const std::string key = "key " + std::to_string(random.NextBelow(keys));
      if (random.NextBelow(3) > 0) {
        const std::string value = RandomBytes(random, 40);
        bool inserted = false;
        map.Put(key, value, &inserted);
        ASSERT_EQ(inserted, expected.insert_or_assign(key, value).second);
      } else {
        const RowMap::Slot slot = map.Find(key);
        ASSERT_EQ(slot != RowMap::kNoSlot, expected.erase(key) == 1);
        if (slot != RowMap::kNoSlot) map.Remove(slot);
      }
    }
    ExpectSame(map, expected);
    for (const auto& [key, value] : expected) ASSERT_EQ(map.value(map.Find(key)), value);
    EXPECT_EQ(map.Find("no such key"), RowMap::kNoSlot);
  }
}

TEST(RowMap, RemovedBytesAreGivenBack) {
  Random random(3);
  RowMap map;
  std::map<std::string, std::string> expected;
  for (int i = 0; i < 200'000; ++i) {
    const std::string key = "a key of some length " + std::to_string(i);
    map.Put(key, std::string(60, 'v'));
    if (i % 50 == 0) expected[key] = std::string(60, 'v');
  }
  const int64_t full = map.memory_bytes();
  for (int i = 0; i < 200'000; ++i) {
    if (i % 50 != 0) map.Remove(map.Find("a key of some length " + std::to_string(i)));
  }
  ExpectSame(map, expected);
  EXPECT_LT(map.memory_bytes(), full / 3) << "sparse pages are rewritten";
}

TEST(RowMap, ValuesGrowInPlaceOrMove) {
  RowMap map;
  map.Put("k", "12345678");
  map.Put("k", std::string(100'000, 'x'));
  EXPECT_EQ(map.value(map.Find("k")).size(), 100'000U);
  map.Put("k", "");
  EXPECT_EQ(map.value(map.Find("k")), "");
  EXPECT_EQ(map.size(), 1);
  map.Put("", "empty key");
  EXPECT_EQ(map.value(map.Find("")), "empty key");
}

TEST(RowMap, PlacesThatGrowingValuesLeaveAreUsedAgain) {
  RowMap map;
  RowMap fresh;
  // Some values of each round stay as they are, so that no page is left by all.
  for (int round = 0; round < 5; ++round) {
    for (int i = 0; i < 100'000; ++i) {
      if (i % 8 >= round) map.Put("key " + std::to_string(i), std::string(8 * (round + 1), 'v'));
    }
  }
  for (int i = 0; i < 100'000; ++i) fresh.Put("key " + std::to_string(i), std::string(8 * (std::min(i % 8, 4) + 1), 'v'));
  EXPECT_LT(map.memory_bytes(), fresh.memory_bytes() * 9 / 4);
}

TEST(HashIndex, ManyEntriesOfOneHashAreKeptApart) {
  HashIndex index;
  const auto hash_of = [](uint32_t) { return uint64_t{77}; };
  for (uint32_t slot = 0; slot < 500; ++slot) index.Insert(77, slot, hash_of);
  for (uint32_t slot = 0; slot < 500; slot += 2) index.Erase(77, slot);
  for (uint32_t slot = 0; slot < 500; ++slot) {
    const uint32_t found = index.Find(77, [&](uint32_t other) { return other == slot; });
    EXPECT_EQ(found, slot % 2 == 0 ? HashIndex::kNone : slot);
  }
  EXPECT_EQ(index.size(), 250);
}

}  // namespace
}  // namespace thalweg::engine
