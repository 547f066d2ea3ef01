#pragma once

#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"

namespace thalweg::connectors {

/// Tells when a file in one of some directories was finished (closed after writing, or renamed into it) or a directory
/// was made there, by the kernel's inotify. Files that are still being written wake nobody.
/// Owner: a stream. Thread: Watch from the driver; `on_change` runs on the watcher's own thread and must be short.
/// Not promised: changes that other machines make on a network file system, hard links.
class DirectoryWatcher {
 public:
  /// Null when the kernel gives no watches.
  static std::unique_ptr<DirectoryWatcher> Start(std::function<void()> on_change);
  ~DirectoryWatcher();

  /// Watches these too. True when some were not watched before: what happened in them until now was not told.
  /// `*complete` is set to false when a directory cannot be watched.
  bool Watch(const std::vector<std::string>& directories, bool* complete) TW_EXCLUDES(mutex_);

 private:
  DirectoryWatcher(int inotify_fd, int wake_fd, std::function<void()> on_change);
  void Run(std::stop_token stop);
  /// Takes what is there; whether any of it matters.
  bool Drain() TW_EXCLUDES(mutex_);

  int inotify_fd_;
  int wake_fd_;
  std::function<void()> on_change_;
  Mutex mutex_;
  std::unordered_map<std::string, int> watched_ TW_GUARDED_BY(mutex_);
  std::jthread thread_;
};

}  // namespace thalweg::connectors
