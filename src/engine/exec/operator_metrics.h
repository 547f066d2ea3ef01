#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <string>

namespace thalweg::engine {

/// A number that one thread at a time writes and any may read meanwhile: a plain store, no locked addition.
class MetricCell {
 public:
  void Set(int64_t value) { value_.store(value, std::memory_order_relaxed); }
  void Add(int64_t amount) { Set(value() + amount); }
  int64_t value() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<int64_t> value_{0};
};

/// Counters of one operator instance in one epoch. Written by its task, or by the owner while nothing runs.
struct OperatorMetrics {
  MetricCell input_rows;
  MetricCell output_rows;
  MetricCell read_bytes;  ///< from outside: files, brokers
  MetricCell busy_ns;
  /// Spark's names ("numRowsTotal", "numRowsUpdated", "allUpdatesTimeMs", "numRowsDroppedByWatermark", ...); put there by Prepare.
  /// Not to be read while tasks run.
  std::map<std::string, int64_t> custom;
  void Clear();
};

/// The same of all instances of a node together, as they were at some moment.
struct OperatorTotals {
  int64_t input_rows = 0;
  int64_t output_rows = 0;
  int64_t read_bytes = 0;
  int64_t busy_ns = 0;
  std::map<std::string, int64_t> custom;
  /// What may be read at any time.
  void AddCounters(const OperatorMetrics& one);
  void Add(const OperatorMetrics& one);
};

}  // namespace thalweg::engine
