#pragma once

// The Spark Connect server: listening, sessions, operations. Source: spark/connect/base.proto.

#include <cstdint>
#include <memory>
#include <string>

#include "base/status.h"
#include "front/session/session.h"

namespace grpc {
class Channel;
class ServerBuilder;
}  // namespace grpc

namespace thalweg::front {

struct ConnectServerOptions {
  std::string host = "127.0.0.1";
  int port = 15002;                      ///< 0: a free one
  std::string token;                     ///< empty: none asked
  std::string tls_certificate_path;      ///< PEM; empty: plain text
  std::string tls_key_path;
  bool allow_plaintext = false;          ///< an address beyond loopback without TLS
};

/// Thread: Start and Stop by one owner; everything else runs on gRPC's threads and on a pool of its own.
class ConnectServer {
 public:
  /// `context` outlives the server.
  explicit ConnectServer(ServerContext& context);
  ~ConnectServer();  ///< Stop()

  /// Errors: UNSUPPORTED_FEATURE.THALWEG for an open address without token or TLS, IO_ERROR when the port is taken.
  Status Start(const ConnectServerOptions& options);
  /// Serves this process alone, by InProcessChannel; no socket.
  Status StartEmbedded();
  std::shared_ptr<grpc::Channel> InProcessChannel();
  int port() const;
  /// "sc://127.0.0.1:15002"; "localhost" for a token without TLS, since clients send it over plain text to that name only.
  std::string url() const;
  /// Refuses new calls, stops the sessions' queries (waiting for them), ends all streams. Idempotent.
  void Stop();

 private:
  void Prepare(const std::string& token, grpc::ServerBuilder* builder);
  void StartTending();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Whether a host name or address means this machine only.
bool IsLoopback(const std::string& host);

}  // namespace thalweg::front
