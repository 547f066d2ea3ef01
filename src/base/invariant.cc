#include "base/invariant.h"

#include "base/log.h"

namespace thalweg {

void PoisonFlag::Poison(Status reason) {
  {
    MutexLock lock(mutex_);
    if (!reason_.ok()) return;
    reason_ = reason;
    poisoned_.store(true, std::memory_order_release);
  }
  TW_LOG(kError, "query poisoned: no further durable write", {"reason", reason});
}

Status PoisonFlag::Check() const {
  if (!poisoned()) return Status::OK();
  MutexLock lock(mutex_);
  return reason_;
}

Status internal::BreakInvariant(PoisonFlag& query, const char* file, int line, const char* condition) {
  Status broken = InternalError(std::string("broken invariant: ") + condition + " (" + file + ":" +
                                std::to_string(line) + ")");
  query.Poison(broken);
  return broken;
}

}  // namespace thalweg
