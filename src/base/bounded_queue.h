#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <stop_token>
#include <utility>

#include "base/mutex.h"
#include "base/status.h"

namespace thalweg {

/// Hands items from producers to consumers, first in first out, at most `capacity` at a time.
/// Owner: whoever constructs it; it must outlive its users. Thread: any number on both sides.
template <typename T>
class BoundedQueue {
 public:
  explicit BoundedQueue(size_t capacity) : capacity_(capacity) { TW_DCHECK(capacity > 0); }

  /// Blocks while full. False (and the item is dropped) when stopped or closed.
  bool Push(T item, std::stop_token stop = {}) TW_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    const bool ready =
        not_full_.Wait(mutex_, std::move(stop), [this] { return closed_ || items_.size() < capacity_; });
    if (!ready || closed_) return false;
    items_.push_back(std::move(item));
    not_empty_.NotifyOne();
    return true;
  }

  /// Never blocks. False when full or closed; the item is then untouched.
  bool TryPush(T& item) TW_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    if (closed_ || items_.size() >= capacity_) return false;
    items_.push_back(std::move(item));
    not_empty_.NotifyOne();
    return true;
  }

  /// Blocks while empty. Nothing when stopped, or closed and drained; items left at a stop are still handed out.
  std::optional<T> Pop(std::stop_token stop = {}) TW_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    not_empty_.Wait(mutex_, std::move(stop), [this] { return closed_ || !items_.empty(); });
    return TakeFront();
  }

  /// Never blocks.
  std::optional<T> TryPop() TW_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return TakeFront();
  }

  /// Refuses further items; what is inside can still be popped.
  void Close() TW_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    closed_ = true;
    not_empty_.NotifyAll();
    not_full_.NotifyAll();
  }

  bool closed() const TW_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return closed_;
  }

  size_t size() const TW_EXCLUDES(mutex_) {
    MutexLock lock(mutex_);
    return items_.size();
  }

  size_t capacity() const { return capacity_; }

 private:
  std::optional<T> TakeFront() TW_REQUIRES(mutex_) {
    if (items_.empty()) return std::nullopt;
    std::optional<T> item(std::move(items_.front()));
    items_.pop_front();
    not_full_.NotifyOne();
    return item;
  }

  const size_t capacity_;
  mutable Mutex mutex_;
  CondVar not_empty_;
  CondVar not_full_;
  std::deque<T> items_ TW_GUARDED_BY(mutex_);
  bool closed_ TW_GUARDED_BY(mutex_) = false;
};

}  // namespace thalweg
