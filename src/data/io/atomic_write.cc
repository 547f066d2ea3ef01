#include "data/io/atomic_write.h"

#include <algorithm>
#include <set>
#include <utility>

#include "base/fault_point.h"
#include "base/uuid.h"
#include "data/io/path.h"

namespace thalweg::data {
namespace {

// Creates a temporary file, making the directory when it turns out to be missing.
Result<std::unique_ptr<WritableFile>> CreateTemporary(FileSystem& file_system, const std::string& temporary,
                                                      std::vector<std::string>& changed) {
  Result<std::unique_ptr<WritableFile>> file = file_system.Create(temporary, CreateMode::kExclusive);
  if (file.ok() || !IsNotFound(file.status())) return file;
  TW_RETURN_NOT_OK(MakeMissingDirectories(file_system, ParentPath(temporary), &changed));
  return file_system.Create(temporary, CreateMode::kExclusive);
}

Status WriteTemporary(FileSystem& file_system, const std::string& temporary, std::string_view bytes, bool durable) {
  std::vector<std::string> changed;
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file, CreateTemporary(file_system, temporary, changed));
  TW_RETURN_NOT_OK(file->Append(bytes));
  if (durable) {
    for (const std::string& directory : changed) TW_RETURN_NOT_OK(file_system.SyncDirectory(directory));
    TW_RETURN_NOT_OK(file->WriteBack());  // before the rename: see PublishOne
  }
  return file->Close();
}

Status RemoveIfThere(FileSystem& file_system, const std::string& path) {
  Status removed = file_system.Remove(path);
  return IsNotFound(removed) ? Status::OK() : removed;
}

Status PublishOne(FileSystem& file_system, const std::string& temporary, const std::string& path,
                  AtomicWriteOptions options) {
  TW_FAULT_POINT("atomic write: temporary file written");
  TW_RETURN_NOT_OK(RemoveChecksumSidecars(file_system, path));
  TW_RETURN_NOT_OK(
      file_system.Rename(temporary, path, options.overwrite ? RenameMode::kReplace : RenameMode::kNoReplace));
  TW_FAULT_POINT("atomic write: renamed");
  if (!options.durable) return Status::OK();
  // Both after the rename: one commit of the disk's journal serves the bytes and the name. Bytes went out before it, so
  // that the name cannot become durable on its own.
  TW_RETURN_NOT_OK(file_system.SyncFile(path));
  return file_system.SyncDirectory(ParentPath(path));
}

}  // namespace

Status MakeMissingDirectories(FileSystem& file_system, const std::string& path, std::vector<std::string>* changed) {
  std::vector<std::string> missing;
  for (std::string at = path;; at = ParentPath(at)) {
    TW_ASSIGN_OR_RETURN(const bool exists, file_system.Exists(at));
    if (exists || ParentPath(at) == at) break;
    missing.push_back(at);
  }
  TW_RETURN_NOT_OK(file_system.MakeDirectories(path));
  if (changed != nullptr) {
    for (const std::string& made : missing) changed->push_back(ParentPath(made));
  }
  return Status::OK();
}

bool IsTemporaryName(std::string_view name) {
  constexpr size_t kUuidLength = 36;
  constexpr std::string_view kEnd = ".tmp";
  return name.starts_with('.') && name.ends_with(kEnd) && name.size() > kUuidLength + kEnd.size() + 2 &&
         Uuid::Parse(name.substr(name.size() - kEnd.size() - kUuidLength, kUuidLength)).ok();
}

std::string TemporaryPathFor(std::string_view path) {
  return JoinPath(ParentPath(path), "." + std::string(PathName(path)) + "." + Uuid::MakeRandom().ToString() + ".tmp");
}

Status RemoveChecksumSidecars(FileSystem& file_system, const std::string& path) {
  const std::string name(PathName(path));
  TW_RETURN_NOT_OK(RemoveIfThere(file_system, JoinPath(ParentPath(path), "." + name + ".crc")));
  return RemoveIfThere(file_system, path + ".crc");
}

