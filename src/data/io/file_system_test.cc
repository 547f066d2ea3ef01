#include "data/io/file_system.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cerrno>
#include <atomic>
#include <thread>

#include "data/io/atomic_write.h"
#include "data/io/checksum_file.h"
#include "data/io/faulty_file_system.h"
#include "data/io/local_file_system.h"
#include "data/io/memory_file_system.h"
#include "data/io/own_tree.h"
#include "data/io/path.h"

namespace thalweg::data {
namespace {

std::string MakeTestDirectory() {
  std::string pattern = testing::TempDir() + "tw_io_XXXXXX";
  return mkdtemp(pattern.data());
}

void Put(FileSystem& fs, const std::string& path, std::string_view bytes) {
  auto file = fs.Create(path, CreateMode::kReplace).ValueOrDie();
  ASSERT_TRUE(file->Append(bytes).ok());
  ASSERT_TRUE(file->Close().ok());
}

std::vector<std::string> Names(FileSystem& fs, const std::string& directory) {
  std::vector<std::string> names;
  for (const FileInfo& info : fs.List(directory).ValueOrDie()) names.emplace_back(info.name());
  return names;
}

// What every file system promises.
class FileSystemTest : public testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (std::string(GetParam()) == "local") {
      fs_ = &LocalFileSystem::Get();
      root_ = MakeTestDirectory();
    } else {
      fs_ = GetParam() == std::string("memory") ? static_cast<FileSystem*>(&memory_) : &faulty_;
      root_ = "/root";
      ASSERT_TRUE(fs_->MakeDirectories(root_).ok());
    }
  }
  void TearDown() override { ASSERT_TRUE(fs_->RemoveTree(root_).ok()); }
  std::string P(const std::string& name) const { return JoinPath(root_, name); }

  MemoryFileSystem memory_;
  FaultyFileSystem faulty_{memory_};
  FileSystem* fs_ = nullptr;
  std::string root_;
};

TEST_P(FileSystemTest, WritesReadsAppends) {
  Put(*fs_, P("a b%#.txt"), "hello");
  EXPECT_EQ(*fs_->ReadWhole(P("a b%#.txt")), "hello");
  auto file = fs_->Create(P("a b%#.txt"), CreateMode::kAppend).ValueOrDie();
  EXPECT_TRUE(file->Append(" world").ok());
  EXPECT_TRUE(file->Sync().ok());
  EXPECT_TRUE(file->Close().ok());
  EXPECT_FALSE(file->Append("x").ok());
  EXPECT_EQ(*fs_->ReadWhole(P("a b%#.txt")), "hello world");
  EXPECT_FALSE(fs_->ReadWhole(P("a b%#.txt"), 5).ok());
  auto reader = fs_->OpenForRead(P("a b%#.txt")).ValueOrDie();
  char buffer[4];
  EXPECT_EQ(*reader->ReadAt(9, buffer), 2u);
  EXPECT_EQ(std::string(buffer, 2), "ld");
  EXPECT_EQ(*reader->ReadAt(99, buffer), 0u);
  EXPECT_EQ(*reader->Read(buffer), 4u);
  EXPECT_EQ(*reader->Read(buffer), 4u);
  EXPECT_EQ(std::string(buffer, 4), "o wo");
  EXPECT_EQ(*reader->Size(), 11);
}

TEST_P(FileSystemTest, MissingThingsAreNotFound) {
  EXPECT_TRUE(IsNotFound(fs_->OpenForRead(P("x")).status()));
  EXPECT_TRUE(IsNotFound(fs_->List(P("x")).status()));
  EXPECT_TRUE(IsNotFound(fs_->Stat(P("x")).status()));
  EXPECT_TRUE(IsNotFound(fs_->Remove(P("x"))));
  EXPECT_TRUE(IsNotFound(fs_->Rename(P("x"), P("y"), RenameMode::kReplace)));
  EXPECT_TRUE(IsNotFound(fs_->Create(P("x/y"), CreateMode::kReplace).status()));
  EXPECT_FALSE(*fs_->Exists(P("x")));
  EXPECT_TRUE(fs_->RemoveTree(P("x")).ok());
  EXPECT_TRUE(fs_->ListTree(P("x"))->empty());
}

