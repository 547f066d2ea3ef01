#pragma once

// Broken invariants of one query: the query is poisoned, the server stays.

#include <atomic>
#include <string>

#include "base/mutex.h"
#include "base/status.h"

namespace thalweg {

/// Whether a query may still write durably. Once poisoned it stays so; every durable write asks Check() first.
/// Owner: the query's run. Thread: any.
class PoisonFlag {
 public:
  /// Records the first reason; later ones are dropped. Logs it as an error.
  void Poison(Status reason) TW_EXCLUDES(mutex_);
  bool poisoned() const { return poisoned_.load(std::memory_order_acquire); }
  /// Ok, or the reason (INTERNAL_ERROR).
  Status Check() const TW_EXCLUDES(mutex_);

 private:
  std::atomic<bool> poisoned_{false};
  mutable Mutex mutex_;
  Status reason_ TW_GUARDED_BY(mutex_);
};

namespace internal {
Status BreakInvariant(PoisonFlag& query, const char* file, int line, const char* condition);
}  // namespace internal

}  // namespace thalweg

/// In a function that returns Status or Result: unless `condition` holds, poisons `query` (a PoisonFlag) and returns
/// INTERNAL_ERROR. For conditions whose breach could write a wrong offset, state or table.
#define TW_INVARIANT(query, condition)                                                        \
  do {                                                                                        \
    if (!(condition)) [[unlikely]] {                                                          \
      return ::thalweg::internal::BreakInvariant((query), __FILE__, __LINE__, #condition);    \
    }                                                                                         \
  } while (false)
