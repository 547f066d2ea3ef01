#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>

namespace thalweg::connectors {

/// Which files a stream has taken, within an age measured from the newest of them. Thread: confined.
/// Source: Spark's FileStreamSource.SeenFilesMap.
class SeenFiles {
 public:
  SeenFiles(int64_t max_age_ms, bool file_name_only) : max_age_ms_(max_age_ms), file_name_only_(file_name_only) {}
  void Add(const std::string& path, int64_t timestamp_ms);
  bool IsNew(const std::string& path, int64_t timestamp_ms) const;
  /// Forgets what is too old; those files are never new again.
  void Purge();
  size_t size() const { return seen_.size(); }

 private:
  std::string_view Identity(const std::string& path) const;
  int64_t max_age_ms_;
  bool file_name_only_;
  std::unordered_map<std::string, int64_t> seen_;
  int64_t newest_ms_ = 0;
  int64_t purge_threshold_ms_ = 0;
  int64_t oldest_ms_ = INT64_MAX;  // at most the oldest remembered: purging looks only when something can go
};

}  // namespace thalweg::connectors
