#include "engine/state/state_services.h"

#include <gtest/gtest.h>

#include "data/io/faulty_file_system.h"
#include "engine/state/state_store.h"
#include "engine/state/state_test_support.h"

namespace thalweg::engine {
namespace {

std::vector<std::unique_ptr<StateStore>> OpenStores(const std::shared_ptr<QueryState>& query, int count) {
  std::vector<std::unique_ptr<StateStore>> stores;
  for (int i = 0; i < count; ++i) {
    stores.push_back(StateStore::Open(query, OperatorId(0), PartitionId(i), "default", {}).ValueOrDie());
    EXPECT_TRUE(stores.back()->BeginVersion(StateVersion(0)).ok());
    stores.back()->Put("a key of 16 byte", "value of 16 byte");
  }
  return stores;
}

bool Exists(StateHarness& harness, int partition, const char* name) {
  return harness.files.Exists("/ckpt/state/0/" + std::to_string(partition) + "/" + name).ValueOrDie();
}

TEST(StateServices, TheLastStoreOfAVersionPublishesForAll) {
  StateHarness harness;
  const auto query = harness.OpenQuery();
  auto stores = OpenStores(query, 3);
  EXPECT_FALSE(stores[0]->Commit(StateVersion(1)).ValueOrDie());
  EXPECT_FALSE(stores[1]->Commit(StateVersion(1)).ValueOrDie());
  EXPECT_FALSE(stores[0]->commit_signal()->IsSet());
  EXPECT_FALSE(Exists(harness, 0, "1.delta")) << "nothing is visible before the last one";
  ASSERT_TRUE(CommitAndWait(*stores[2], StateVersion(1)).ok());
  for (int i = 0; i < 2; ++i) EXPECT_TRUE(stores[static_cast<size_t>(i)]->Commit(StateVersion(1)).ValueOrDie());
  harness.files.Crash();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(Exists(harness, i, "1.delta")) << "durable";
}

TEST(StateServices, AStoreThatGivesUpFailsTheVersionForAll) {
  StateHarness harness;
  const auto query = harness.OpenQuery();
  auto stores = OpenStores(query, 2);
  EXPECT_FALSE(stores[0]->Commit(StateVersion(1)).ValueOrDie());
  stores[1]->Abort();
  ASSERT_TRUE(stores[0]->commit_signal()->Wait({}));
  EXPECT_FALSE(stores[0]->Commit(StateVersion(1)).ok());
  EXPECT_FALSE(Exists(harness, 0, "1.delta"));
  // The same micro-batch again.
  for (auto& store : stores) {
    store->Abort();
    ASSERT_TRUE(store->BeginVersion(StateVersion(0)).ok());
    store->Put("a key of 16 byte", "value of 16 byte");
  }
  EXPECT_FALSE(stores[0]->Commit(StateVersion(1)).ValueOrDie());
  ASSERT_TRUE(CommitAndWait(*stores[1], StateVersion(1)).ok());
  ASSERT_TRUE(CommitAndWait(*stores[0], StateVersion(1)).ok());
}

TEST(StateServices, AFullDiskIsTheErrorOfAllStores) {
  StateHarness harness;
  data::FaultyFileSystem faulty(harness.files);
  StateServices services(faulty, harness.clock);
  const auto query = services.OpenQuery(RunId(Uuid::MakeRandom()), "/ckpt", {}).ValueOrDie();
  auto stores = OpenStores(query, 2);
  EXPECT_FALSE(stores[0]->Commit(StateVersion(1)).ValueOrDie());
  faulty.Add({.operation = data::FileOperation::kCreate, .error_number = ENOSPC, .path_part = "state/0/1"});
  EXPECT_EQ(stores[1]->Commit(StateVersion(1)).status().condition(), "IO_ERROR");
  stores[1]->Abort();
  ASSERT_TRUE(stores[0]->commit_signal()->Wait({}));
  EXPECT_EQ(stores[0]->Commit(StateVersion(1)).status().condition(), "IO_ERROR") << "the cause, not its consequence";
}

TEST(StateServices, AClosedStoreIsNotWaitedFor) {
  StateHarness harness;
  const auto query = harness.OpenQuery();
  auto stores = OpenStores(query, 2);
  stores.pop_back();
  EXPECT_TRUE(CommitAndWait(*stores[0], StateVersion(1)).ok());
}

TEST(StateServices, APoisonedQueryWritesNothing) {
  StateHarness harness;
  PoisonFlag poison;
  const auto query = harness.OpenQuery({}, &poison);
  auto stores = OpenStores(query, 1);
  poison.Poison(InternalError("a broken invariant"));
  EXPECT_EQ(stores[0]->Commit(StateVersion(1)).status().condition(), "INTERNAL_ERROR");
  EXPECT_FALSE(Exists(harness, 0, "1.delta"));
}

TEST(StateServices, QueriesAreFoundWhileTheyRun) {
  StateHarness harness;
  const RunId run(Uuid::MakeRandom());
  auto query = harness.services.OpenQuery(run, "/ckpt", {}).ValueOrDie();
  EXPECT_EQ(harness.services.FindQuery(run), query);
  query.reset();
  EXPECT_EQ(harness.services.FindQuery(run), nullptr);
  EXPECT_EQ(harness.services.OpenQuery(run, "/ckpt", {.provider_class = "my.Provider"}).status().condition(),
            "UNSUPPORTED_FEATURE.THALWEG");
}

TEST(StateServices, MaintenanceFoldsInTheBackground) {
  StateHarness harness;
  const auto query = harness.OpenQuery({.max_deltas_for_snapshot = 5});
  auto stores = OpenStores(query, 1);
  for (int64_t version = 1; version <= 7; ++version) {
    ASSERT_TRUE(CommitAndWait(*stores[0], StateVersion(version)).ok());
  }
  // The thread works and then rests on the manual clock; moving it lets the next round begin.
  while (!Exists(harness, 0, "6.snapshot") && !Exists(harness, 0, "5.snapshot")) {
    harness.clock.AwaitWaiters(1);
    harness.clock.Advance(std::chrono::minutes(2));
  }
}

}  // namespace
}  // namespace thalweg::engine
