#pragma once

// Disk, for everything in this program: nothing else opens, renames or lists a file.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace thalweg::data {

/// What is known of one file or directory.
struct FileInfo {
  std::string path;  ///< as it would be opened
  bool is_directory = false;
  int64_t size_bytes = 0;            ///< 0 for directories
  int64_t modification_time_ms = 0;  ///< ms since 1970 UTC

  /// The last component of the path.
  std::string_view name() const;
};

/// An open file to read. Closed when destroyed.
/// Thread: ReadAt and Size from any; Read from one at a time.
class ReadableFile {
 public:
  virtual ~ReadableFile() = default;
  /// Bytes at `position` into `out`; fewer than asked only at the end of the file, 0 beyond it.
  virtual Result<size_t> ReadAt(int64_t position, std::span<char> out) = 0;
  virtual Result<int64_t> Size() = 0;
  /// The next bytes in sequence; 0 at the end.
  Result<size_t> Read(std::span<char> out);

 private:
  int64_t position_ = 0;
};

/// An open file to write, at its end. Thread: confined to its owner.
/// Destroying it without Close() drops errors: only for abandoned files.
class WritableFile {
 public:
  virtual ~WritableFile() = default;
  virtual Status Append(std::string_view bytes) = 0;
  /// Blocks until what was appended is durable. The name in its directory is another matter: SyncDirectory().
  virtual Status Sync() = 0;
  /// Blocks until what was appended has left for the disk, without waiting for durability: a name that the file gets
  /// afterwards does not become durable before its bytes (on journaling file systems). Less than half of Sync()'s cost.
  virtual Status WriteBack() { return Sync(); }
  /// Ends writing; further calls are errors. Does not sync.
  virtual Status Close() = 0;
};

enum class CreateMode : unsigned char {
  kReplace,    ///< an existing file is emptied
  kExclusive,  ///< an existing file is an error (IsAlreadyExists)
  kAppend,     ///< an existing file is continued
};

enum class RenameMode : unsigned char {
  kReplace,    ///< an existing target is replaced in one step
  kNoReplace,  ///< an existing target is an error (IsAlreadyExists), decided in one step
};

/// Sole use of a directory, for as long as this lives; ends with the process at the latest.
class FileLock {
 public:
  virtual ~FileLock() = default;
};

/// Files by path. Paths are absolute or relative to the working directory, `/` separates, nothing is decoded (see
/// path.h for URIs). Atomic here means: every other caller sees the whole effect or none.
/// Errors: IO_ERROR (kind kEnvironment), with IsNotFound() and IsAlreadyExists() to ask for the two common ones.
/// Owner: the server. Thread: any. Blocks: on the disk.
class FileSystem {
 public:
  virtual ~FileSystem() = default;

  virtual Result<std::unique_ptr<ReadableFile>> OpenForRead(const std::string& path) = 0;
  /// The directory must exist.
  virtual Result<std::unique_ptr<WritableFile>> Create(const std::string& path, CreateMode mode) = 0;
  /// Atomic within one directory tree of one disk. Not durable until SyncDirectory of both directories.
  virtual Status Rename(const std::string& from, const std::string& to, RenameMode mode) = 0;
  /// What stands directly in a directory, sorted by name, hidden files included.
  virtual Result<std::vector<FileInfo>> List(const std::string& directory) = 0;
  virtual Result<FileInfo> Stat(const std::string& path) = 0;
  /// Makes a directory and its missing ancestors; an existing one is fine.
  virtual Status MakeDirectories(const std::string& path) = 0;
  /// Removes a file or an empty directory.
  virtual Status Remove(const std::string& path) = 0;
  /// Removes a file, or a directory with all that is below it; a missing one is fine.
  virtual Status RemoveTree(const std::string& path) = 0;

  /// Block until the contents of a file, or the names in a directory, are durable.
  virtual Status SyncFile(const std::string& path) = 0;
  virtual Status SyncDirectory(const std::string& path) = 0;
  /// One barrier for many: returns when all of them are durable. A file system may do better than one by one.
  virtual Status SyncMany(std::span<const std::string> files, std::span<const std::string> directories);

  /// Takes sole use of an existing directory among all that ask in this way, in this process and others; null when
  /// somebody has it. Leaves no file. Never blocks. A file system without locks always grants it.
  virtual Result<std::unique_ptr<FileLock>> TryLock(const std::string& directory);

  /// Whether something stands at `path`.
  Result<bool> Exists(const std::string& path);
  /// The whole file. Errors: also when it is larger than `limit_bytes`.
  Result<std::string> ReadWhole(const std::string& path, int64_t limit_bytes = int64_t{1} << 31);
  /// All files (no directories) below `directory`, sorted by path; a missing directory has none.
  Result<std::vector<FileInfo>> ListTree(const std::string& directory);
};

/// Whether an error of a FileSystem says that the path, or its directory, is not there.
bool IsNotFound(const Status& status);
/// Whether it says that something is already there.
bool IsAlreadyExists(const Status& status);
/// The errno of an IO_ERROR, 0 for other errors.
int ErrorNumber(const Status& status);

}  // namespace thalweg::data
