#pragma once

// All sessions of a server by (user, session id), and what is left of closed ones. Source: spark/connect/base.proto.

#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "front/connect/session_holder.h"
#include "front/session/session.h"

namespace thalweg::front {

struct SessionKey {
  std::string user;
  std::string id;
  auto operator<=>(const SessionKey&) const = default;
};

/// Thread: synchronised.
class SessionRegistry {
 public:
  explicit SessionRegistry(ServerContext& server) : server_(server) {}

  /// Errors: INVALID_HANDLE.FORMAT, .SESSION_CLOSED, .SESSION_CHANGED (`observed` is another server side id; empty: unknown).
  Result<std::shared_ptr<SessionHolder>> GetOrCreate(const SessionKey& key, const std::string& observed);
  /// Errors: as above and INVALID_HANDLE.SESSION_NOT_FOUND.
  Result<std::shared_ptr<SessionHolder>> Get(const SessionKey& key, const std::string& observed);
  /// Takes a session out; null when it is unknown. The caller closes it. `tombstone`: it cannot be made again.
  std::shared_ptr<SessionHolder> Remove(const SessionKey& key, bool tombstone);
  /// Errors: INVALID_CLONE_SESSION_REQUEST.*.
  Result<std::shared_ptr<SessionHolder>> Clone(const std::shared_ptr<SessionHolder>& source, std::string new_id);
  std::vector<std::shared_ptr<SessionHolder>> All() const;

 private:
  Status CheckLocked(const SessionKey& key) const TW_REQUIRES(mutex_);

  ServerContext& server_;
  mutable Mutex mutex_;
  std::map<SessionKey, std::shared_ptr<SessionHolder>> sessions_ TW_GUARDED_BY(mutex_);
  std::set<SessionKey> closed_ TW_GUARDED_BY(mutex_);
  std::deque<SessionKey> closed_order_ TW_GUARDED_BY(mutex_);
};

/// Whether a text is a canonical UUID.
bool IsUuid(const std::string& text);

}  // namespace thalweg::front
