#include "data/logs/numbered_log.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include "data/io/atomic_write.h"
#include "data/io/path.h"

namespace thalweg::data {

std::optional<int64_t> ParseLogId(std::string_view name) {
  int64_t id = 0;
  const char* last = name.data() + name.size();
  const auto [end, error] = std::from_chars(name.data(), last, id);
  if (error != std::errc{} || end != last || id < 0 || id == INT64_MAX) return std::nullopt;
  if (name.size() > 1 && name.front() == '0') return std::nullopt;
  return id;
}

NumberedLog::NumberedLog(FileSystem& file_system, std::string directory)
    : file_system_(file_system), directory_(std::move(directory)) {}

std::string NumberedLog::PathOf(int64_t id) const { return JoinPath(directory_, std::to_string(id)); }

Result<bool> NumberedLog::Add(int64_t id, std::string_view bytes) {
  const Status written = AtomicWriteFile(file_system_, PathOf(id), bytes);
  if (written.ok()) return true;
  if (IsAlreadyExists(written)) return false;
  return written;
}

Result<std::optional<std::string>> NumberedLog::Get(int64_t id) const {
  Result<std::string> bytes = file_system_.ReadWhole(PathOf(id));
  if (bytes.ok()) return std::optional<std::string>(std::move(*bytes));
  if (IsNotFound(bytes.status())) return std::optional<std::string>();
  return std::move(bytes).status();
}

Result<std::vector<int64_t>> NumberedLog::Ids() const {
  std::vector<int64_t> ids;
  const Result<std::vector<FileInfo>> entries = file_system_.List(directory_);
  if (!entries.ok()) {
    if (IsNotFound(entries.status())) return ids;
    return entries.status();
  }
  for (const FileInfo& entry : *entries) {
    const std::optional<int64_t> id = ParseLogId(entry.name());
    if (id.has_value() && !entry.is_directory) ids.push_back(*id);
  }
  std::sort(ids.begin(), ids.end());
  return ids;
}

Result<std::optional<int64_t>> NumberedLog::LatestId() const {
  TW_ASSIGN_OR_RETURN(const std::vector<int64_t> ids, Ids());
  return ids.empty() ? std::optional<int64_t>() : std::optional<int64_t>(ids.back());
}

Status NumberedLog::RemoveEntry(int64_t id) {
  const std::string path = PathOf(id);
  TW_RETURN_NOT_OK(RemoveChecksumSidecars(file_system_, path));
  Status removed = file_system_.Remove(path);
  return IsNotFound(removed) ? Status::OK() : removed;
}

Status NumberedLog::PurgeBefore(int64_t id) {
  if (purged_before_.has_value()) {
    // Only one or two new ones since the last time: no need to list the directory.
    for (int64_t gone = *purged_before_; gone < id; ++gone) TW_RETURN_NOT_OK(RemoveEntry(gone));
    purged_before_ = std::max(*purged_before_, id);
    return Status::OK();
  }
  TW_ASSIGN_OR_RETURN(const std::vector<int64_t> ids, Ids());
  for (const int64_t old : ids) {
    if (old < id) TW_RETURN_NOT_OK(RemoveEntry(old));
  }
  purged_before_ = id;
  return Status::OK();
}

Status NumberedLog::PurgeAfter(int64_t id) {
  TW_ASSIGN_OR_RETURN(const std::vector<int64_t> ids, Ids());
  for (const int64_t late : ids) {
    if (late > id) TW_RETURN_NOT_OK(RemoveEntry(late));
  }
  return Status::OK();
}

}  // namespace thalweg::data
