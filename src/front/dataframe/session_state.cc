#include "front/dataframe/session_state.h"

#include <atomic>
#include <chrono>
#include <cstdlib>

#include "front/dataframe/connection.h"
#include "front/dataframe/execution.h"
#include "front/dataframe/listener_bus.h"

namespace thalweg::internal {

namespace proto = ::spark::connect;

namespace {

// A server that does not answer the end of a session forgets it by itself.
constexpr std::chrono::seconds kEndTime{10};

// The sessions of the process, for its end: exit() destroys static objects of gRPC and of the engine before those of the program,
// so that sessions and queries in the latter end here, and touch nothing later.
struct Living {
  Mutex mutex;
  std::vector<std::weak_ptr<SessionState>> sessions TW_GUARDED_BY(mutex);
  std::atomic<bool> ended{false};
  std::vector<std::shared_ptr<void>> left TW_GUARDED_BY(mutex);  ///< what must not be destroyed any more
};

Living& LivingSessions() {
  static auto* living = new Living;
  return *living;
}

void EndAll() {
  std::vector<std::weak_ptr<SessionState>> sessions;
  {
    const MutexLock lock(LivingSessions().mutex);
    sessions.swap(LivingSessions().sessions);
  }
  std::vector<std::shared_ptr<SessionState>> left;
  for (const std::weak_ptr<SessionState>& session : sessions) {
    left.push_back(session.lock());
    if (left.back() != nullptr) Ignore(left.back()->Stop(), "the process ends");
  }
  front::StopEmbeddedServer();
  LivingSessions().ended = true;
}

void Remember(const std::shared_ptr<SessionState>& session) {
  {
    const MutexLock lock(LivingSessions().mutex);
    std::erase_if(LivingSessions().sessions, [](const auto& one) { return one.expired(); });
    LivingSessions().sessions.push_back(session);
  }
  // After the first session has made gRPC's static objects and the engine's: exit() comes here before they go.
  [[maybe_unused]] static const int registered = std::atexit(EndAll);
}

}  // namespace

struct SessionState::Impl {
  explicit Impl(ConnectUrl url, std::shared_ptr<front::EmbeddedServer> embedded) : connection(std::move(url), std::move(embedded)) {}

  Connection connection;
  std::atomic<bool> stopped{false};
  std::unique_ptr<ListenerBus> bus;  // ends before the connection goes
};

SessionState::SessionState(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) { impl_->bus = std::make_unique<ListenerBus>(*this); }

SessionState::~SessionState() {
  if (LivingSessions().ended) {
    const MutexLock lock(LivingSessions().mutex);
    LivingSessions().left.push_back(std::move(impl_));
    return;
  }
  Ignore(Stop(), "the server forgets idle sessions by itself");
}

Result<std::shared_ptr<SessionState>> SessionState::Connect(std::string_view url, const std::map<std::string, std::string>& settings) {
  ConnectUrl parsed;
  front::EmbeddedUse embedded;
  if (url.empty()) {
    TW_ASSIGN_OR_RETURN(embedded, front::UseEmbeddedServer(settings));
  } else {
    TW_ASSIGN_OR_RETURN(parsed, ConnectUrl::Parse(url));
  }
  auto impl = std::make_unique<Impl>(std::move(parsed), std::move(embedded.server));
  std::shared_ptr<SessionState> state(new SessionState(std::move(impl)));
  Remember(state);
  if (!embedded.started) TW_RETURN_NOT_OK(state->SetConf(settings));
  return state;
}

Status SessionState::Execute(const proto::Plan& plan, const Take& take, std::stop_token stop) {
  return Execution(impl_->connection, plan, take, std::move(stop)).Run();
}

Status SessionState::ExecuteCommand(const proto::Command& command, const Take& take, std::stop_token stop) {
  proto::Plan plan;
  *plan.mutable_command() = command;
  return Execute(plan, take, std::move(stop));
}

Status SessionState::ExecuteRelation(const proto::Relation& relation, const std::function<Status(const std::string& ipc)>& take) {
  proto::Plan plan;
  *plan.mutable_root() = relation;
  return Execute(plan, [&](const proto::ExecutePlanResponse& response) -> Status {
    return response.has_arrow_batch() ? take(response.arrow_batch().data()) : Status::OK();
  });
}

Result<proto::AnalyzePlanResponse> SessionState::Analyze(proto::AnalyzePlanRequest* request) {
  impl_->connection.IdentifyObserved(request);
  proto::AnalyzePlanResponse response;
  TW_RETURN_NOT_OK(impl_->connection.Unary(
      [&](grpc::ClientContext* context) { return impl_->connection.stub().AnalyzePlan(context, *request, &response); }));
  impl_->connection.Observe(response);
  return response;
}

Result<proto::ConfigResponse> SessionState::Config(const proto::ConfigRequest_Operation& operation) {
  proto::ConfigRequest request;
  impl_->connection.IdentifyObserved(&request);
  *request.mutable_operation() = operation;
  proto::ConfigResponse response;
  TW_RETURN_NOT_OK(impl_->connection.Unary(
      [&](grpc::ClientContext* context) { return impl_->connection.stub().Config(context, request, &response); }));
  impl_->connection.Observe(response);
  return response;
}

Status SessionState::SetConf(const std::map<std::string, std::string>& pairs) {
  if (pairs.empty()) return Status::OK();
  proto::ConfigRequest::Operation operation;
  for (const auto& [key, value] : pairs) {
    proto::KeyValue* pair = operation.mutable_set()->add_pairs();
    pair->set_key(key);
    pair->set_value(value);
  }
  return Config(operation).status();
}

Result<std::vector<std::string>> SessionState::Interrupt(proto::InterruptRequest* request) {
  impl_->connection.IdentifyObserved(request);
  proto::InterruptResponse response;
  TW_RETURN_NOT_OK(impl_->connection.Unary(
      [&](grpc::ClientContext* context) { return impl_->connection.stub().Interrupt(context, *request, &response); }));
  return std::vector<std::string>(response.interrupted_ids().begin(), response.interrupted_ids().end());
}

void SessionState::ChangeTag(const std::string& tag, bool there) { impl_->connection.ChangeTag(tag, there); }

bool SessionState::is_stopped() const { return impl_->stopped; }
bool SessionState::is_embedded() const { return impl_->connection.is_embedded(); }

Status SessionState::Stop() {
  if (impl_->stopped.exchange(true)) return Status::OK();
  proto::ReleaseSessionRequest request;
  impl_->connection.Identify(&request);
  proto::ReleaseSessionResponse response;
  grpc::ClientContext context;
  impl_->connection.Prepare(&context);
  // tidy: allow(system_clock) gRPC takes deadlines on this clock
  if (!impl_->connection.is_embedded()) context.set_deadline(std::chrono::system_clock::now() + kEndTime);
  const grpc::Status status = impl_->connection.stub().ReleaseSession(&context, request, &response);
  impl_->bus->End();  // the server has told the ends of the queries and closed the stream
  return impl_->connection.Convert(status);
}

Status SessionState::AddListener(std::shared_ptr<StreamingQueryListener> listener) { return impl_->bus->Add(std::move(listener)); }
Status SessionState::RemoveListener(const std::shared_ptr<StreamingQueryListener>& listener) { return impl_->bus->Remove(listener); }
void SessionState::TellStarted(const std::string& event_json) { impl_->bus->TellStarted(event_json); }

}  // namespace thalweg::internal
