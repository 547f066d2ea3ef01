#include "front/dataframe/listener_bus.h"

#include <spark/connect/base.pb.h>

#include <algorithm>

#include "base/no_throw.h"
#include "base/thread.h"
#include "front/dataframe/session_state.h"
#include "thalweg/streaming.h"

namespace thalweg {

StreamingQueryListener::~StreamingQueryListener() = default;
void StreamingQueryListener::OnQueryStarted(const std::string&) {}
void StreamingQueryListener::OnQueryProgress(const std::string&) {}
void StreamingQueryListener::OnQueryIdle(const std::string&) {}
void StreamingQueryListener::OnQueryTerminated(const std::string&) {}

namespace internal {

namespace proto = ::spark::connect;

namespace {

// For the events that a server sends while it ends a session.
constexpr std::chrono::seconds kLastEventsTime{5};

proto::Command BusCommand(bool add) {
  proto::Command command;
  auto* bus = command.mutable_streaming_query_listener_bus_command();
  if (add) {
    bus->set_add_listener_bus_listener(true);
  } else {
    bus->set_remove_listener_bus_listener(true);
  }
  return command;
}

}  // namespace

// What the thread that reads tells the one that waits: the stream is open, or it ended before.
struct ListenerBus::Opening {
  Signal done;
  Mutex mutex;
  Status status TW_GUARDED_BY(mutex);
};

ListenerBus::Listeners ListenerBus::Current() const {
  const MutexLock lock(mutex_);
  return listeners_;
}

Status ListenerBus::Add(std::shared_ptr<StreamingQueryListener> listener) {
  const MutexLock changing(changing_);
  if (Current().empty()) TW_RETURN_NOT_OK(Open());
  const MutexLock lock(mutex_);
  listeners_.push_back(std::move(listener));
  return Status::OK();
}

Status ListenerBus::Remove(const std::shared_ptr<StreamingQueryListener>& listener) {
  const MutexLock changing(changing_);
  Listeners left = Current();
  const auto found = std::find(left.begin(), left.end(), listener);
  if (found == left.end()) return Status::OK();
  left.erase(found);
  Status status;
  if (left.empty()) {
    status = session_.ExecuteCommand(BusCommand(false));
    if (!status.ok()) reader_.request_stop();
    reader_.join();
  }
  const MutexLock lock(mutex_);
  listeners_ = std::move(left);
  return status;
}

Status ListenerBus::Open() {
  if (reader_.joinable()) {  // of a stream that the server ended
    reader_.request_stop();
    reader_.join();
  }
  finished_.Reset();
  const auto opening = std::make_shared<Opening>();
  reader_ = StartThread("tw-listeners", [this, opening](std::stop_token stop) { Read(opening, std::move(stop)); });
  opening->done.Wait({});
  const MutexLock lock(opening->mutex);
  return opening->status;
}

void ListenerBus::Read(const std::shared_ptr<Opening>& opening, std::stop_token stop) {
  const auto take = [this, &opening](const proto::ExecutePlanResponse& response) -> Status {
    if (!response.has_streaming_query_listener_events_result()) return Status::OK();
    const auto& result = response.streaming_query_listener_events_result();
    if (result.listener_bus_listener_added()) opening->done.Set();
    Tell(result);
    return Status::OK();
  };
  const Status ended = NoThrow([&] { return session_.ExecuteCommand(BusCommand(true), take, std::move(stop)); });
  if (!opening->done.IsSet()) {
    {
      const MutexLock lock(opening->mutex);
      opening->status = ended.ok() ? InternalError("the server sends no events of streaming queries") : ended;
    }
    opening->done.Set();
  }
  finished_.Set();
}

void ListenerBus::Tell(const proto::StreamingQueryListenerEventsResult& result) const {
  for (const proto::StreamingQueryListenerEvent& event : result.events()) {
    for (const std::shared_ptr<StreamingQueryListener>& listener : Current()) {
      switch (event.event_type()) {
        case proto::QUERY_PROGRESS_EVENT: listener->OnQueryProgress(event.event_json()); break;
        case proto::QUERY_IDLE_EVENT: listener->OnQueryIdle(event.event_json()); break;
        case proto::QUERY_TERMINATED_EVENT: listener->OnQueryTerminated(event.event_json()); break;
        default: break;  // an event of a newer server
      }
    }
  }
}

void ListenerBus::TellStarted(const std::string& event_json) {
  for (const std::shared_ptr<StreamingQueryListener>& listener : Current()) listener->OnQueryStarted(event_json);
}

void ListenerBus::End() {
  const MutexLock changing(changing_);
  if (!reader_.joinable()) return;
  finished_.WaitFor({}, kLastEventsTime);
  reader_.request_stop();
  reader_.join();
}

}  // namespace internal
}  // namespace thalweg
