#pragma once

#include <atomic>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace thalweg {

/// An account of memory: who pays for bytes, and the limit they may reach. Accounts nest: what a query holds its
/// session and the server hold too. It counts; it does not allocate.
/// Owner: a parent must outlive its children and their charges. Thread: any.
class MemoryAccount {
 public:
  static constexpr int64_t kNoLimit = std::numeric_limits<int64_t>::max();

  MemoryAccount(std::string name, MemoryAccount* parent, int64_t limit_bytes = kNoLimit);
  ~MemoryAccount();
  MemoryAccount(const MemoryAccount&) = delete;
  MemoryAccount& operator=(const MemoryAccount&) = delete;

  /// Charges `bytes` here and to every ancestor, or to none of them.
  /// Errors: OUT_OF_MEMORY (kind kEnvironment) naming the account whose limit is in the way.
  Status Grow(int64_t bytes);
  /// Gives `bytes` back here and to every ancestor.
  void Shrink(int64_t bytes);

  const std::string& name() const { return name_; }
  int64_t used_bytes() const { return used_bytes_.load(std::memory_order_relaxed); }
  int64_t peak_bytes() const { return peak_bytes_.load(std::memory_order_relaxed); }
  int64_t limit_bytes() const { return limit_bytes_.load(std::memory_order_relaxed); }
  void set_limit_bytes(int64_t limit_bytes) { limit_bytes_.store(limit_bytes, std::memory_order_relaxed); }
  MemoryAccount* parent() const { return parent_; }

 private:
  friend class MemoryReservation;
  bool TryCharge(int64_t bytes);
  Status Refuse(int64_t bytes) const;
  bool HasAncestor(const MemoryAccount* account) const;

  const std::string name_;
  MemoryAccount* const parent_;
  std::atomic<int64_t> limit_bytes_;
  std::atomic<int64_t> used_bytes_{0};
  std::atomic<int64_t> peak_bytes_{0};
};

/// Bytes charged to an account for as long as this lives: what an operator, a queue or a table holds.
/// Owner: whoever holds the data; moves with it. Thread: confined to its owner.
class MemoryReservation {
 public:
  MemoryReservation() = default;
  explicit MemoryReservation(MemoryAccount& account) : account_(&account) {}
  ~MemoryReservation() { Release(); }
  MemoryReservation(MemoryReservation&& other) noexcept;
  MemoryReservation& operator=(MemoryReservation&& other) noexcept;

  /// Errors: OUT_OF_MEMORY; nothing is charged then. Without an account it always succeeds.
  Status Grow(int64_t bytes);
  /// Gives back at most what is held.
  void Shrink(int64_t bytes);
  /// Grows or shrinks to `bytes`.
  Status Resize(int64_t bytes);
  /// Gives everything back.
  void Release() { Shrink(bytes_); }

  /// Takes `bytes` of this reservation into a new one of the same account. `bytes` must be held.
  MemoryReservation Split(int64_t bytes);
  /// Makes `account` pay for all of it: common ancestors are not charged twice.
  /// Errors: OUT_OF_MEMORY; then the old account still pays.
  Status TransferTo(MemoryAccount& account);

  int64_t bytes() const { return bytes_; }
  MemoryAccount* account() const { return account_; }

 private:
  MemoryAccount* account_ = nullptr;
  int64_t bytes_ = 0;
};

}  // namespace thalweg
