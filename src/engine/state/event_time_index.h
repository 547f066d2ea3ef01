#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace thalweg::engine {

/// Slots by event time, earliest first: a heap with entries that may be out of date, told by their generation.
/// 16 bytes an entry. Adding in order of time costs constant time. Thread: confined to its owner.
class EventTimeIndex {
 public:
  struct Entry {
    int64_t time_us;
    uint32_t slot;
    uint32_t generation;
  };

  void Add(Entry entry) {
    heap_.push_back(entry);
    std::push_heap(heap_.begin(), heap_.end(), Later);
  }
  /// Adds without order; Order() must follow before anything else is asked. For loads.
  void AddUnordered(Entry entry) { heap_.push_back(entry); }
  void Order() { std::make_heap(heap_.begin(), heap_.end(), Later); }
  bool empty() const { return heap_.empty(); }
  const Entry& earliest() const { return heap_.front(); }
  void Pop() {
    std::pop_heap(heap_.begin(), heap_.end(), Later);
    heap_.pop_back();
  }
  /// Drops entries for which `keep` does not hold.
  template <typename Keep>
  void Prune(Keep keep) {
    std::erase_if(heap_, [&](const Entry& entry) { return !keep(entry); });
    std::make_heap(heap_.begin(), heap_.end(), Later);
  }
  void Clear() { heap_.clear(); }
  size_t size() const { return heap_.size(); }
  int64_t memory_bytes() const { return static_cast<int64_t>(heap_.capacity() * sizeof(Entry)); }

 private:
  static bool Later(const Entry& a, const Entry& b) { return a.time_us > b.time_us; }
  std::vector<Entry> heap_;
};

}  // namespace thalweg::engine
