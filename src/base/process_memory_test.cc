#include "base/process_memory.h"

#include <gtest/gtest.h>

#include "base/no_throw.h"

namespace thalweg {
namespace {

TEST(ProcessMemory, LargeRequestsAreMeasuredAgainstTheLimit) {
  EXPECT_GT(ProcessMemoryUsed(), 0);
  EXPECT_GT(ProcessMemoryLimit(), ProcessMemoryUsed());
  SetProcessMemoryLimit(ProcessMemoryUsed() + (int64_t{64} << 20));
  EXPECT_TRUE(ProcessMemoryPermits(kLargeAllocation));
  EXPECT_FALSE(ProcessMemoryPermits(int64_t{1} << 40));
  SetProcessMemoryLimit(1);
  EXPECT_TRUE(ProcessMemoryPermits(1000));
  EXPECT_FALSE(ProcessMemoryPermits(kLargeAllocation));
  SetProcessMemoryLimit(0);
  EXPECT_TRUE(ProcessMemoryPermits(kLargeAllocation));
}

TEST(ProcessMemory, WhatIsThrownBecomesTheCondition) {
  const Status named = NoThrow([]() -> Status { ThrowOutOfMemory(int64_t{1} << 40, "a buffer"); });
  EXPECT_EQ(named.condition(), "OUT_OF_MEMORY");
  EXPECT_NE(std::string(named.message()).find("Cannot reserve 1099511627776 bytes for a buffer"), std::string::npos) << std::string(named.message());
  const Status plain = NoThrow([]() -> Status { throw std::bad_alloc(); });
  EXPECT_EQ(plain.condition(), "OUT_OF_MEMORY");
  EXPECT_EQ(plain.kind(), ErrorKind::kEnvironment);
}

}  // namespace
}  // namespace thalweg
