#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "data/io/file_system.h"

namespace thalweg::data {

/// Test double: files in memory, with the two states a disk has. What a caller sees is the live state; what survives
/// Crash() is the durable one: contents as of the last Sync or SyncFile, names as of the last SyncDirectory of their
/// directory. So a lost rename, a lost file and a torn end can all be had. Thread: any.
class MemoryFileSystem final : public FileSystem {
 public:
  /// Files carry `clock`'s time, which must outlive this.
  explicit MemoryFileSystem(Clock& clock = SystemClock::Get());
  ~MemoryFileSystem() override;

  Result<std::unique_ptr<ReadableFile>> OpenForRead(const std::string& path) override;
  Result<std::unique_ptr<WritableFile>> Create(const std::string& path, CreateMode mode) override;
  Status Rename(const std::string& from, const std::string& to, RenameMode mode) override;
  Result<std::vector<FileInfo>> List(const std::string& directory) override;
  Result<FileInfo> Stat(const std::string& path) override;
  Status MakeDirectories(const std::string& path) override;
  Status Remove(const std::string& path) override;
  Status RemoveTree(const std::string& path) override;
  Status SyncFile(const std::string& path) override;
  Status SyncDirectory(const std::string& path) override;
  Result<std::unique_ptr<FileLock>> TryLock(const std::string& directory) override;

  /// Power loss: the live state becomes the durable one; of bytes appended since the last sync a file keeps a random
  /// part from the front (none of them when `random` is null). Open files write to what is gone; locks are released.
  void Crash(Random* random = nullptr);

 private:
  struct Inode;
  struct State;
  class Reader;
  class Writer;
  class Lock;
  std::shared_ptr<State> state_;  // shared with open files
};

}  // namespace thalweg::data
