#pragma once

// The RPCs. Every method returns at once: short answers are made here, the others by the pool.

#include <memory>
#include <string>

#include <spark/connect/base.grpc.pb.h>

#include "front/connect/execute_stream.h"
#include "front/connect/session_registry.h"
#include "front/connect/task_pool.h"

namespace thalweg::front {

namespace internal {
using Rpc = ::spark::connect::SparkConnectService;
// ExecutePlan, ReattachExecute and AnalyzePlan are raw: their messages nest deeper than protobuf reads by itself.
using RawBase = Rpc::WithRawCallbackMethod_ExecutePlan<Rpc::WithRawCallbackMethod_ReattachExecute<
    Rpc::WithRawCallbackMethod_AnalyzePlan<Rpc::WithCallbackMethod_Config<Rpc::WithCallbackMethod_AddArtifacts<
        Rpc::WithCallbackMethod_ArtifactStatus<Rpc::WithCallbackMethod_Interrupt<Rpc::WithCallbackMethod_ReleaseExecute<
            Rpc::WithCallbackMethod_ReleaseSession<Rpc::WithCallbackMethod_FetchErrorDetails<
                Rpc::WithCallbackMethod_CloneSession<Rpc::WithCallbackMethod_GetStatus<Rpc::Service>>>>>>>>>>>>;
}  // namespace internal

struct ServiceLimits {
  StreamLimits stream;
  int64_t retry_buffer_bytes = 10 << 20;
  int64_t detached_timeout_ms = 300'000;
  int64_t session_timeout_ms = 3'600'000;
  int64_t progress_interval_ms = 2000;
};
/// From the settings of the server (spark.connect.*).
ServiceLimits LimitsFrom(const SettingsMap& settings);

/// Thread: gRPC's.
class ConnectService final : public internal::RawBase {
 public:
  ConnectService(SessionRegistry& sessions, TaskPool& pool, std::string token, ServiceLimits limits);

  grpc::ServerWriteReactor<grpc::ByteBuffer>* ExecutePlan(grpc::CallbackServerContext* context,
                                                          const grpc::ByteBuffer* request) override;
  grpc::ServerWriteReactor<grpc::ByteBuffer>* ReattachExecute(grpc::CallbackServerContext* context,
                                                              const grpc::ByteBuffer* request) override;
  grpc::ServerUnaryReactor* AnalyzePlan(grpc::CallbackServerContext* context, const grpc::ByteBuffer* request,
                                        grpc::ByteBuffer* response) override;
  grpc::ServerUnaryReactor* Config(grpc::CallbackServerContext* context, const ::spark::connect::ConfigRequest* request,
                                   ::spark::connect::ConfigResponse* response) override;
  grpc::ServerReadReactor<::spark::connect::AddArtifactsRequest>* AddArtifacts(
      grpc::CallbackServerContext* context, ::spark::connect::AddArtifactsResponse* response) override;
  grpc::ServerUnaryReactor* ArtifactStatus(grpc::CallbackServerContext* context,
                                           const ::spark::connect::ArtifactStatusesRequest* request,
                                           ::spark::connect::ArtifactStatusesResponse* response) override;
  grpc::ServerUnaryReactor* Interrupt(grpc::CallbackServerContext* context, const ::spark::connect::InterruptRequest* request,
                                      ::spark::connect::InterruptResponse* response) override;
  grpc::ServerUnaryReactor* ReleaseExecute(grpc::CallbackServerContext* context,
                                           const ::spark::connect::ReleaseExecuteRequest* request,
                                           ::spark::connect::ReleaseExecuteResponse* response) override;
  grpc::ServerUnaryReactor* ReleaseSession(grpc::CallbackServerContext* context,
                                           const ::spark::connect::ReleaseSessionRequest* request,
                                           ::spark::connect::ReleaseSessionResponse* response) override;
  grpc::ServerUnaryReactor* FetchErrorDetails(grpc::CallbackServerContext* context,
                                              const ::spark::connect::FetchErrorDetailsRequest* request,
                                              ::spark::connect::FetchErrorDetailsResponse* response) override;
  grpc::ServerUnaryReactor* CloneSession(grpc::CallbackServerContext* context,
                                         const ::spark::connect::CloneSessionRequest* request,
                                         ::spark::connect::CloneSessionResponse* response) override;
  grpc::ServerUnaryReactor* GetStatus(grpc::CallbackServerContext* context, const ::spark::connect::GetStatusRequest* request,
                                      ::spark::connect::GetStatusResponse* response) override;

  /// Heartbeats, stream limits, expiry. Called about once a second. Answers sessions to be closed.
  std::vector<std::shared_ptr<SessionHolder>> Tend();

 private:
  grpc::Status CheckToken(const grpc::CallbackServerContext& context) const;
  void TendOperations(SessionHolder& holder, int64_t now_ms);

  SessionRegistry& sessions_;
  TaskPool& pool_;
  const std::string token_;
  const ServiceLimits limits_;
};

}  // namespace thalweg::front
