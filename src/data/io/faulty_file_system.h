#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "data/io/file_system.h"
#include "data/io/own_tree.h"

namespace thalweg::data {

/// Operations that can be made to fail.
enum class FileOperation : unsigned char { kOpen, kRead, kCreate, kWrite, kSync, kRename, kList, kRemove };

/// One fault: the nth matching operation fails with an errno.
struct FileFault {
  FileOperation operation = FileOperation::kWrite;
  int nth = 1;            ///< 1 is the next one
  int error_number = 0;   ///< ENOSPC, EIO, ...
  std::string path_part;  ///< only paths that contain this; empty: every path
  bool torn = false;      ///< writes: half of the bytes arrive before the failure
  bool lasting = false;   ///< everything after the nth fails too (a full disk stays full)
};

/// Test double: another file system with faults, which can also lose its power. Borrows the other. Thread: any.
class FaultyFileSystem final : public FileSystem, public HasSymbolicLinks {
 public:
  explicit FaultyFileSystem(FileSystem& inner) : inner_(inner) {}

  void Add(FileFault fault) TW_EXCLUDES(mutex_);
  void ClearFaults() TW_EXCLUDES(mutex_);
  /// A slow disk: every write, sync and rename takes so much longer.
  void SlowDown(std::chrono::microseconds delay) { delay_us_.store(delay.count()); }
  /// How many operations of a kind were asked for, failed ones included.
  int Count(FileOperation operation) const TW_EXCLUDES(mutex_);

  /// The power goes after `steps` more durable steps (syncs and renames): the next one, and everything after it, fails.
  void CutPowerAfter(int steps) TW_EXCLUDES(mutex_);
  void RestorePower() TW_EXCLUDES(mutex_);
  bool power_off() const TW_EXCLUDES(mutex_);
  /// Durable steps that were taken so far.
  int durable_steps() const TW_EXCLUDES(mutex_);

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
  Result<bool> IsSymbolicLink(const std::string& path) override;

 private:
  class Reader;
  class Writer;
  /// Counts the operation; an error when a fault strikes. `torn` (may be null) tells whether half arrives.
  Status Pass(FileOperation operation, const std::string& path, bool* torn = nullptr) TW_EXCLUDES(mutex_);
  Status CheckPower(const std::string& path) const TW_EXCLUDES(mutex_);

  FileSystem& inner_;
  std::atomic<int64_t> delay_us_{0};
  mutable Mutex mutex_;
  std::vector<FileFault> faults_ TW_GUARDED_BY(mutex_);
  int counts_[8] TW_GUARDED_BY(mutex_) = {};
  int durable_steps_ TW_GUARDED_BY(mutex_) = 0;
  int cut_at_ TW_GUARDED_BY(mutex_) = -1;  // the count of durable steps that is the last; negative: none
  bool power_off_ TW_GUARDED_BY(mutex_) = false;
};

}  // namespace thalweg::data
