#include "front/session/session.h"

#include "base/string_case.h"
#include "engine/pyworker/python_workers.h"
#include "front/session/session_impl.h"
#include "sql/catalog/catalog.h"
#include "sql/parser/parser.h"

namespace thalweg::front {

Status ViewMap::Create(const std::string& name, sql::PlanPtr plan, bool replace) {
  const MutexLock lock(mutex_);
  const std::string key = ToAsciiLower(name);
  if (!replace && views_.contains(key)) {
    return Error("TEMP_TABLE_OR_VIEW_ALREADY_EXISTS").With("relationName", data::QuoteIdentifier(name));
  }
  views_[key] = std::move(plan);
  return Status::OK();
}

bool ViewMap::Drop(const std::string& name) {
  sql::PlanPtr dropped;  // destroyed outside of the lock
  const MutexLock lock(mutex_);
  const auto found = views_.find(ToAsciiLower(name));
  if (found == views_.end()) return false;
  dropped = std::move(found->second);
  views_.erase(found);
  return true;
}

sql::PlanPtr ViewMap::Find(const std::string& name) const {
  const MutexLock lock(mutex_);
  const auto found = views_.find(ToAsciiLower(name));
  return found == views_.end() ? nullptr : found->second;
}

std::vector<std::string> ViewMap::Names() const {
  const MutexLock lock(mutex_);
  std::vector<std::string> names;
  for (const auto& [name, plan] : views_) names.push_back(name);
  return names;
}

void ViewMap::CopyFrom(const ViewMap& other) {
  std::map<std::string, sql::PlanPtr> copy;
  {
    const MutexLock lock(other.mutex_);
    copy = other.views_;
  }
  const MutexLock lock(mutex_);
  views_ = std::move(copy);
}

void ViewMap::Clear() {
  std::map<std::string, sql::PlanPtr> dropped;
  const MutexLock lock(mutex_);
  dropped.swap(views_);
}

Session::Impl::Impl(ServerContext& context, std::string user_name, std::string session_id)
    : server(context),
      user(std::move(user_name)),
      id(std::move(session_id)),
      account("session " + id, context.memory == nullptr ? nullptr : context.memory->account()),
      memory(account),
      conf(std::make_unique<SessionConf>(context.server_settings, context.known_settings)) {}

Session::Session() = default;
Session::~Session() = default;

std::shared_ptr<Session> Session::Make(ServerContext& server, std::string user, std::string id) {
  std::shared_ptr<Session> session(new Session);
  session->impl_ = std::make_unique<Impl>(server, std::move(user), std::move(id));
  return session;
}

const std::string& Session::id() const { return impl_->id; }
std::string Session::python_owner() const { return std::to_string(user().size()) + ":" + user() + id(); }
const std::string& Session::user() const { return impl_->user; }
ServerContext& Session::server() { return impl_->server; }
MemoryReservation& Session::memory() { return impl_->memory; }
streaming::StreamingQueryManager& Session::queries() { return impl_->queries; }

Status Session::SetConf(const std::string& key, const std::string& value) { return impl_->conf->Set(key, value); }

Result<std::string> Session::GetConf(const std::string& key) const {
  std::optional<std::string> value = impl_->conf->Lookup(key);
  if (!value) return Error("SQL_CONF_NOT_FOUND").With("sqlConf", "\"" + key + "\"");
  return std::move(*value);
}

std::optional<std::string> Session::GetConfOption(const std::string& key) const { return impl_->conf->Lookup(key); }
std::optional<std::string> Session::GetExplicitConf(const std::string& key) const { return impl_->conf->Explicit(key); }
Status Session::UnsetConf(const std::string& key) { return impl_->conf->Unset(key); }
void Session::ResetConf() { impl_->conf->Reset(); }
std::map<std::string, std::string> Session::AllConf() const { return impl_->conf->All(); }
bool Session::IsModifiable(const std::string& key) const { return impl_->conf->IsModifiable(key); }
SettingsMap Session::SettingsSnapshot() const { return impl_->conf->Snapshot(); }

std::shared_ptr<const sql::EvalConfig> Session::eval_config() const {
  return impl_->conf->Config(impl_->user, current_database());
}

std::string Session::current_database() const {
  const MutexLock lock(impl_->mutex);
  return impl_->database;
}

void Session::set_current_database(std::string name) {
  const MutexLock lock(impl_->mutex);
  impl_->database = std::move(name);
}

Result<sql::PlanPtr> Session::ParseSql(const std::string& text, const std::map<std::string, sql::ExprPtr>& named,
                                       const std::vector<sql::ExprPtr>& positional) const {
  sql::ParserOptions options = parser_options();
  options.named_parameters = named;
  options.positional_parameters = positional;
  return sql::ParsePlan(text, options);
}

sql::ParserOptions Session::parser_options() const {
  const std::shared_ptr<const sql::EvalConfig> config = eval_config();
  sql::ParserOptions options;
  options.ansi = config->ansi;
  options.time_zone = config->time_zone;
  options.double_quoted_identifiers = config->double_quoted_identifiers;
  options.timestamp_ntz_default = config->timestamp_ntz_default;
  return options;
}

Status Session::CreateTempView(const std::string& name, sql::PlanPtr analyzed, bool replace, bool global) {
  return (global ? *impl_->server.global_views : impl_->views).Create(name, std::move(analyzed), replace);
}

bool Session::DropTempView(const std::string& name, bool global) {
  if (FindTempView(name, global) != nullptr) {
    std::vector<std::string> parts{name};
    if (global) parts.insert(parts.begin(), std::string(kGlobalTempDatabase));
    Ignore(SetCached(parts, false), "the name of a view is whole");
  }
  return (global ? *impl_->server.global_views : impl_->views).Drop(name);
}

std::vector<std::string> Session::TempViews(bool global) const {
  return (global ? *impl_->server.global_views : impl_->views).Names();
}

sql::PlanPtr Session::FindTempView(const std::string& name, bool global) const {
  return (global ? *impl_->server.global_views : impl_->views).Find(name);
}

void Session::RegisterFunction(sql::PythonFunctionPtr function) {
  const MutexLock lock(impl_->mutex);
  std::string name = ToAsciiLower(function->name);
  impl_->functions[std::move(name)] = std::move(function);
}

sql::PythonFunctionPtr Session::FindFunction(const std::string& name) const {
  const MutexLock lock(impl_->mutex);
  const auto found = impl_->functions.find(ToAsciiLower(name));
  return found == impl_->functions.end() ? nullptr : found->second;
}

std::vector<std::string> Session::RegisteredFunctions() const {
  const MutexLock lock(impl_->mutex);
  std::vector<std::string> names;
  for (const auto& [name, function] : impl_->functions) names.push_back(name);
  return names;
}

Result<std::pair<std::string, std::string>> Session::TableName(const std::vector<std::string>& parts) const {
  if (parts.size() == 1) return std::pair(current_database(), sql::LowerName(parts[0]));
  if (parts.size() == 2) return std::pair(sql::LowerName(parts[0]), sql::LowerName(parts[1]));
  if (parts.size() == 3 && EqualsIgnoreCase(parts[0], sql::kSessionCatalog)) {
    return std::pair(sql::LowerName(parts[1]), sql::LowerName(parts[2]));
  }
  if (parts.size() >= 3 && !EqualsIgnoreCase(parts[0], sql::kSessionCatalog)) {
    return Unsupported("catalogues other than spark_catalog (" + sql::QuoteName(parts) + ")");
  }
  return Error("REQUIRES_SINGLE_PART_NAMESPACE")
      .With("sessionCatalog", std::string(sql::kSessionCatalog))
      .With("identifier", sql::QuoteName(parts));
}

std::shared_ptr<Session> Session::Clone(std::string new_id) const {
  std::shared_ptr<Session> clone = Make(impl_->server, impl_->user, std::move(new_id));
  clone->impl_->conf = std::make_unique<SessionConf>(*impl_->conf);
  clone->impl_->views.CopyFrom(impl_->views);
  clone->set_current_database(current_database());
  std::map<std::string, sql::PythonFunctionPtr> functions;
  {
    const MutexLock lock(impl_->mutex);
    functions = impl_->functions;
  }
  const MutexLock lock(clone->impl_->mutex);
  clone->impl_->functions = std::move(functions);
  return clone;
}

void Session::Close() {
  impl_->queries.StopAll();
  impl_->views.Clear();
  impl_->server.cached_names->Forget(CachedKeysOf(*this));
  if (impl_->server.python != nullptr) impl_->server.python->OwnerGone(python_owner());
}

std::shared_ptr<ViewMap> MakeViewMap() { return std::make_shared<ViewMap>(); }

}  // namespace thalweg::front
