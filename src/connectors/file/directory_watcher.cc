#include "connectors/file/directory_watcher.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "base/thread.h"

namespace thalweg::connectors {
namespace {

constexpr uint32_t kEvents =
    IN_CLOSE_WRITE | IN_MOVED_TO | IN_CREATE | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK;

}  // namespace

std::unique_ptr<DirectoryWatcher> DirectoryWatcher::Start(std::function<void()> on_change) {
  const int inotify_fd = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (inotify_fd < 0) return nullptr;
  const int wake_fd = eventfd(0, EFD_CLOEXEC);
  if (wake_fd < 0) {
    close(inotify_fd);
    return nullptr;
  }
  return std::unique_ptr<DirectoryWatcher>(new DirectoryWatcher(inotify_fd, wake_fd, std::move(on_change)));
}

DirectoryWatcher::DirectoryWatcher(int inotify_fd, int wake_fd, std::function<void()> on_change)
    : inotify_fd_(inotify_fd), wake_fd_(wake_fd), on_change_(std::move(on_change)) {
  thread_ = StartLoop("file watcher", [this](std::stop_token stop) {
    Run(stop);
    return false;
  });
}

DirectoryWatcher::~DirectoryWatcher() {
  thread_.request_stop();
  const uint64_t one = 1;
  if (write(wake_fd_, &one, sizeof(one)) == static_cast<ssize_t>(sizeof(one)) && thread_.joinable()) thread_.join();
  close(inotify_fd_);
  close(wake_fd_);
}

bool DirectoryWatcher::Watch(const std::vector<std::string>& directories, bool* complete) {
  const MutexLock lock(mutex_);
  bool added = false;
  for (const std::string& directory : directories) {
    if (watched_.contains(directory)) continue;
    const int watch = inotify_add_watch(inotify_fd_, directory.c_str(), kEvents);
    if (watch < 0) {
      *complete = false;
      continue;
    }
    watched_.emplace(directory, watch);
    added = true;
  }
  return added;
}

bool DirectoryWatcher::Drain() {
  alignas(inotify_event) char events[16 * 1024];
  bool matters = false;
  ssize_t got = 0;
  while ((got = read(inotify_fd_, events, sizeof(events))) > 0) {
    for (ssize_t at = 0; at < got;) {
      inotify_event event;
      __builtin_memcpy(&event, events + at, sizeof(event));
      at += static_cast<ssize_t>(sizeof(event) + event.len);
      const bool file_being_made = (event.mask & IN_CREATE) != 0 && (event.mask & IN_ISDIR) == 0;
      matters = matters || !file_being_made;
      if ((event.mask & (IN_IGNORED | IN_MOVE_SELF)) == 0) continue;
      const MutexLock lock(mutex_);
      std::erase_if(watched_, [&](const auto& entry) { return entry.second == event.wd; });
      if ((event.mask & IN_MOVE_SELF) != 0) inotify_rm_watch(inotify_fd_, event.wd);
    }
  }
  return matters;
}

void DirectoryWatcher::Run(std::stop_token stop) {
  while (!stop.stop_requested()) {
    pollfd ready[2] = {{inotify_fd_, POLLIN, 0}, {wake_fd_, POLLIN, 0}};
    if (poll(ready, 2, -1) < 0) continue;
    if (stop.stop_requested()) return;
    if (Drain()) on_change_();
  }
}

}  // namespace thalweg::connectors
