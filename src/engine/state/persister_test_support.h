#pragma once

// Test doubles for persisters: one store, a history of random changes, and what each version must hold.

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "base/random.h"
#include "data/io/atomic_write.h"
#include "data/io/memory_file_system.h"
#include "engine/state/state_persister.h"
#include "engine/state/state_test_support.h"

namespace thalweg::engine {

using Rows = std::map<std::string, std::string>;

inline StateStoreId AnyStore() { return {"/ckpt", OperatorId(0), PartitionId(0)}; }

inline std::unique_ptr<StatePersister> OpenPersister(data::FileSystem& files, const StateStoreId& id = AnyStore(),
                                                     const StateOptions& options = {}, StateRowTypes types = {}) {
  const Result<const StateStoreProvider*> provider = FindStateStoreProvider(options.provider_class);
  EXPECT_TRUE(provider.ok());
  Result<std::unique_ptr<StatePersister>> persister = (*provider)->Open(files, id, options, std::move(types));
  EXPECT_TRUE(persister.ok());
  return std::move(*persister);
}

/// Takes the changes of one version into `rows`.
inline Status ReplayChanges(StatePersister& persister, StateVersion version, Rows* rows) {
  return persister.ReadChanges(version, [rows](std::span<const StateChange> changes) {
    for (const StateChange& change : changes) {
      if (change.removed) {
        rows->erase(std::string(change.key));
      } else {
        (*rows)[std::string(change.key)] = change.value;
      }
    }
    return Status::OK();
  });
}

/// Commits random changes; `expected[v]` is the state of version v.
struct RandomHistory {
  std::vector<Rows> expected{{}};
  Random random;
  explicit RandomHistory(uint64_t seed) : random(seed) {}

  void Step(data::FileSystem& files, StatePersister& persister) {
    Rows rows = expected.back();
    const StateVersion version(static_cast<int64_t>(expected.size()));
    const auto begun = persister.BeginChanges(version);
    ASSERT_TRUE(begun.ok()) << begun.status().message();
    StateChangeWriter* writer = begun->get();
    for (uint64_t i = random.NextBelow(30); i > 0; --i) {
      const std::string key = "key " + std::to_string(random.NextBelow(100)) + std::string(random.NextBelow(9), '.');
      StateChange change{key, {}, random.NextBelow(3) == 0};
      const std::string value(8 * (1 + random.NextBelow(5)), static_cast<char>('a' + random.NextBelow(20)));
      if (change.removed) {
        rows.erase(key);
      } else {
        rows[key] = value;
        change.value = value;
      }
      ASSERT_TRUE(writer->Append({&change, 1}).ok());
    }
    data::DurableGroup group(files);
    ASSERT_TRUE(writer->Finish(group).ok());
    ASSERT_TRUE(group.Publish().ok());
    persister.Committed(version, static_cast<int64_t>(rows.size()));
    expected.push_back(std::move(rows));
  }
};

inline void Overwrite(data::FileSystem& files, const std::string& path, std::string_view bytes) {
  ASSERT_TRUE(data::AtomicWriteFile(files, path, bytes, {.overwrite = true}).ok());
}

}  // namespace thalweg::engine
