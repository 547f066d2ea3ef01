#pragma once

// The unary calls: each reads its request and fills its answer. Called on threads that may block where it is said.

#include <memory>
#include <stop_token>

#include <grpcpp/support/status.h>

#include "front/connect/session_holder.h"
#include "front/connect/session_registry.h"

namespace spark::connect {
class AddArtifactsRequest;
class AddArtifactsResponse;
class AnalyzePlanRequest;
class AnalyzePlanResponse;
class ArtifactStatusesRequest;
class ArtifactStatusesResponse;
class ConfigRequest;
class ConfigResponse;
class GetStatusRequest;
class GetStatusResponse;
class InterruptRequest;
class InterruptResponse;
}  // namespace spark::connect

namespace thalweg::front {

/// Settings: get, set, unset and kin. Never blocks. Source: spark/connect/base.proto.
Status AnswerConfig(SessionHolder& holder, const ::spark::connect::ConfigRequest& request,
                    ::spark::connect::ConfigResponse* response);
/// Blocks: analyses plans, so on a thread of the pool only. Source: spark/connect/base.proto.
Status AnswerAnalyze(SessionHolder& holder, const ::spark::connect::AnalyzePlanRequest& request,
                     ::spark::connect::AnalyzePlanResponse* response, const std::stop_token& stop);
/// Source: spark/connect/base.proto. Queries to be stopped are answered in `stop`: stopping them blocks.
Status AnswerInterrupt(SessionHolder& holder, const ::spark::connect::InterruptRequest& request,
                       ::spark::connect::InterruptResponse* response,
                       std::vector<std::shared_ptr<streaming::StreamingQuery>>* stop);
void AnswerStatus(SessionHolder& holder, const ::spark::connect::GetStatusRequest& request,
                  ::spark::connect::GetStatusResponse* response);
void AnswerArtifactStatus(SessionHolder& holder, const ::spark::connect::ArtifactStatusesRequest& request,
                          ::spark::connect::ArtifactStatusesResponse* response);

/// One AddArtifacts call: takes its messages one after the other. Thread: confined.
class ArtifactReceiver {
 public:
  /// Errors: INVALID_ARTIFACT_PATH, ARTIFACT_ALREADY_EXISTS, CONNECT_INVALID_PLAN.ASSERTION_FAILURE for a wrong order.
  Status Take(SessionHolder& holder, const ::spark::connect::AddArtifactsRequest& request);
  Status Finish();
  void FillSummaries(::spark::connect::AddArtifactsResponse* response) const;

 private:
  Status Store(SessionHolder& holder, const std::string& name, std::string bytes, bool crc_ok);
  std::vector<std::pair<std::string, bool>> summaries_;
  // The artifact that comes in chunks.
  std::string name_, bytes_;
  int64_t chunks_left_ = 0, total_bytes_ = 0;
  bool crc_ok_ = true;
};

}  // namespace thalweg::front
