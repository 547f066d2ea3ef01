#pragma once

#include "data/io/file_system.h"
#include "data/io/own_tree.h"

namespace thalweg::data {

/// The machine's disks, through POSIX. Exclusive renames use the kernel's, or a hard link where it has none.
/// SyncMany measures: few files are synced one after the other or in parallel, many by one call for the whole disk
/// (syncfs), whichever took less lately. Thread: any; no state but the measurements.
class LocalFileSystem final : public FileSystem, public HasSymbolicLinks {
 public:
  /// The one of the process.
  static LocalFileSystem& Get();

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
  Status SyncMany(std::span<const std::string> files, std::span<const std::string> directories) override;
  Result<std::unique_ptr<FileLock>> TryLock(const std::string& directory) override;
  Result<bool> IsSymbolicLink(const std::string& path) override;
};

}  // namespace thalweg::data
