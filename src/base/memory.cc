#include "base/memory.h"

#include <algorithm>
#include <utility>

namespace thalweg {

MemoryAccount::MemoryAccount(std::string name, MemoryAccount* parent, int64_t limit_bytes)
    : name_(std::move(name)), parent_(parent), limit_bytes_(limit_bytes) {}

MemoryAccount::~MemoryAccount() { TW_DCHECK(used_bytes() == 0); }

// Charges this account alone, unless its limit is in the way.
bool MemoryAccount::TryCharge(int64_t bytes) {
  int64_t used = used_bytes_.load(std::memory_order_relaxed);
  do {
    if (bytes > limit_bytes() - used) return false;
  } while (!used_bytes_.compare_exchange_weak(used, used + bytes, std::memory_order_relaxed));
  const int64_t now = used + bytes;
  int64_t peak = peak_bytes_.load(std::memory_order_relaxed);
  while (now > peak && !peak_bytes_.compare_exchange_weak(peak, now, std::memory_order_relaxed)) {
  }
  return true;
}

Status MemoryAccount::Refuse(int64_t bytes) const {
  return Error("OUT_OF_MEMORY")
      .With("requestedBytes", bytes)
      .With("owner", name_)
      .With("usedBytes", used_bytes())
      .With("limitBytes", limit_bytes())
      .Kind(ErrorKind::kEnvironment);
}

bool MemoryAccount::HasAncestor(const MemoryAccount* account) const {
  for (const MemoryAccount* at = this; at != nullptr; at = at->parent_) {
    if (at == account) return true;
  }
  return false;
}

Status MemoryAccount::Grow(int64_t bytes) {
  TW_DCHECK(bytes >= 0);
  for (MemoryAccount* at = this; at != nullptr; at = at->parent_) {
    if (at->TryCharge(bytes)) continue;
    const Status refused = at->Refuse(bytes);
    for (MemoryAccount* undo = this; undo != at; undo = undo->parent_) undo->used_bytes_ -= bytes;
    return refused;
  }
  return Status::OK();
}

void MemoryAccount::Shrink(int64_t bytes) {
  for (MemoryAccount* at = this; at != nullptr; at = at->parent_) {
    const int64_t before = at->used_bytes_.fetch_sub(bytes, std::memory_order_relaxed);
    TW_DCHECK(before >= bytes);
    static_cast<void>(before);
  }
}

MemoryReservation::MemoryReservation(MemoryReservation&& other) noexcept
    : account_(other.account_), bytes_(std::exchange(other.bytes_, 0)) {}

MemoryReservation& MemoryReservation::operator=(MemoryReservation&& other) noexcept {
  if (this != &other) {
    Release();
    account_ = other.account_;
    bytes_ = std::exchange(other.bytes_, 0);
  }
  return *this;
}

Status MemoryReservation::Grow(int64_t bytes) {
  if (account_ != nullptr) TW_RETURN_NOT_OK(account_->Grow(bytes));
  bytes_ += bytes;
  return Status::OK();
}

void MemoryReservation::Shrink(int64_t bytes) {
  bytes = std::min(bytes, bytes_);
  if (account_ != nullptr && bytes > 0) account_->Shrink(bytes);
  bytes_ -= bytes;
}

Status MemoryReservation::Resize(int64_t bytes) {
  if (bytes > bytes_) return Grow(bytes - bytes_);
  Shrink(bytes_ - bytes);
  return Status::OK();
}

MemoryReservation MemoryReservation::Split(int64_t bytes) {
  TW_DCHECK(bytes <= bytes_);
  MemoryReservation part;
  part.account_ = account_;
  part.bytes_ = std::min(bytes, bytes_);
  bytes_ -= part.bytes_;
  return part;
}

Status MemoryReservation::TransferTo(MemoryAccount& account) {
  if (&account == account_) return Status::OK();
  // Only the part of the new chain that does not pay yet is charged, so that moving data inside a full server works.
  MemoryAccount* shared = &account;
  while (shared != nullptr && (account_ == nullptr || !account_->HasAncestor(shared))) shared = shared->parent_;
  for (MemoryAccount* at = &account; at != shared; at = at->parent_) {
    if (at->TryCharge(bytes_)) continue;
    const Status refused = at->Refuse(bytes_);
    for (MemoryAccount* undo = &account; undo != at; undo = undo->parent_) undo->used_bytes_ -= bytes_;
    return refused;
  }
  for (MemoryAccount* at = account_; at != shared; at = at->parent_) at->used_bytes_ -= bytes_;
  account_ = &account;
  return Status::OK();
}

}  // namespace thalweg
