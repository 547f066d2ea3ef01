#pragma once

// Rare branches leave a mark, so that a test run can list those it never reached.

#include <atomic>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace thalweg {

/// One place in the code. Lifetime: static; made by TW_PROBE. Thread: any.
class Probe {
 public:
  explicit Probe(std::string_view name);
  void Hit() { hits_.fetch_add(1, std::memory_order_relaxed); }
  std::string_view name() const { return name_; }
  int64_t hits() const { return hits_.load(std::memory_order_relaxed); }

 private:
  std::string_view name_;
  std::atomic<int64_t> hits_{0};
};

/// Name and hits of every probe reached so far in this process, sorted by name.
std::vector<std::pair<std::string_view, int64_t>> ReachedProbes();
/// Hits of one probe so far, over all places with that name.
int64_t ProbeHits(std::string_view name);

}  // namespace thalweg

/// `TW_PROBE("state: changelog replay after torn tail");` The name is a literal. A tool finds the unreached ones by
/// comparing the tree's literals with ReachedProbes().
#define TW_PROBE(name)                             \
  do {                                             \
    static ::thalweg::Probe tw_probe_(name);       \
    tw_probe_.Hit();                               \
  } while (false)
