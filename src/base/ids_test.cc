#include "base/ids.h"

#include <gtest/gtest.h>

#include <set>
#include <unordered_set>

#include "base/random.h"

namespace thalweg {
namespace {

static_assert(!std::is_convertible_v<BatchId, PartitionId>);
static_assert(!std::is_convertible_v<int64_t, BatchId>);
static_assert(!std::is_convertible_v<BatchId, int64_t>);

TEST(IdsTest, OrderedHashableAndCounted) {
  const BatchId first(0);
  EXPECT_EQ(first.Next(), BatchId(1));
  EXPECT_EQ(first.Previous(), BatchId(-1));
  EXPECT_LT(first, first.Next());
  EXPECT_EQ(StateVersionAfter(BatchId(7)), StateVersion(8));
  EXPECT_EQ(std::unordered_set<PartitionId>({PartitionId(1), PartitionId(1), PartitionId(2)}).size(), 2u);
}

TEST(UuidTest, TextFormRoundTrips) {
  const std::string text = "0e0f8f3c-0d7e-4c3e-9a6e-3b1e3a6b7f11";
  Result<Uuid> uuid = Uuid::Parse(text);
  ASSERT_TRUE(uuid.ok());
  EXPECT_EQ(uuid->ToString(), text);
  EXPECT_EQ(Uuid::Parse("0E0F8F3C-0D7E-4C3E-9A6E-3B1E3A6B7F11").ValueOrDie(), *uuid);
}

TEST(UuidTest, OtherTextsAreRefused) {
  for (const char* text : {"", "0e0f8f3c", "0e0f8f3c-0d7e-4c3e-9a6e-3b1e3a6b7f1", "0e0f8f3c-0d7e-4c3e-9a6e_3b1e3a6b7f11",
                           "0e0f8f3g-0d7e-4c3e-9a6e-3b1e3a6b7f11", "0e0f8f3c-0d7e-4c3e-9a6e-3b1e3a6b7f111"}) {
    EXPECT_FALSE(Uuid::Parse(text).ok()) << text;
  }
}

TEST(UuidTest, RandomOnesAreVersionFourAndRepeatable) {
  Random first(7);
  Random second(7);
  const Uuid uuid = Uuid::MakeRandom(first);
  EXPECT_EQ(uuid, Uuid::MakeRandom(second));
  EXPECT_EQ(uuid.ToString()[14], '4');
  EXPECT_NE(std::string("89ab").find(uuid.ToString()[19]), std::string::npos);
  EXPECT_NE(Uuid::MakeRandom(), Uuid::MakeRandom());
}

TEST(RandomTest, SequenceOfASeedIsFixedAndInRange) {
  Random first(42);
  Random second(42);
  std::set<uint64_t> seen;
  for (int i = 0; i < 1000; ++i) {
    const uint64_t value = first.NextBelow(10);
    EXPECT_EQ(value, second.NextBelow(10));
    EXPECT_LT(value, 10u);
    seen.insert(value);
    const double fraction = first.NextDouble();
    EXPECT_EQ(fraction, second.NextDouble());
    EXPECT_GE(fraction, 0.0);
    EXPECT_LT(fraction, 1.0);
  }
  EXPECT_EQ(seen.size(), 10u);
}

}  // namespace
}  // namespace thalweg
