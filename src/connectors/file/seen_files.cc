#include "connectors/file/seen_files.h"

#include <algorithm>

#include "data/io/path.h"

namespace thalweg::connectors {

std::string_view SeenFiles::Identity(const std::string& path) const {
  return file_name_only_ ? data::PathName(path) : std::string_view(path);
}

void SeenFiles::Add(const std::string& path, int64_t timestamp_ms) {
  seen_[std::string(Identity(path))] = timestamp_ms;
  newest_ms_ = std::max(newest_ms_, timestamp_ms);
  oldest_ms_ = std::min(oldest_ms_, timestamp_ms);
}

bool SeenFiles::IsNew(const std::string& path, int64_t timestamp_ms) const {
  return timestamp_ms >= purge_threshold_ms_ && !seen_.contains(std::string(Identity(path)));
}

void SeenFiles::Purge() {
  if (__builtin_sub_overflow(newest_ms_, max_age_ms_, &purge_threshold_ms_)) purge_threshold_ms_ = INT64_MIN;
  if (oldest_ms_ >= purge_threshold_ms_) return;
  oldest_ms_ = INT64_MAX;
  for (auto file = seen_.begin(); file != seen_.end();) {
    if (file->second < purge_threshold_ms_) {
      file = seen_.erase(file);
    } else {
      oldest_ms_ = std::min(oldest_ms_, file->second);
      ++file;
    }
  }
}

}  // namespace thalweg::connectors