TEST_P(FileSystemTest, ExclusiveCreationAndRename) {
  Put(*fs_, P("a"), "1");
  Put(*fs_, P("b"), "2");
  EXPECT_TRUE(IsAlreadyExists(fs_->Create(P("a"), CreateMode::kExclusive).status()));
  EXPECT_TRUE(IsAlreadyExists(fs_->Rename(P("a"), P("b"), RenameMode::kNoReplace)));
  EXPECT_EQ(*fs_->ReadWhole(P("b")), "2");
  EXPECT_TRUE(fs_->Rename(P("a"), P("c"), RenameMode::kNoReplace).ok());
  EXPECT_TRUE(fs_->Rename(P("c"), P("b"), RenameMode::kReplace).ok());
  EXPECT_EQ(*fs_->ReadWhole(P("b")), "1");
  EXPECT_EQ(Names(*fs_, root_), std::vector<std::string>{"b"});
}

TEST_P(FileSystemTest, DirectoriesListSortAndVanish) {
  EXPECT_TRUE(fs_->MakeDirectories(P("d/e/f")).ok());
  EXPECT_TRUE(fs_->MakeDirectories(P("d/e/f")).ok());
  Put(*fs_, P("d/z"), "12345");
  Put(*fs_, P("d/.hidden"), "");
  Put(*fs_, P("d/e/f/deep"), "1");
  EXPECT_EQ(Names(*fs_, P("d")), (std::vector<std::string>{".hidden", "e", "z"}));
  const FileInfo info = fs_->Stat(P("d/z")).ValueOrDie();
  EXPECT_FALSE(info.is_directory);
  EXPECT_EQ(info.size_bytes, 5);
  EXPECT_NEAR(static_cast<double>(info.modification_time_ms), static_cast<double>(SystemClock::Get().NowMillis()), 60e3);
  EXPECT_TRUE(fs_->Stat(P("d/e"))->is_directory);
  EXPECT_EQ(fs_->ListTree(P("d"))->size(), 3u);
  EXPECT_FALSE(fs_->Remove(P("d/e")).ok());
  EXPECT_FALSE(fs_->MakeDirectories(P("d/z")).ok());
  EXPECT_FALSE(fs_->OpenForRead(P("d")).ok());
  EXPECT_TRUE(fs_->Rename(P("d/e"), P("moved"), RenameMode::kReplace).ok());
  EXPECT_EQ(*fs_->ReadWhole(P("moved/f/deep")), "1");
  EXPECT_TRUE(fs_->RemoveTree(P("d")).ok());
  EXPECT_FALSE(*fs_->Exists(P("d")));
}

TEST_P(FileSystemTest, LocksAreExclusiveAndLeaveNothing) {
  auto lock = fs_->TryLock(root_).ValueOrDie();
  EXPECT_NE(lock, nullptr);
  EXPECT_EQ(*fs_->TryLock(root_), nullptr);
  EXPECT_TRUE(fs_->List(root_)->empty());
  lock.reset();
  EXPECT_NE(*fs_->TryLock(root_), nullptr);
  EXPECT_TRUE(IsNotFound(fs_->TryLock(P("x")).status()));
}

TEST_P(FileSystemTest, AtomicWritesAppearWholeOrNotAtAll) {
  EXPECT_TRUE(AtomicWriteFile(*fs_, P("new/dir/0"), "zero").ok());
  EXPECT_TRUE(IsAlreadyExists(AtomicWriteFile(*fs_, P("new/dir/0"), "other")));
  EXPECT_EQ(*fs_->ReadWhole(P("new/dir/0")), "zero");
  Put(*fs_, P("new/dir/.0.crc"), "stale");
  Put(*fs_, P("new/dir/0.crc"), "stale");
  EXPECT_TRUE(AtomicWriteFile(*fs_, P("new/dir/0"), "one", {.overwrite = true}).ok());
  EXPECT_EQ(*fs_->ReadWhole(P("new/dir/0")), "one");
  EXPECT_EQ(Names(*fs_, P("new/dir")), std::vector<std::string>{"0"});
}

