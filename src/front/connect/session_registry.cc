#include "front/connect/session_registry.h"

#include "base/log.h"
#include "base/uuid.h"
#include "front/connect/execute_stream.h"

namespace thalweg::front {

namespace {

constexpr size_t kMaxTombstones = 1000;

Status CheckObserved(const SessionHolder& holder, const std::string& observed) {
  if (observed.empty() || observed == holder.server_side_id()) return Status::OK();
  return Error("INVALID_HANDLE.SESSION_CHANGED").With("handle", holder.id());
}

}  // namespace

bool IsUuid(const std::string& text) { return text.size() == 36 && Uuid::Parse(text).ok(); }

Status SessionRegistry::CheckLocked(const SessionKey& key) const {
  if (!IsUuid(key.id)) return Error("INVALID_HANDLE.FORMAT").With("handle", key.id);
  if (closed_.contains(key)) return Error("INVALID_HANDLE.SESSION_CLOSED").With("handle", key.id);
  return Status::OK();
}

Result<std::shared_ptr<SessionHolder>> SessionRegistry::GetOrCreate(const SessionKey& key, const std::string& observed) {
  std::shared_ptr<SessionHolder> holder;
  bool opened = false;
  {
    const MutexLock lock(mutex_);
    TW_RETURN_NOT_OK(CheckLocked(key));
    const auto found = sessions_.find(key);
    if (found != sessions_.end()) {
      holder = found->second;
    } else {
      if (!observed.empty()) return Error("INVALID_HANDLE.SESSION_CHANGED").With("handle", key.id);
      holder = std::make_shared<SessionHolder>(Session::Make(server_, key.user, key.id), Uuid::MakeRandom().ToString());
      sessions_.emplace(key, holder);
      opened = true;
    }
    holder->Touch(SteadyMillis());
  }
  if (opened) TW_LOG(kInfo, "session opened", {"session", key.id}, {"user", key.user});
  TW_RETURN_NOT_OK(CheckObserved(*holder, observed));
  return holder;
}

Result<std::shared_ptr<SessionHolder>> SessionRegistry::Get(const SessionKey& key, const std::string& observed) {
  const MutexLock lock(mutex_);
  TW_RETURN_NOT_OK(CheckLocked(key));
  const auto found = sessions_.find(key);
  if (found == sessions_.end()) return Error("INVALID_HANDLE.SESSION_NOT_FOUND").With("handle", key.id);
  TW_RETURN_NOT_OK(CheckObserved(*found->second, observed));
  found->second->Touch(SteadyMillis());
  return found->second;
}

std::shared_ptr<SessionHolder> SessionRegistry::Remove(const SessionKey& key, bool tombstone) {
  std::shared_ptr<SessionHolder> holder;
  {
    const MutexLock lock(mutex_);
    const auto found = sessions_.find(key);
    if (found == sessions_.end()) return nullptr;
    holder = std::move(found->second);
    sessions_.erase(found);
    if (tombstone && closed_.insert(key).second) {
      closed_order_.push_back(key);
      if (closed_order_.size() > kMaxTombstones) {
        closed_.erase(closed_order_.front());
        closed_order_.pop_front();
      }
    }
  }
  TW_LOG(kInfo, "session closed", {"session", key.id});
  return holder;
}

Result<std::shared_ptr<SessionHolder>> SessionRegistry::Clone(const std::shared_ptr<SessionHolder>& source, std::string new_id) {
  if (new_id.empty()) new_id = Uuid::MakeRandom().ToString();
  if (!IsUuid(new_id)) return Error("INVALID_CLONE_SESSION_REQUEST.TARGET_SESSION_ID_FORMAT").With("targetSessionId", new_id);
  const SessionKey key{source->user(), new_id};
  auto clone = std::make_shared<SessionHolder>(source->session().Clone(new_id), Uuid::MakeRandom().ToString());
  clone->artifacts().CopyFrom(source->artifacts());
  clone->Touch(SteadyMillis());
  const MutexLock lock(mutex_);
  if (closed_.contains(key)) {
    return Error("INVALID_CLONE_SESSION_REQUEST.TARGET_SESSION_ID_ALREADY_CLOSED").With("targetSessionId", new_id);
  }
  if (!sessions_.emplace(key, clone).second) {
    return Error("INVALID_CLONE_SESSION_REQUEST.TARGET_SESSION_ID_ALREADY_EXISTS").With("targetSessionId", new_id);
  }
  return clone;
}

std::vector<std::shared_ptr<SessionHolder>> SessionRegistry::All() const {
  const MutexLock lock(mutex_);
  std::vector<std::shared_ptr<SessionHolder>> all;
  for (const auto& [key, holder] : sessions_) all.push_back(holder);
  return all;
}

}  // namespace thalweg::front
