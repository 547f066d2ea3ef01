#pragma once

#include <functional>
#include <memory>
#include <stop_token>
#include <string>

#include "base/status.h"
#include "front/dataframe/connection.h"

namespace thalweg::internal {

/// One plan on the server, from its start to its last response, over as many streams as it takes: a server closes long ones, and
/// connections break. Every response is taken once, in order. Source: spark/connect/base.proto.
/// Thread: confined. Blocks: until the plan has ended, failed, `take` has refused or a stop was requested.
class Execution {
 public:
  using Take = std::function<Status(const ::spark::connect::ExecutePlanResponse& response)>;

  /// `take` may be null. All borrowed.
  Execution(Connection& connection, const ::spark::connect::Plan& plan, const Take& take, std::stop_token stop);
  Status Run();

 private:
  using Reader = grpc::ClientReader<::spark::connect::ExecutePlanResponse>;
  std::unique_ptr<Reader> Open(grpc::ClientContext* context, bool attach);
  grpc::Status ReadStream(bool attach);
  void Accept(const ::spark::connect::ExecutePlanResponse& response);
  void ReleaseSome();
  void ReleaseAll();

  Connection& connection_;
  const Take& take_;
  const std::stop_token stop_;
  ::spark::connect::ExecutePlanRequest request_;
  std::string last_response_id_;
  bool progressed_ = false;  ///< by the newest stream
  bool complete_ = false;
  int unreleased_ = 0;
  Status taken_;
};

}  // namespace thalweg::internal
