#include "front/dataframe/connection.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>

#include <algorithm>
#include <cstdlib>

#include "base/clock.h"
#include "base/uuid.h"
#include "front/dataframe/remote_errors.h"
#include "sql/protocol/local_callbacks.h"

namespace thalweg::internal {

namespace proto = ::spark::connect;

namespace {

constexpr int kMaxMessageBytes = 128 << 20;
constexpr std::chrono::milliseconds kFirstWait{50};
constexpr std::chrono::milliseconds kLongestWait{5000};
constexpr int kRetries = 15;
constexpr int kRetriesOfUnknown = 3;

std::shared_ptr<grpc::Channel> ChannelTo(const ConnectUrl& url) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  const auto credentials = url.tls ? grpc::SslCredentials(grpc::SslCredentialsOptions()) : grpc::InsecureChannelCredentials();
  return grpc::CreateCustomChannel(url.target, credentials, arguments);
}

}  // namespace

Connection::Connection(ConnectUrl url, std::shared_ptr<front::EmbeddedServer> embedded)
    : embedded_(std::move(embedded)),
      url_(std::move(url)),
      session_id_(url_.session_id.empty() ? Uuid::MakeRandom().ToString() : url_.session_id),
      stub_(proto::SparkConnectService::NewStub(embedded_ != nullptr ? embedded_->channel() : ChannelTo(url_))) {
  if (!url_.user.empty()) return;
  const char* user = std::getenv("USER");
  url_.user = user != nullptr && *user != '\0' ? user : "thalweg";
}

void Connection::Prepare(grpc::ClientContext* context) const {
  if (!url_.token.empty()) context->AddMetadata("authorization", "Bearer " + url_.token);
  for (const auto& [name, value] : url_.headers) context->AddMetadata(name, value);
}

void Connection::AddTags(proto::ExecutePlanRequest* request) const {
  const MutexLock lock(mutex_);
  for (const std::string& tag : tags_) request->add_tags(tag);
}

void Connection::ChangeTag(const std::string& tag, bool there) {
  const MutexLock lock(mutex_);
  if (there) {
    tags_.insert(tag);
  } else {
    tags_.erase(tag);
  }
}

std::string Connection::ClientType() {
  const std::string& agent = sql::CallbackScope::agent();
  return agent.empty() ? kClientType : agent + " " + kClientType;
}

void Connection::Observe(const std::string& server_side_session_id) {
  answered_ = true;
  if (server_side_session_id.empty()) return;
  const MutexLock lock(mutex_);
  if (server_side_session_id_.empty()) server_side_session_id_ = server_side_session_id;
}

std::string Connection::server_side_session_id() const {
  const MutexLock lock(mutex_);
  return server_side_session_id_;
}

bool Connection::WaitToRetry(int failures, std::stop_token stop) const {
  if (failures >= (answered_ ? kRetries : kRetriesOfUnknown)) return false;
  const std::chrono::milliseconds wait = std::min(kFirstWait * (1 << std::min(failures, 10)), kLongestWait);
  return SystemClock::Get().WaitFor(wait, nullptr, stop) == Clock::Wake::kTime;
}

bool Connection::Settled(const grpc::Status& status, int failures) {
  if (!IsTransient(status)) {
    answered_ = true;
    return true;
  }
  return !WaitToRetry(failures, {});
}

Status Connection::Convert(const grpc::Status& status) {
  return FromGrpc(status, [this](const std::string& error_id, proto::FetchErrorDetailsResponse* response) {
    proto::FetchErrorDetailsRequest request;
    IdentifyObserved(&request);
    request.set_error_id(error_id);
    grpc::ClientContext context;
    Prepare(&context);
    return stub_->FetchErrorDetails(&context, request, response).ok();
  });
}

}  // namespace thalweg::internal
