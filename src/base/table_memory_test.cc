// Promise: memory is zeroed, aligned and as large as asked, small and huge; a move leaves nothing behind.
#include "base/table_memory.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace thalweg {
namespace {

TEST(TableMemory, IsZeroedAndStartsAtACacheLine) {
  for (const size_t bytes : {size_t{1}, size_t{1000}, TableMemory::kHugeBytes - 8, TableMemory::kHugeBytes, 3 * TableMemory::kHugeBytes + 5}) {
    const TableMemory memory(bytes);
    ASSERT_GE(memory.bytes(), bytes);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.data()) % 64, 0u);
    EXPECT_TRUE(std::all_of(memory.data(), memory.data() + bytes, [](uint8_t byte) { return byte == 0; }));
    std::fill(memory.data(), memory.data() + memory.bytes(), uint8_t{7});  // all of it may be written
  }
}

TEST(TableMemory, HugeOnesStartAtAHugePage) {
  const TableMemory memory(5 * TableMemory::kHugeBytes);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(memory.data()) % TableMemory::kHugeBytes, 0u);
}

TEST(TableMemory, AMoveTakesEverything) {
  TableMemory from(100);
  uint8_t* const data = from.data();
  TableMemory to(TableMemory::kHugeBytes);
  to = std::move(from);
  EXPECT_EQ(to.data(), data);
  EXPECT_EQ(to.bytes(), 100u);
  EXPECT_EQ(from.data(), nullptr);  // NOLINT(bugprone-use-after-move)
  EXPECT_EQ(TableMemory().data(), nullptr);
}

}  // namespace
}  // namespace thalweg
