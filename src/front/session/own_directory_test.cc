#include "front/session/own_directory.h"

#include <gtest/gtest.h>

#include <atomic>
#include <optional>
#include <thread>

#include "data/io/memory_file_system.h"

namespace thalweg::front {
namespace {

constexpr const char* kPath = "/warehouse/t";

class OwnDirectoryTest : public ::testing::Test {
 protected:
  OwnDirectoryTest() { table_.location = kPath; }

  Result<std::unique_ptr<OwnDirectory>> Take(std::stop_token stop = {}) { return OwnDirectory::Take(disk_, clock_, *turns_, table_, std::move(stop)); }
  bool Exists() { return disk_.Exists(kPath).ValueOrDie(); }
  // What another process does that makes the table: the lock of its directory, without a turn.
  std::unique_ptr<data::FileLock> OtherProcess() {
    EXPECT_TRUE(disk_.MakeDirectories(kPath).ok());
    return disk_.TryLock(kPath).ValueOrDie();
  }

  ManualClock clock_{1'700'000'000'000'000};
  data::MemoryFileSystem disk_;
  const std::shared_ptr<MakerTurns> turns_ = MakeMakerTurns();
  sql::TableInfo table_;
};

TEST_F(OwnDirectoryTest, WhatFailsLeavesNothingAndWhatIsKeptStays) {
  Take().ValueOrDie().reset();
  EXPECT_FALSE(Exists());
  Take().ValueOrDie()->Keep();
  EXPECT_TRUE(Exists());
  Take().ValueOrDie().reset();  // it was there before
  EXPECT_TRUE(Exists());
  ASSERT_TRUE(disk_.Remove(kPath).ok());
  {
    const auto own = Take().ValueOrDie();
    ASSERT_TRUE(disk_.Create(std::string(kPath) + "/file", data::CreateMode::kReplace).ValueOrDie()->Close().ok());
  }
  EXPECT_TRUE(disk_.Exists(std::string(kPath) + "/file").ValueOrDie());
}

TEST_F(OwnDirectoryTest, OnlyLeftOversMayStandThere) {
  ASSERT_TRUE(disk_.MakeDirectories(std::string(kPath) + "/_delta_log").ok());
  EXPECT_TRUE(Take().ValueOrDie()->CheckEmpty(table_).ok());
  ASSERT_TRUE(disk_.Create(std::string(kPath) + "/_delta_log/0.json", data::CreateMode::kReplace).ValueOrDie()->Close().ok());
  EXPECT_EQ(Take().ValueOrDie()->CheckEmpty(table_).condition(), "LOCATION_ALREADY_EXISTS");
}

TEST_F(OwnDirectoryTest, SessionsOfAProcessWaitForEachOther) {
  std::unique_ptr<OwnDirectory> first = Take().ValueOrDie();
  std::optional<bool> there;
  std::jthread second([&] {
    const auto own = Take().ValueOrDie();
    there = Exists();
  });
  first.reset();
  second.join();
  EXPECT_EQ(there, true);
  EXPECT_FALSE(Exists());  // the first made it and failed, the second made it again and failed
}

TEST_F(OwnDirectoryTest, AWaitForATurnEndsWhenItIsStopped) {
  const auto first = Take().ValueOrDie();
  std::stop_source stop;
  std::jthread second([&] { EXPECT_EQ(Take(stop.get_token()).status().condition(), "OPERATION_CANCELED"); });
  stop.request_stop();
  second.join();
  // Without a wait a stop is not asked for, and other paths are free.
  table_.location = "/warehouse/u";
  EXPECT_TRUE(Take(stop.get_token()).ok());
}

TEST_F(OwnDirectoryTest, AnotherProcessIsLookedAtAgainUntilItHasFinished) {
  auto other = OtherProcess();
  std::atomic<bool> taken = false;
  std::jthread waiting([&] {
    EXPECT_TRUE(Take().ok());
    taken = true;
  });
  clock_.AwaitWaiters(1);
  clock_.Advance(std::chrono::seconds(1));
  clock_.AwaitWaiters(1);
  EXPECT_FALSE(taken);
  other.reset();
  while (!taken) {
    clock_.Advance(std::chrono::milliseconds(100));
    std::this_thread::yield();
  }
  waiting.join();
}

TEST_F(OwnDirectoryTest, AWaitForAnotherProcessEndsWhenItIsStoppedAndInTime) {
  const auto other = OtherProcess();
  std::stop_source stop;
  std::jthread stopped([&] { EXPECT_EQ(Take(stop.get_token()).status().condition(), "OPERATION_CANCELED"); });
  clock_.AwaitWaiters(1);
  stop.request_stop();
  stopped.join();
  std::jthread late([&] { EXPECT_EQ(Take().status().condition(), "LOCATION_ALREADY_EXISTS"); });
  clock_.AwaitWaiters(1);
  clock_.Advance(std::chrono::seconds(31));
  late.join();
  EXPECT_TRUE(Exists());  // the other's
}

}  // namespace
}  // namespace thalweg::front
