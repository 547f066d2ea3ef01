#include "data/io/local_file_system.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <thread>
#include <utility>

#include "base/clock.h"
#include "base/no_throw.h"
#include "base/probe.h"
#include "data/io/path.h"

#if defined(__linux__)
#include <sys/syscall.h>
#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1
#endif
#endif

namespace thalweg::data {
namespace {

// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  int get() const { return fd_; }
  int Release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

int OpenRetrying(const std::string& path, int flags, mode_t mode = 0) {
  int fd = -1;
  do {
    fd = open(path.c_str(), flags | O_CLOEXEC, mode);
  } while (fd < 0 && errno == EINTR);
  return fd;
}

class LocalReadableFile final : public ReadableFile {
 public:
  LocalReadableFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  Result<size_t> ReadAt(int64_t position, std::span<char> out) override {
    size_t filled = 0;
    while (filled < out.size()) {
      const ssize_t count =
          pread(fd_.get(), out.data() + filled, out.size() - filled, position + static_cast<int64_t>(filled));
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return IoError("read " + path_, errno);
      if (count == 0) break;
      filled += static_cast<size_t>(count);
    }
    return filled;
  }

  Result<int64_t> Size() override {
    struct stat info{};
    if (fstat(fd_.get(), &info) != 0) return IoError("stat " + path_, errno);
    return static_cast<int64_t>(info.st_size);
  }

 private:
  Descriptor fd_;
  const std::string path_;
};

class LocalWritableFile final : public WritableFile {
 public:
  LocalWritableFile(int fd, std::string path) : fd_(fd), path_(std::move(path)) {}

  Status Append(std::string_view bytes) override {
    if (fd_.get() < 0) return IoError("write to the closed file " + path_, EBADF);
    while (!bytes.empty()) {
      const ssize_t count = write(fd_.get(), bytes.data(), bytes.size());
      if (count < 0 && errno == EINTR) continue;
      if (count < 0) return IoError("write " + path_, errno);
      bytes.remove_prefix(static_cast<size_t>(count));
    }
    return Status::OK();
  }

  Status Sync() override {
    if (fd_.get() < 0) return IoError("sync the closed file " + path_, EBADF);
    if (fdatasync(fd_.get()) != 0) return IoError("sync " + path_, errno);
    return Status::OK();
  }

#if defined(__linux__)
  Status WriteBack() override {
    if (fd_.get() < 0) return IoError("sync the closed file " + path_, EBADF);
    constexpr unsigned kAll =
        SYNC_FILE_RANGE_WAIT_BEFORE | SYNC_FILE_RANGE_WRITE | SYNC_FILE_RANGE_WAIT_AFTER;
    if (sync_file_range(fd_.get(), 0, 0, kAll) == 0) return Status::OK();
    if (errno == EIO || errno == ENOSPC) return IoError("write " + path_, errno);
    return Sync();  // the disk's file system does not know it
  }
#endif

  Status Close() override {
    if (fd_.get() < 0) return IoError("close the closed file " + path_, EBADF);
    if (close(fd_.Release()) != 0) return IoError("close " + path_, errno);
    return Status::OK();
  }

 private:
  Descriptor fd_;
  const std::string path_;
};

// An advisory lock on the directory itself (flock), which the kernel drops with its last descriptor.
class LocalFileLock final : public FileLock {
 public:
  explicit LocalFileLock(int fd) : fd_(fd) {}

