#include "base/string_case.h"
#include "front/session/session_impl.h"

namespace thalweg::front {

void CachedNames::Set(const std::string& key, bool cached) {
  const MutexLock lock(mutex_);
  if (cached) {
    keys_.insert(key);
  } else {
    keys_.erase(key);
  }
}

bool CachedNames::Has(const std::string& key) const {
  const MutexLock lock(mutex_);
  return keys_.count(key) != 0;
}

void CachedNames::Forget(std::string_view prefix) {
  const MutexLock lock(mutex_);
  std::erase_if(keys_, [&](const std::string& key) { return key.starts_with(prefix); });
}

void CachedNames::Clear() {
  const MutexLock lock(mutex_);
  keys_.clear();
}

std::shared_ptr<CachedNames> MakeCachedNames() { return std::make_shared<CachedNames>(); }

std::string CachedKeysOf(const Session& session) { return session.user() + "\n" + session.id() + "/"; }

namespace {

// Temporary views are a session's, everything else is the server's.
Result<std::string> CacheKey(const Session& session, const std::vector<std::string>& name) {
  if (name.size() == 1 && session.FindTempView(name[0], false) != nullptr) return CachedKeysOf(session) + ToAsciiLower(name[0]);
  if (name.size() == 2 && EqualsIgnoreCase(name[0], kGlobalTempDatabase)) return std::string(kGlobalTempDatabase) + "/" + ToAsciiLower(name[1]);
  TW_ASSIGN_OR_RETURN(const auto qualified, session.TableName(name));
  return qualified.first + "." + qualified.second;
}

}  // namespace

Status Session::SetCached(const std::vector<std::string>& name, bool cached) {
  TW_ASSIGN_OR_RETURN(const std::string key, CacheKey(*this, name));
  impl_->server.cached_names->Set(key, cached);
  return Status::OK();
}

Result<bool> Session::IsCached(const std::vector<std::string>& name) const {
  TW_ASSIGN_OR_RETURN(const std::string key, CacheKey(*this, name));
  return impl_->server.cached_names->Has(key);
}

void Session::ClearCached() { impl_->server.cached_names->Clear(); }

}  // namespace thalweg::front
