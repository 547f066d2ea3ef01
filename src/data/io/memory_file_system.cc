#include "data/io/memory_file_system.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <set>
#include <utility>

#include "data/io/path.h"

namespace thalweg::data {

struct MemoryFileSystem::Inode {
  bool is_directory = false;
  std::string live;
  std::string durable;
  int64_t modification_time_ms = 0;
};

// Directories by normalized path hold their entries by name; a path is resolved by walking the live root.
struct MemoryFileSystem::State {
  using Names = std::map<std::string, std::shared_ptr<Inode>, std::less<>>;

  explicit State(Clock& used_clock) : clock(used_clock) {
    auto root = std::make_shared<Inode>();
    root->is_directory = true;
    live["/"] = root;
    durable["/"] = root;
  }

  std::shared_ptr<Inode> Find(const std::string& path) const TW_REQUIRES(mutex) {
    const auto found = live.find(path);
    return found == live.end() ? nullptr : found->second;
  }
  bool IsDirectory(const std::string& path) const TW_REQUIRES(mutex) {
    const auto inode = Find(path);
    return inode != nullptr && inode->is_directory;
  }
  bool HasChildren(const std::string& path) const TW_REQUIRES(mutex) {
    const std::string prefix = JoinPath(path, "");
    const auto next = live.upper_bound(prefix);
    return next != live.end() && next->first.starts_with(prefix);
  }

  Clock& clock;
  Mutex mutex;
  Names live TW_GUARDED_BY(mutex);     // normalized absolute path to file
  Names durable TW_GUARDED_BY(mutex);  // the same as of the last syncs
  std::set<std::string> locks TW_GUARDED_BY(mutex);
};

class MemoryFileSystem::Reader final : public ReadableFile {
 public:
  Reader(std::shared_ptr<State> state, std::shared_ptr<Inode> inode)
      : state_(std::move(state)), inode_(std::move(inode)) {}

  Result<size_t> ReadAt(int64_t position, std::span<char> out) override {
    MutexLock lock(state_->mutex);
    const std::string& bytes = inode_->live;
    if (position >= static_cast<int64_t>(bytes.size())) return size_t{0};
    const size_t count = std::min(out.size(), bytes.size() - static_cast<size_t>(position));
    if (count > 0) std::memcpy(out.data(), bytes.data() + position, count);
    return count;
  }

  Result<int64_t> Size() override {
    MutexLock lock(state_->mutex);
    return static_cast<int64_t>(inode_->live.size());
  }

 private:
  std::shared_ptr<State> state_;
  std::shared_ptr<Inode> inode_;
};

class MemoryFileSystem::Writer final : public WritableFile {
 public:
  Writer(std::shared_ptr<State> state, std::shared_ptr<Inode> inode, std::string path)
      : state_(std::move(state)), inode_(std::move(inode)), path_(std::move(path)) {}

  Status Append(std::string_view bytes) override {
    if (inode_ == nullptr) return IoError("write to the closed file " + path_, EBADF);
    const int64_t now_ms = state_->clock.NowMillis();
    MutexLock lock(state_->mutex);
    inode_->live += bytes;
    inode_->modification_time_ms = now_ms;
    return Status::OK();
  }

  Status Sync() override {
    if (inode_ == nullptr) return IoError("sync the closed file " + path_, EBADF);
    MutexLock lock(state_->mutex);
    inode_->durable = inode_->live;
    return Status::OK();
  }

  Status Close() override {
    if (inode_ == nullptr) return IoError("close the closed file " + path_, EBADF);
    inode_ = nullptr;
    return Status::OK();
  }

 private:
  std::shared_ptr<State> state_;
  std::shared_ptr<Inode> inode_;
  const std::string path_;
};

class MemoryFileSystem::Lock final : public FileLock {
 public:
  Lock(std::shared_ptr<State> state, std::string path) : state_(std::move(state)), path_(std::move(path)) {}
  ~Lock() override {
    MutexLock lock(state_->mutex);
    state_->locks.erase(path_);
  }

