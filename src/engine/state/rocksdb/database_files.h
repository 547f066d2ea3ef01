#pragma once

// Private to database.cc and its test: RocksDB's idea of a file system over a checkpoint's table files and memory.

#include <rocksdb/file_system.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/memory.h"
#include "base/mutex.h"
#include "data/io/file_system.h"

namespace thalweg::engine {

/// A file in memory: its bytes, charged for as long as somebody holds them. Grows at the hands of one; others may hold it.
class FileBytes {
 public:
  /// `memory` may be null.
  explicit FileBytes(MemoryAccount* memory) : memory_(memory) {}
  ~FileBytes();
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  /// Errors: OUT_OF_MEMORY; nothing is appended then.
  Status Append(std::string_view bytes);
  /// It will not grow any more, or not soon: what is set aside for that is given back.
  void Trim();
  const std::string& text() const { return text_; }

 private:
  void LowerCharge(int64_t bytes);

  MemoryAccount* const memory_;
  int64_t charged_ = 0;
  std::string text_;
};

/// One flat folder, whatever the path: table files of a checkpoint are read where they lie, all else is in memory.
/// Nothing reaches a disk, nothing of the checkpoint is changed. Nothing is thrown at RocksDB. Thread: any.
class DatabaseFiles final : public rocksdb::FileSystem {
 public:
  /// `memory` (may be null) pays for files in memory.
  explicit DatabaseFiles(MemoryAccount* memory = nullptr) : memory_(memory) {}

  /// Makes a file of the checkpoint appear under a bare name.
  void AddStored(const std::string& name, std::shared_ptr<data::ReadableFile> file, uint64_t size) TW_EXCLUDES(mutex_);
  Status AddBytes(const std::string& name, std::string_view bytes) TW_EXCLUDES(mutex_);
  /// What was written under this name, or null: then it lies in the checkpoint or nowhere.
  std::shared_ptr<const std::string> BytesOf(const std::string& name) const TW_EXCLUDES(mutex_);
  /// Of all that is in memory.
  int64_t memory_bytes() const TW_EXCLUDES(mutex_);
  /// Bytes of tables that were written so far.
  int64_t table_bytes_written() const { return table_bytes_written_; }
  /// The error of ours behind one that RocksDB tells in its own words; OK when there is none.
  Status failure() const TW_EXCLUDES(mutex_);

  using Options = rocksdb::IOOptions;
  using Debug = rocksdb::IODebugContext;
  const char* Name() const override { return "thalweg-database-files"; }
  rocksdb::IOStatus NewSequentialFile(const std::string& path, const rocksdb::FileOptions&,
                                      std::unique_ptr<rocksdb::FSSequentialFile>* result, Debug*) override;
  rocksdb::IOStatus NewRandomAccessFile(const std::string& path, const rocksdb::FileOptions&,
                                        std::unique_ptr<rocksdb::FSRandomAccessFile>* result, Debug*) override;
  rocksdb::IOStatus NewWritableFile(const std::string& path, const rocksdb::FileOptions&,
                                    std::unique_ptr<rocksdb::FSWritableFile>* result, Debug*) override;
  rocksdb::IOStatus NewDirectory(const std::string& path, const Options&, std::unique_ptr<rocksdb::FSDirectory>* result,
                                 Debug*) override;
  rocksdb::IOStatus FileExists(const std::string& path, const Options&, Debug*) override;
  rocksdb::IOStatus GetChildren(const std::string& path, const Options&, std::vector<std::string>* names, Debug*) override;
  rocksdb::IOStatus DeleteFile(const std::string& path, const Options&, Debug*) override;
  rocksdb::IOStatus CreateDir(const std::string&, const Options&, Debug*) override { return rocksdb::IOStatus::OK(); }
  rocksdb::IOStatus CreateDirIfMissing(const std::string&, const Options&, Debug*) override { return rocksdb::IOStatus::OK(); }
  rocksdb::IOStatus DeleteDir(const std::string&, const Options&, Debug*) override { return rocksdb::IOStatus::OK(); }
  rocksdb::IOStatus GetFileSize(const std::string& path, const Options&, uint64_t* size, Debug*) override;
  rocksdb::IOStatus GetFileModificationTime(const std::string& path, const Options&, uint64_t* time, Debug*) override;
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to, const Options&, Debug*) override;
  rocksdb::IOStatus LockFile(const std::string& path, const Options&, rocksdb::FileLock** lock, Debug*) override;
  rocksdb::IOStatus UnlockFile(rocksdb::FileLock* lock, const Options&, Debug*) override;
  rocksdb::IOStatus GetTestDirectory(const Options&, std::string* path, Debug*) override;
  rocksdb::IOStatus GetAbsolutePath(const std::string& path, const Options&, std::string* absolute, Debug*) override;
  rocksdb::IOStatus IsDirectory(const std::string& path, const Options&, bool* is_directory, Debug*) override;

 private:
  class Writer;
  struct Entry {
    std::shared_ptr<FileBytes> bytes;            // null: stored
    std::shared_ptr<data::ReadableFile> stored;
    uint64_t size = 0;  // of a stored file
  };
  void Fail(const Status& status) TW_EXCLUDES(mutex_);
  /// The answer of `body`; what that throws is failure() and an error.
  template <typename Body>
  rocksdb::IOStatus Answer(Body&& body) noexcept;
  rocksdb::IOStatus Find(const std::string& path, Entry* entry) const TW_EXCLUDES(mutex_);

  MemoryAccount* const memory_;
  std::atomic<int64_t> table_bytes_written_{0};
  mutable Mutex mutex_;
  std::map<std::string, Entry> entries_ TW_GUARDED_BY(mutex_);
  Status failure_ TW_GUARDED_BY(mutex_);
};

}  // namespace thalweg::engine
