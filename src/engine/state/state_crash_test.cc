// A query's state against a disk that fails at each operation in turn, and then loses what was not synced.

#include <gtest/gtest.h>

#include <cerrno>
#include <map>

#include "base/random.h"
#include "data/io/faulty_file_system.h"
#include "engine/state/state_store.h"
#include "engine/state/state_test_support.h"

namespace thalweg::engine {
namespace {

constexpr int kPartitions = 3;
using Rows = std::map<std::string, std::string>;

std::string Padded(std::string text) {
  text.resize((text.size() + 7) / 8 * 8, '.');
  return text;
}

Rows Contents(const StateStore& store) {
  Rows rows;
  store.Scan([&](std::string_view key, std::string_view value) { return rows.emplace(key, value).second; });
  return rows;
}

// What version `version` holds in a partition: a function of both, so that a batch that runs again writes the same.
Rows Expected(int partition, int64_t version) {
  Rows rows;
  for (int64_t v = 1; v <= version; ++v) {
    Random random(static_cast<uint64_t>(v * 100 + partition));
    for (int i = 0; i < 5; ++i) rows[Padded("key " + std::to_string(random.NextBelow(12)))] = Padded(std::to_string(v));
    rows.erase(Padded("key " + std::to_string(random.NextBelow(12))));
  }
  return rows;
}

void ApplyBatch(StateStore& store, int partition, int64_t version) {
  Random random(static_cast<uint64_t>(version * 100 + partition));
  for (int i = 0; i < 5; ++i) store.Put(Padded("key " + std::to_string(random.NextBelow(12))), Padded(std::to_string(version)));
  store.Remove(Padded("key " + std::to_string(random.NextBelow(12))));
}

// Runs micro-batches from `from` to `to`; answers the last version that was reported durable.
int64_t RunBatches(data::FileSystem& files, Clock& clock, StateOptions options, int64_t from, int64_t to, bool maintain) {
  options.max_deltas_for_snapshot = 4;
  options.min_versions_to_retain = 3;
  StateServices services(files, clock);
  const auto query = services.OpenQuery(RunId(Uuid::MakeRandom()), "/ckpt", std::move(options)).ValueOrDie();
  std::vector<std::unique_ptr<StateStore>> stores;
  for (int p = 0; p < kPartitions; ++p) {
    stores.push_back(StateStore::Open(query, OperatorId(0), PartitionId(p), "default", {}).ValueOrDie());
  }
  for (int64_t version = from + 1; version <= to; ++version) {
    for (int p = 0; p < kPartitions; ++p) {
      if (!stores[static_cast<size_t>(p)]->BeginVersion(StateVersion(version - 1)).ok()) return version - 1;
      EXPECT_EQ(Contents(*stores[static_cast<size_t>(p)]), Expected(p, version - 1));
      ApplyBatch(*stores[static_cast<size_t>(p)], p, version);
    }
    for (auto& store : stores) {
      if (!store->Commit(StateVersion(version)).ok()) return version - 1;
    }
    for (auto& store : stores) {
      if (const auto signal = store->commit_signal()) signal->Wait({});
      if (store->commit_signal() != nullptr && !store->Commit(StateVersion(version)).ok()) return version - 1;
    }
    if (maintain) Ignore(services.MaintainAll(true), "a failed upkeep is no failed batch");
  }
  return to;
}

struct CrashCase {
  data::FileOperation operation;
  StateOptions options;
  int stride;  ///< every so many operations are struck
};
class StateCrash : public testing::TestWithParam<CrashCase> {};

TEST_P(StateCrash, WhatWasDurableIsThereAndTheBatchRunsAgain) {
  constexpr int64_t kVersions = 6;
  int struck = 0;
  for (int nth = 1; nth <= 120; nth += GetParam().stride) {
    ManualClock clock(1'000'000);
    data::MemoryFileSystem disk(clock);
    data::FaultyFileSystem faulty(disk);
    faulty.Add({.operation = GetParam().operation, .nth = nth, .error_number = EIO, .path_part = "/ckpt", .torn = true, .lasting = true});
    const int64_t durable = RunBatches(faulty, clock, GetParam().options, 0, kVersions, true);
    struck += durable < kVersions;
    Random random(static_cast<uint64_t>(nth));
    disk.Crash(nth % 2 == 0 ? &random : nullptr);
    // The next run begins with the version that was reported durable, and replaces what lies above it.
    ASSERT_EQ(RunBatches(disk, clock, GetParam().options, durable, kVersions + 2, true), kVersions + 2) << "fault " << nth;
  }
  // Nothing but upkeep opens files here: that may fail without failing a batch.
  EXPECT_EQ(struck > 0, GetParam().operation != data::FileOperation::kOpen);
}

constexpr data::FileOperation kOperations[] = {data::FileOperation::kCreate, data::FileOperation::kWrite,  data::FileOperation::kSync,
                                               data::FileOperation::kRename, data::FileOperation::kRemove, data::FileOperation::kOpen};

std::vector<CrashCase> Cases(const StateOptions& options, int stride) {
  std::vector<CrashCase> cases;
  for (const auto operation : kOperations) cases.push_back({operation, options, stride});
  return cases;
}

INSTANTIATE_TEST_SUITE_P(Hdfs, StateCrash, testing::ValuesIn(Cases({}, 1)));
INSTANTIATE_TEST_SUITE_P(RocksDbChangelog, StateCrash,
                         testing::ValuesIn(Cases({.provider_class = kRocksDbProviderClass, .rocksdb_changelog = true}, 11)));
INSTANTIATE_TEST_SUITE_P(RocksDbSnapshot, StateCrash, testing::ValuesIn(Cases({.provider_class = kRocksDbProviderClass}, 13)));

}  // namespace
}  // namespace thalweg::engine
