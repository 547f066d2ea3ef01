#include <spark/connect/base.pb.h>

#include <functional>

#include "base/foreign_error.h"
#include "front/dataframe/session_state.h"
#include "front/dataframe/streaming_query_access.h"

namespace thalweg {

namespace proto = ::spark::connect;

namespace {

/// How long one call waits at most: a call that never ends looks dead to proxies.
constexpr std::chrono::milliseconds kAwaitSlice{10'000};

template <typename Fill>
Result<proto::StreamingQueryCommandResult> Ask(internal::SessionState& session, const StreamingQuery& query, Fill&& fill) {
  proto::Command command;
  proto::StreamingQueryCommand* message = command.mutable_streaming_query_command();
  message->mutable_query_id()->set_id(query.id());
  message->mutable_query_id()->set_run_id(query.run_id());
  fill(message);
  proto::StreamingQueryCommandResult result;
  TW_RETURN_NOT_OK(session.ExecuteCommand(command, [&](const proto::ExecutePlanResponse& response) -> Status {
    if (response.has_streaming_query_command_result()) result = response.streaming_query_command_result();
    return Status::OK();
  }));
  return result;
}

template <typename Fill>
Result<proto::StreamingQueryManagerCommandResult> AskManager(internal::SessionState& session, Fill&& fill) {
  proto::Command command;
  fill(command.mutable_streaming_query_manager_command());
  proto::StreamingQueryManagerCommandResult result;
  TW_RETURN_NOT_OK(session.ExecuteCommand(command, [&](const proto::ExecutePlanResponse& response) -> Status {
    if (response.has_streaming_query_manager_command_result()) result = response.streaming_query_manager_command_result();
    return Status::OK();
  }));
  return result;
}

}  // namespace

StreamingQuery::StreamingQuery(std::shared_ptr<internal::SessionState> session, std::string id, std::string run_id, std::string name)
    : session_(std::move(session)), id_(std::move(id)), run_id_(std::move(run_id)), name_(std::move(name)) {}

Status StreamingQuery::AwaitTermination() {
  while (true) {
    TW_ASSIGN_OR_RETURN(const bool ended, AwaitTermination(kAwaitSlice));
    if (ended) return Status::OK();
  }
}

Result<bool> StreamingQuery::AwaitTermination(std::chrono::milliseconds timeout) {
  TW_ASSIGN_OR_RETURN(const auto result, Ask(*session_, *this, [timeout](proto::StreamingQueryCommand* query) {
                        query->mutable_await_termination()->set_timeout_ms(timeout.count());
                      }));
  return result.await_termination().terminated();
}

Status StreamingQuery::ProcessAllAvailable() {
  return Ask(*session_, *this, [](proto::StreamingQueryCommand* query) { query->set_process_all_available(true); }).status();
}

Status StreamingQuery::Stop() {
  return Ask(*session_, *this, [](proto::StreamingQueryCommand* query) { query->set_stop(true); }).status();
}

Result<StreamingQueryStatus> StreamingQuery::GetStatus() {
  TW_ASSIGN_OR_RETURN(const auto result, Ask(*session_, *this, [](proto::StreamingQueryCommand* query) { query->set_status(true); }));
  const auto& status = result.status();
  return StreamingQueryStatus{status.status_message(), status.is_data_available(), status.is_trigger_active(), status.is_active()};
}

Result<bool> StreamingQuery::IsActive() {
  TW_ASSIGN_OR_RETURN(const StreamingQueryStatus status, GetStatus());
  return status.is_active;
}

Result<std::optional<Status>> StreamingQuery::Exception() {
  TW_ASSIGN_OR_RETURN(const auto result, Ask(*session_, *this, [](proto::StreamingQueryCommand* query) { query->set_exception(true); }));
  if (!result.has_exception()) return std::optional<Status>();
  ForeignError error;
  error.condition = result.exception().error_class();
  // "<class name>: <text>".
  const std::string& text = result.exception().exception_message();
  const size_t colon = text.find(": ");
  error.message = colon == std::string::npos ? text : text.substr(colon + 2);
  return std::optional<Status>(MakeForeignError(std::move(error)));
}

Result<std::optional<std::string>> StreamingQuery::LastProgress() {
  TW_ASSIGN_OR_RETURN(const auto result, Ask(*session_, *this, [](proto::StreamingQueryCommand* query) { query->set_last_progress(true); }));
  const auto& progress = result.recent_progress().recent_progress_json();
  return progress.empty() ? std::optional<std::string>() : std::optional<std::string>(*progress.rbegin());
}

Result<std::vector<std::string>> StreamingQuery::RecentProgress() {
  TW_ASSIGN_OR_RETURN(const auto result,
                      Ask(*session_, *this, [](proto::StreamingQueryCommand* query) { query->set_recent_progress(true); }));
  const auto& progress = result.recent_progress().recent_progress_json();
  return std::vector<std::string>(progress.begin(), progress.end());
}

Result<std::string> StreamingQuery::Explain(bool extended) {
  TW_ASSIGN_OR_RETURN(const auto result, Ask(*session_, *this, [extended](proto::StreamingQueryCommand* query) {
                        query->mutable_explain()->set_extended(extended);
                      }));
  return result.explain().result();
}

Result<std::vector<StreamingQuery>> StreamingQueryManager::Active() const {
  TW_ASSIGN_OR_RETURN(const auto result, AskManager(*session_, [](proto::StreamingQueryManagerCommand* command) { command->set_active(true); }));
  std::vector<StreamingQuery> queries;
  for (const auto& one : result.active().active_queries()) {
    queries.push_back(internal::StreamingQueryAccess::Make(session_, one.id().id(), one.id().run_id(), one.name()));
  }
  return queries;
}

Result<std::optional<StreamingQuery>> StreamingQueryManager::Get(std::string_view id) const {
  TW_ASSIGN_OR_RETURN(const auto result,
                      AskManager(*session_, [id](proto::StreamingQueryManagerCommand* command) { command->set_get_query(std::string(id)); }));
  if (!result.has_query()) return std::optional<StreamingQuery>();
  const auto& one = result.query();
  return std::optional<StreamingQuery>(internal::StreamingQueryAccess::Make(session_, one.id().id(), one.id().run_id(), one.name()));
}

Status StreamingQueryManager::AwaitAnyTermination() const {
  while (true) {
    TW_ASSIGN_OR_RETURN(const bool ended, AwaitAnyTermination(kAwaitSlice));
    if (ended) return Status::OK();
  }
}

Result<bool> StreamingQueryManager::AwaitAnyTermination(std::chrono::milliseconds timeout) const {
  TW_ASSIGN_OR_RETURN(const auto result, AskManager(*session_, [timeout](proto::StreamingQueryManagerCommand* command) {
                        command->mutable_await_any_termination()->set_timeout_ms(timeout.count());
                      }));
  return result.await_any_termination().terminated();
}

Status StreamingQueryManager::ResetTerminated() const {
  return AskManager(*session_, [](proto::StreamingQueryManagerCommand* command) { command->set_reset_terminated(true); }).status();
}

Status StreamingQueryManager::AddListener(std::shared_ptr<StreamingQueryListener> listener) const {
  return session_->AddListener(std::move(listener));
}

Status StreamingQueryManager::RemoveListener(const std::shared_ptr<StreamingQueryListener>& listener) const {
  return session_->RemoveListener(listener);
}

}  // namespace thalweg
