#pragma once

#include <memory>
#include <set>
#include <stop_token>
#include <string>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/status.h"
#include "data/io/file_system.h"
#include "sql/catalog/catalog.h"

namespace thalweg::front {

/// Turns at what is made at a path: one maker at a time among the sessions of a process. Thread: synchronised.
/// Owner: ServerContext, and whoever has a turn.
class MakerTurns : public std::enable_shared_from_this<MakerTurns> {
 public:
  /// Sole use of a path; ends when it goes.
  class Turn {
   public:
    Turn(std::shared_ptr<MakerTurns> turns, std::string path) : turns_(std::move(turns)), path_(std::move(path)) {}
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    ~Turn();

   private:
    const std::shared_ptr<MakerTurns> turns_;
    const std::string path_;
  };

  /// Blocks while somebody has the path. Errors: OPERATION_CANCELED.
  Result<std::unique_ptr<Turn>> Take(const std::string& path, std::stop_token stop) TW_EXCLUDES(mutex_);

 private:
  Mutex mutex_;
  CondVar ended_;
  std::set<std::string> taken_ TW_GUARDED_BY(mutex_);
};

std::shared_ptr<MakerTurns> MakeMakerTurns();

/// The directory of a managed table while it is made; one maker at a time has it, in this process and others. When this made the directory and
/// Keep() is not called, it goes again, if nothing is in it. Thread: confined.
class OwnDirectory {
 public:
  /// Makes the directory. Blocks while somebody else makes a table there: without bound in this process, up to 30 seconds in another.
  /// Borrows the file system. Errors: OPERATION_CANCELED, LOCATION_ALREADY_EXISTS when the other process does not end, IO_ERROR.
  static Result<std::unique_ptr<OwnDirectory>> Take(data::FileSystem& files, Clock& clock, MakerTurns& turns, const sql::TableInfo& table,
                                                    std::stop_token stop);
  ~OwnDirectory();

  /// The table owns the directory: nothing may stand there but what a statement left that failed or crashed before its first commit.
  /// Errors: LOCATION_ALREADY_EXISTS.
  Status CheckEmpty(const sql::TableInfo& table) const;
  void Keep() { made_ = false; }

 private:
  OwnDirectory(data::FileSystem& files, std::string path) : files_(files), path_(std::move(path)) {}
  Result<bool> TryLock();

  data::FileSystem& files_;
  const std::string path_;
  bool made_ = false;
  std::unique_ptr<MakerTurns::Turn> turn_;
  std::unique_ptr<data::FileLock> lock_;
};

}  // namespace thalweg::front
