#include "front/connect/session_holder.h"

#include "base/uuid.h"
#include "front/connect/grpc_errors.h"
#include "front/connect/listener_bus.h"

namespace thalweg::front {

namespace {

constexpr size_t kMaxErrors = 1000;
constexpr size_t kMaxReleased = 10'000;
constexpr size_t kMaxCachedRows = 32;

}  // namespace

SessionHolder::SessionHolder(std::shared_ptr<Session> session, std::string server_side_id)
    : session_(std::move(session)),
      server_side_id_(std::move(server_side_id)),
      listener_bus_(std::make_unique<ListenerBus>(*session_)) {}

SessionHolder::~SessionHolder() = default;

Result<SessionHolder::Begun> SessionHolder::Begin(const std::string& operation_id, bool reattachable, std::string fingerprint,
                                                  std::vector<std::string> tags, int64_t retry_buffer_bytes) {
  const MutexLock lock(mutex_);
  if (closed_) return Error("INVALID_HANDLE.SESSION_CLOSED").With("handle", id());
  if (const auto found = operations_.find(operation_id); found != operations_.end()) {
    if (found->second->fingerprint() == fingerprint) return Begun{found->second, true};
    return Error("INVALID_HANDLE.OPERATION_ALREADY_EXISTS").With("handle", operation_id);
  }
  if (released_.contains(operation_id)) return Error("INVALID_HANDLE.OPERATION_ABANDONED").With("handle", operation_id);
  auto operation = std::make_shared<Operation>(OperationIds{id(), server_side_id_, operation_id}, reattachable,
                                               std::move(fingerprint), std::move(tags), retry_buffer_bytes);
  operations_.emplace(operation_id, operation);
  return Begun{std::move(operation), false};
}

std::shared_ptr<Operation> SessionHolder::Find(const std::string& operation_id) const {
  const MutexLock lock(mutex_);
  const auto found = operations_.find(operation_id);
  return found == operations_.end() ? nullptr : found->second;
}

bool SessionHolder::WasReleased(const std::string& operation_id) const {
  const MutexLock lock(mutex_);
  return released_.contains(operation_id);
}

bool SessionHolder::Release(const std::string& operation_id) {
  std::shared_ptr<Operation> operation;
  {
    const MutexLock lock(mutex_);
    const auto found = operations_.find(operation_id);
    if (found == operations_.end()) return false;
    operation = std::move(found->second);
    operations_.erase(found);
    const OperationState state = operation->state();
    released_.emplace(operation_id, state == OperationState::kRunning ? OperationState::kCancelled : state);
    released_order_.push_back(operation_id);
    if (released_order_.size() > kMaxReleased) {
      released_.erase(released_order_.front());
      released_order_.pop_front();
    }
  }
  operation->Interrupt();
  return true;
}

std::vector<std::shared_ptr<Operation>> SessionHolder::Operations() const {
  const MutexLock lock(mutex_);
  std::vector<std::shared_ptr<Operation>> all;
  for (const auto& [id, operation] : operations_) all.push_back(operation);
  return all;
}

OperationState SessionHolder::StateOf(const std::string& operation_id) const {
  const MutexLock lock(mutex_);
  if (const auto found = operations_.find(operation_id); found != operations_.end()) {
    const OperationState state = found->second->state();
    return state == OperationState::kRunning ? state : OperationState::kTerminating;
  }
  const auto found = released_.find(operation_id);
  return found == released_.end() ? OperationState::kUnknown : found->second;
}

std::vector<std::string> SessionHolder::AllOperationIds() const {
  const MutexLock lock(mutex_);
  std::vector<std::string> ids;
  for (const auto& [id, operation] : operations_) ids.push_back(id);
  ids.insert(ids.end(), released_order_.begin(), released_order_.end());
  return ids;
}

grpc::Status SessionHolder::ToWire(const Status& status) {
  const std::string error_id = Uuid::MakeRandom().ToString();
  {
    const MutexLock lock(mutex_);
    errors_.emplace(error_id, status);
    error_order_.push_back(error_id);
    if (error_order_.size() > kMaxErrors) {
      errors_.erase(error_order_.front());
      error_order_.pop_front();
    }
  }
  return ToGrpcStatus(status, error_id);
}

Status SessionHolder::TakeError(const std::string& error_id) {
  const MutexLock lock(mutex_);
  const auto found = errors_.find(error_id);
  if (found == errors_.end()) return Status::OK();
  Status status = found->second;
  errors_.erase(found);
  return status;
}

void SessionHolder::PutRelation(const std::string& id, sql::PlanPtr plan) {
  const MutexLock lock(mutex_);
  relations_[id] = std::move(plan);
}

sql::PlanPtr SessionHolder::FindRelation(const std::string& id) const {
  const MutexLock lock(mutex_);
  const auto found = relations_.find(id);
  return found == relations_.end() ? nullptr : found->second;
}

void SessionHolder::DropRelation(const std::string& id) {
  sql::PlanPtr dropped;  // freed outside of the lock
  const MutexLock lock(mutex_);
  const auto found = relations_.find(id);
  if (found == relations_.end()) return;
  dropped = std::move(found->second);
  relations_.erase(found);
}

sql::PlanPtr SessionHolder::CachedRows(const std::string& key) const {
  const MutexLock lock(mutex_);
  for (const auto& [cached, plan] : cached_rows_) {
    if (cached == key) return plan;
  }
  return nullptr;
}

void SessionHolder::CacheRows(const std::string& key, sql::PlanPtr rows) {
  const MutexLock lock(mutex_);
  cached_rows_.emplace_front(key, std::move(rows));
  if (cached_rows_.size() > kMaxCachedRows) cached_rows_.pop_back();
}

void SessionHolder::NoteStarted(const std::string& query_id, StartedQuery started) {
  const MutexLock lock(mutex_);
  std::erase_if(started_, [](const auto& entry) { return entry.second.query.expired(); });
  started_[query_id] = std::move(started);
}

std::vector<StartedQuery> SessionHolder::StartedQueries() const {
  const MutexLock lock(mutex_);
  std::vector<StartedQuery> all;
  for (const auto& [id, started] : started_) all.push_back(started);
  return all;
}

void SessionHolder::Touch(int64_t now_ms) {
  const MutexLock lock(mutex_);
  touched_ms_ = now_ms;
}

int64_t SessionHolder::idle_ms(int64_t now_ms) const {
  const MutexLock lock(mutex_);
  for (const auto& [id, operation] : operations_) {
    if (!operation->finished()) return 0;
  }
  return now_ms - touched_ms_;
}

std::stop_token SessionHolder::analyses() const {
  const MutexLock lock(mutex_);
  return analyses_.get_token();
}

void SessionHolder::StopAnalyses() {
  std::stop_source running;
  {
    const MutexLock lock(mutex_);
    if (closed_) running = analyses_;  // none that begins later runs on
    else std::swap(running, analyses_);
  }
  running.request_stop();
}

void SessionHolder::Close() {
  {
    const MutexLock lock(mutex_);
    if (closed_) return;
    closed_ = true;
  }
  StopAnalyses();
  for (const std::shared_ptr<Operation>& operation : Operations()) {
    if (!listener_bus_->Uses(*operation)) operation->Interrupt();
  }
  session_->Close();
  listener_bus_->Remove();
  for (const std::shared_ptr<Operation>& operation : Operations()) operation->Interrupt();
  std::map<std::string, sql::PlanPtr> dropped;
  const MutexLock lock(mutex_);
  dropped.swap(relations_);
}

}  // namespace thalweg::front
