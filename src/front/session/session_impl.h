#pragma once

// The inside of a Session, shared by the files that implement it.

#include <map>
#include <memory>
#include <set>
#include <string>

#include "base/memory.h"
#include "base/mutex.h"
#include "front/session/session.h"
#include "front/session/session_conf.h"
#include "front/session/view_name.h"
#include "streaming/query/query_manager.h"

namespace thalweg::engine {
struct SessionPython;
}

namespace thalweg::front {

/// Temporary views by lower-case name. Thread: synchronised.
class ViewMap {
 public:
  /// Errors: TEMP_TABLE_OR_VIEW_ALREADY_EXISTS unless `replace`.
  Status Create(const std::string& name, sql::PlanPtr plan, bool replace);
  bool Drop(const std::string& name);
  sql::PlanPtr Find(const std::string& name) const;
  std::vector<std::string> Names() const;
  void CopyFrom(const ViewMap& other);
  void Clear();

 private:
  mutable Mutex mutex_;
  std::map<std::string, sql::PlanPtr> views_ TW_GUARDED_BY(mutex_);
};

/// Names of cached tables and views, as keys. Thread: synchronised.
class CachedNames {
 public:
  void Set(const std::string& key, bool cached);
  bool Has(const std::string& key) const;
  /// Takes out all keys that begin so.
  void Forget(std::string_view prefix);
  void Clear();

 private:
  mutable Mutex mutex_;
  std::set<std::string> keys_ TW_GUARDED_BY(mutex_);
};

/// Where the keys of a session's temporary views begin: two users may have sessions of one id.
std::string CachedKeysOf(const Session& session);

struct Session::Impl {
  Impl(ServerContext& server, std::string user, std::string id);

  ServerContext& server;
  const std::string user;
  const std::string id;
  MemoryAccount account;
  MemoryReservation memory;
  std::unique_ptr<SessionConf> conf;
  ViewMap views;
  mutable Mutex mutex;
  std::string database TW_GUARDED_BY(mutex) = "default";
  std::map<std::string, sql::PythonFunctionPtr> functions TW_GUARDED_BY(mutex);  // by lower-case name
  streaming::StreamingQueryManager queries;
};

/// What queries with Python functions need; null when the server runs none.
std::shared_ptr<const engine::SessionPython> PythonOf(const Session& session, const ServerContext& server);

}  // namespace thalweg::front
