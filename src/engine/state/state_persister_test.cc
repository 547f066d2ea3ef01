// What every format of state promises, one suite over all of them: any version comes back, whatever was committed, aborted, folded,
// purged, lost or damaged.

#include "engine/state/state_persister.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <ostream>

#include "data/io/faulty_file_system.h"
#include "engine/state/persister_test_support.h"

namespace thalweg::engine {
namespace {

/// One way of keeping state on disk.
struct Format {
  const char* name;
  const char* provider;
  bool changelog;
  const char* changes;   ///< ending of files of changes; null: every commit is a snapshot
  const char* snapshot;
};
void PrintTo(const Format& format, std::ostream* out) { *out << format.name; }

constexpr Format kFormats[] = {
    {"Hdfs", kHdfsProviderClass, false, ".delta", ".snapshot"},
    {"RocksDbChangelog", kRocksDbProviderClass, true, ".changelog", ".zip"},
    {"RocksDbSnapshot", kRocksDbProviderClass, false, nullptr, ".zip"},
};

class StatePersisterTest : public testing::TestWithParam<Format> {
 protected:
  StateOptions Options() const {
    StateOptions options;
    options.provider_class = GetParam().provider;
    options.rocksdb_changelog = GetParam().changelog;
    return options;
  }
  std::unique_ptr<StatePersister> Open(const StateOptions& options) { return OpenPersister(files_, AnyStore(), options); }
  std::unique_ptr<StatePersister> Open() { return Open(Options()); }
  bool folds() const { return GetParam().changes != nullptr; }
  std::string Changes(int version) const { return "/ckpt/state/0/0/" + std::to_string(version) + GetParam().changes; }
  std::string Snapshot(int version) const { return "/ckpt/state/0/0/" + std::to_string(version) + GetParam().snapshot; }
  void ExpectAll(const RandomHistory& history, const StateOptions& options, size_t from = 0) {
    for (size_t version = from; version < history.expected.size(); ++version) {
      const auto loaded = LoadAll(*Open(options), StateVersion(static_cast<int64_t>(version)));
      ASSERT_TRUE(loaded.ok()) << version << ": " << loaded.status().message();
      EXPECT_EQ(*loaded, history.expected[version]) << version;
    }
  }

