#include "base/probe.h"

#include <algorithm>
#include <map>

#include "base/mutex.h"

namespace thalweg {
namespace {

struct Probes {
  Mutex mutex;
  std::vector<const Probe*> all TW_GUARDED_BY(mutex);
};

Probes& AllProbes() {
  static Probes& probes = *new Probes;
  return probes;
}

}  // namespace

Probe::Probe(std::string_view name) : name_(name) {
  Probes& probes = AllProbes();
  MutexLock lock(probes.mutex);
  probes.all.push_back(this);
}

std::vector<std::pair<std::string_view, int64_t>> ReachedProbes() {
  std::map<std::string_view, int64_t> sums;
  {
    Probes& probes = AllProbes();
    MutexLock lock(probes.mutex);
    for (const Probe* probe : probes.all) sums[probe->name()] += probe->hits();
  }
  return {sums.begin(), sums.end()};
}

int64_t ProbeHits(std::string_view name) {
  for (const auto& [reached, hits] : ReachedProbes()) {
    if (reached == name) return hits;
  }
  return 0;
}

}  // namespace thalweg
