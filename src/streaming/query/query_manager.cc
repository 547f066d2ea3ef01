#include "streaming/query/query_manager.h"

#include <algorithm>
#include <map>

#include "base/mutex.h"
#include "streaming/query/active_queries.h"
#include "streaming/query/micro_batch_driver.h"
#include "streaming/query/query_events.h"
#include "streaming/query/query_settings.h"

namespace thalweg::streaming {
namespace {

/// Terminated queries that can still be asked for.
constexpr size_t kKeptTerminated = 100;

}  // namespace

ActiveQueries& ActiveQueries::Get() {
  static auto* queries = new ActiveQueries;  // never destroyed: queries may end while the process does
  return *queries;
}

std::shared_ptr<StreamingQuery> ActiveQueries::Enter(
    const std::shared_ptr<StreamingQuery>& query) {
  const MutexLock lock(mutex_);
  std::weak_ptr<StreamingQuery>& slot = by_id_[query->id().value().ToString()];
  if (std::shared_ptr<StreamingQuery> holder = slot.lock();
      holder != nullptr && holder->is_active())
    return holder;
  slot = query;
  return nullptr;
}

void ActiveQueries::Leave(const StreamingQuery& query) {
  const MutexLock lock(mutex_);
  const auto found = by_id_.find(query.id().value().ToString());
  if (found == by_id_.end()) return;
  const std::shared_ptr<StreamingQuery> holder = found->second.lock();
  if (holder == nullptr || holder.get() == &query) by_id_.erase(found);
}

struct StreamingQueryManager::Impl {
  mutable Mutex mutex;
  CondVar changed;
  std::vector<std::shared_ptr<StreamingQuery>> active TW_GUARDED_BY(mutex);
  std::vector<std::shared_ptr<StreamingQuery>> terminated TW_GUARDED_BY(mutex);  // newest last
  bool any_terminated TW_GUARDED_BY(mutex) = false;
  Status remembered_failure TW_GUARDED_BY(mutex);
  std::shared_ptr<QueryEvents> events = std::make_shared<QueryEvents>();

  /// On the query's driver thread, when it has stopped working.
  void OnEnd(const StreamingQuery& query) {
    ActiveQueries::Get().Leave(query);
    const Status failure = query.exception();
    const MutexLock lock(mutex);
    const auto found = std::find_if(active.begin(), active.end(),
                                    [&](const auto& entry) { return entry.get() == &query; });
    if (found != active.end()) {
      terminated.push_back(std::move(*found));
      active.erase(found);
    }
    any_terminated = true;
    if (!failure.ok()) remembered_failure = failure;
    changed.NotifyAll();
  }

