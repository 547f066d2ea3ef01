// RocksDB's format as bytes: what Spark wrote, what its encodings are, and what is not here, by its name.

#include "engine/state/rocksdb/rocksdb_persister.h"

#include <gtest/gtest.h>

#include <set>

#include "data/columnar/builder.h"
#include "data/io/local_file_system.h"
#include "data/rowformat/row_split.h"
#include "data/rowformat/unsafe_row_writer.h"
#include "engine/state/persister_test_support.h"
#include "engine/state/rocksdb/database_files.h"
#include "engine/state/rocksdb/zip_archive.h"

namespace thalweg::engine {
namespace {

const std::string kVectors = "tests/checkpoints/spark-4.2.0/vectors/rocksdb/";
const std::string kSample = "tests/checkpoints/spark-4.2.0/window-append-rocksdb/checkpoint";

std::string FromHex(std::string_view text) {
  std::string bytes;
  int high = -1;
  for (const char c : text) {
    if (c == ' ') continue;
    const int digit = c <= '9' ? c - '0' : c - 'a' + 10;
    if (high >= 0) bytes.push_back(static_cast<char>(high << 4 | digit));
    high = high < 0 ? digit : -1;
  }
  return bytes;
}

StateOptions RocksDb(bool changelog = false) { return {.provider_class = kRocksDbProviderClass, .rocksdb_changelog = changelog}; }

std::vector<std::pair<std::string, std::string>> Changes(StatePersister& persister, int64_t version, Status* status) {
  std::vector<std::pair<std::string, std::string>> found;
  *status = persister.ReadChanges(StateVersion(version), [&](std::span<const StateChange> changes) {
    for (const StateChange& change : changes) found.emplace_back(change.key, change.removed ? "removed" : change.value);
    return Status::OK();
  });
  return found;
}

// "apple" and 2 as Spark wrote them: the row without the byte of its version.
TEST(RocksDbPersister, ReadsAChangelogOfSpark) {
  auto& files = data::LocalFileSystem::Get();
  std::vector<std::pair<std::string, std::string>> all;
  for (int partition = 0; partition < 2; ++partition) {
    Status status;
    const auto persister = OpenPersister(files, {kVectors + "plain", OperatorId(0), PartitionId(partition)}, RocksDb());
    for (auto& change : Changes(*persister, 1, &status)) all.push_back(std::move(change));
    EXPECT_TRUE(status.ok()) << status.message();
    EXPECT_EQ(LoadAll(*persister, StateVersion(1)).ValueOrDie().size(), Changes(*persister, 1, &status).size());
  }
  const std::pair<std::string, std::string> apple(FromHex("0000000000000000 0500000010000000 6170706c65000000"),
                                                  FromHex("0000000000000000 0200000000000000"));
  EXPECT_EQ(std::count(all.begin(), all.end(), apple), 1);
}

// Version 3 of the sample has two table files under Spark's names; a commit of ours leaves them and adds its own.
TEST(RocksDbPersister, ASnapshotSharesTheTablesOfSpark) {
  data::MemoryFileSystem files;
  auto& disk = data::LocalFileSystem::Get();
  for (const auto& file : disk.ListTree(kSample + "/state/0/1").ValueOrDie()) {
    const std::string path = "/ckpt/state/0/0" + file.path.substr((kSample + "/state/0/1").size());
    Overwrite(files, path, disk.ReadWhole(file.path).ValueOrDie());
  }
  const auto persister = OpenPersister(files, AnyStore(), RocksDb());
  Rows rows = LoadAll(*persister, StateVersion(2)).ValueOrDie();
  ASSERT_EQ(rows.size(), 2u);
  ASSERT_TRUE(LoadAll(*persister, StateVersion(3)).ValueOrDie().empty()) << "both windows were closed";
  const auto writer = persister->BeginChanges(StateVersion(3)).ValueOrDie();
  const std::string key = rows.begin()->first;
  const StateChange changes[] = {{key, "changed.", false}, {"a new key", "8 bytes.", false}};
  ASSERT_TRUE(writer->Append(changes).ok());
  data::DurableGroup group(files);
  ASSERT_TRUE(writer->Finish(group).ok());
  ASSERT_TRUE(group.Publish().ok());
  rows[key] = "changed.";
  rows["a new key"] = "8 bytes.";
  EXPECT_EQ(LoadAll(*OpenPersister(files, AnyStore(), RocksDb()), StateVersion(3)).ValueOrDie(), rows);
  const auto before = ReadStoredMetadata(files, "/ckpt/state/0/0/2.zip").ValueOrDie();
  const auto after = ReadStoredMetadata(files, "/ckpt/state/0/0/3.zip").ValueOrDie();
  ASSERT_EQ(before.ssts.size(), 1u);
  ASSERT_EQ(after.ssts.size(), 2u);
  std::set<std::string> names = {after.ssts[0].stored_name, after.ssts[1].stored_name};
  EXPECT_TRUE(names.contains(before.ssts[0].stored_name));
  EXPECT_EQ(after.num_keys, 3);
}

TEST(RocksDbPersister, TheMetadataIsWrittenAsSparkWritesIt) {
  const std::string archive = data::LocalFileSystem::Get().ReadWhole(kSample + "/state/0/1/3.zip").ValueOrDie();
  const auto entries = ReadZip(archive, 1 << 20, "metadata").ValueOrDie();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(FormatSnapshotMetadata(ParseSnapshotMetadata(entries[0].bytes).ValueOrDie()), entries[0].bytes);
  EXPECT_EQ(ParseSnapshotMetadata("v2\n{}").status().condition(), "CANNOT_LOAD_STATE_STORE.CANNOT_READ_CHECKPOINT");
  for (const char* damaged : {"", "v1", "v1\n", "v1\n[]", "v1\n{\"numKeys\":1}", "v1\n{\"sstFiles\":[{}],\"numKeys\":1}",
                              "v1\n{\"sstFiles\":[{\"localFileName\":\"../1.sst\",\"dfsSstFileName\":\"a\",\"sizeBytes\":1}],\"numKeys\":1}",
                              "v1\n{\"sstFiles\":[{\"localFileName\":\"1.sst\",\"dfsSstFileName\":\"a\",\"sizeBytes\":-1}],\"numKeys\":1}"}) {
    EXPECT_EQ(ParseSnapshotMetadata(damaged).status().condition(), "INTERNAL_ERROR") << damaged;
  }
}

TEST(RocksDbPersister, WhatIsNotHereHasAName) {
  auto& disk = data::LocalFileSystem::Get();
  data::MemoryFileSystem files;
  const auto condition = [&](const std::string& vector, const std::string& name, int64_t version) {
    EXPECT_TRUE(files.RemoveTree("/ckpt").ok());
    Overwrite(files, "/ckpt/state/0/0/" + name, disk.ReadWhole(kVectors + vector).ValueOrDie());
    return LoadAll(*OpenPersister(files, AnyStore(), RocksDb()), StateVersion(version)).status().condition();
  };
  EXPECT_EQ(condition("join_v3/1.changelog", "1.changelog", 1), "UNSUPPORTED_FEATURE.THALWEG") << "column families";
  EXPECT_EQ(condition("tws_ttl/1.changelog", "1.changelog", 1), "UNSUPPORTED_FEATURE.THALWEG");
  const std::string with_id = "1_b1e23c47-0ba6-4dc3-82a0-6242adab526d.changelog";
  EXPECT_EQ(condition("checkpoint_ids/" + with_id, with_id, 1), "UNSUPPORTED_FEATURE.THALWEG");
  EXPECT_EQ(condition("checkpoint_ids/" + with_id, "1.changelog", 1), "UNSUPPORTED_FEATURE.THALWEG");
  StateOptions avro = RocksDb();
  avro.encoding_format = "avro";
  EXPECT_EQ(FindStateStoreProvider(kRocksDbProviderClass).ValueOrDie()->Open(files, AnyStore(), avro, {}).status().condition(),
            "UNSUPPORTED_FEATURE.THALWEG");
}

TEST(RocksDbPersister, RowChecksumsOfSparkAreVerified) {
  data::MemoryFileSystem files;
  Overwrite(files, "/ckpt/state/0/0/1.changelog", data::LocalFileSystem::Get().ReadWhole(kVectors + "rowchecksum.1.changelog").ValueOrDie());
  StateOptions options = RocksDb();
  options.row_checksum = true;
  EXPECT_FALSE(LoadAll(*OpenPersister(files, AnyStore(), options), StateVersion(1)).ValueOrDie().empty());
  const RocksDbRowEncoding encoding({}, 0, true, "store");
  std::string key, value;
  ASSERT_TRUE(encoding.EncodeKey("key-row.", &key).ok());
  encoding.EncodeValue(key, "value...", &value);
  EXPECT_EQ(encoding.DecodeValue(key, value).ValueOrDie(), "value...");
  value.back() ^= 1;
  EXPECT_EQ(encoding.DecodeValue(key, value).status().condition(), "STATE_STORE_ROW_CHECKSUM_VERIFICATION_FAILED");
}

// A timer of the vector tws: grouping key struct("apple"...), then a bigint; the prefix is the struct.
TEST(RocksDbPersister, KeysWithAPrefixComeApartAndTogether) {
  const std::vector<data::DataType> types = {data::DataType::String(), data::DataType::Long()};
  const RocksDbRowEncoding encoding(types, 1, false, "store");
  const std::string row = FromHex("0000000000000000 0500000018000000 a0eee6cf8b010000 6170706c65000000");
  std::string key;
  ASSERT_TRUE(encoding.EncodeKey(row, &key).ok());
  EXPECT_EQ(key, FromHex("19000000 00 0000000000000000 0500000010000000 6170706c65000000 00 0000000000000000 a0eee6cf8b010000"));
  std::deque<std::string> texts;
  EXPECT_EQ(encoding.DecodeKey(key, &texts).ValueOrDie(), row);
  for (size_t size = 0; size < key.size(); ++size) {
    EXPECT_FALSE(encoding.DecodeKey(std::string_view(key).substr(0, size), &texts).ok()) << size;
  }
  EXPECT_EQ(encoding.EncodeKey("short", &key).condition(), "MALFORMED_STATE_ROW");
}

// Columns of every layout: halves put together again are the row, wherever it is cut.
TEST(RocksDbPersister, RowsAreSplitAndJoinedAtEveryColumn) {
  const std::vector<data::DataType> types = {data::DataType::String(), data::DataType::Decimal(38, 2), data::DataType::Integer(),
                                             data::DataType::String(), data::DataType::Binary()};
  using data::Value;
  const auto text = [](std::string value) { return Value(std::move(value)); };
  const data::Chunk chunk = data::ChunkFromRows(
      types, {{text("a text beyond eight"), Value(data::Int128(123456)), Value(int32_t{7}), text("x"), Value()},
              {Value(), Value(), Value(int32_t{-7}), text("yz"), text(std::string("\0\1", 2))},
              {text(""), Value(data::Int128(-1)), Value(), Value(), text(std::string(100, 'b'))}});
  data::RowBatch rows;
  ASSERT_TRUE(data::UnsafeRowWriter(types).Write(chunk.columns(), 3, nullptr, &rows).ok());
  for (int64_t i = 0; i < 3; ++i) {
    for (int cut = 0; cut <= 5; ++cut) {
      std::string prefix, rest, again;
      ASSERT_TRUE(data::SplitRow(types, cut, rows.row(i), &prefix, &rest));
      ASSERT_TRUE(data::JoinRow(types, cut, prefix, rest, &again));
      EXPECT_EQ(again, rows.row(i)) << "row " << i << " cut at " << cut;
    }
    std::string prefix, rest;
    const std::string_view row = rows.row(i);
    for (size_t size = 0; size < row.size(); ++size) {
      Ignore(Status::OK(), data::SplitRow(types, 3, row.substr(0, size), &prefix, &rest) ? "a shorter row" : "refused");
    }
  }
}

TEST(ZipArchive, EntriesComeBackAndDamageIsRefused) {
  const std::vector<ZipEntry> entries = {{"CURRENT", "MANIFEST-000005\n"}, {"empty", ""}, {"long", std::string(100'000, 'x') + "y"}};
  const std::string archive = WriteZip(entries);
  EXPECT_LT(archive.size(), 2'000u);
  const auto again = ReadZip(archive, 1 << 20).ValueOrDie();
  ASSERT_EQ(again.size(), 3u);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(again[i].name, entries[i].name);
    EXPECT_EQ(again[i].bytes, entries[i].bytes);
  }
  EXPECT_FALSE(ReadZip(archive, 1000).ok()) << "a limit on what it unpacks to";
  for (size_t size = 0; size < archive.size(); ++size) EXPECT_FALSE(ReadZip(std::string_view(archive).substr(0, size), 1 << 20).ok());
  Random random(3);
  for (int trial = 0; trial < 2000; ++trial) {
    std::string damaged = archive;
    damaged[static_cast<size_t>(random.NextBelow(damaged.size()))] = static_cast<char>(random.NextBelow(256));
    Ignore(ReadZip(damaged, 1 << 20).status(), "whatever it is, nothing worse than an error");
  }
}

// Entries that no compression makes smaller.
std::vector<std::pair<std::string, std::string>> Noise(Random& random, int entries, size_t bytes) {
  std::vector<std::pair<std::string, std::string>> found;
  for (int i = 0; i < entries; ++i) {
    std::string value(bytes, '\0');
    for (char& c : value) c = static_cast<char>(random.NextBelow(256));
    found.emplace_back("key " + std::to_string(random.NextBelow(1'000'000)), std::move(value));
  }
  return found;
}

Status CommitEntries(data::FileSystem& files, StatePersister& persister, int64_t version,
                     const std::vector<std::pair<std::string, std::string>>& entries) {
  TW_ASSIGN_OR_RETURN(const auto writer, persister.BeginChanges(StateVersion(version)));
  for (const auto& [key, value] : entries) {
    const StateChange change{key, value, false};
    TW_RETURN_NOT_OK(writer->Append({&change, 1}));
  }
  data::DurableGroup group(files);
  TW_RETURN_NOT_OK(writer->Finish(group));
  TW_RETURN_NOT_OK(group.Publish());
  persister.Committed(StateVersion(version), static_cast<int64_t>(entries.size()));
  return Status::OK();
}

class PaidRocksDb : public testing::Test {
 protected:
  std::unique_ptr<StatePersister> Open() {
    const auto provider = FindStateStoreProvider(kRocksDbProviderClass).ValueOrDie();
    return provider->Open(files_, AnyStore(), RocksDb(), {}, {&strand_, &maintenance_}).ValueOrDie();
  }
  size_t NumTables(int64_t version) {
    return ReadStoredMetadata(files_, "/ckpt/state/0/0/" + std::to_string(version) + ".zip").ValueOrDie().ssts.size();
  }

  data::MemoryFileSystem files_;
  MemoryAccount strand_{"strand", nullptr};
  MemoryAccount maintenance_{"maintenance", nullptr};
  Random random_{5};
};

TEST_F(PaidRocksDb, WhatACommitHoldsIsChargedUntilTheStrandEnds) {
  const auto persister = Open();
  ASSERT_TRUE(CommitEntries(files_, *persister, 1, Noise(random_, 100, 10'000)).ok());
  EXPECT_GE(strand_.used_bytes(), 1'000'000) << "the new table stands in memory";
  EXPECT_LT(strand_.used_bytes(), 2'500'000);
  persister->StrandEnded();
  EXPECT_EQ(strand_.used_bytes(), 0);
  EXPECT_EQ(maintenance_.used_bytes(), 0);
}

TEST_F(PaidRocksDb, ALargeCommitIsNotKeptInMemory) {
  const auto persister = Open();
  ASSERT_TRUE(CommitEntries(files_, *persister, 1, Noise(random_, 100, 100'000)).ok());
  EXPECT_GE(strand_.peak_bytes(), 10'000'000);
  EXPECT_EQ(strand_.used_bytes(), 0) << "it is read from its files next time";
  ASSERT_TRUE(CommitEntries(files_, *persister, 2, Noise(random_, 1, 8)).ok());
  EXPECT_EQ(LoadAll(*persister, StateVersion(2)).ValueOrDie().size(), 101u);
}

TEST_F(PaidRocksDb, OverTheLimitTheVersionFailsAndCanBeWrittenAgain) {
  const auto persister = Open();
  const auto entries = Noise(random_, 100, 50'000);
  for (const int64_t limit : {100'000, 1'000'000, 6'000'000}) {
    strand_.set_limit_bytes(limit);
    EXPECT_EQ(CommitEntries(files_, *persister, 1, entries).condition(), "OUT_OF_MEMORY") << limit;
  }
  strand_.set_limit_bytes(MemoryAccount::kNoLimit);
  ASSERT_TRUE(CommitEntries(files_, *persister, 1, entries).ok());
  EXPECT_EQ(LoadAll(*persister, StateVersion(1)).ValueOrDie().size(), 100u);
}

TEST_F(PaidRocksDb, AMergeThatDoesNotFitIsPutOff) {
  const auto persister = Open();
  strand_.set_limit_bytes(8'000'000);
  for (int64_t version = 1; version <= 5; ++version) {
    ASSERT_TRUE(CommitEntries(files_, *persister, version, Noise(random_, 100, 8'000)).ok()) << version;
    EXPECT_EQ(NumTables(version), static_cast<size_t>(version));
  }
  strand_.set_limit_bytes(MemoryAccount::kNoLimit);
  ASSERT_TRUE(CommitEntries(files_, *persister, 6, Noise(random_, 100, 8'000)).ok());
  EXPECT_EQ(NumTables(6), 1u);
}

// RocksDB calls from threads of its own, where nobody catches: the process would end.
TEST(DatabaseFiles, WhatThereIsNoMemoryForIsAnError) {
  DatabaseFiles files;
  std::unique_ptr<rocksdb::FSWritableFile> file;
  ASSERT_TRUE(files.NewWritableFile("/000007.sst", {}, &file, nullptr).ok());
  const rocksdb::Slice more_than_a_string_holds("", std::string().max_size());
  ASSERT_TRUE(file->Append(rocksdb::Slice("x"), {}, nullptr).ok());
  EXPECT_NO_THROW(EXPECT_FALSE(file->Append(more_than_a_string_holds, {}, nullptr).ok()));
  EXPECT_FALSE(files.failure().ok());
  EXPECT_EQ(*files.BytesOf("000007.sst"), "x");
}

// Of a level's tables one is open at a time, whatever a checkpoint names.
TEST(DatabaseImage, ATableIsOpenFromItsFirstKeyToItsLast) {
  constexpr int kTables = 12;
  data::MemoryFileSystem files;
  Random random(3);
  for (const uint32_t level : {0U, 1U}) {
    CheckedImage image;
    for (int i = 0; i < kTables; ++i) {
      data::MemoryFileSystem of_one;
      const auto persister = OpenPersister(of_one, AnyStore(), RocksDb());
      std::vector<std::pair<std::string, std::string>> entries = Noise(random, 40, 10'000);
      for (auto& [key, value] : entries) key = std::string(1, static_cast<char>('a' + i)) + key;
      ASSERT_TRUE(CommitEntries(of_one, *persister, 1, entries).ok());
      const auto stored = ReadStoredSnapshot(of_one, "/ckpt/state/0/0", "/ckpt/state/0/0/1.zip").ValueOrDie();
      const CheckedImage one = CheckImage(stored.image).ValueOrDie();
      ASSERT_EQ(one.tables.size(), 1u);
      image.tables.push_back(one.tables[0]);
      image.manifest.tables.push_back(one.manifest.tables[0]);
      image.manifest.tables.back().level = level;
      Overwrite(files, one.tables[0].path, of_one.ReadWhole(one.tables[0].path).ValueOrDie());
    }
    MemoryAccount account{"load", nullptr};
    VerifiedTables verified;
    size_t found = 0;
    const auto count = [&](std::span<const DatabaseEntry> entries) {
      found += entries.size();
      return Status::OK();
    };
    ASSERT_TRUE(ScanImage(files, image, &verified, &account, count).ok());
    EXPECT_EQ(found, kTables * 40u);
    EXPECT_GT(account.peak_bytes(), 256 << 10) << "a window of one";
    EXPECT_LT(account.peak_bytes(), 400 << 10) << "and not of another";
    EXPECT_EQ(account.used_bytes(), 0);
    account.set_limit_bytes(100'000);
    EXPECT_EQ(ScanImage(files, image, &verified, &account, count).condition(), "OUT_OF_MEMORY");
  }
}

// Thousand versions of a changing set: tables are merged, and what lies on disk follows the state, not its history.
TEST(RocksDbPersister, TablesAreMergedAndDeleted) {
  data::MemoryFileSystem files;
  StateOptions options = RocksDb();
  options.min_versions_to_retain = 3;
  const auto persister = OpenPersister(files, AnyStore(), options);
  RandomHistory history(77);
  for (int i = 0; i < 300; ++i) {
    history.Step(files, *persister);
    if (i % 20 == 19) {
      ASSERT_TRUE(persister->Maintain(0, true).ok());
    }
  }
  const auto tables = files.List("/ckpt/state/0/0/SSTs").ValueOrDie();
  EXPECT_LE(tables.size(), 20u);
  std::set<std::string> named;
  for (int64_t version = 297; version <= 300; ++version) {
    const auto metadata = ReadStoredMetadata(files, "/ckpt/state/0/0/" + std::to_string(version) + ".zip").ValueOrDie();
    for (const auto& sst : metadata.ssts) named.insert(sst.stored_name);
    EXPECT_EQ(metadata.num_keys, static_cast<int64_t>(history.expected[static_cast<size_t>(version)].size()));
  }
  for (const std::string& name : named) EXPECT_TRUE(files.Exists("/ckpt/state/0/0/SSTs/" + name).ValueOrDie());
}

}  // namespace
}  // namespace thalweg::engine
