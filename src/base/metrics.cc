#include "base/metrics.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace thalweg {

// Values 0 to 3 have a bucket each; above, the two bits after the leading one choose among four.
int Histogram::BucketOf(int64_t value) {
  if (value < 4) return static_cast<int>(std::max<int64_t>(value, 0));
  const int width = std::bit_width(static_cast<uint64_t>(value));  // 3 to 63
  const int quarter = static_cast<int>((value >> (width - 3)) & 3);
  return 4 * (width - 2) + quarter;
}

int64_t Histogram::UpperEdge(int bucket) {
  if (bucket < 4) return bucket;
  const int width = bucket / 4 + 2;
  const uint64_t quarter = static_cast<uint64_t>(bucket % 4);
  return static_cast<int64_t>(((4 + quarter + 1) << (width - 3)) - 1);
}

void Histogram::Record(int64_t value) {
  value = std::max<int64_t>(value, 0);
  buckets_[BucketOf(value)].fetch_add(1, std::memory_order_relaxed);
  sum_.fetch_add(value, std::memory_order_relaxed);
  int64_t seen = max_.load(std::memory_order_relaxed);
  while (value > seen && !max_.compare_exchange_weak(seen, value, std::memory_order_relaxed)) {
  }
}

int64_t Histogram::count() const {
  int64_t total = 0;
  for (const auto& bucket : buckets_) total += bucket.load(std::memory_order_relaxed);
  return total;
}

int64_t Histogram::Quantile(double quantile) const {
  const int64_t total = count();
  if (total == 0) return 0;
  const auto rank = std::max<int64_t>(1, static_cast<int64_t>(std::ceil(quantile * static_cast<double>(total))));
  int64_t below = 0;
  for (int bucket = 0; bucket < kBuckets; ++bucket) {
    below += buckets_[bucket].load(std::memory_order_relaxed);
    if (below >= rank) return std::min(UpperEdge(bucket), max());
  }
  return max();
}

template <typename T>
T& MetricsRegistry::Get(std::string_view name, std::string_view doc) {
  MutexLock lock(mutex_);
  const auto found = entries_.find(name);
  if (found != entries_.end()) {
    if (auto* metric = std::get_if<std::unique_ptr<T>>(&found->second.metric)) return **metric;
    hidden_.push_back({std::string(doc), std::make_unique<T>()});
    return *std::get<std::unique_ptr<T>>(hidden_.back().metric);
  }
  Entry& entry = entries_[std::string(name)];
  entry.doc = doc;
  entry.metric = std::make_unique<T>();
  return *std::get<std::unique_ptr<T>>(entry.metric);
}

Counter& MetricsRegistry::GetCounter(std::string_view name, std::string_view doc) { return Get<Counter>(name, doc); }
Gauge& MetricsRegistry::GetGauge(std::string_view name, std::string_view doc) { return Get<Gauge>(name, doc); }
Histogram& MetricsRegistry::GetHistogram(std::string_view name, std::string_view doc) {
  return Get<Histogram>(name, doc);
}

std::vector<MetricSample> MetricsRegistry::Collect() const {
  MutexLock lock(mutex_);
  std::vector<MetricSample> samples;
  for (const auto& [name, entry] : entries_) {
    MetricSample sample;
    sample.name = name;
    sample.doc = entry.doc;
    sample.kind = static_cast<MetricSample::Kind>(entry.metric.index());
    if (const auto* counter = std::get_if<std::unique_ptr<Counter>>(&entry.metric)) {
      sample.value = (*counter)->value();
    } else if (const auto* gauge = std::get_if<std::unique_ptr<Gauge>>(&entry.metric)) {
      sample.value = (*gauge)->value();
    } else {
      const Histogram& histogram = *std::get<std::unique_ptr<Histogram>>(entry.metric);
      sample.value = histogram.count();
      sample.sum = histogram.sum();
      sample.max = histogram.max();
      sample.p50 = histogram.Quantile(0.5);
      sample.p95 = histogram.Quantile(0.95);
      sample.p99 = histogram.Quantile(0.99);
    }
    samples.push_back(std::move(sample));
  }
  return samples;
}

}  // namespace thalweg