  /// Ended queries beyond the number kept, oldest first; the caller lets go of them outside of the
  /// lock.
  std::vector<std::shared_ptr<StreamingQuery>> TakeForgotten() {
    const MutexLock lock(mutex);
    std::vector<std::shared_ptr<StreamingQuery>> forgotten;
    while (terminated.size() > kKeptTerminated) {
      forgotten.push_back(std::move(terminated.front()));
      terminated.erase(terminated.begin());
    }
    return forgotten;
  }
};

StreamingQueryManager::StreamingQueryManager() : impl_(std::make_shared<Impl>()) {}

// Every driver has ended before the last reference to it can go: else its own thread might be the one that lets go.
StreamingQueryManager::~StreamingQueryManager() {
  StopAll();
  std::vector<std::shared_ptr<StreamingQuery>> queries;
  {
    const MutexLock lock(impl_->mutex);
    queries = impl_->active;
    queries.insert(queries.end(), impl_->terminated.begin(), impl_->terminated.end());
  }
  for (const auto& query : queries) Ignore(query->AwaitTermination({}).status(), "the failure is the query's own");
}

Result<std::shared_ptr<StreamingQuery>> StreamingQueryManager::Start(StreamingQuerySpec spec) {
  impl_->TakeForgotten();
  const bool stop_active_run = spec.settings.Get(kStopActiveRun);
  const std::string name = spec.name;
  const auto on_end = [weak = std::weak_ptr<Impl>(impl_)](const StreamingQuery& query) {
    if (const std::shared_ptr<Impl> impl = weak.lock())
      impl->OnEnd(query);
    else
      ActiveQueries::Get().Leave(query);
  };
  TW_ASSIGN_OR_RETURN(std::shared_ptr<MicroBatchDriver> query,
                      MicroBatchDriver::Make(std::move(spec), impl_->events, on_end));
  {
    const MutexLock lock(impl_->mutex);
    const bool taken =
        !name.empty() && std::any_of(impl_->active.begin(), impl_->active.end(),
                                     [&](const auto& other) { return other->name() == name; });
    if (taken) return Error("QUERY_NAME_ALREADY_ACTIVE").With("name", name);
    impl_->terminated.reserve(impl_->terminated.size() + impl_->active.size() + 1);  // OnEnd is to need no memory
    impl_->active.push_back(query);
  }
  const std::shared_ptr<StreamingQuery> holder = ActiveQueries::Get().Enter(query);
  Status refused = Status::OK();
  if (holder != nullptr && stop_active_run) {
    refused = holder->Stop();
    if (refused.ok() && ActiveQueries::Get().Enter(query) != nullptr) {
      refused = Error("CONCURRENT_QUERY").With("id", query->id().value().ToString());
    }
  } else if (holder != nullptr) {
    refused = Error("QUERY_ID_ALREADY_ACTIVE").With("id", query->id().value().ToString());
  }
  if (!refused.ok()) {
    const MutexLock lock(impl_->mutex);
    std::erase(impl_->active, std::shared_ptr<StreamingQuery>(query));
    return refused;
  }
  query->Start();
  return std::shared_ptr<StreamingQuery>(std::move(query));
}

std::vector<std::shared_ptr<StreamingQuery>> StreamingQueryManager::Active() const {
  const MutexLock lock(impl_->mutex);
  return {impl_->active.begin(), impl_->active.end()};
}

std::shared_ptr<StreamingQuery> StreamingQueryManager::Find(
    const std::string& id, const std::optional<std::string>& run_id) const {
  const MutexLock lock(impl_->mutex);
  const auto matches = [&](const auto& query) {
    return query->id().value().ToString() == id &&
           (!run_id || query->run_id().value().ToString() == *run_id);
  };
  const auto active = std::find_if(impl_->active.begin(), impl_->active.end(), matches);
  if (active != impl_->active.end()) return *active;
  const auto terminated =
      std::find_if(impl_->terminated.rbegin(), impl_->terminated.rend(), matches);
  return terminated != impl_->terminated.rend() ? *terminated : nullptr;
}

Result<bool> StreamingQueryManager::AwaitAnyTermination(
    std::optional<std::chrono::milliseconds> timeout) {
  const MutexLock lock(impl_->mutex);
  const auto terminated = [&] { return impl_->any_terminated; };
  if (timeout) {
    impl_->changed.WaitFor(impl_->mutex, {}, *timeout, terminated);
  } else {
    impl_->changed.Wait(impl_->mutex, terminated);
  }
  if (!impl_->any_terminated) return false;
  TW_RETURN_NOT_OK(impl_->remembered_failure);
  return true;
}

void StreamingQueryManager::ResetTerminated() {
  const MutexLock lock(impl_->mutex);
  impl_->any_terminated = false;
  impl_->remembered_failure = Status::OK();
}

void StreamingQueryManager::AddListener(std::shared_ptr<StreamingListener> listener) {
  impl_->events->Add(std::move(listener));
}

void StreamingQueryManager::RemoveListener(const std::shared_ptr<StreamingListener>& listener) {
  impl_->events->Remove(listener);
}

void StreamingQueryManager::StopAll() {
  for (const std::shared_ptr<StreamingQuery>& query : Active())
    Ignore(query->Stop(), "stopping all: each failure is the query's own");
}

}  // namespace thalweg::streaming
