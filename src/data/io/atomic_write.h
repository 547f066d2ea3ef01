#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "data/io/file_system.h"

namespace thalweg::data {

struct AtomicWriteOptions {
  bool overwrite = false;  ///< false: an existing file is an error (IsAlreadyExists), decided atomically
  bool durable = true;     ///< block until file and name survive a crash
};

/// Makes a file appear whole or not at all: temporary file `.<name>.<uuid>.tmp` beside it, written back, renamed,
/// synced, its directory synced. Missing directories are made. Stale side-cars `.<name>.crc` and `<name>.crc` are removed first.
/// After an error the file may or may not be there, but never in part; a temporary file may be left.
/// Thread: any. Blocks: on the disk.
Status AtomicWriteFile(FileSystem& file_system, const std::string& path, std::string_view bytes,
                       AtomicWriteOptions options = {});

/// Makes many files appear, then durable with one barrier: what one version of a query's state needs.
/// Stage or Create as many as needed, from any thread; then Publish once, or Abandon (the destructor does).
/// Until Publish nothing is visible; a crash in the middle of it may leave some of them visible and not durable, which
/// is sound only where nothing yet refers to them. Existing files are replaced.
/// Owner: one micro-batch. Blocks: on the disk.
class DurableGroup {
 public:
  explicit DurableGroup(FileSystem& file_system) : file_system_(file_system) {}
  ~DurableGroup();
  DurableGroup(const DurableGroup&) = delete;
  DurableGroup& operator=(const DurableGroup&) = delete;

  /// Writes a temporary file that Publish() will name `path`.
  Status Stage(const std::string& path, std::string_view bytes) TW_EXCLUDES(mutex_);
  /// The same, written piece by piece; it takes part once it is closed. The group must outlive it.
  Result<std::unique_ptr<WritableFile>> Create(const std::string& path) TW_EXCLUDES(mutex_);
  /// Renames everything, then blocks until all of it is durable (or only renames when `durable` is false). Empties the
  /// group. Errors: the first; files renamed before it stay.
  Status Publish(bool durable = true) TW_EXCLUDES(mutex_);
  /// Removes what was staged.
  void Abandon() TW_EXCLUDES(mutex_);
  size_t size() const TW_EXCLUDES(mutex_);

 private:
  class StagedFile;
  struct Staged {
    std::string temporary;
    std::string path;
  };
  void Add(Staged staged) TW_EXCLUDES(mutex_);
  Result<std::unique_ptr<WritableFile>> OpenTemporary(const std::string& temporary) TW_EXCLUDES(mutex_);

  FileSystem& file_system_;
  mutable Mutex mutex_;
  std::vector<Staged> staged_ TW_GUARDED_BY(mutex_);
  std::vector<std::string> changed_directories_ TW_GUARDED_BY(mutex_);  // besides those of the files
};

/// Makes a directory and its missing ancestors. `changed` (may be null) receives the directories that got a new name in
/// them: the ones to sync before the directory is durable.
Status MakeMissingDirectories(FileSystem& file_system, const std::string& path, std::vector<std::string>* changed);

/// The name of a temporary file for `path`: `.<name>.<uuid>.tmp` in the same directory. No reader of Spark's or ours
/// looks at such names.
std::string TemporaryPathFor(std::string_view path);
/// Whether a file is called like one of these: left by a crash, if nobody is writing in its directory.
bool IsTemporaryName(std::string_view name);
/// Removes the side-cars that Hadoop and Spark may have left for `path`: they would contradict new contents.
Status RemoveChecksumSidecars(FileSystem& file_system, const std::string& path);

}  // namespace thalweg::data