TEST_P(FileSystemTest, OfManyExclusiveWritersOneWins) {
  std::atomic<int> winners{0};
  {
    std::vector<std::jthread> threads;
    for (int t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        if (AtomicWriteFile(*fs_, P("log/7"), std::to_string(t), {.durable = false}).ok()) ++winners;
      });
    }
  }
  EXPECT_EQ(winners, 1);
  EXPECT_EQ(Names(*fs_, P("log")), std::vector<std::string>{"7"});
}

TEST_P(FileSystemTest, GroupsAppearOnPublish) {
  for (const int count : {1, 5, 60}) {
    DurableGroup group(*fs_);
    for (int i = 0; i < count; ++i) {
      ASSERT_TRUE(group.Stage(P("state/" + std::to_string(i) + "/1.delta"), std::to_string(i)).ok());
    }
    auto streamed = group.Create(P("state/0/1.snapshot")).ValueOrDie();
    ASSERT_TRUE(streamed->Append("a").ok());
    ASSERT_TRUE(streamed->Append("b").ok());
    ASSERT_TRUE(streamed->Close().ok());
    EXPECT_EQ(group.size(), static_cast<size_t>(count) + 1);
    ASSERT_TRUE(group.Publish().ok());
    EXPECT_EQ(*fs_->ReadWhole(P("state/" + std::to_string(count - 1) + "/1.delta")), std::to_string(count - 1));
    EXPECT_EQ(*fs_->ReadWhole(P("state/0/1.snapshot")), "ab");
    EXPECT_EQ(group.size(), 0u);
  }
}

TEST_P(FileSystemTest, AbandonedGroupsLeaveNothing) {
  {
    DurableGroup group(*fs_);
    ASSERT_TRUE(group.Stage(P("s/1.delta"), "x").ok());
    auto open = group.Create(P("s/2.delta")).ValueOrDie();
  }
  EXPECT_TRUE(fs_->ListTree(P("s"))->empty());
}

INSTANTIATE_TEST_SUITE_P(All, FileSystemTest, testing::Values("local", "memory", "faulty"),
                         [](const auto& info) { return std::string(info.param); });

TEST(LocalFileSystemTest, WhatDeletesDoesNotFollowLinks) {
  LocalFileSystem& fs = LocalFileSystem::Get();
  const std::string root = MakeTestDirectory();
  const auto at = [&](const std::string& name) { return JoinPath(root, name); };
  ASSERT_TRUE(fs.MakeDirectories(at("outside")).ok() && fs.MakeDirectories(at("t/p=1")).ok());
  Put(fs, at("outside/keep"), "keep");
  Put(fs, at("t/p=1/own"), "own");
  ASSERT_EQ(symlink(at("outside").c_str(), at("t/link").c_str()), 0);
  ASSERT_EQ(symlink(at("outside/keep").c_str(), at("t/file").c_str()), 0);
  EXPECT_TRUE(*IsSymbolicLink(fs, at("t/link")));
  EXPECT_TRUE(*IsSymbolicLink(fs, at("t/link/")));
  EXPECT_FALSE(*IsSymbolicLink(fs, at("t/link/keep")));
  EXPECT_FALSE(*IsSymbolicLink(fs, at("t")));
  EXPECT_FALSE(*IsSymbolicLink(fs, at("nothing")));
  const auto paths = [&](const std::string& directory) {
    std::vector<std::string> found;
    for (const FileInfo& info : ListOwnTree(fs, at(directory)).ValueOrDie()) found.push_back(info.path.substr(root.size() + 1));
    return found;
  };
  EXPECT_EQ(paths("t"), (std::vector<std::string>{"t/file", "t/link", "t/p=1/own"}));
  EXPECT_EQ(paths("t/link"), std::vector<std::string>{"t/link/keep"});
  EXPECT_TRUE(paths("nothing").empty());
  EXPECT_EQ(fs.ListTree(at("t"))->size(), 3u);  // who reads goes through
  FaultyFileSystem faulty(fs);
  EXPECT_TRUE(*IsSymbolicLink(faulty, at("t/link")));
  const auto first = [&](const std::string& top, const std::string& path) { return FirstLink(faulty, at(top), at(path)).ValueOrDie(); };
  EXPECT_EQ(first("t", "t/link"), at("t/link"));
  EXPECT_EQ(first("t", "t/link/keep"), at("t/link"));
  EXPECT_EQ(first("t/", "t/link/nothing/below"), at("t/link"));
  EXPECT_EQ(first("t", "t/p=1/own"), "");
  EXPECT_EQ(first("t/link", "t/link/keep"), "");  // who names a link means what it leads to
  EXPECT_EQ(first("t/link", "t/link"), "");
  EXPECT_EQ(first("t", "nothing/link"), "");
  EXPECT_EQ(first("t/p", "t/p=1/own"), "");
  EXPECT_EQ(FirstLink(faulty, "/", at("t/link/keep")).ValueOrDie(), at("t/link"));
  EXPECT_TRUE(fs.RemoveTree(at("t/link/")).ok());
  EXPECT_FALSE(*fs.Exists(at("t/link")));
  ASSERT_EQ(symlink(at("outside").c_str(), at("t/link").c_str()), 0);
  EXPECT_TRUE(fs.RemoveTree(at("t")).ok());
  EXPECT_EQ(*fs.ReadWhole(at("outside/keep")), "keep");
  EXPECT_TRUE(fs.RemoveTree(root).ok());
}