 private:
  Descriptor fd_;
};

FileInfo MakeInfo(std::string path, const struct stat& info) {
  FileInfo out;
  out.path = std::move(path);
  out.is_directory = S_ISDIR(info.st_mode);
  out.size_bytes = out.is_directory ? 0 : static_cast<int64_t>(info.st_size);
#if defined(__APPLE__)
  const timespec& time = info.st_mtimespec;
#else
  const timespec& time = info.st_mtim;
#endif
  out.modification_time_ms = static_cast<int64_t>(time.tv_sec) * 1000 + time.tv_nsec / 1'000'000;
  return out;
}

// With a slash at its end, a link is what it leads to.
std::string WithoutSlashes(std::string path) {
  while (path.size() > 1 && path.back() == '/') path.pop_back();
  return path;
}

// Hard link and unlink: the target appears in one step or the call fails. Directories cannot be linked.
Status RenameByLink(const std::string& from, const std::string& to) {
  if (link(from.c_str(), to.c_str()) != 0) return IoError("create " + to, errno);
  if (unlink(from.c_str()) != 0) return IoError("remove " + from, errno);
  return Status::OK();
}

Status SyncPath(const std::string& path, int flags) {
  const Descriptor fd(OpenRetrying(path, O_RDONLY | flags));
  if (fd.get() < 0) return IoError("open " + path, errno);
  if (fsync(fd.get()) != 0) return IoError("sync " + path, errno);
  return Status::OK();
}

// Which barrier took less lately. Microseconds, 0 = not measured.
std::atomic<int64_t> g_one_file_us{0};
std::atomic<int64_t> g_whole_disk_us{0};
std::atomic<uint32_t> g_barriers{0};

constexpr size_t kFewestForWholeDisk = 24;
constexpr size_t kSyncThreads = 8;
constexpr uint32_t kRemeasureEvery = 256;

void Record(std::atomic<int64_t>& average, int64_t value) {
  const int64_t before = average.load(std::memory_order_relaxed);
  average.store(before == 0 ? std::max<int64_t>(value, 1) : (7 * before + value) / 8, std::memory_order_relaxed);
}

bool PreferWholeDisk(size_t count) {
#if defined(__linux__)
  if (count < kFewestForWholeDisk) return false;
  const int64_t one = g_one_file_us.load(std::memory_order_relaxed);
  const int64_t all = g_whole_disk_us.load(std::memory_order_relaxed);
  if (one == 0) return false;
  if (all == 0) return true;
  const bool cheaper = all < one * static_cast<int64_t>(count);
  return g_barriers.fetch_add(1, std::memory_order_relaxed) % kRemeasureEvery == 0 ? !cheaper : cheaper;
#else
  static_cast<void>(count);
  return false;
#endif
}

#if defined(__linux__)
// Syncs every disk that one of the directories is on.
Status SyncWholeDisks(std::span<const std::string> files, std::span<const std::string> directories) {
  std::vector<dev_t> done;
  const auto sync_disk_of = [&](const std::string& path) -> Status {
    const Descriptor fd(OpenRetrying(path, O_RDONLY));
    if (fd.get() < 0) return IoError("open " + path, errno);
    struct stat info{};
    if (fstat(fd.get(), &info) != 0) return IoError("stat " + path, errno);
    if (std::find(done.begin(), done.end(), info.st_dev) != done.end()) return Status::OK();
    if (syncfs(fd.get()) != 0) return IoError("sync the file system of " + path, errno);
    done.push_back(info.st_dev);
    return Status::OK();
  };
  for (const std::string& path : directories) TW_RETURN_NOT_OK(sync_disk_of(path));
  for (const std::string& path : files) TW_RETURN_NOT_OK(sync_disk_of(path));
  return Status::OK();
}
#endif

// Runs `sync` for every index, on several threads when there is enough to do; the first error wins.
template <typename Sync>
Status ForEachParallel(size_t count, const Sync& sync) {
  if (count <= 2) {
    for (size_t i = 0; i < count; ++i) TW_RETURN_NOT_OK(sync(i));
    return Status::OK();
  }
  std::atomic<size_t> next{0};
  std::vector<Status> results(std::min(count, kSyncThreads));
  {
    std::vector<std::jthread> threads;
    const auto work = [&](Status& result) {
      result = NoThrow([&] {
        Status status;
        for (size_t i = next++; i < count && status.ok(); i = next++) status = sync(i);
        return status;
      });
    };
    // Where no more threads are to be had, those that there are do it all.
    Ignore(NoThrow([&] {
             for (size_t t = 1; t < results.size(); ++t) threads.emplace_back([&, t] { work(results[t]); });
             return Status::OK();
           }),
           "this thread works too");
    work(results[0]);
  }
  for (Status& result : results) TW_RETURN_NOT_OK(std::move(result));
  return Status::OK();
}

}  // namespace

LocalFileSystem& LocalFileSystem::Get() {
  static LocalFileSystem file_system;
  return file_system;
}

Result<std::unique_ptr<ReadableFile>> LocalFileSystem::OpenForRead(const std::string& path) {
  // A pipe would wait for its writer, a device has no end.
  Descriptor fd(OpenRetrying(path, O_RDONLY | O_NONBLOCK));
  if (fd.get() < 0) return IoError("open " + path, errno);
  struct stat info{};
  if (fstat(fd.get(), &info) != 0) return IoError("stat " + path, errno);
  if (S_ISDIR(info.st_mode)) return IoError("open " + path, EISDIR);
  if (!S_ISREG(info.st_mode)) {
    return Error("IO_ERROR").With("attempted", "open " + path).With("error", "it is a pipe, a socket or a device, not a file");
  }
  return std::unique_ptr<ReadableFile>(std::make_unique<LocalReadableFile>(fd.Release(), path));
}

Result<std::unique_ptr<WritableFile>> LocalFileSystem::Create(const std::string& path, CreateMode mode) {
  int flags = O_WRONLY | O_CREAT;
  switch (mode) {
    case CreateMode::kReplace: flags |= O_TRUNC; break;
    case CreateMode::kExclusive: flags |= O_EXCL; break;
    case CreateMode::kAppend: flags |= O_APPEND; break;
  }
  const int fd = OpenRetrying(path, flags, 0666);
  if (fd < 0) return IoError("create " + path, errno);
  return std::unique_ptr<WritableFile>(std::make_unique<LocalWritableFile>(fd, path));
}

Status LocalFileSystem::Rename(const std::string& from, const std::string& to, RenameMode mode) {
  const std::string attempted = "rename " + from + " to " + to;
  if (mode == RenameMode::kReplace) {
    return rename(from.c_str(), to.c_str()) == 0 ? Status::OK() : IoError(attempted, errno);
  }
#if defined(__linux__) && defined(SYS_renameat2)
  if (syscall(SYS_renameat2, AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE) == 0) {
    return Status::OK();
  }
  // EINVAL: the disk's file system does not know the flag; ENOSYS: the kernel does not.
  if (errno != EINVAL && errno != ENOSYS) return IoError(attempted, errno);
#endif
  TW_PROBE("local file system: exclusive rename by link");
  return RenameByLink(from, to);
}

Result<std::vector<FileInfo>> LocalFileSystem::List(const std::string& directory) {
  DIR* stream = opendir(directory.c_str());
  if (stream == nullptr) return IoError("list " + directory, errno);
  std::vector<FileInfo> entries;
  int error = 0;
  while (true) {
    errno = 0;
    const dirent* entry = readdir(stream);
    if (entry == nullptr) {
      error = errno;
      break;
    }
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    struct stat info{};
    // Through links, as a reader would open it. What vanished meanwhile, or dangles, is not there.
    if (fstatat(dirfd(stream), entry->d_name, &info, 0) != 0) continue;
    entries.push_back(MakeInfo(JoinPath(directory, name), info));
  }
  closedir(stream);
  if (error != 0) return IoError("list " + directory, error);
  std::sort(entries.begin(), entries.end(), [](const FileInfo& a, const FileInfo& b) { return a.path < b.path; });
  return entries;
}

Result<FileInfo> LocalFileSystem::Stat(const std::string& path) {
  struct stat info{};
  if (stat(path.c_str(), &info) != 0) return IoError("stat " + path, errno);
  return MakeInfo(path, info);
}

Status LocalFileSystem::MakeDirectories(const std::string& path) {
  if (mkdir(path.c_str(), 0777) == 0) return Status::OK();
  int error = errno;
  if (error == ENOENT) {
    const std::string parent = ParentPath(path);
    if (parent == path || parent == ".") return IoError("make the directory " + path, error);
    TW_RETURN_NOT_OK(MakeDirectories(parent));
    if (mkdir(path.c_str(), 0777) == 0) return Status::OK();
    error = errno;
  }
  if (error == EEXIST) {
    struct stat info{};
    if (stat(path.c_str(), &info) == 0 && S_ISDIR(info.st_mode)) return Status::OK();
  }
  return IoError("make the directory " + path, error);
}

Status LocalFileSystem::Remove(const std::string& path) {
  return remove(path.c_str()) == 0 ? Status::OK() : IoError("remove " + path, errno);
}

Result<bool> LocalFileSystem::IsSymbolicLink(const std::string& path) {
  struct stat info{};
  if (lstat(WithoutSlashes(path).c_str(), &info) == 0) return S_ISLNK(info.st_mode);
  return errno == ENOENT || errno == ENOTDIR ? Result<bool>(false) : IoError("stat " + path, errno);
}

Status LocalFileSystem::RemoveTree(const std::string& given) {
  const std::string path = WithoutSlashes(given);
  struct stat info{};
  if (lstat(path.c_str(), &info) != 0) return errno == ENOENT ? Status::OK() : IoError("stat " + path, errno);
  if (S_ISDIR(info.st_mode)) {
    const int fd = OpenRetrying(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);  // no link that took its place just now
    DIR* stream = fd < 0 ? nullptr : fdopendir(fd);
    if (stream == nullptr) {
      const int error = errno;
      if (fd >= 0) close(fd);
      return IoError("list " + path, error);
    }
    std::vector<std::string> names;
    while (const dirent* entry = readdir(stream)) {
      const std::string_view name = entry->d_name;
      if (name != "." && name != "..") names.emplace_back(name);
    }
    closedir(stream);
    for (const std::string& name : names) TW_RETURN_NOT_OK(RemoveTree(JoinPath(path, name)));
  }
  if (remove(path.c_str()) != 0 && errno != ENOENT) return IoError("remove " + path, errno);
  return Status::OK();
}

Status LocalFileSystem::SyncFile(const std::string& path) { return SyncPath(path, 0); }

Status LocalFileSystem::SyncDirectory(const std::string& path) { return SyncPath(path, O_DIRECTORY); }

Status LocalFileSystem::SyncMany(std::span<const std::string> files, std::span<const std::string> directories) {
  const size_t count = files.size() + directories.size();
  const auto start = SystemClock::Get().NowMonotonic();
  const auto elapsed_us = [&] {
    return std::chrono::duration_cast<std::chrono::microseconds>(SystemClock::Get().NowMonotonic() - start).count();
  };
#if defined(__linux__)
  if (PreferWholeDisk(count)) {
    TW_RETURN_NOT_OK(SyncWholeDisks(files, directories));
    Record(g_whole_disk_us, elapsed_us());
    return Status::OK();
  }
#endif
  TW_RETURN_NOT_OK(ForEachParallel(count, [&](size_t i) {
    return i < files.size() ? SyncFile(files[i]) : SyncDirectory(directories[i - files.size()]);
  }));
  // A few files tell nothing about many: those wait for the same commits of the disk's journal.
  if (count >= kFewestForWholeDisk) Record(g_one_file_us, elapsed_us() / static_cast<int64_t>(count));
  return Status::OK();
}

Result<std::unique_ptr<FileLock>> LocalFileSystem::TryLock(const std::string& directory) {
  Descriptor fd(OpenRetrying(directory, O_RDONLY | O_DIRECTORY));
  if (fd.get() < 0) return IoError("open " + directory, errno);
  if (flock(fd.get(), LOCK_EX | LOCK_NB) == 0) {
    return std::unique_ptr<FileLock>(std::make_unique<LocalFileLock>(fd.Release()));
  }
  if (errno == EWOULDBLOCK) return std::unique_ptr<FileLock>();
  // Some network disks know no locks.
  if (errno == ENOLCK || errno == ENOTSUP) return FileSystem::TryLock(directory);
  return IoError("lock " + directory, errno);
}

}  // namespace thalweg::data
