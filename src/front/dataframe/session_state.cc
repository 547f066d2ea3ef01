#include "front/dataframe/session_state.h"

#include <google/rpc/error_details.pb.h>
#include <google/rpc/status.pb.h>
#include <grpcpp/grpcpp.h>
#include <spark/connect/base.grpc.pb.h>

#include <cstdlib>

#include "base/uuid.h"

namespace thalweg::internal {
namespace {

namespace proto = ::spark::connect;

constexpr int kMaxMessageBytes = 128 << 20;
constexpr char kClientType[] = "thalweg spark/4.2.0";

/// The server's error as ours: condition and SQLSTATE from its details, the text as it wrote it.
Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return Status::OK();
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE) {
    return Error("SPARK_CONNECT_UNREACHABLE").With("reason", status.error_message()).Kind(ErrorKind::kEnvironment);
  }
  google::rpc::Status rich;
  std::string condition;
  if (rich.ParseFromString(status.error_details())) {
    for (const google::protobuf::Any& detail : rich.details()) {
      google::rpc::ErrorInfo info;
      if (!detail.UnpackTo(&info)) continue;
      const auto found = info.metadata().find("errorClass");
      if (found != info.metadata().end()) condition = found->second;
    }
  }
  return Error("SPARK_CONNECT_ERROR").With("condition", condition).With("message", status.error_message());
}

}  // namespace

Result<ConnectUrl> ConnectUrl::Parse(std::string_view url) {
  const auto refused = [&](std::string_view reason) { return Error("INVALID_CONNECT_URL").With("url", url).With("reason", reason); };
  if (!url.starts_with("sc://")) return refused("it must begin with sc://");
  url.remove_prefix(5);
  const size_t slash = url.find('/');
  std::string_view place = url.substr(0, slash);
  std::string_view parameters = slash == std::string_view::npos ? std::string_view() : url.substr(slash + 1);
  if (!parameters.empty() && !parameters.starts_with(';')) return refused("parameters are written /;name=value");
  if (place.empty()) return refused("it names no host");
  ConnectUrl parsed;
  const bool has_port = place.rfind(':') != std::string_view::npos && place.rfind(':') > (place.rfind(']') == std::string_view::npos ? 0 : place.rfind(']'));
  parsed.target = std::string(place) + (has_port ? "" : ":15002");
  while (!parameters.empty()) {
    parameters.remove_prefix(1);
    const size_t end = parameters.find(';');
    const std::string_view pair = parameters.substr(0, end);
    parameters = end == std::string_view::npos ? std::string_view() : parameters.substr(end);
    if (pair.empty()) continue;
    const size_t equals = pair.find('=');
    if (equals == std::string_view::npos) return refused("a parameter has no value");
    const std::string name(pair.substr(0, equals)), value(pair.substr(equals + 1));
    if (name == "token") parsed.token = value;
    else if (name == "use_ssl") parsed.tls = value == "true";
    else if (name == "user_id") parsed.user = value;
    else if (name != "user_agent" && name != "session_id" && !name.starts_with("grpc_")) parsed.headers[name] = value;
  }
  return parsed;
}

struct SessionState::Impl {
  std::shared_ptr<front::EmbeddedServer> embedded;  // outlives the channel
  std::unique_ptr<proto::SparkConnectService::Stub> stub;
  ConnectUrl url;
  std::string session_id = Uuid::MakeRandom().ToString();

  void Prepare(grpc::ClientContext* context) const {
    if (!url.token.empty()) context->AddMetadata("authorization", "Bearer " + url.token);
    for (const auto& [name, value] : url.headers) context->AddMetadata(name, value);
  }
  template <typename Request>
  void Identify(Request* request) const {
    request->set_session_id(session_id);
    request->mutable_user_context()->set_user_id(url.user);
    request->set_client_type(kClientType);
  }
};