 private:
  std::shared_ptr<State> state_;
  const std::string path_;
};

MemoryFileSystem::MemoryFileSystem(Clock& clock) : state_(std::make_shared<State>(clock)) {}
MemoryFileSystem::~MemoryFileSystem() = default;

Result<std::unique_ptr<ReadableFile>> MemoryFileSystem::OpenForRead(const std::string& path) {
  MutexLock lock(state_->mutex);
  std::shared_ptr<Inode> inode = state_->Find(AbsolutePath(path));
  if (inode == nullptr) return IoError("open " + path, ENOENT);
  if (inode->is_directory) return IoError("open " + path, EISDIR);
  return std::unique_ptr<ReadableFile>(std::make_unique<Reader>(state_, std::move(inode)));
}

Result<std::unique_ptr<WritableFile>> MemoryFileSystem::Create(const std::string& path, CreateMode mode) {
  const std::string full = AbsolutePath(path);
  const int64_t now_ms = state_->clock.NowMillis();
  MutexLock lock(state_->mutex);
  if (!state_->IsDirectory(ParentPath(full))) return IoError("create " + path, ENOENT);
  std::shared_ptr<Inode> inode = state_->Find(full);
  if (inode != nullptr && inode->is_directory) return IoError("create " + path, EISDIR);
  if (inode != nullptr && mode == CreateMode::kExclusive) return IoError("create " + path, EEXIST);
  if (inode == nullptr) {
    inode = std::make_shared<Inode>();
    inode->modification_time_ms = now_ms;
    state_->live[full] = inode;
  }
  if (mode == CreateMode::kReplace) inode->live.clear();
  return std::unique_ptr<WritableFile>(std::make_unique<Writer>(state_, std::move(inode), path));
}

Status MemoryFileSystem::Rename(const std::string& from, const std::string& to, RenameMode mode) {
  const std::string attempted = "rename " + from + " to " + to;
  const std::string source = AbsolutePath(from);
  const std::string target = AbsolutePath(to);
  MutexLock lock(state_->mutex);
  const std::shared_ptr<Inode> inode = state_->Find(source);
  if (inode == nullptr || !state_->IsDirectory(ParentPath(target))) return IoError(attempted, ENOENT);
  const std::shared_ptr<Inode> existing = state_->Find(target);
  if (existing != nullptr && mode == RenameMode::kNoReplace) return IoError(attempted, EEXIST);
  if (existing != nullptr && existing->is_directory && state_->HasChildren(target)) {
    return IoError(attempted, ENOTEMPTY);
  }
  state_->live[target] = inode;
  state_->live.erase(source);
  if (!inode->is_directory) return Status::OK();
  const std::string prefix = JoinPath(source, "");
  State::Names moved;
  for (auto at = state_->live.lower_bound(prefix); at != state_->live.end() && at->first.starts_with(prefix);) {
    moved[JoinPath(target, at->first.substr(prefix.size()))] = at->second;
    at = state_->live.erase(at);
  }
  state_->live.merge(moved);
  return Status::OK();
}

Result<std::vector<FileInfo>> MemoryFileSystem::List(const std::string& directory) {
  const std::string full = AbsolutePath(directory);
  MutexLock lock(state_->mutex);
  const std::shared_ptr<Inode> inode = state_->Find(full);
  if (inode == nullptr) return IoError("list " + directory, ENOENT);
  if (!inode->is_directory) return IoError("list " + directory, ENOTDIR);
  const std::string prefix = JoinPath(full, "");
  std::vector<FileInfo> entries;
  for (auto at = state_->live.upper_bound(prefix); at != state_->live.end() && at->first.starts_with(prefix); ++at) {
    const std::string name = at->first.substr(prefix.size());
    if (name.find('/') != std::string::npos) continue;
    entries.push_back({JoinPath(directory, name), at->second->is_directory,
                       static_cast<int64_t>(at->second->live.size()), at->second->modification_time_ms});
  }
  std::sort(entries.begin(), entries.end(), [](const FileInfo& a, const FileInfo& b) { return a.path < b.path; });
  return entries;
}

Result<FileInfo> MemoryFileSystem::Stat(const std::string& path) {
  MutexLock lock(state_->mutex);
  const std::shared_ptr<Inode> inode = state_->Find(AbsolutePath(path));
  if (inode == nullptr) return IoError("stat " + path, ENOENT);
  return FileInfo{path, inode->is_directory, static_cast<int64_t>(inode->live.size()), inode->modification_time_ms};
}

Status MemoryFileSystem::MakeDirectories(const std::string& path) {
  const std::string full = AbsolutePath(path);
  const int64_t now_ms = state_->clock.NowMillis();
  MutexLock lock(state_->mutex);
  for (size_t end = full.find('/', 1);; end = full.find('/', end + 1)) {
    const std::string at = full.substr(0, end);
    const std::shared_ptr<Inode> inode = state_->Find(at);
    if (inode != nullptr && !inode->is_directory) return IoError("make the directory " + path, ENOTDIR);
    if (inode == nullptr) {
      auto made = std::make_shared<Inode>();
      made->is_directory = true;
      made->modification_time_ms = now_ms;
      state_->live[at] = made;
    }
    if (end == std::string::npos) return Status::OK();
  }
}

Status MemoryFileSystem::Remove(const std::string& path) {
  const std::string full = AbsolutePath(path);
  MutexLock lock(state_->mutex);
  const std::shared_ptr<Inode> inode = state_->Find(full);
  if (inode == nullptr) return IoError("remove " + path, ENOENT);
  if (inode->is_directory && state_->HasChildren(full)) return IoError("remove " + path, ENOTEMPTY);
  state_->live.erase(full);
  return Status::OK();
}

Status MemoryFileSystem::RemoveTree(const std::string& path) {
  const std::string full = AbsolutePath(path);
  const std::string prefix = JoinPath(full, "");
  MutexLock lock(state_->mutex);
  state_->live.erase(full);
  std::erase_if(state_->live, [&](const auto& entry) { return entry.first != "/" && entry.first.starts_with(prefix); });
  return Status::OK();
}

Status MemoryFileSystem::SyncFile(const std::string& path) {
  MutexLock lock(state_->mutex);
  const std::shared_ptr<Inode> inode = state_->Find(AbsolutePath(path));
  if (inode == nullptr) return IoError("sync " + path, ENOENT);
  inode->durable = inode->live;
  return Status::OK();
}

Status MemoryFileSystem::SyncDirectory(const std::string& path) {
  const std::string full = AbsolutePath(path);
  MutexLock lock(state_->mutex);
  if (!state_->IsDirectory(full)) return IoError("sync " + path, ENOENT);
  const auto is_child = [&](const std::string& name) { return name != "/" && ParentPath(name) == full; };
  std::erase_if(state_->durable, [&](const auto& entry) { return is_child(entry.first); });
  for (const auto& [name, inode] : state_->live) {
    if (is_child(name)) state_->durable[name] = inode;
  }
  return Status::OK();
}

Result<std::unique_ptr<FileLock>> MemoryFileSystem::TryLock(const std::string& directory) {
  const std::string full = AbsolutePath(directory);
  MutexLock lock(state_->mutex);
  if (!state_->IsDirectory(full)) return IoError("lock " + directory, ENOENT);
  if (!state_->locks.insert(full).second) return std::unique_ptr<FileLock>();
  return std::unique_ptr<FileLock>(std::make_unique<Lock>(state_, full));
}

void MemoryFileSystem::Crash(Random* random) {
  MutexLock lock(state_->mutex);
  State::Names after;
  for (const auto& [path, inode] : state_->durable) {
    // A name survives only below names that do.
    if (path != "/" && !after.contains(ParentPath(path))) continue;
    auto copy = std::make_shared<Inode>(*inode);
    copy->live = inode->durable;
    if (random != nullptr && inode->live.starts_with(inode->durable) && inode->live.size() > inode->durable.size()) {
      const size_t kept = random->NextBelow(inode->live.size() - inode->durable.size() + 1);
      copy->live = inode->live.substr(0, inode->durable.size() + kept);
    }
    copy->durable = copy->live;
    after[path] = std::move(copy);
  }
  state_->live = after;
  state_->durable = std::move(after);
  state_->locks.clear();
}

}  // namespace thalweg::data
