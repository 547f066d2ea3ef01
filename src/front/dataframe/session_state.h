#pragma once

// One connection to a Spark Connect server. The only file of the room, with its .cc, that speaks gRPC.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "data/columnar/chunk.h"
#include "front/dataframe/embedded.h"

namespace spark::connect {
class AnalyzePlanRequest;
class AnalyzePlanResponse;
class Command;
class ExecutePlanResponse;
class Plan;
class Relation;
}  // namespace spark::connect

namespace thalweg::internal {

/// Thread: every call from any; each blocks until the server has answered.
/// Errors: the server's condition, SQLSTATE and text; SPARK_CONNECT_UNREACHABLE when there is no answer.
class SessionState {
 public:
  /// `url` as Session::Connect.
  static Result<std::shared_ptr<SessionState>> Connect(std::string_view url, const std::map<std::string, std::string>& settings);
  ~SessionState();

  /// Every response of a command or query in order.
  Status Execute(const ::spark::connect::Plan& plan, const std::function<Status(const ::spark::connect::ExecutePlanResponse&)>& take);
  Status ExecuteCommand(const ::spark::connect::Command& command,
                        const std::function<Status(const ::spark::connect::ExecutePlanResponse&)>& take = nullptr);
  /// The rows of a relation, as they come: one Arrow IPC stream per batch.
  Status ExecuteRelation(const ::spark::connect::Relation& relation, const std::function<Status(const std::string& ipc)>& take);
  Result<::spark::connect::AnalyzePlanResponse> Analyze(::spark::connect::AnalyzePlanRequest* request);
  Status SetConf(const std::map<std::string, std::string>& pairs);
  Result<std::string> GetConf(const std::string& key);

 private:
  struct Impl;
  explicit SessionState(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

/// "sc://host:port/;token=...;use_ssl=true" taken apart. Errors: INVALID_CONNECT_URL.
struct ConnectUrl {
  std::string target;  ///< host:port
  std::string token;
  std::string user;
  bool tls = false;
  std::map<std::string, std::string> headers;
  static Result<ConnectUrl> Parse(std::string_view url);
};

}  // namespace thalweg::internal
