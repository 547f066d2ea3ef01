#include "front/session/own_directory.h"

#include <algorithm>
#include <chrono>

#include "data/io/atomic_write.h"
#include "data/io/path.h"
#include "sql/catalog/catalog_names.h"

namespace thalweg::front {

namespace {

// Another process tells nobody that it has finished: it is looked at again, less and less often.
constexpr auto kOtherProcess = std::chrono::seconds(30);
constexpr auto kFirstPause = std::chrono::milliseconds(1);
constexpr auto kLongestPause = std::chrono::milliseconds(100);

// A log without a commit is no table.
bool IsLeftOver(data::FileSystem& files, const data::FileInfo& entry) {
  if (data::IsTemporaryName(entry.name())) return true;
  if (entry.name() != "_delta_log") return false;
  const auto log = files.List(entry.path);
  return log.ok() && std::all_of(log->begin(), log->end(), [](const data::FileInfo& file) { return data::IsTemporaryName(file.name()); });
}

Status LocationTaken(const sql::TableInfo& table) {
  return Error("LOCATION_ALREADY_EXISTS")
      .With("location", "'" + data::QualifiedPathText(table.location) + "'")
      .With("identifier", sql::QuoteName(table.QualifiedName()));
}

}  // namespace

std::shared_ptr<MakerTurns> MakeMakerTurns() { return std::make_shared<MakerTurns>(); }

Result<std::unique_ptr<MakerTurns::Turn>> MakerTurns::Take(const std::string& path, std::stop_token stop) {
  const MutexLock lock(mutex_);
  if (!ended_.Wait(mutex_, std::move(stop), [&] { return !taken_.contains(path); })) return Cancelled();
  taken_.insert(path);
  return std::make_unique<Turn>(shared_from_this(), path);
}

MakerTurns::Turn::~Turn() {
  const MutexLock lock(turns_->mutex_);
  turns_->taken_.erase(path_);
  turns_->ended_.NotifyAll();
}

Result<std::unique_ptr<OwnDirectory>> OwnDirectory::Take(data::FileSystem& files, Clock& clock, MakerTurns& turns, const sql::TableInfo& table,
                                                         std::stop_token stop) {
  std::unique_ptr<OwnDirectory> own(new OwnDirectory(files, table.location));
  TW_ASSIGN_OR_RETURN(own->turn_, turns.Take(table.location, stop));
  auto pause = kFirstPause;
  for (const auto end = clock.NowMonotonic() + kOtherProcess;; pause = std::min(pause * 2, kLongestPause)) {
    TW_ASSIGN_OR_RETURN(const bool locked, own->TryLock());
    if (locked) return own;
    if (clock.NowMonotonic() >= end) return LocationTaken(table);
    if (clock.WaitFor(pause, nullptr, stop) == Clock::Wake::kStop) return Cancelled();
  }
}

Result<bool> OwnDirectory::TryLock() {
  TW_ASSIGN_OR_RETURN(const bool was_there, files_.Exists(path_));
  TW_RETURN_NOT_OK(files_.MakeDirectories(path_));
  Result<std::unique_ptr<data::FileLock>> lock = files_.TryLock(path_);
  if (!lock.ok() && !data::IsNotFound(lock.status())) return std::move(lock).status();
  if (!lock.ok() || *lock == nullptr) return false;
  // Who failed removes what it made: the lock may be one of a directory that is gone.
  TW_ASSIGN_OR_RETURN(const bool is_there, files_.Exists(path_));
  if (!is_there) return false;
  lock_ = std::move(*lock);
  made_ = !was_there;
  return true;
}

OwnDirectory::~OwnDirectory() {
  if (made_) Ignore(files_.Remove(path_), "somebody else uses it");
}

Status OwnDirectory::CheckEmpty(const sql::TableInfo& table) const {
  TW_ASSIGN_OR_RETURN(const std::vector<data::FileInfo> entries, files_.List(path_));
  const bool empty = std::all_of(entries.begin(), entries.end(), [&](const data::FileInfo& entry) { return IsLeftOver(files_, entry); });
  return empty ? Status::OK() : LocationTaken(table);
}

}  // namespace thalweg::front
