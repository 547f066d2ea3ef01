#include "data/io/faulty_file_system.h"

#include <cerrno>
#include <utility>

#include "base/clock.h"

namespace thalweg::data {

class FaultyFileSystem::Reader final : public ReadableFile {
 public:
  Reader(FaultyFileSystem& owner, std::unique_ptr<ReadableFile> inner, std::string path)
      : owner_(owner), inner_(std::move(inner)), path_(std::move(path)) {}
  Result<size_t> ReadAt(int64_t position, std::span<char> out) override {
    TW_RETURN_NOT_OK(owner_.Pass(FileOperation::kRead, path_));
    return inner_->ReadAt(position, out);
  }
  Result<int64_t> Size() override { return inner_->Size(); }

 private:
  FaultyFileSystem& owner_;
  std::unique_ptr<ReadableFile> inner_;
  const std::string path_;
};

class FaultyFileSystem::Writer final : public WritableFile {
 public:
  Writer(FaultyFileSystem& owner, std::unique_ptr<WritableFile> inner, std::string path)
      : owner_(owner), inner_(std::move(inner)), path_(std::move(path)) {}
  Status Append(std::string_view bytes) override {
    bool torn = false;
    Status passed = owner_.Pass(FileOperation::kWrite, path_, &torn);
    if (passed.ok()) return inner_->Append(bytes);
    if (torn) TW_RETURN_NOT_OK(inner_->Append(bytes.substr(0, bytes.size() / 2)));
    return passed;
  }
  Status Sync() override {
    TW_RETURN_NOT_OK(owner_.Pass(FileOperation::kSync, path_));
    return inner_->Sync();
  }
  Status Close() override { return inner_->Close(); }

 private:
  FaultyFileSystem& owner_;
  std::unique_ptr<WritableFile> inner_;
  const std::string path_;
};

void FaultyFileSystem::Add(FileFault fault) {
  MutexLock lock(mutex_);
  faults_.push_back(std::move(fault));
}

void FaultyFileSystem::ClearFaults() {
  MutexLock lock(mutex_);
  faults_.clear();
}

int FaultyFileSystem::Count(FileOperation operation) const {
  MutexLock lock(mutex_);
  return counts_[static_cast<size_t>(operation)];
}

void FaultyFileSystem::CutPowerAfter(int steps) {
  MutexLock lock(mutex_);
  cut_at_ = durable_steps_ + steps;
}

void FaultyFileSystem::RestorePower() {
  MutexLock lock(mutex_);
  cut_at_ = -1;
  power_off_ = false;
}

bool FaultyFileSystem::power_off() const {
  MutexLock lock(mutex_);
  return power_off_;
}

int FaultyFileSystem::durable_steps() const {
  MutexLock lock(mutex_);
  return durable_steps_;
}

Status FaultyFileSystem::CheckPower(const std::string& path) const {
  return power_off() ? IoError("use (without power) " + path, EIO) : Status::OK();
}

Status FaultyFileSystem::Pass(FileOperation operation, const std::string& path, bool* torn) {
  const bool writes = operation == FileOperation::kWrite || operation == FileOperation::kSync || operation == FileOperation::kRename;
  if (const int64_t delay_us = delay_us_.load(); writes && delay_us > 0) {
    SystemClock::Get().WaitFor(std::chrono::microseconds(delay_us), nullptr, {});
  }
  MutexLock lock(mutex_);
  ++counts_[static_cast<size_t>(operation)];
  const bool durable = operation == FileOperation::kSync || operation == FileOperation::kRename;
  if (durable && cut_at_ >= 0 && durable_steps_ >= cut_at_) power_off_ = true;
  if (power_off_) return IoError("use (without power) " + path, EIO);
  if (durable) ++durable_steps_;
  for (FileFault& fault : faults_) {
    if (fault.operation != operation || path.find(fault.path_part) == std::string::npos) continue;
    if (--fault.nth > 0 || (fault.nth < 0 && !fault.lasting)) continue;
    if (torn != nullptr) *torn = fault.torn;
    return IoError("use (as the test wants) " + path, fault.error_number);
  }
  return Status::OK();
}

Result<std::unique_ptr<ReadableFile>> FaultyFileSystem::OpenForRead(const std::string& path) {
  TW_RETURN_NOT_OK(Pass(FileOperation::kOpen, path));
  TW_ASSIGN_OR_RETURN(std::unique_ptr<ReadableFile> file, inner_.OpenForRead(path));
  return std::unique_ptr<ReadableFile>(std::make_unique<Reader>(*this, std::move(file), path));
}

Result<std::unique_ptr<WritableFile>> FaultyFileSystem::Create(const std::string& path, CreateMode mode) {
  TW_RETURN_NOT_OK(Pass(FileOperation::kCreate, path));
  TW_ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, inner_.Create(path, mode));
  return std::unique_ptr<WritableFile>(std::make_unique<Writer>(*this, std::move(file), path));
}

Status FaultyFileSystem::Rename(const std::string& from, const std::string& to, RenameMode mode) {
  TW_RETURN_NOT_OK(Pass(FileOperation::kRename, to));
  return inner_.Rename(from, to, mode);
}

Result<std::vector<FileInfo>> FaultyFileSystem::List(const std::string& directory) {
  TW_RETURN_NOT_OK(Pass(FileOperation::kList, directory));
  return inner_.List(directory);
}

Result<FileInfo> FaultyFileSystem::Stat(const std::string& path) {
  TW_RETURN_NOT_OK(CheckPower(path));
  return inner_.Stat(path);
}

Status FaultyFileSystem::MakeDirectories(const std::string& path) {
  TW_RETURN_NOT_OK(Pass(FileOperation::kCreate, path));
  return inner_.MakeDirectories(path);
}

Status FaultyFileSystem::Remove(const std::string& path) {
  TW_RETURN_NOT_OK(Pass(FileOperation::kRemove, path));
  return inner_.Remove(path);
}

Result<bool> FaultyFileSystem::IsSymbolicLink(const std::string& path) {
  TW_RETURN_NOT_OK(CheckPower(path));
  return data::IsSymbolicLink(inner_, path);
}

Status FaultyFileSystem::RemoveTree(const std::string& path) {
  TW_RETURN_NOT_OK(Pass(FileOperation::kRemove, path));
  return inner_.RemoveTree(path);
}

Status FaultyFileSystem::SyncFile(const std::string& path) {
  TW_RETURN_NOT_OK(Pass(FileOperation::kSync, path));
  return inner_.SyncFile(path);
}

Status FaultyFileSystem::SyncDirectory(const std::string& path) {
  TW_RETURN_NOT_OK(Pass(FileOperation::kSync, path));
  return inner_.SyncDirectory(path);
}

Result<std::unique_ptr<FileLock>> FaultyFileSystem::TryLock(const std::string& directory) {
  TW_RETURN_NOT_OK(CheckPower(directory));
  return inner_.TryLock(directory);
}

}  // namespace thalweg::data
