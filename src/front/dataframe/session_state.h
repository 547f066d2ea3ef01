#pragma once

// What all handles of one session share: requests to its server and the listeners of its streaming queries.

#include <functional>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace spark::connect {
class AnalyzePlanRequest;
class AnalyzePlanResponse;
class Command;
class ConfigRequest_Operation;
class ConfigResponse;
class ExecutePlanResponse;
class InterruptRequest;
class Plan;
class Relation;
}  // namespace spark::connect

namespace thalweg {
class StreamingQueryListener;
}

namespace thalweg::internal {

class Connection;
class ListenerBus;

/// Thread: every call from any; each blocks until the server has answered.
/// Errors: the server's condition, SQLSTATE and text; SPARK_CONNECT_UNREACHABLE when there is no answer.
class SessionState {
 public:
  using Take = std::function<Status(const ::spark::connect::ExecutePlanResponse& response)>;

  /// `url` as Session::Connect.
  static Result<std::shared_ptr<SessionState>> Connect(std::string_view url, const std::map<std::string, std::string>& settings);
  ~SessionState();  ///< ends the session on its server

  /// Every response of a command or query in order; `take` may be null.
  Status Execute(const ::spark::connect::Plan& plan, const Take& take, std::stop_token stop = {});
  Status ExecuteCommand(const ::spark::connect::Command& command, const Take& take = nullptr, std::stop_token stop = {});
  /// The rows of a relation, as they come: one Arrow IPC stream per batch.
  Status ExecuteRelation(const ::spark::connect::Relation& relation, const std::function<Status(const std::string& ipc)>& take);
  Result<::spark::connect::AnalyzePlanResponse> Analyze(::spark::connect::AnalyzePlanRequest* request);
  Result<::spark::connect::ConfigResponse> Config(const ::spark::connect::ConfigRequest_Operation& operation);
  Status SetConf(const std::map<std::string, std::string>& pairs);
  /// Ids of what was ended.
  Result<std::vector<std::string>> Interrupt(::spark::connect::InterruptRequest* request);
  void ChangeTag(const std::string& tag, bool there);
  /// Idempotent.
  Status Stop();
  bool is_stopped() const;
  /// The engine is in this process: functions of this program can be called.
  bool is_embedded() const;

  Status AddListener(std::shared_ptr<StreamingQueryListener> listener);
  Status RemoveListener(const std::shared_ptr<StreamingQueryListener>& listener);
  /// Tells the session's listeners before the start returns.
  void TellStarted(const std::string& event_json);

 private:
  struct Impl;
  explicit SessionState(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace thalweg::internal
