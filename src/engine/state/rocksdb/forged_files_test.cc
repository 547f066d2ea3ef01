// What somebody wrote into a checkpoint with all checksums right: it loads, or it has a named condition. Nothing ends the process.

#include <gtest/gtest.h>

#include <functional>

#include "base/log.h"
#include "data/io/local_file_system.h"
#include "engine/state/persister_test_support.h"
#include "engine/state/rocksdb/forged_files_test_support.h"
#include "engine/state/rocksdb/rocksdb_persister.h"
#include "engine/state/rocksdb/zip_archive.h"

namespace thalweg::engine {
namespace {

const std::string kSparkStore = "tests/checkpoints/spark-4.2.0/window-append-rocksdb/checkpoint/state/0/1";
const std::string kStore = "/ckpt/state/0/0";

StateOptions RocksDb() { return {.provider_class = kRocksDbProviderClass}; }

/// One version of a store, taken apart.
struct Snapshot {
  int64_t version = 0;
  std::vector<ZipEntry> archive;
  std::map<std::string, std::string> tables;  // by path

  std::string* manifest() {
    for (ZipEntry& entry : archive) {
      if (entry.name.starts_with("MANIFEST")) return &entry.bytes;
    }
    return nullptr;
  }
  void Write(data::FileSystem& files) const {
    Overwrite(files, kStore + "/" + std::to_string(version) + ".zip", WriteZip(archive));
    for (const auto& [path, bytes] : tables) Overwrite(files, path, bytes);
  }
};

Snapshot ReadSnapshot(data::FileSystem& files, const std::string& store, int64_t version) {
  Snapshot snapshot{.version = version};
  const std::string archive = files.ReadWhole(store + "/" + std::to_string(version) + ".zip").ValueOrDie();
  snapshot.archive = ReadZip(archive, 1 << 20).ValueOrDie();
  for (const auto& file : files.List(store + "/SSTs").ValueOrDie()) {
    snapshot.tables[kStore + "/SSTs/" + std::string(file.name())] = files.ReadWhole(file.path).ValueOrDie();
  }
  return snapshot;
}

Snapshot SparksSnapshot() { return ReadSnapshot(data::LocalFileSystem::Get(), kSparkStore, 3); }

/// Some versions of ours, merged tables among them.
Snapshot OurSnapshot() {
  data::MemoryFileSystem files;
  const auto persister = OpenPersister(files, AnyStore(), RocksDb());
  RandomHistory history(7);
  for (int i = 0; i < 7; ++i) history.Step(files, *persister);
  return ReadSnapshot(files, kStore, 7);
}

/// Loads it, and where that went well goes on from it: RocksDB's library gets its tables then. True when all went well.
bool Survives(const Snapshot& snapshot) {
  data::MemoryFileSystem files;
  snapshot.Write(files);
  const auto loaded = LoadAll(*OpenPersister(files, AnyStore(), RocksDb()), StateVersion(snapshot.version));
  if (!loaded.ok()) {
    EXPECT_TRUE(loaded.status().condition().starts_with("CANNOT_LOAD_STATE_STORE") ||
                loaded.status().condition() == "UNSUPPORTED_FEATURE.THALWEG")
        << loaded.status().message();
    return false;
  }
  const auto persister = OpenPersister(files, AnyStore(), RocksDb());
  const auto writer = persister->BeginChanges(StateVersion(snapshot.version + 1));
  EXPECT_TRUE(writer.ok()) << "what loads goes on: " << writer.status().message();
  if (!writer.ok()) return false;
  const StateChange changes[] = {{"a new key.......", "8 bytes.", false}, {"key 1...", "", true}};
  data::DurableGroup group(files);
  EXPECT_TRUE((*writer)->Append(changes).ok());
  EXPECT_TRUE((*writer)->Finish(group).ok());
  return true;
}

/// What is damaged is logged, hundreds of times.
struct QuietLog {
  QuietLog() { ConfigureLog(LogLevel::kOff, LogFormat::kText); }
  ~QuietLog() { ConfigureLog(LogLevel::kWarn, LogFormat::kText); }
};

struct Spoiler {
  char (*change)(char);
};
constexpr Spoiler kSpoilers[] = {{[](char c) { return static_cast<char>(c ^ 1); }}, {[](char) { return '\xff'; }}};

/// Spoils every `step`-th byte of a file, every way; puts checksums right.
void SpoilBytes(Snapshot& snapshot, std::string* file, size_t step, const std::function<void(std::string*)>& forge) {
  const QuietLog quiet;
  const std::string whole = *file;
  for (size_t at = 0; at < whole.size(); at += step) {
    for (const Spoiler& spoiler : kSpoilers) {
      *file = whole;
      (*file)[at] = spoiler.change(whole[at]);
      if (*file == whole) continue;
      forge(file);
      SCOPED_TRACE("byte " + std::to_string(at));
      Survives(snapshot);
    }
  }
  *file = whole;
}

TEST(ForgedFiles, WhatIsWholeLoads) {
  EXPECT_TRUE(Survives(SparksSnapshot()));
  EXPECT_TRUE(Survives(OurSnapshot()));
  Snapshot forged = OurSnapshot();
  const Snapshot before = forged;
  ForgeManifest(forged.manifest());
  EXPECT_EQ(*forged.manifest(), *Snapshot(before).manifest()) << "RocksDB's own checksums";
  for (auto& [path, bytes] : forged.tables) ForgeTable(&bytes);
  EXPECT_EQ(forged.tables, before.tables);
}

TEST(ForgedFiles, AManifestOfSpark) {
  Snapshot snapshot = SparksSnapshot();
  SpoilBytes(snapshot, snapshot.manifest(), 1, ForgeManifest);
}

TEST(ForgedFiles, ATableOfSpark) {
  Snapshot snapshot = SparksSnapshot();
  for (auto& [path, bytes] : snapshot.tables) SpoilBytes(snapshot, &bytes, 3, ForgeTable);
}

TEST(ForgedFiles, AManifestOfOurs) {
  Snapshot snapshot = OurSnapshot();
  SpoilBytes(snapshot, snapshot.manifest(), 5, ForgeManifest);
}

TEST(ForgedFiles, ATableOfOurs) {
  Snapshot snapshot = OurSnapshot();
  for (auto& [path, bytes] : snapshot.tables) SpoilBytes(snapshot, &bytes, 11, ForgeTable);
}

TEST(ForgedFiles, AManifestThatEndsEarly) {
  Snapshot snapshot = OurSnapshot();
  const QuietLog quiet;
  const std::string whole = *snapshot.manifest();
  for (size_t size = 0; size < whole.size(); ++size) {
    *snapshot.manifest() = whole.substr(0, size);
    Survives(snapshot);
  }
}

}  // namespace
}  // namespace thalweg::engine
