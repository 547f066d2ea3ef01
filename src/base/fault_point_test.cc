#include "base/fault_point.h"

#include <gtest/gtest.h>

#include "base/invariant.h"
#include "base/probe.h"

namespace thalweg {
namespace {

Status TwoSteps() {
  TW_FAULT_POINT("test: first");
  TW_FAULT_POINT("test: second");
  return Status::OK();
}

class FaultPointTest : public testing::Test {
 protected:
  void TearDown() override { DisarmFaultPoints(); }
};

TEST_F(FaultPointTest, OffByDefault) { EXPECT_TRUE(TwoSteps().ok()); }

TEST_F(FaultPointTest, StrikesAtTheNthPassageOnce) {
  ArmFaultPoint("test: second", 2, FaultAction::kError);
  EXPECT_TRUE(TwoSteps().ok());
  EXPECT_EQ(TwoSteps().condition(), "IO_ERROR");
  EXPECT_TRUE(TwoSteps().ok());
}

TEST_F(FaultPointTest, TextsAreRead) {
  ASSERT_TRUE(ArmFaultPoints("test: first:1:error;test: second:error").ok());
  EXPECT_EQ(TwoSteps().condition(), "IO_ERROR");
  EXPECT_EQ(TwoSteps().condition(), "IO_ERROR");
  EXPECT_TRUE(TwoSteps().ok());
  for (const char* text : {"x", "x:explode", ":kill", "x:0:kill"}) EXPECT_FALSE(ArmFaultPoints(text).ok()) << text;
}

TEST_F(FaultPointTest, RecordingListsThePlaces) {
  RecordFaultPoints(true);
  EXPECT_TRUE(TwoSteps().ok());
  EXPECT_TRUE(TwoSteps().ok());
  EXPECT_EQ(PassedFaultPoints(), (std::vector<std::string>{"test: first", "test: second"}));
}

TEST_F(FaultPointTest, KillKills) {
  testing::GTEST_FLAG(death_test_style) = "threadsafe";
  EXPECT_EXIT(
      {
        ArmFaultPoint("test: first", 1, FaultAction::kKill);
        Ignore(TwoSteps(), "does not return");
      },
      testing::KilledBySignal(SIGKILL), "");
}

TEST(ProbeTest, CountsPerName) {
  EXPECT_EQ(ProbeHits("test: rare branch"), 0);
  for (int i = 0; i < 3; ++i) TW_PROBE("test: rare branch");
  TW_PROBE("test: rare branch");
  EXPECT_EQ(ProbeHits("test: rare branch"), 4);
}

Status Guarded(PoisonFlag& query, bool holds) {
  TW_INVARIANT(query, holds);
  return Status::OK();
}

TEST(InvariantTest, TheFirstBreachPoisonsForGood) {
  PoisonFlag query;
  EXPECT_TRUE(Guarded(query, true).ok());
  EXPECT_TRUE(query.Check().ok());
  EXPECT_EQ(Guarded(query, false).condition(), "INTERNAL_ERROR");
  EXPECT_TRUE(query.poisoned());
  query.Poison(Cancelled());
  EXPECT_EQ(query.Check().condition(), "INTERNAL_ERROR");
}

}  // namespace
}  // namespace thalweg
