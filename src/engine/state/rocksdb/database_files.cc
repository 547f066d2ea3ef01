#include "engine/state/rocksdb/database_files.h"

#include <algorithm>
#include <cstring>
#include <exception>

#include "base/no_throw.h"

namespace thalweg::engine {
namespace {

using rocksdb::IOStatus;

// What RocksDB calls: its threads have nobody who would catch what is thrown. `told` hears of it, if there is memory for that.
template <typename Body, typename Told>
IOStatus Guarded(Body&& body, Told&& told) noexcept {
  IOStatus answer = IOStatus::IOError();
  try {
    const Status status = NoThrow([&] {
      answer = body();
      return Status::OK();
    });
    if (!status.ok()) told(status);
  } catch (const std::exception&) {
    return answer;
  }
  return answer;
}

template <typename Body>
IOStatus Guarded(Body&& body) noexcept {
  return Guarded(std::forward<Body>(body), [](const Status&) {});
}

std::string BareName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

IOStatus ReadStored(data::ReadableFile& file, uint64_t offset, size_t size, rocksdb::Slice* result, char* scratch) {
  const Result<size_t> read = file.ReadAt(static_cast<int64_t>(offset), {scratch, size});
  if (!read.ok()) return IOStatus::IOError(read.status().message());
  *result = rocksdb::Slice(scratch, *read);
  return IOStatus::OK();
}

// A whole file, in memory or in the checkpoint. Files in memory grow while others read their beginning: copies are made.
class FileReader {
 public:
  FileReader(std::shared_ptr<const FileBytes> bytes, std::shared_ptr<data::ReadableFile> stored)
      : bytes_(std::move(bytes)), stored_(std::move(stored)) {}
  IOStatus ReadAt(uint64_t offset, size_t size, rocksdb::Slice* result, char* scratch) const {
    if (stored_ != nullptr) return ReadStored(*stored_, offset, size, result, scratch);
    const std::string& text = bytes_->text();
    const size_t begin = std::min<size_t>(offset, text.size());
    const size_t count = std::min(size, text.size() - begin);
    std::memcpy(scratch, text.data() + begin, count);
    *result = rocksdb::Slice(scratch, count);
    return IOStatus::OK();
  }

 private:
  std::shared_ptr<const FileBytes> bytes_;
  std::shared_ptr<data::ReadableFile> stored_;
};

class SequentialFile final : public rocksdb::FSSequentialFile {
 public:
  explicit SequentialFile(FileReader reader) : reader_(std::move(reader)) {}
  IOStatus Read(size_t size, const rocksdb::IOOptions&, rocksdb::Slice* result, char* scratch, rocksdb::IODebugContext*) override {
    const IOStatus status = Guarded([&] { return reader_.ReadAt(position_, size, result, scratch); });
    if (status.ok()) position_ += result->size();
    return status;
  }
  IOStatus Skip(uint64_t count) override {
    position_ += count;
    return IOStatus::OK();
  }

 private:
  FileReader reader_;
  uint64_t position_ = 0;
};

class RandomAccessFile final : public rocksdb::FSRandomAccessFile {
 public:
  explicit RandomAccessFile(FileReader reader) : reader_(std::move(reader)) {}
  IOStatus Read(uint64_t offset, size_t size, const rocksdb::IOOptions&, rocksdb::Slice* result, char* scratch,
                rocksdb::IODebugContext*) const override {
    return Guarded([&] { return reader_.ReadAt(offset, size, result, scratch); });
  }

