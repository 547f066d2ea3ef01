#include "sql/protocol/local_callbacks.h"

#include <map>
#include <utility>

#include "base/mutex.h"
#include "base/uuid.h"

namespace thalweg::sql {

namespace {

struct Registry {
  Mutex mutex;
  std::map<std::string, BatchCallback> callbacks TW_GUARDED_BY(mutex);
};

Registry& TheRegistry() {
  static Registry registry;
  return registry;
}

std::string& ThreadAgent() {
  thread_local std::string agent;
  return agent;
}

}  // namespace

std::string RegisterBatchCallback(BatchCallback callback) {
  std::string id = "thalweg:" + Uuid::MakeRandom().ToString();
  Registry& registry = TheRegistry();
  const MutexLock lock(registry.mutex);
  registry.callbacks.emplace(id, std::move(callback));
  return id;
}

std::optional<BatchCallback> TakeBatchCallback(const std::string& id) {
  Registry& registry = TheRegistry();
  const MutexLock lock(registry.mutex);
  const auto found = registry.callbacks.find(id);
  if (found == registry.callbacks.end()) return std::nullopt;
  std::optional<BatchCallback> callback(std::move(found->second));
  registry.callbacks.erase(found);
  return callback;
}

CallbackScope::CallbackScope(std::string agent) : outer_(std::exchange(ThreadAgent(), std::move(agent))) {}
CallbackScope::~CallbackScope() { ThreadAgent() = std::move(outer_); }
const std::string& CallbackScope::agent() { return ThreadAgent(); }

}  // namespace thalweg::sql