  data::MemoryFileSystem files_;
};

/// The formats whose commits write changes, which maintenance folds into snapshots.
class FoldingPersisterTest : public StatePersisterTest {};

TEST_P(StatePersisterTest, EveryVersionComesBackWithEveryCodecAndChecksum) {
  for (const char* codec : {"lz4", "zstd", "snappy", "lzf"}) {
    for (const bool checksum : {false, true}) {
      ASSERT_TRUE(files_.RemoveTree("/ckpt").ok());
      StateOptions options = Options();
      options.codec = codec;
      options.row_checksum = checksum;
      const auto persister = Open(options);
      RandomHistory history(7);
      for (int i = 0; i < 25; ++i) {
        history.Step(files_, *persister);
        if (i % 7 == 3) {
          ASSERT_EQ(persister->Maintain(0, true).ValueOrDie().snapshot_written, folds());
        }
      }
      ExpectAll(history, options);
      EXPECT_EQ(persister->NewestVersion().ValueOrDie(), StateVersion(25));
    }
  }
}

TEST_P(StatePersisterTest, AnEmptyVersionIsAVersion) {
  const auto persister = Open();
  for (int64_t version = 1; version <= 3; ++version) {
    data::DurableGroup group(files_);
    ASSERT_TRUE(persister->BeginChanges(StateVersion(version)).ValueOrDie()->Finish(group).ok());
    ASSERT_TRUE(group.Publish().ok());
    persister->Committed(StateVersion(version), 0);
  }
  ASSERT_TRUE(persister->Maintain(0, true).ok());
  EXPECT_EQ(LoadAll(*Open(), StateVersion(3)).ValueOrDie(), Rows());
  EXPECT_EQ(LoadAll(*Open(), StateVersion(0)).ValueOrDie(), Rows());
}

TEST_P(StatePersisterTest, WhatIsNotPublishedIsNotThere) {
  const auto persister = Open();
  RandomHistory history(5);
  for (int i = 0; i < 3; ++i) history.Step(files_, *persister);
  {
    const StateChange change{"another key", "8 bytes.", false};
    data::DurableGroup group(files_);
    const auto writer = persister->BeginChanges(StateVersion(4)).ValueOrDie();
    ASSERT_TRUE(writer->Append({&change, 1}).ok());
    ASSERT_TRUE(writer->Finish(group).ok());
  }  // the group is abandoned
  {
    const StateChange change{"a third key", "8 bytes.", false};
    ASSERT_TRUE(persister->BeginChanges(StateVersion(4)).ValueOrDie()->Append({&change, 1}).ok());
  }  // the writer is given up before it is through
  EXPECT_EQ(persister->NewestVersion().ValueOrDie(), StateVersion(3));
  for (int i = 0; i < 3; ++i) history.Step(files_, *persister);
  ExpectAll(history, Options());
}

TEST_P(StatePersisterTest, AVersionIsReplacedWhenItsBatchRunsAgain) {
  const auto persister = Open();
  RandomHistory history(10);
  for (int i = 0; i < 5; ++i) history.Step(files_, *persister);
  ASSERT_TRUE(persister->Maintain(0, true).ok());
  const std::string side_car = std::string("/ckpt/state/0/0/.5") + (folds() ? GetParam().changes : GetParam().snapshot) + ".crc";
  ASSERT_TRUE(files_.Create(side_car, data::CreateMode::kExclusive).ok());
  history.expected.pop_back();
  history.Step(files_, *persister);
  EXPECT_EQ(LoadAll(*persister, StateVersion(5)).ValueOrDie(), history.expected[5]) << "no snapshot hides the new changes";
  EXPECT_FALSE(files_.Exists(side_car).ValueOrDie()) << "a stale side-car";
  // And by another process.
  history.expected.pop_back();
  const auto another = Open();
  for (int i = 0; i < 4; ++i) history.Step(files_, *another);
  ExpectAll(history, Options());
}

TEST_P(StatePersisterTest, SnapshotsFollowTheCadenceAndPurgingKeepsWhatIsNeeded) {
  StateOptions options = Options();
  options.min_versions_to_retain = 20;
  const auto persister = Open(options);
  RandomHistory history(8);
  const auto maintain = [&](int64_t now_ms) { return persister->Maintain(now_ms, false).ValueOrDie(); };
  history.Step(files_, *persister);
  ASSERT_FALSE(maintain(0).snapshot_written);
  for (int i = 0; i < 9; ++i) history.Step(files_, *persister);
  EXPECT_FALSE(maintain(70'000).snapshot_written) << "only nine versions can be folded";
  for (int i = 0; i < 2; ++i) history.Step(files_, *persister);
  EXPECT_FALSE(maintain(80'000).snapshot_written) << "no minute has passed";
  EXPECT_EQ(maintain(140'000).snapshot_written, folds());
  EXPECT_TRUE(files_.Exists(Snapshot(11)).ValueOrDie()) << "the version before the newest";
  for (int i = 0; i < 30; ++i) history.Step(files_, *persister);
  EXPECT_GT(maintain(300'000).files_deleted, 0);
  EXPECT_FALSE(files_.Exists(folds() ? Changes(10) : Snapshot(10)).ValueOrDie());
  const auto newest = static_cast<size_t>(Open(options)->NewestVersion().ValueOrDie().value());
  ASSERT_EQ(newest, history.expected.size() - 1);
  ExpectAll(history, options, newest - 20);
}

TEST_P(StatePersisterTest, SmallStatesKeepFewFiles) {
  StateOptions options = Options();
  options.min_versions_to_retain = 20;
  const auto persister = Open(options);
  RandomHistory history(10);
  history.Step(files_, *persister);
  ASSERT_TRUE(persister->Maintain(0, false).ok());
  size_t most = 0;
  for (int i = 0; i < 400; ++i) {
    history.Step(files_, *persister);
    if (persister->MaintenanceDue(1)) {
      ASSERT_TRUE(persister->Maintain(1, false).ok());
    }
    most = std::max(most, files_.ListTree("/ckpt/state/0/0").ValueOrDie().size());
  }
  EXPECT_LE(most, 3 * 100 + 20 + 5u) << "what is kept, and what one snapshot folds";
  ExpectAll(history, options, history.expected.size() - 20);
}

TEST_P(StatePersisterTest, ManyChangesAreFoldedAtOnce) {
  StateOptions options = Options();
  options.max_deltas_for_snapshot = 50;
  const auto persister = Open(options);
  RandomHistory history(9);
  history.Step(files_, *persister);
  ASSERT_TRUE(persister->Maintain(0, false).ok());
  for (int i = 0; i < 51; ++i) history.Step(files_, *persister);
  EXPECT_EQ(persister->MaintenanceDue(1), folds());
  EXPECT_EQ(persister->Maintain(1, false).ValueOrDie().snapshot_written, folds());
}

TEST_P(FoldingPersisterTest, ASnapshotAloneIsEnough) {
  const auto persister = Open();
  RandomHistory history(13);
  for (int i = 0; i < 4; ++i) history.Step(files_, *persister);
  ASSERT_TRUE(persister->Maintain(0, true).ok());
  for (int version = 1; version <= 3; ++version) ASSERT_TRUE(files_.Remove(Changes(version)).ok());
  ExpectAll(history, Options(), 3);
}

TEST_P(FoldingPersisterTest, ADamagedSnapshotIsMadeGoodByOlderFiles) {
  const auto persister = Open();
  RandomHistory history(12);
  for (int i = 0; i < 8; ++i) {
    history.Step(files_, *persister);
    if (i == 3 || i == 7) {
      ASSERT_TRUE(persister->Maintain(0, true).ok());
    }
  }
  std::string bytes = files_.ReadWhole(Snapshot(7)).ValueOrDie();
  bytes[bytes.size() / 2] ^= 1;
  Overwrite(files_, Snapshot(7), bytes);
  EXPECT_EQ(LoadAll(*persister, StateVersion(8)).ValueOrDie(), history.expected[8]);
  history.Step(files_, *persister);
  ASSERT_TRUE(Open()->Maintain(0, true).ValueOrDie().snapshot_written) << "the next one is made from the older one too";
  EXPECT_EQ(LoadAll(*persister, StateVersion(9)).ValueOrDie(), history.expected[9]);
  ASSERT_TRUE(files_.Remove(Snapshot(8)).ok());
  ASSERT_TRUE(files_.Remove(Changes(5)).ok());
  EXPECT_EQ(LoadAll(*persister, StateVersion(8)).status().condition(), "CANNOT_LOAD_STATE_STORE.UNCATEGORIZED")
      << "nothing else leads to the version: the first error is told";
}

TEST_P(StatePersisterTest, ForeignFilesAreLeftAloneAndAbsentOnesNamed) {
  const auto persister = Open();
  RandomHistory history(11);
  for (int i = 0; i < 6; ++i) history.Step(files_, *persister);
  for (const char* stray : {"1.foo", "x.delta", "x.zip", ".3.delta.crc", ".6.zip.00.tmp", "_metadata"}) {
    Overwrite(files_, std::string("/ckpt/state/0/0/") + stray, "stray");
  }
  ExpectAll(history, Options());
  EXPECT_EQ(LoadAll(*persister, StateVersion(-1)).status().condition(), "CANNOT_LOAD_STATE_STORE.UNEXPECTED_VERSION");
  const Status absent = LoadAll(*persister, StateVersion(8)).status();
  EXPECT_TRUE(absent.condition().starts_with("CANNOT_LOAD_STATE_STORE.CANNOT_READ")) << absent.message();
}

// Every file, damaged in many ways: the version comes back whole, or loading says what it is about.
TEST_P(StatePersisterTest, DamageIsFoundAndNamed) {
  const auto persister = Open();
  RandomHistory history(14);
  for (int i = 0; i < 6; ++i) history.Step(files_, *persister);
  if (folds()) {
    ASSERT_TRUE(persister->Maintain(0, true).ok());
    for (int version = 1; version <= 5; ++version) ASSERT_TRUE(files_.Remove(Changes(version)).ok());
  }
  Random random(99);
  int found = 0;
  for (const data::FileInfo& file : files_.ListTree("/ckpt/state/0/0").ValueOrDie()) {
    const std::string good = files_.ReadWhole(file.path).ValueOrDie();
    for (int trial = 0; trial < 24; ++trial) {
      std::string bytes = good;
      const auto place = static_cast<size_t>(random.NextBelow(good.size()));
      switch (trial % 4) {
        case 0: bytes[place] = static_cast<char>(bytes[place] ^ (1 << random.NextBelow(8))); break;
        case 1: bytes.resize(place); break;
        case 2: bytes.insert(place, 3, '\xff'); break;
        default: std::fill(bytes.begin() + static_cast<int64_t>(place), bytes.end(), '\0');
      }
      Overwrite(files_, file.path, bytes);
      const auto loaded = LoadAll(*Open(), StateVersion(6));
      if (loaded.ok()) {
        EXPECT_EQ(*loaded, history.expected[6]) << file.path << " trial " << trial;
      } else {
        ++found;
        EXPECT_TRUE(loaded.status().condition().starts_with("CANNOT_LOAD_STATE_STORE."))
            << file.path << " trial " << trial << ": " << loaded.status().message();
      }
    }
    Overwrite(files_, file.path, good);
  }
  EXPECT_GT(found, 20);
}

// The disk fails, or the power goes, at each operation of a commit and of maintenance; what was published before stays.
TEST_P(StatePersisterTest, ACrashAtAnyStepLosesNothingThatWasCommitted) {
  for (int steps = 0; steps < 40; steps += 1 + steps / 8) {
    ManualClock clock(1'000'000);
    data::MemoryFileSystem disk(clock);
    data::FaultyFileSystem faulty(disk);
    StateOptions options = Options();
    options.min_versions_to_retain = 2;
    RandomHistory history(static_cast<uint64_t>(steps));
    {
      const auto persister = OpenPersister(disk, AnyStore(), options);
      for (int i = 0; i < 4; ++i) history.Step(disk, *persister);
    }
    const auto persister = OpenPersister(faulty, AnyStore(), options);
    faulty.CutPowerAfter(steps);
    const StateVersion next(5);
    const StateChange change{"written in the dark", "8 bytes.", false};
    bool committed = false;
    if (auto writer = persister->BeginChanges(next); writer.ok()) {
      data::DurableGroup group(faulty);
      committed = (*writer)->Append({&change, 1}).ok() && (*writer)->Finish(group).ok() && group.Publish().ok();
    }
    if (committed) {
      persister->Committed(next, 1);
      Rows rows = history.expected.back();
      rows["written in the dark"] = "8 bytes.";
      history.expected.push_back(std::move(rows));
      Ignore(persister->Maintain(0, true).status(), "the power may go in it");
    }
    Random random(static_cast<uint64_t>(steps));
    disk.Crash(steps % 2 == 0 ? &random : nullptr);
    const auto after = OpenPersister(disk, AnyStore(), options);
    const auto newest = static_cast<int64_t>(history.expected.size()) - 1;
    for (int64_t version = newest - 1; version <= newest; ++version) {
      const auto loaded = LoadAll(*after, StateVersion(version));
      ASSERT_TRUE(loaded.ok()) << "steps " << steps << ": " << loaded.status().message();
      EXPECT_EQ(*loaded, history.expected[static_cast<size_t>(version)]) << "steps " << steps;
    }
    for (int i = 0; i < 6; ++i) history.Step(disk, *after);
    ASSERT_TRUE(after->Maintain(0, true).ok());
    EXPECT_EQ(LoadAll(*after, StateVersion(newest + 6)).ValueOrDie(), history.expected.back());
  }
}

TEST_P(FoldingPersisterTest, TheChangeFeedIsWhatWasCommitted) {
  const auto persister = Open();
  RandomHistory history(15);
  Rows replayed;
  for (int i = 1; i <= 5; ++i) {
    history.Step(files_, *persister);
    ASSERT_TRUE(ReplayChanges(*persister, StateVersion(i), &replayed).ok());
    EXPECT_EQ(replayed, history.expected.back());
  }
  ASSERT_TRUE(persister->Maintain(0, true).ok());
  Rows by_snapshot;
  ASSERT_TRUE(persister->Replay(StateVersion(4), StateVersion(5), [&](std::span<const StateChange> entries) {
                         for (const StateChange& entry : entries) by_snapshot[std::string(entry.key)] = entry.value;
                         return Status::OK();
                       }).ok());
  EXPECT_EQ(by_snapshot, history.expected[5]);
}

INSTANTIATE_TEST_SUITE_P(All, StatePersisterTest, testing::ValuesIn(kFormats),
                         [](const testing::TestParamInfo<Format>& info) { return info.param.name; });

INSTANTIATE_TEST_SUITE_P(All, FoldingPersisterTest, testing::Values(kFormats[0], kFormats[1]),
                         [](const testing::TestParamInfo<Format>& info) { return info.param.name; });

TEST(StateStoreProviders, TheSimpleNameDecides) {
  EXPECT_TRUE(FindStateStoreProvider("org.apache.spark.sql.execution.streaming.state.HDFSBackedStateStoreProvider").ok());
  EXPECT_TRUE(FindStateStoreProvider("org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider").ok());
  EXPECT_TRUE(FindStateStoreProvider("some.other.package.RocksDBStateStoreProvider").ok());
  EXPECT_EQ(FindStateStoreProvider("com.example.MyProvider").status().condition(), "UNSUPPORTED_FEATURE.THALWEG");
}

}  // namespace
}  // namespace thalweg::engine
