#include "base/cores.h"

#include <sched.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <sstream>
#include <thread>

namespace thalweg {
namespace {

std::string ReadSmallFile(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  if (file) text << file.rdbuf();
  return text.str();
}

/// The first number of a text; -1 when it does not begin with one ("max").
int64_t NumberIn(std::string_view text) {
  int64_t number = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} ? number : -1;
}

int Rounded(int64_t quota_us, int64_t period_us) {
  return quota_us <= 0 || period_us <= 0 ? 0 : static_cast<int>((quota_us + period_us - 1) / period_us);
}

/// Version 2: "quota period" or "max period".
int CoresOfCpuMax(const std::string& text) {
  const size_t space = text.find(' ');
  return space == std::string::npos ? 0 : Rounded(NumberIn(text), NumberIn(std::string_view(text).substr(space + 1)));
}

/// The least quota of a group and those around it; 0: none.
template <typename QuotaOf>
int LeastUpwards(std::string group, QuotaOf quota_of) {
  int least = 0;
  while (true) {
    const int cores = quota_of(group);
    if (cores > 0 && (least == 0 || cores < least)) least = cores;
    if (group.empty() || group == "/") return least;
    group.resize(group.rfind('/') == std::string::npos ? 0 : group.rfind('/'));
  }
}

bool NamesCpu(std::string_view controllers) {
  while (!controllers.empty()) {
    const size_t comma = controllers.find(',');
    if (controllers.substr(0, comma) == "cpu") return true;
    controllers.remove_prefix(comma == std::string_view::npos ? controllers.size() : comma + 1);
  }
  return false;
}

int CoresOfAffinity() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) == 0) return CPU_COUNT(&set);
  return static_cast<int>(std::thread::hardware_concurrency());
}

}  // namespace

int CoresOfControlGroups(const std::string& root, std::string_view memberships) {
  int least = 0;
  while (!memberships.empty()) {
    const std::string_view line = memberships.substr(0, memberships.find('\n'));
    memberships.remove_prefix(std::min(memberships.size(), line.size() + 1));
    // "0::/group" in version 2, "3:cpu,cpuacct:/group" in version 1.
    const size_t first = line.find(':');
    const size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string group(line.substr(second + 1));
    int cores = 0;
    if (controllers.empty()) {
      cores = LeastUpwards(group, [&](const std::string& at) { return CoresOfCpuMax(ReadSmallFile(root + at + "/cpu.max")); });
    } else if (NamesCpu(controllers)) {
      cores = LeastUpwards(group, [&](const std::string& at) {
        const std::string folder = root + "/cpu" + at;
        return Rounded(NumberIn(ReadSmallFile(folder + "/cpu.cfs_quota_us")), NumberIn(ReadSmallFile(folder + "/cpu.cfs_period_us")));
      });
    }
    if (cores > 0 && (least == 0 || cores < least)) least = cores;
  }
  return least;
}

int AvailableCores() {
  static const int cores = [] {
    const int affinity = std::max(1, CoresOfAffinity());
    const int quota = CoresOfControlGroups("/sys/fs/cgroup", ReadSmallFile("/proc/self/cgroup"));
    return quota > 0 ? std::min(affinity, quota) : affinity;
  }();
  return cores;
}

}  // namespace thalweg