TEST(MemoryFileSystemTest, AnUnsyncedRenameIsLostInACrash) {
  MemoryFileSystem fs;
  ASSERT_TRUE(fs.MakeDirectories("/d").ok());
  ASSERT_TRUE(fs.SyncDirectory("/").ok());
  Put(fs, "/d/tmp", "bytes");
  ASSERT_TRUE(fs.SyncFile("/d/tmp").ok());
  ASSERT_TRUE(fs.SyncDirectory("/d").ok());
  ASSERT_TRUE(fs.Rename("/d/tmp", "/d/0", RenameMode::kReplace).ok());
  fs.Crash();
  EXPECT_EQ(Names(fs, "/d"), std::vector<std::string>{"tmp"});
}

TEST(MemoryFileSystemTest, UnsyncedBytesAreTornInACrash) {
  Random random(11);
  bool torn = false;
  for (int i = 0; i < 50; ++i) {
    MemoryFileSystem fs;
    Put(fs, "/a", "0123456789");
    ASSERT_TRUE(fs.SyncDirectory("/").ok());
    fs.Crash(&random);
    const std::string left = *fs.ReadWhole("/a");
    EXPECT_TRUE(std::string("0123456789").starts_with(left));
    torn |= !left.empty() && left.size() < 10;
  }
  EXPECT_TRUE(torn);
}

TEST(MemoryFileSystemTest, WhatAtomicWriteReturnedSurvivesACrash) {
  MemoryFileSystem fs;
  ASSERT_TRUE(fs.MakeDirectories("/d").ok());
  ASSERT_TRUE(fs.SyncDirectory("/").ok());
  ASSERT_TRUE(AtomicWriteFile(fs, "/d/0", "zero").ok());
  ASSERT_TRUE(AtomicWriteFile(fs, "/d/1", "one", {.durable = false}).ok());
  DurableGroup group(fs);
  ASSERT_TRUE(group.Stage("/d/2", "two").ok());
  ASSERT_TRUE(group.Publish().ok());
  fs.Crash();
  EXPECT_EQ(*fs.ReadWhole("/d/0"), "zero");
  EXPECT_EQ(*fs.ReadWhole("/d/2"), "two");
}

