#pragma once

// The channel of one session and what every request carries. Private to the room: gRPC stays behind SessionState.

#include <grpcpp/client_context.h>
#include <spark/connect/base.grpc.pb.h>

#include <atomic>
#include <memory>
#include <set>
#include <stop_token>
#include <string>

#include "base/mutex.h"
#include "base/status.h"
#include "front/dataframe/connect_url.h"
#include "front/dataframe/embedded.h"

namespace thalweg::internal {

/// Thread: every call from any.
class Connection {
 public:
  Connection(ConnectUrl url, std::shared_ptr<front::EmbeddedServer> embedded);

  ::spark::connect::SparkConnectService::Stub& stub() { return *stub_; }
  /// Streams inside one process do not break: nothing to attach to again.
  bool is_embedded() const { return embedded_ != nullptr; }
  const std::string& session_id() const { return session_id_; }

  void Prepare(grpc::ClientContext* context) const;
  template <typename Request>
  void Identify(Request* request) const {
    request->set_session_id(session_id_);
    request->mutable_user_context()->set_user_id(url_.user);
    request->set_client_type(ClientType());
  }
  /// With the server's id of the session as this client has seen it: a server that has forgotten the session says so.
  template <typename Request>
  void IdentifyObserved(Request* request) const {
    Identify(request);
    const std::string seen = server_side_session_id();
    if (!seen.empty()) request->set_client_observed_server_side_session_id(seen);
  }
  template <typename Response>
  void Observe(const Response& response) {
    Observe(response.server_side_session_id());
  }
  void AddTags(::spark::connect::ExecutePlanRequest* request) const;
  void ChangeTag(const std::string& tag, bool there);

  /// Waits before try number `failures` + 2 of a call that failed; false when it has been tried enough or a stop was requested.
  /// A server that has answered before is waited for about 45 s, any other 350 ms.
  bool WaitToRetry(int failures, std::stop_token stop) const;
  /// One call that may be repeated: call(context) -> grpc::Status.
  template <typename Call>
  Status Unary(Call&& call) {
    for (int failures = 0;; ++failures) {
      grpc::ClientContext context;
      Prepare(&context);
      const grpc::Status status = call(&context);
      if (Settled(status, failures)) return Convert(status);
    }
  }
  /// FromGrpc with this server's details.
  Status Convert(const grpc::Status& status);
  void SetAnswered() { answered_ = true; }

 private:
  static constexpr char kClientType[] = "thalweg spark/4.2.0";
  /// Begins with whose callback runs on this thread, if one does.
  static std::string ClientType();
  void Observe(const std::string& server_side_session_id);
  std::string server_side_session_id() const;
  bool Settled(const grpc::Status& status, int failures);

  const std::shared_ptr<front::EmbeddedServer> embedded_;  // outlives the channel
  ConnectUrl url_;
  const std::string session_id_;
  std::unique_ptr<::spark::connect::SparkConnectService::Stub> stub_;
  std::atomic<bool> answered_{false};
  mutable Mutex mutex_;
  std::string server_side_session_id_ TW_GUARDED_BY(mutex_);
  std::set<std::string> tags_ TW_GUARDED_BY(mutex_);
};

}  // namespace thalweg::internal
