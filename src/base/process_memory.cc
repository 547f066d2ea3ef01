#include "base/process_memory.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <string>
#include <string_view>

namespace thalweg {
namespace {

std::atomic<int64_t> g_limit{0};

/// The first bytes of a file of the system; empty without one.
std::string_view ReadStart(const char* path, std::array<char, 4096>* room) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return {};
  const ssize_t count = read(fd, room->data(), room->size());
  close(fd);
  return count > 0 ? std::string_view(room->data(), static_cast<size_t>(count)) : std::string_view();
}

int64_t Number(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc{} && end != text.data() ? value : 0;
}

/// The machine's memory, or that of the nearest control group that is smaller.
int64_t MachineMemory() {
  int64_t most = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  std::array<char, 4096> room;
  const auto smaller = [&](const std::string& path) {
    const int64_t limit = Number(ReadStart(path.c_str(), &room));  // "max": none
    if (limit > 0) most = std::min(most, limit);
  };
  smaller("/sys/fs/cgroup/memory/memory.limit_in_bytes");
  std::string group(ReadStart("/proc/self/cgroup", &room));
  const size_t own = group.find("0::/");
  std::string path = own == std::string::npos ? "" : group.substr(own + 3, group.find('\n', own) - own - 3);
  while (!path.empty()) {
    smaller("/sys/fs/cgroup" + path + "/memory.max");
    path.resize(path.rfind('/'));
  }
  smaller("/sys/fs/cgroup/memory.max");
  return most;
}

}  // namespace

int64_t ProcessMemoryLimit() {
  const int64_t set = g_limit.load(std::memory_order_relaxed);
  if (set > 0) return set;
  static const int64_t share = MachineMemory() / 5 * 4;
  return share;
}

void SetProcessMemoryLimit(int64_t bytes) { g_limit.store(bytes, std::memory_order_relaxed); }

int64_t ProcessMemoryUsed() {
  std::array<char, 4096> room;
  const std::string_view pages = ReadStart("/proc/self/statm", &room);  // size resident ...
  const size_t second = pages.find(' ');
  if (second == std::string_view::npos) return 0;
  static const int64_t page = sysconf(_SC_PAGESIZE);
  return Number(pages.substr(second + 1)) * page;
}

bool ProcessMemoryPermits(int64_t bytes) {
  return bytes < kLargeAllocation || bytes <= ProcessMemoryLimit() - ProcessMemoryUsed();
}

void ThrowOutOfMemory(int64_t bytes, const char* owner) {
  throw OutOfMemory(bytes, owner);  // tidy: allow(throw) as operator new does
}

Status OutOfMemoryStatus(const std::bad_alloc& thrown) {
  const auto* known = dynamic_cast<const OutOfMemory*>(&thrown);
  const bool value = known != nullptr && known->bytes() > kMostValueBytes && std::string_view(known->owner()) == "one value";
  return Error("OUT_OF_MEMORY")
      .With("requestedBytes", known == nullptr ? "more" : std::to_string(known->bytes()))
      .With("owner", known == nullptr ? "the process" : known->owner())
      .With("usedBytes", value ? 0 : ProcessMemoryUsed())
      .With("limitBytes", value ? kMostValueBytes : ProcessMemoryLimit())
      .Kind(ErrorKind::kEnvironment);
}

}  // namespace thalweg
