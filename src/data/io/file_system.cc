#include "data/io/file_system.h"

#include <algorithm>
#include <cerrno>
#include <charconv>

#include "data/io/path.h"

namespace thalweg::data {

std::string_view FileInfo::name() const { return PathName(path); }

Result<size_t> ReadableFile::Read(std::span<char> out) {
  TW_ASSIGN_OR_RETURN(const size_t count, ReadAt(position_, out));
  position_ += static_cast<int64_t>(count);
  return count;
}

Status FileSystem::SyncMany(std::span<const std::string> files, std::span<const std::string> directories) {
  for (const std::string& file : files) TW_RETURN_NOT_OK(SyncFile(file));
  for (const std::string& directory : directories) TW_RETURN_NOT_OK(SyncDirectory(directory));
  return Status::OK();
}

Result<std::unique_ptr<FileLock>> FileSystem::TryLock(const std::string& /*directory*/) {
  return std::make_unique<FileLock>();
}

Result<bool> FileSystem::Exists(const std::string& path) {
  const Result<FileInfo> info = Stat(path);
  if (info.ok()) return true;
  if (IsNotFound(info.status())) return false;
  return info.status();
}

Result<std::string> FileSystem::ReadWhole(const std::string& path, int64_t limit_bytes) {
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<ReadableFile> file, OpenForRead(path));
  TW_ASSIGN_OR_RETURN(const int64_t size, file->Size());
  if (size > limit_bytes) return IoError("read " + path + " (" + std::to_string(size) + " bytes)", EFBIG);
  std::string bytes(static_cast<size_t>(size), '\0');
  size_t filled = 0;
  while (filled < bytes.size()) {
    TW_ASSIGN_OR_RETURN(const size_t count, file->Read(std::span(bytes).subspan(filled)));
    if (count == 0) break;  // it became shorter since Size()
    filled += count;
  }
  bytes.resize(filled);
  return bytes;
}

Result<std::vector<FileInfo>> FileSystem::ListTree(const std::string& directory) {
  std::vector<FileInfo> files;
  std::vector<std::string> pending = {directory};
  while (!pending.empty()) {
    const std::string at = std::move(pending.back());
    pending.pop_back();
    Result<std::vector<FileInfo>> entries = List(at);
    if (!entries.ok()) {
      // A directory may go while its parent is walked.
      if (IsNotFound(entries.status())) continue;
      return std::move(entries).status();
    }
    for (FileInfo& entry : *entries) {
      if (entry.is_directory) {
        pending.push_back(std::move(entry.path));
      } else {
        files.push_back(std::move(entry));
      }
    }
  }
  std::sort(files.begin(), files.end(), [](const FileInfo& a, const FileInfo& b) { return a.path < b.path; });
  return files;
}

int ErrorNumber(const Status& status) {
  if (status.condition() != "IO_ERROR") return 0;
  for (const auto& [name, value] : status.parameters()) {
    int number = 0;
    if (name == "errno" && std::from_chars(value.data(), value.data() + value.size(), number).ec == std::errc{}) {
      return number;
    }
  }
  return 0;
}

bool IsNotFound(const Status& status) {
  const int number = ErrorNumber(status);
  return number == ENOENT || number == ENOTDIR;
}

bool IsAlreadyExists(const Status& status) { return ErrorNumber(status) == EEXIST; }

}  // namespace thalweg::data