SessionState::SessionState(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

SessionState::~SessionState() {
  proto::ReleaseSessionRequest request;
  impl_->Identify(&request);
  proto::ReleaseSessionResponse response;
  grpc::ClientContext context;
  impl_->Prepare(&context);
  impl_->stub->ReleaseSession(&context, request, &response);  // the server forgets idle sessions by itself
}

Result<std::shared_ptr<SessionState>> SessionState::Connect(std::string_view url, const std::map<std::string, std::string>& settings) {
  auto impl = std::make_unique<Impl>();
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kMaxMessageBytes);
  arguments.SetMaxSendMessageSize(kMaxMessageBytes);
  std::shared_ptr<grpc::Channel> channel;
  if (url.empty()) {
    TW_ASSIGN_OR_RETURN(impl->embedded, front::GetEmbeddedServer(settings));
    channel = impl->embedded->channel();
  } else {
    TW_ASSIGN_OR_RETURN(impl->url, ConnectUrl::Parse(url));
    const auto credentials = impl->url.tls ? grpc::SslCredentials(grpc::SslCredentialsOptions()) : grpc::InsecureChannelCredentials();
    channel = grpc::CreateCustomChannel(impl->url.target, credentials, arguments);
  }
  if (impl->url.user.empty()) {
    const char* user = std::getenv("USER");
    impl->url.user = user != nullptr ? user : "thalweg";
  }
  impl->stub = proto::SparkConnectService::NewStub(channel);
  std::shared_ptr<SessionState> state(new SessionState(std::move(impl)));
  TW_RETURN_NOT_OK(state->SetConf(settings));
  return state;
}

Status SessionState::Execute(const proto::Plan& plan, const std::function<Status(const proto::ExecutePlanResponse&)>& take) {
  proto::ExecutePlanRequest request;
  impl_->Identify(&request);
  request.set_operation_id(Uuid::MakeRandom().ToString());
  *request.mutable_plan() = plan;
  grpc::ClientContext context;
  impl_->Prepare(&context);
  const auto reader = impl_->stub->ExecutePlan(&context, request);
  Status taken;
  proto::ExecutePlanResponse response;
  while (reader->Read(&response)) {
    if (take == nullptr || !taken.ok()) continue;
    taken = take(response);
    if (!taken.ok()) context.TryCancel();
  }
  const Status status = FromGrpc(reader->Finish());
  return taken.ok() ? status : taken;
}

Status SessionState::ExecuteCommand(const proto::Command& command, const std::function<Status(const proto::ExecutePlanResponse&)>& take) {
  proto::Plan plan;
  *plan.mutable_command() = command;
  return Execute(plan, take);
}

Status SessionState::ExecuteRelation(const proto::Relation& relation, const std::function<Status(const std::string& ipc)>& take) {
  proto::Plan plan;
  *plan.mutable_root() = relation;
  return Execute(plan, [&](const proto::ExecutePlanResponse& response) -> Status {
    return response.has_arrow_batch() ? take(response.arrow_batch().data()) : Status::OK();
  });
}

Result<proto::AnalyzePlanResponse> SessionState::Analyze(proto::AnalyzePlanRequest* request) {
  impl_->Identify(request);
  proto::AnalyzePlanResponse response;
  grpc::ClientContext context;
  impl_->Prepare(&context);
  TW_RETURN_NOT_OK(FromGrpc(impl_->stub->AnalyzePlan(&context, *request, &response)));
  return response;
}

Status SessionState::SetConf(const std::map<std::string, std::string>& pairs) {
  if (pairs.empty()) return Status::OK();
  proto::ConfigRequest request;
  impl_->Identify(&request);
  for (const auto& [key, value] : pairs) {
    proto::KeyValue* pair = request.mutable_operation()->mutable_set()->add_pairs();
    pair->set_key(key);
    pair->set_value(value);
  }
  proto::ConfigResponse response;
  grpc::ClientContext context;
  impl_->Prepare(&context);
  return FromGrpc(impl_->stub->Config(&context, request, &response));
}

Result<std::string> SessionState::GetConf(const std::string& key) {
  proto::ConfigRequest request;
  impl_->Identify(&request);
  request.mutable_operation()->mutable_get()->add_keys(key);
  proto::ConfigResponse response;
  grpc::ClientContext context;
  impl_->Prepare(&context);
  TW_RETURN_NOT_OK(FromGrpc(impl_->stub->Config(&context, request, &response)));
  if (response.pairs_size() != 1) return InternalError("the server answered without a value");
  return response.pairs(0).value();
}

}  // namespace thalweg::internal