Status AtomicWriteFile(FileSystem& file_system, const std::string& path, std::string_view bytes,
                       AtomicWriteOptions options) {
  const std::string temporary = TemporaryPathFor(path);
  Status status = WriteTemporary(file_system, temporary, bytes, options.durable);
  if (status.ok()) {
    status = PublishOne(file_system, temporary, path, options);
    if (status.ok()) return status;
  }
  Ignore(file_system.Remove(temporary), "a reader never looks at it, and the first error is the one to tell");
  return status;
}

// Writes a temporary file and joins the group when closed.
class DurableGroup::StagedFile final : public WritableFile {
 public:
  StagedFile(DurableGroup& group, std::unique_ptr<WritableFile> file, Staged names)
      : group_(group), file_(std::move(file)), names_(std::move(names)) {}
  ~StagedFile() override {
    if (closed_) return;
    file_.reset();
    Ignore(group_.file_system_.Remove(names_.temporary), "abandoned before it was complete");
  }

  Status Append(std::string_view bytes) override { return file_->Append(bytes); }
  Status Sync() override { return file_->Sync(); }
  Status Close() override {
    TW_RETURN_NOT_OK(file_->Close());
    closed_ = true;
    group_.Add(names_);
    return Status::OK();
  }

 private:
  DurableGroup& group_;
  std::unique_ptr<WritableFile> file_;
  const Staged names_;
  bool closed_ = false;
};

DurableGroup::~DurableGroup() { Abandon(); }

void DurableGroup::Add(Staged staged) {
  MutexLock lock(mutex_);
  staged_.push_back(std::move(staged));
}

size_t DurableGroup::size() const {
  MutexLock lock(mutex_);
  return staged_.size();
}

Result<std::unique_ptr<WritableFile>> DurableGroup::OpenTemporary(const std::string& temporary) {
  std::vector<std::string> changed;
  TW_ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, CreateTemporary(file_system_, temporary, changed));
  MutexLock lock(mutex_);
  changed_directories_.insert(changed_directories_.end(), changed.begin(), changed.end());
  return file;
}

Status DurableGroup::Stage(const std::string& path, std::string_view bytes) {
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<WritableFile> file, Create(path));
  TW_RETURN_NOT_OK(file->Append(bytes));
  return file->Close();
}

Result<std::unique_ptr<WritableFile>> DurableGroup::Create(const std::string& path) {
  Staged staged{TemporaryPathFor(path), path};
  TW_ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, OpenTemporary(staged.temporary));
  return std::unique_ptr<WritableFile>(std::make_unique<StagedFile>(*this, std::move(file), std::move(staged)));
}

Status DurableGroup::Publish(bool durable) {
  std::vector<Staged> staged;
  std::vector<std::string> changed;
  {
    MutexLock lock(mutex_);
    staged.swap(staged_);
    changed.swap(changed_directories_);
  }
  std::vector<std::string> files;
  std::set<std::string> directories(changed.begin(), changed.end());
  for (size_t i = 0; i < staged.size(); ++i) {
    Status status = PublishOne(file_system_, staged[i].temporary, staged[i].path, {.overwrite = true, .durable = false});
    if (!status.ok()) {
      for (; i < staged.size(); ++i) Ignore(file_system_.Remove(staged[i].temporary), "the group failed");
      return status;
    }
    directories.insert(ParentPath(staged[i].path));
    files.push_back(std::move(staged[i].path));
  }
  TW_FAULT_POINT("durable group: renamed");
  if (!durable) return Status::OK();
  const std::vector<std::string> directory_list(directories.begin(), directories.end());
  TW_RETURN_NOT_OK(file_system_.SyncMany(files, directory_list));
  TW_FAULT_POINT("durable group: durable");
  return Status::OK();
}

void DurableGroup::Abandon() {
  std::vector<Staged> staged;
  {
    MutexLock lock(mutex_);
    staged.swap(staged_);
  }
  for (const Staged& one : staged) Ignore(file_system_.Remove(one.temporary), "a reader never looks at it");
}

}  // namespace thalweg::data
