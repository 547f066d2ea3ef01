#pragma once

// Numbers that parts of the program count up and others read: cheap to write, consistent enough to read.

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/mutex.h"

namespace thalweg {

/// Counts events; never decreases. Thread: any, one relaxed atomic addition.
class Counter {
 public:
  void Add(int64_t count = 1) { value_.fetch_add(count, std::memory_order_relaxed); }
  int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{0};
};

/// A level that goes up and down. Thread: any.
class Gauge {
 public:
  void Set(int64_t value) { value_.store(value, std::memory_order_relaxed); }
  void Add(int64_t delta) { value_.fetch_add(delta, std::memory_order_relaxed); }
  int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{0};
};

/// Distribution of non-negative values in 4 buckets per power of two: quantiles are right to 25 %. Thread: any.
class Histogram {
 public:
  void Record(int64_t value);
  int64_t count() const;
  int64_t sum() const { return sum_.load(std::memory_order_relaxed); }
  int64_t max() const { return max_.load(std::memory_order_relaxed); }
  /// Upper edge of the bucket that holds the given quantile (0 to 1) of all values so far, at most max(); 0 when empty.
  int64_t Quantile(double quantile) const;

 private:
  static constexpr int kBuckets = 4 * 63;
  static int BucketOf(int64_t value);
  static int64_t UpperEdge(int bucket);

  std::array<std::atomic<int64_t>, kBuckets> buckets_{};
  std::atomic<int64_t> sum_{0};
  std::atomic<int64_t> max_{0};
};

/// Name and value of one metric at one moment; histograms give count, sum, max and the quantiles 0.5, 0.95, 0.99.
struct MetricSample {
  enum class Kind : unsigned char { kCounter, kGauge, kHistogram };
  std::string name;
  std::string doc;
  Kind kind = Kind::kCounter;
  int64_t value = 0;  ///< the count of a histogram
  int64_t sum = 0, max = 0, p50 = 0, p95 = 0, p99 = 0;
};

/// Owns metrics by name. Thread: any; the references it gives live as long as it does.
class MetricsRegistry {
 public:
  /// The metric of that name, made at the first call. A name keeps the kind it got first; asking for another kind gives
  /// a metric of its own that is not shown.
  Counter& GetCounter(std::string_view name, std::string_view doc) TW_EXCLUDES(mutex_);
  Gauge& GetGauge(std::string_view name, std::string_view doc) TW_EXCLUDES(mutex_);
  Histogram& GetHistogram(std::string_view name, std::string_view doc) TW_EXCLUDES(mutex_);
  /// All metrics, sorted by name.
  std::vector<MetricSample> Collect() const TW_EXCLUDES(mutex_);

 private:
  struct Entry {
    std::string doc;
    std::variant<std::unique_ptr<Counter>, std::unique_ptr<Gauge>, std::unique_ptr<Histogram>> metric;
  };
  template <typename T>
  T& Get(std::string_view name, std::string_view doc) TW_EXCLUDES(mutex_);

  mutable Mutex mutex_;
  std::map<std::string, Entry, std::less<>> entries_ TW_GUARDED_BY(mutex_);
  std::vector<Entry> hidden_ TW_GUARDED_BY(mutex_);
};

}  // namespace thalweg
