#include "front/connect/listener_bus.h"

#include <spark/connect/base.pb.h>

#include <deque>

#include "streaming/query/query_manager.h"

namespace thalweg::front {

namespace {

namespace pb = ::spark::connect;

}  // namespace

// Started events travel in the answer of the start, which asks for them by run id.
class ListenerBus::Listener final : public streaming::StreamingListener {
 public:
  explicit Listener(std::shared_ptr<Operation> operation) : operation_(std::move(operation)) {}
  void OnStarted(const std::string& event_json) override {
    const MutexLock lock(mutex_);
    started_.push_back(event_json);
    if (started_.size() > kKeptStarts) started_.pop_front();
  }
  std::optional<std::string> Started(const std::string& run_id) const {
    const MutexLock lock(mutex_);
    for (const std::string& event : started_) {
      if (event.find(run_id) != std::string::npos) return event;
    }
    return std::nullopt;
  }
  void OnProgress(const std::string& event_json) override { Send(event_json, pb::QUERY_PROGRESS_EVENT); }
  void OnIdle(const std::string& event_json) override { Send(event_json, pb::QUERY_IDLE_EVENT); }
  void OnTerminated(const std::string& event_json) override { Send(event_json, pb::QUERY_TERMINATED_EVENT); }

 private:
  void Send(const std::string& event_json, pb::StreamingQueryEventType type) {
    pb::ExecutePlanResponse response;
    auto* event = response.mutable_streaming_query_listener_events_result()->add_events();
    event->set_event_json(event_json);
    event->set_event_type(type);
    operation_->Send(&response);
  }

  static constexpr size_t kKeptStarts = 64;
  const std::shared_ptr<Operation> operation_;
  mutable Mutex mutex_;
  std::deque<std::string> started_ TW_GUARDED_BY(mutex_);
};

ListenerBus::ListenerBus(Session& session) : session_(session) {}
ListenerBus::~ListenerBus() = default;

bool ListenerBus::Add(const std::shared_ptr<Operation>& operation) {
  std::shared_ptr<Listener> listener;
  {
    const MutexLock lock(mutex_);
    if (operation_ != nullptr && !operation_->finished() && !operation_->interrupted()) return false;
    if (listener_ != nullptr) session_.queries().RemoveListener(listener_);
    operation_ = operation;
    listener = listener_ = std::make_shared<Listener>(operation);
  }
  pb::ExecutePlanResponse added;
  added.mutable_streaming_query_listener_events_result()->set_listener_bus_listener_added(true);
  operation->Send(&added);
  session_.queries().AddListener(listener);
  return true;
}

void ListenerBus::Remove() {
  std::shared_ptr<Operation> operation;
  std::shared_ptr<Listener> listener;
  {
    const MutexLock lock(mutex_);
    operation = std::move(operation_);
    listener = std::move(listener_);
    operation_ = nullptr;
    listener_ = nullptr;
  }
  if (listener != nullptr) session_.queries().RemoveListener(listener);
  if (operation != nullptr) operation->Finish(Status::OK(), grpc::Status::OK);
}

bool ListenerBus::active() const {
  const MutexLock lock(mutex_);
  return operation_ != nullptr && !operation_->finished() && !operation_->interrupted();
}

std::optional<std::string> ListenerBus::StartedEvent(const std::string& run_id) const {
  std::shared_ptr<Listener> listener;
  {
    const MutexLock lock(mutex_);
    listener = listener_;
  }
  return listener == nullptr ? std::nullopt : listener->Started(run_id);
}

bool ListenerBus::Uses(const Operation& operation) const {
  const MutexLock lock(mutex_);
  return operation_.get() == &operation;
}

}  // namespace thalweg::front
