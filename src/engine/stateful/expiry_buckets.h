#pragma once

#include <cstdint>
#include <map>
#include <vector>

namespace thalweg::engine {

/// Slots by event time, in buckets of some seconds: adding and taking cost the same however many there are, which a heap's
/// do not. Entries may be out of date; their generation tells. Thread: confined to its owner.
class ExpiryBuckets {
 public:
  struct Entry {
    int64_t time_us;
    uint32_t slot;
    uint32_t generation;
  };

  void Add(Entry entry) {
    const int64_t number = entry.time_us >> kShift;
    if (last_ == nullptr || number != last_number_) {
      last_ = &buckets_[number];
      last_number_ = number;
    }
    last_->push_back(entry);
    ++size_;
  }
  /// Whether Take would give something, except that a bucket that is cut by the bound counts whole.
  bool MayHave(int64_t bound_us) const { return !buckets_.empty() && buckets_.begin()->first <= bound_us >> kShift; }
  /// Gives every entry with a time of at most `bound_us` to `each`, bucket by bucket, and forgets it.
  template <typename Each>
  void Take(int64_t bound_us, Each each) {
    last_ = nullptr;
    const int64_t end = bound_us >> kShift;
    while (!buckets_.empty() && buckets_.begin()->first <= end) {
      const bool whole = buckets_.begin()->first < end;
      std::vector<Entry>& bucket = buckets_.begin()->second;
      size_t kept = 0;
      for (const Entry& entry : bucket) {
        if (whole || entry.time_us <= bound_us) {
          each(entry);
        } else {
          bucket[kept++] = entry;
        }
      }
      size_ -= static_cast<int64_t>(bucket.size() - kept);
      bucket.resize(kept);
      if (kept > 0) return;
      buckets_.erase(buckets_.begin());
    }
  }
  void Clear() {
    buckets_.clear();
    last_ = nullptr;
    size_ = 0;
  }
  /// About; what buckets have reserved is not counted.
  int64_t memory_bytes() const { return size_ * static_cast<int64_t>(sizeof(Entry)) + static_cast<int64_t>(buckets_.size()) * 96; }

 private:
  static constexpr int kShift = 23;  // 8.4 s
  std::map<int64_t, std::vector<Entry>> buckets_;
  std::vector<Entry>* last_ = nullptr;  // where the last entry went
  int64_t last_number_ = 0;
  int64_t size_ = 0;
};

}  // namespace thalweg::engine
