#include "front/connect/artifacts.h"

#include <stdlib.h>

#include <algorithm>
#include <filesystem>

#include "data/io/file_system.h"
#include "data/io/local_file_system.h"
#include "data/io/path.h"

namespace thalweg::front {

namespace {

constexpr std::string_view kCache = "cache/";

std::string TemporaryBase() {
  const char* base = getenv("TMPDIR");
  return base != nullptr && *base != '\0' ? base : "/tmp";
}

Status InvalidName(const std::string& name) { return Error("INVALID_ARTIFACT_PATH").With("name", name); }

Status WriteFile(const std::string& path, const std::string& bytes) {
  data::FileSystem& files = data::LocalFileSystem::Get();
  TW_RETURN_NOT_OK(files.MakeDirectories(data::ParentPath(path)));
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<data::WritableFile> file, files.Create(path, data::CreateMode::kReplace));
  TW_RETURN_NOT_OK(file->Append(bytes));
  return file->Close();
}

}  // namespace

Artifacts::~Artifacts() {
  const MutexLock lock(mutex_);
  if (!directory_.empty()) Ignore(data::LocalFileSystem::Get().RemoveTree(directory_), "a temporary directory");
}

Status Artifacts::CheckName(const std::string& name) {
  if (name.empty() || name.front() == '/' || name.find('\0') != std::string::npos) return InvalidName(name);
  int depth = 0;
  for (const auto& part : std::filesystem::path(name)) {
    if (part == "..") --depth;
    else if (part != "." && !part.empty()) ++depth;
    if (depth < 0) return InvalidName(name);
  }
  return Status::OK();
}

Status Artifacts::Add(const std::string& name, std::string bytes) {
  TW_RETURN_NOT_OK(CheckName(name));
  if (name.starts_with("forward_to_fs")) return Unsupported("copyFromLocalToFs");
  if (name.starts_with(kCache)) {
    const MutexLock lock(mutex_);
    blobs_[name] = std::move(bytes);
    return Status::OK();
  }
  std::string path;
  {
    const MutexLock lock(mutex_);
    if (directory_.empty()) {
      std::string made = TemporaryBase() + "/thalweg-artifacts-XXXXXX";
      if (mkdtemp(made.data()) == nullptr) return IoError("create " + made, errno);
      directory_ = std::move(made);
    }
    path = data::JoinPath(directory_, std::filesystem::path(name).lexically_normal().string());
  }
  data::FileSystem& files = data::LocalFileSystem::Get();
  TW_ASSIGN_OR_RETURN(const bool exists, files.Exists(path));
  if (exists) {
    TW_ASSIGN_OR_RETURN(const std::string old, files.ReadWhole(path));
    if (old == bytes) return Status::OK();
    return Error("ARTIFACT_ALREADY_EXISTS").With("normalizedRemoteRelativePath", name);
  }
  return WriteFile(path, bytes);
}

bool Artifacts::Exists(const std::string& name) const {
  const MutexLock lock(mutex_);
  return name.starts_with(kCache) && blobs_.contains(name);
}

std::optional<std::string> Artifacts::Blob(const std::string& hash) const {
  const MutexLock lock(mutex_);
  const auto found = blobs_.find(std::string(kCache) + hash);
  if (found == blobs_.end()) return std::nullopt;
  return found->second;
}

std::vector<std::string> Artifacts::PythonPath() const {
  std::string directory;
  {
    const MutexLock lock(mutex_);
    directory = directory_;
  }
  std::vector<std::string> path;
  if (directory.empty()) return path;
  std::vector<std::string> archives;
  std::error_code error;
  for (const char* folder : {"/pyfiles", "/files"}) {
    if (std::filesystem::is_directory(directory + folder, error)) path.push_back(directory + folder);
  }
  // Step by step: a range-for throws when the folder goes meanwhile.
  for (std::filesystem::directory_iterator at(directory + "/pyfiles", error), end; !error && at != end; at.increment(error)) {
    const std::string extension = at->path().extension().string();
    if (extension == ".zip" || extension == ".egg" || extension == ".jar") archives.push_back(at->path().string());
  }
  std::sort(archives.begin(), archives.end());
  path.insert(path.end(), archives.begin(), archives.end());
  return path;
}

std::string Artifacts::FilesDirectory() const {
  std::string directory;
  {
    const MutexLock lock(mutex_);
    directory = directory_;
  }
  std::error_code error;
  for (const char* folder : {"/files", "/pyfiles"}) {
    if (!directory.empty() && std::filesystem::is_directory(directory + folder, error)) return directory + folder;
  }
  return "/";
}

void Artifacts::CopyFrom(const Artifacts& other) {
  std::map<std::string, std::string> blobs;
  {
    const MutexLock lock(other.mutex_);
    blobs = other.blobs_;
  }
  const MutexLock lock(mutex_);
  blobs_ = std::move(blobs);
}

}  // namespace thalweg::front
