#include "front/connect/connect_server.h"

#include <grpc/support/log.h>
#include <grpcpp/channel.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server.h>
#include <grpcpp/server_builder.h>

#include "base/clock.h"
#include "base/log.h"
#include "base/thread.h"
#include "data/io/file_system.h"
#include "front/connect/connect_service.h"
#include "front/connect/percent_encode.h"

namespace thalweg::front {

namespace {

constexpr int kMaxTransferBytes = 128 << 20;
constexpr std::chrono::seconds kTendInterval{1};

/// What gRPC has to say belongs into the log, not beside it; what matters comes back as an error, too.
void TakeGrpcLog() {
  gpr_set_log_function([](gpr_log_func_args* line) { TW_LOG(kDebug, "grpc", {"text", std::string_view(line->message)}); });
}

}  // namespace

bool IsLoopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host == "[::1]" || host.starts_with("127.");
}

struct ConnectServer::Impl {
  explicit Impl(ServerContext& context) : server_context(context), sessions(context) {}

  ServerContext& server_context;
  SessionRegistry sessions;
  std::unique_ptr<TaskPool> pool;
  std::unique_ptr<ConnectService> service;
  std::unique_ptr<grpc::Server> server;
  ConnectServerOptions options;
  int bound_port = 0;
  std::jthread tender;

  Result<std::shared_ptr<grpc::ServerCredentials>> Credentials() {
    if (options.tls_certificate_path.empty()) return grpc::InsecureServerCredentials();
    data::FileSystem& files = *server_context.connectors.file_system;
    grpc::SslServerCredentialsOptions ssl;
    grpc::SslServerCredentialsOptions::PemKeyCertPair pair;
    TW_ASSIGN_OR_RETURN(pair.cert_chain, files.ReadWhole(options.tls_certificate_path));
    TW_ASSIGN_OR_RETURN(pair.private_key, files.ReadWhole(options.tls_key_path));
    ssl.pem_key_cert_pairs.push_back(std::move(pair));
    return grpc::SslServerCredentials(ssl);
  }
};

ConnectServer::ConnectServer(ServerContext& context) : impl_(std::make_unique<Impl>(context)) {}
ConnectServer::~ConnectServer() { Stop(); }

Status ConnectServer::Start(const ConnectServerOptions& options) {
  if (!IsLoopback(options.host)) {
    if (options.token.empty()) return Unsupported("listening on " + options.host + " without a token: give --token");
    if (options.tls_certificate_path.empty() && !options.allow_plaintext) {
      return Unsupported("listening on " + options.host + " without TLS: give --tls-cert and --tls-key, or --allow-plaintext");
    }
  }
  TakeGrpcLog();
  impl_->options = options;
  TW_ASSIGN_OR_RETURN(const std::shared_ptr<grpc::ServerCredentials> credentials, impl_->Credentials());
  grpc::ServerBuilder builder;
  const bool bare_v6 = options.host.find(':') != std::string::npos && options.host.front() != '[';
  const std::string host = bare_v6 ? "[" + options.host + "]" : options.host;
  builder.AddListeningPort(host + ":" + std::to_string(options.port), credentials, &impl_->bound_port);
  // Python workers come back over loopback in plain text, with the token: a port of their own where the public one is not that.
  const bool any_address = options.host == "0.0.0.0" || options.host == "::" || options.host == "[::]";
  int worker_port = 0;
  const bool own_port = !options.tls_certificate_path.empty() || !(any_address || IsLoopback(options.host));
  if (own_port) builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &worker_port);
  Prepare(options.token, &builder);
  impl_->server = builder.BuildAndStart();
  if (impl_->server == nullptr || impl_->bound_port == 0) {
    impl_->server = nullptr;
    return IoError("listen on " + host + ":" + std::to_string(options.port), EADDRINUSE);
  }
  // A token over plain text is sent to "localhost" only; without one the address spares the look-up.
  const std::string worker_host = own_port || any_address || host.starts_with("127.") || host == "localhost" ? "127.0.0.1" : host;
  impl_->server_context.worker_url = "sc://" + (options.token.empty() ? worker_host : "localhost") + ":" +
                                     std::to_string(own_port ? worker_port : impl_->bound_port) + "/" +
                                     (options.token.empty() ? "" : ";token=" + PercentEncode(options.token));
  StartTending();
  TW_LOG(kInfo, "connect server listening", {"host", options.host}, {"port", impl_->bound_port});
  return Status::OK();
}

Status ConnectServer::StartEmbedded() {
  grpc::ServerBuilder builder;
  Prepare("", &builder);
  impl_->server = builder.BuildAndStart();
  if (impl_->server == nullptr) return InternalError("the embedded server does not start");
  StartTending();
  return Status::OK();
}

std::shared_ptr<grpc::Channel> ConnectServer::InProcessChannel() {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetMaxSendMessageSize(-1);
  return impl_->server->InProcessChannel(arguments);
}

void ConnectServer::Prepare(const std::string& token, grpc::ServerBuilder* builder) {
  impl_->pool = std::make_unique<TaskPool>();
  impl_->service = std::make_unique<ConnectService>(impl_->sessions, *impl_->pool, token,
                                                    LimitsFrom(impl_->server_context.server_settings));
  builder->RegisterService(impl_->service.get());
  builder->SetMaxReceiveMessageSize(kMaxTransferBytes);
  builder->SetMaxSendMessageSize(-1);
  // Clients of 4.3 ping every minute, also without calls; the defaults would close their connections.
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 5000);
  builder->AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder->AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
  builder->AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);  // else two servers can share a port in silence
}

void ConnectServer::StartTending() {
  impl_->tender = StartLoop("tw-connect", [impl = impl_.get()](std::stop_token stop) {
    if (SystemClock::Get().WaitFor(kTendInterval, nullptr, stop) != Clock::Wake::kTime) return false;
    for (std::shared_ptr<SessionHolder>& holder : impl->service->Tend()) {
      impl->pool->Run([holder = std::move(holder)] { holder->Close(); });
    }
    return true;
  });
}

int ConnectServer::port() const { return impl_->bound_port; }

std::string ConnectServer::url() const {
  const ConnectServerOptions& options = impl_->options;
  const bool plain_token = !options.token.empty() && options.tls_certificate_path.empty();
  const std::string host = plain_token && options.host == "127.0.0.1" ? "localhost" : options.host;
  const bool bare_v6 = host.find(':') != std::string::npos && host.front() != '[';
  return "sc://" + (bare_v6 ? "[" + host + "]" : host) + ":" + std::to_string(impl_->bound_port);
}

void ConnectServer::Stop() {
  if (impl_->server == nullptr) return;
  impl_->tender.request_stop();
  if (impl_->tender.joinable()) impl_->tender.join();
  for (const std::shared_ptr<SessionHolder>& holder : impl_->sessions.All()) {
    const std::shared_ptr<SessionHolder> removed = impl_->sessions.Remove({holder->user(), holder->id()}, true);
    if (removed != nullptr) removed->Close();
  }
  // tidy: allow(system_clock) gRPC takes deadlines on this clock
  impl_->server->Shutdown(std::chrono::system_clock::now() + std::chrono::seconds(1));
  impl_->server->Wait();
  impl_->pool->Stop();
  impl_->server = nullptr;
}

}  // namespace thalweg::front