TEST(FaultyFileSystemTest, EveryFailureLeavesOldOrNewContents) {
  const FileOperation operations[] = {FileOperation::kCreate, FileOperation::kWrite, FileOperation::kSync,
                                      FileOperation::kRename};
  for (const FileOperation operation : operations) {
    for (int nth = 1; nth <= 2; ++nth) {
      MemoryFileSystem memory;
      FaultyFileSystem fs(memory);
      ASSERT_TRUE(AtomicWriteFile(fs, "/f", "old").ok());
      fs.Add({.operation = operation, .nth = nth, .error_number = ENOSPC, .path_part = {}, .torn = true});
      const Status status = AtomicWriteFile(fs, "/f", "new contents", {.overwrite = true});
      EXPECT_TRUE(status.ok() || ErrorNumber(status) == ENOSPC);
      const std::string bytes = *memory.ReadWhole("/f");
      EXPECT_TRUE(bytes == "old" || bytes == "new contents") << bytes;
      EXPECT_TRUE(!status.ok() || bytes == "new contents");
    }
  }
}

TEST(FaultyFileSystemTest, WithoutPowerNothingHappensAnyMore) {
  for (int steps = 0; steps < 8; ++steps) {
    MemoryFileSystem memory;
    FaultyFileSystem fs(memory);
    ASSERT_TRUE(AtomicWriteFile(fs, "/d/f", "old").ok());
    const int before = fs.durable_steps();
    fs.CutPowerAfter(steps);
    const Status written = AtomicWriteFile(fs, "/d/f", "new", {.overwrite = true});
    EXPECT_EQ(written.ok(), !fs.power_off());
    EXPECT_LE(fs.durable_steps(), before + steps);
    EXPECT_EQ(fs.Stat("/d/f").ok(), !fs.power_off());
    memory.Crash();
    fs.RestorePower();
    const std::string left = fs.ReadWhole("/d/f").ValueOrDie();
    EXPECT_TRUE(left == "new" || (left == "old" && !written.ok())) << steps << " " << left;
  }
}

TEST(FaultyFileSystemTest, LastingFaultsLastAndMatchPaths) {
  MemoryFileSystem memory;
  FaultyFileSystem fs(memory);
  fs.Add({.operation = FileOperation::kCreate, .nth = 2, .error_number = EIO, .path_part = "offsets", .lasting = true});
  EXPECT_TRUE(fs.MakeDirectories("/offsets").ok());
  EXPECT_FALSE(fs.Create("/offsets/0", CreateMode::kReplace).ok());
  EXPECT_FALSE(fs.Create("/offsets/0", CreateMode::kReplace).ok());
  EXPECT_TRUE(fs.Create("/commits", CreateMode::kReplace).ok());
  fs.ClearFaults();
  EXPECT_TRUE(fs.Create("/offsets/0", CreateMode::kReplace).ok());
  EXPECT_EQ(fs.Count(FileOperation::kCreate), 5);
}

// The example of checkpoint-format 1.2.
TEST(ChecksumFileTest, BytesAreHadoops) {
  const std::string text = "v1\n{\"batchWatermarkMs\":0,\"batchTimestampMs\":1700000000000,\"conf\":{}}\n0";
  ASSERT_EQ(text.size(), 70u);
  EXPECT_EQ(HadoopChecksumBytes(text), std::string("crc\0\0\0\x02\0\x13\xfe\x12\x15", 12));
  EXPECT_EQ(HadoopChecksumPath("/a/offsets/0"), "/a/offsets/.0.crc");
}

TEST(ChecksumFileTest, VerdictsAndRealFiles) {
  MemoryFileSystem fs;
  Put(fs, "/0", "abc");
  EXPECT_EQ(*CheckHadoopChecksum(fs, "/0"), ChecksumVerdict::kNone);
  Put(fs, "/.0.crc", HadoopChecksumBytes("abc"));
  EXPECT_EQ(*CheckHadoopChecksum(fs, "/0"), ChecksumVerdict::kMatch);
  Put(fs, "/.0.crc", HadoopChecksumBytes("abd"));
  EXPECT_EQ(*CheckHadoopChecksum(fs, "/0"), ChecksumVerdict::kStale);
  Put(fs, "/.0.crc", "x");
  EXPECT_EQ(*CheckHadoopChecksum(fs, "/0"), ChecksumVerdict::kStale);
}

}  // namespace
}  // namespace thalweg::data
