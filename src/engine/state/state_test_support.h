#pragma once

// Test double: a query's state in memory, committed and waited for.

#include <gtest/gtest.h>

#include <functional>
#include <map>
#include <string>

#include "base/clock.h"
#include "data/columnar/chunk.h"
#include "data/io/memory_file_system.h"
#include "engine/state/state_services.h"

namespace thalweg::engine {

/// Services, a file system and a clock of their own.
struct StateHarness {
  ManualClock clock{1'000'000'000};
  data::MemoryFileSystem files{clock};
  StateServices services{files, clock};

  std::shared_ptr<QueryState> OpenQuery(StateOptions options = {}, PoisonFlag* poison = nullptr) {
    Result<std::shared_ptr<QueryState>> query =
        services.OpenQuery(RunId(Uuid::MakeRandom()), "/ckpt", std::move(options), poison);
    EXPECT_TRUE(query.ok());
    return *query;
  }
};

/// Commits a table or store and blocks until it is durable.
template <typename Store>
Status CommitAndWait(Store& store, StateVersion version) {
  while (true) {
    Result<bool> durable = store.Commit(version);
    if (!durable.ok()) return durable.status();
    if (*durable) return Status::OK();
    store.commit_signal()->Wait({});
  }
}

/// Everything a persister holds at a version.
inline Result<std::map<std::string, std::string>> LoadAll(StatePersister& persister, StateVersion version) {
  std::map<std::string, std::string> all;
  bool repeated = false;
  TW_RETURN_NOT_OK(persister.Load(version, [&](std::span<const StateChange> entries) {
    if (entries.empty()) all.clear();
    for (const StateChange& entry : entries) {
      repeated |= !all.emplace(std::string(entry.key), std::string(entry.value)).second;
    }
    return Status::OK();
  }));
  EXPECT_FALSE(repeated) << "a key came twice";
  return all;
}

}  // namespace thalweg::engine