 private:
  FileReader reader_;
};

class FlatDirectory final : public rocksdb::FSDirectory {
 public:
  IOStatus Fsync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override { return IOStatus::OK(); }
};

class NoLock final : public rocksdb::FileLock {};

}  // namespace

FileBytes::~FileBytes() { LowerCharge(0); }

void FileBytes::LowerCharge(int64_t bytes) {
  if (charged_ <= bytes) return;
  if (memory_ != nullptr) memory_->Shrink(charged_ - bytes);
  charged_ = bytes;
}

Status FileBytes::Append(std::string_view bytes) {
  const size_t size = text_.size() + bytes.size();
  if (size > text_.capacity()) {
    const size_t capacity = std::max(size, text_.capacity() * 2);
    // The old bytes stand beside the new ones while they are copied.
    if (memory_ != nullptr) {
      TW_RETURN_NOT_OK(memory_->Grow(static_cast<int64_t>(capacity)));
      charged_ += static_cast<int64_t>(capacity);
    }
    // The process may have less left than the account.
    const Status reserved = NoThrow([&] {
      text_.reserve(capacity);
      return Status::OK();
    });
    LowerCharge(static_cast<int64_t>(text_.capacity()));
    TW_RETURN_NOT_OK(reserved);
  }
  text_.append(bytes);
  return Status::OK();
}

void FileBytes::Trim() {
  text_.shrink_to_fit();
  LowerCharge(static_cast<int64_t>(text_.capacity()));
}

void DatabaseFiles::Fail(const Status& status) {
  MutexLock lock(mutex_);
  failure_ = status;
}

template <typename Body>
IOStatus DatabaseFiles::Answer(Body&& body) noexcept {
  return Guarded(std::forward<Body>(body), [this](const Status& status) { Fail(status); });
}

// Appends to a file in memory. RocksDB is told of a full account as of a failing disk.
class DatabaseFiles::Writer final : public rocksdb::FSWritableFile {
 public:
  Writer(DatabaseFiles& files, std::shared_ptr<FileBytes> bytes, bool table)
      : files_(files), bytes_(std::move(bytes)), table_(table) {}
  using FSWritableFile::Append;
  IOStatus Append(const rocksdb::Slice& data, const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return files_.Answer([&] {
      const Status appended = bytes_->Append({data.data(), data.size()});
      if (appended.ok()) {
        if (table_) files_.table_bytes_written_ += static_cast<int64_t>(data.size());
        return IOStatus::OK();
      }
      files_.Fail(appended);
      return IOStatus::IOError(appended.message());
    });
  }
  IOStatus Close(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override {
    return files_.Answer([&] {
      bytes_->Trim();
      return IOStatus::OK();
    });
  }
  IOStatus Flush(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override { return IOStatus::OK(); }
  IOStatus Sync(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override { return IOStatus::OK(); }
  uint64_t GetFileSize(const rocksdb::IOOptions&, rocksdb::IODebugContext*) override { return bytes_->text().size(); }

 private:
  DatabaseFiles& files_;
  std::shared_ptr<FileBytes> bytes_;
  const bool table_;
};

void DatabaseFiles::AddStored(const std::string& name, std::shared_ptr<data::ReadableFile> file, uint64_t size) {
  MutexLock lock(mutex_);
  entries_[name] = {nullptr, std::move(file), size};
}

Status DatabaseFiles::AddBytes(const std::string& name, std::string_view bytes) {
  auto file = std::make_shared<FileBytes>(memory_);
  TW_RETURN_NOT_OK(file->Append(bytes));
  MutexLock lock(mutex_);
  entries_[name] = {std::move(file), nullptr, 0};
  return Status::OK();
}

std::shared_ptr<const std::string> DatabaseFiles::BytesOf(const std::string& name) const {
  MutexLock lock(mutex_);
  const auto found = entries_.find(name);
  if (found == entries_.end() || found->second.bytes == nullptr) return nullptr;
  return {found->second.bytes, &found->second.bytes->text()};
}

Status DatabaseFiles::failure() const {
  MutexLock lock(mutex_);
  return failure_;
}

int64_t DatabaseFiles::memory_bytes() const {
  MutexLock lock(mutex_);
  int64_t bytes = 0;
  for (const auto& [name, entry] : entries_) {
    if (entry.bytes != nullptr) bytes += static_cast<int64_t>(entry.bytes->text().capacity());
  }
  return bytes;
}

IOStatus DatabaseFiles::Find(const std::string& path, Entry* entry) const {
  MutexLock lock(mutex_);
  const auto found = entries_.find(BareName(path));
  if (found == entries_.end()) return IOStatus::PathNotFound(BareName(path));
  *entry = found->second;
  return IOStatus::OK();
}

IOStatus DatabaseFiles::NewSequentialFile(const std::string& path, const rocksdb::FileOptions&,
                                          std::unique_ptr<rocksdb::FSSequentialFile>* result, Debug*) {
  return Answer([&] {
    Entry entry;
    IOStatus status = Find(path, &entry);
    if (status.ok()) *result = std::make_unique<SequentialFile>(FileReader(entry.bytes, entry.stored));
    return status;
  });
}

IOStatus DatabaseFiles::NewRandomAccessFile(const std::string& path, const rocksdb::FileOptions&,
                                            std::unique_ptr<rocksdb::FSRandomAccessFile>* result, Debug*) {
  return Answer([&] {
    Entry entry;
    IOStatus status = Find(path, &entry);
    if (status.ok()) *result = std::make_unique<RandomAccessFile>(FileReader(entry.bytes, entry.stored));
    return status;
  });
}

IOStatus DatabaseFiles::NewWritableFile(const std::string& path, const rocksdb::FileOptions&,
                                        std::unique_ptr<rocksdb::FSWritableFile>* result, Debug*) {
  return Answer([&] {
    auto bytes = std::make_shared<FileBytes>(memory_);
    *result = std::make_unique<Writer>(*this, bytes, path.ends_with(".sst"));
    MutexLock lock(mutex_);
    entries_[BareName(path)] = {std::move(bytes), nullptr, 0};
    return IOStatus::OK();
  });
}

IOStatus DatabaseFiles::NewDirectory(const std::string&, const Options&, std::unique_ptr<rocksdb::FSDirectory>* result, Debug*) {
  return Answer([&] {
    *result = std::make_unique<FlatDirectory>();
    return IOStatus::OK();
  });
}

IOStatus DatabaseFiles::FileExists(const std::string& path, const Options&, Debug*) {
  return Answer([&] {
    Entry entry;
    return Find(path, &entry).ok() ? IOStatus::OK() : IOStatus::NotFound(BareName(path));
  });
}

IOStatus DatabaseFiles::GetChildren(const std::string&, const Options&, std::vector<std::string>* names, Debug*) {
  return Answer([&] {
    names->clear();
    MutexLock lock(mutex_);
    for (const auto& [name, entry] : entries_) names->push_back(name);
    return IOStatus::OK();
  });
}

IOStatus DatabaseFiles::DeleteFile(const std::string& path, const Options&, Debug*) {
  return Answer([&] {
    MutexLock lock(mutex_);
    return entries_.erase(BareName(path)) > 0 ? IOStatus::OK() : IOStatus::PathNotFound(BareName(path));
  });
}

IOStatus DatabaseFiles::GetFileSize(const std::string& path, const Options&, uint64_t* size, Debug*) {
  return Answer([&] {
    Entry entry;
    IOStatus status = Find(path, &entry);
    if (status.ok()) *size = entry.bytes != nullptr ? entry.bytes->text().size() : entry.size;
    return status;
  });
}

IOStatus DatabaseFiles::GetFileModificationTime(const std::string& path, const Options&, uint64_t* time, Debug*) {
  return Answer([&] {
    *time = 0;
    Entry entry;
    return Find(path, &entry);
  });
}

IOStatus DatabaseFiles::RenameFile(const std::string& from, const std::string& to, const Options&, Debug*) {
  return Answer([&] {
    MutexLock lock(mutex_);
    const auto found = entries_.find(BareName(from));
    if (found == entries_.end()) return IOStatus::PathNotFound(BareName(from));
    entries_[BareName(to)] = found->second;
    if (BareName(to) != found->first) entries_.erase(found);
    return IOStatus::OK();
  });
}

IOStatus DatabaseFiles::LockFile(const std::string&, const Options&, rocksdb::FileLock** lock, Debug*) {
  return Answer([&] {
    *lock = new NoLock;  // RocksDB gives it back to UnlockFile
    return IOStatus::OK();
  });
}

IOStatus DatabaseFiles::UnlockFile(rocksdb::FileLock* lock, const Options&, Debug*) {
  return Answer([&] {
    delete lock;
    return IOStatus::OK();
  });
}

IOStatus DatabaseFiles::GetTestDirectory(const Options&, std::string* path, Debug*) {
  return Answer([&] {
    *path = "/";
    return IOStatus::OK();
  });
}

IOStatus DatabaseFiles::GetAbsolutePath(const std::string& path, const Options&, std::string* absolute, Debug*) {
  return Answer([&] {
    *absolute = path;
    return IOStatus::OK();
  });
}

IOStatus DatabaseFiles::IsDirectory(const std::string& path, const Options&, bool* is_directory, Debug*) {
  return Answer([&] {
    Entry entry;
    *is_directory = !Find(path, &entry).ok();
    return IOStatus::OK();
  });
}

}  // namespace thalweg::engine
