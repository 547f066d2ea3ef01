#include "base/status.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <system_error>

#include "base/error_table.h"
#include "base/foreign_error.h"

namespace thalweg {

struct Status::State {
  std::string condition;
  std::string sql_state;
  ErrorKind kind = ErrorKind::kUser;
  std::vector<std::pair<std::string, std::string>> parameters;
  std::vector<QueryContext> contexts;
  Status cause;
  std::vector<std::string> trace;  // innermost first
  std::optional<std::string> foreign_message;  // whole, in the words of the server that made the error
};

namespace {

template <typename T>
const T& Empty() {
  static const T empty{};
  return empty;
}

const std::string* FindParameter(const Status::State& state, std::string_view name) {
  for (const auto& [key, value] : state.parameters) {
    if (key == name) return &value;
  }
  return nullptr;
}

bool IsParameterCharacter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-';
}

// Replaces every <name> whose name is a parameter; values are not looked at again.
std::string FillTemplate(std::string_view text, const Status::State& state) {
  std::string out;
  size_t at = 0;
  while (at < text.size()) {
    if (text[at] == '<') {
      size_t end = at + 1;
      while (end < text.size() && IsParameterCharacter(text[end])) ++end;
      if (end < text.size() && text[end] == '>' && end > at + 1) {
        if (const std::string* value = FindParameter(state, text.substr(at + 1, end - at - 1))) {
          out += *value;
          at = end + 1;
          continue;
        }
      }
    }
    out += text[at++];
  }
  return out;
}

std::string ListParameters(const Status::State& state) {
  std::string out;
  for (const auto& [key, value] : state.parameters) {
    if (!out.empty()) out += ", ";
    out += key + "=" + value;
  }
  return out;
}

// The text between "[CONDITION] " and " SQLSTATE: xxxxx", as far as the message has them.
std::string WithoutFrame(std::string_view message, const Status::State& state) {
  const std::string head = "[" + state.condition + "] ";
  if (const size_t at = message.find(head); at == 0 || at == 1) message.remove_prefix(at + head.size());
  if (const size_t at = message.find(" SQLSTATE: " + state.sql_state); !state.sql_state.empty() && at != std::string_view::npos) {
    message = message.substr(0, at);
  }
  return std::string(message);
}

}  // namespace

const std::string& Status::condition() const { return ok() ? Empty<std::string>() : state_->condition; }
const std::string& Status::sql_state() const { return ok() ? Empty<std::string>() : state_->sql_state; }
ErrorKind Status::kind() const { return ok() ? ErrorKind::kUser : state_->kind; }

const std::vector<std::pair<std::string, std::string>>& Status::parameters() const {
  return ok() ? Empty<std::vector<std::pair<std::string, std::string>>>() : state_->parameters;
}

const std::vector<QueryContext>& Status::query_context() const {
  return ok() ? Empty<std::vector<QueryContext>>() : state_->contexts;
}

const Status& Status::cause() const { return ok() ? Empty<Status>() : state_->cause; }

const std::vector<std::string>& Status::trace() const {
  return ok() ? Empty<std::vector<std::string>>() : state_->trace;
}

std::string Status::message_text() const {
  if (ok()) return "";
  if (state_->foreign_message) return WithoutFrame(*state_->foreign_message, *state_);
  const ErrorCondition* known = FindErrorCondition(state_->condition);
  return known != nullptr ? FillTemplate(known->message, *state_) : ListParameters(*state_);
}

std::string Status::message() const {
  if (ok()) return "OK";
  if (state_->foreign_message) return *state_->foreign_message;
  std::string out;
  // Spark numbers its oldest messages; it shows the text of those alone.
  if (!state_->condition.starts_with("_LEGACY_ERROR_")) out = "[" + state_->condition + "] ";
  out += message_text();
  if (!state_->sql_state.empty()) out += " SQLSTATE: " + state_->sql_state;
  if (state_->contexts.empty() || state_->contexts.front().summary.empty()) return out;
  const std::string& summary = state_->contexts.front().summary;
  // A parse error stands on a line of its own and names its place behind the text, as Spark's ParseException does.
  if (summary.starts_with("(line ")) return "\n" + out + " " + summary;
  return out + "\n" + summary;
}

Status Status::WithTrace(std::string layer) const {
  if (ok()) return *this;
  auto copy = std::make_shared<State>(*state_);
  copy->trace.insert(copy->trace.begin(), std::move(layer));
  return Status(std::move(copy));
}

Status Status::WithQueryContext(QueryContext context) const {
  if (ok() || !state_->contexts.empty()) return *this;
  auto copy = std::make_shared<State>(*state_);
  copy->contexts.push_back(std::move(context));
  return Status(std::move(copy));
}

Status Status::Because(Status cause) const {
  if (ok()) return *this;
  auto copy = std::make_shared<State>(*state_);
  copy->cause = std::move(cause);
  return Status(std::move(copy));
}

Error::Error(std::string_view condition) : state_(std::make_shared<Status::State>()) {
  state_->condition = condition;
  if (const ErrorCondition* known = FindErrorCondition(condition)) state_->sql_state = known->sql_state;
  if (condition.starts_with("INTERNAL_ERROR")) state_->kind = ErrorKind::kInternal;
}

Error&& Error::With(std::string_view parameter, std::string_view value) && {
  state_->parameters.emplace_back(parameter, value);
  return std::move(*this);
}

Error&& Error::With(std::string_view parameter, long long value) && {
  state_->parameters.emplace_back(parameter, std::to_string(value));
  return std::move(*this);
}

Error&& Error::Context(QueryContext context) && {
  state_->contexts.push_back(std::move(context));
  return std::move(*this);
}

Error&& Error::Because(Status cause) && {
  state_->cause = std::move(cause);
  return std::move(*this);
}

Error&& Error::Kind(ErrorKind kind) && {
  state_->kind = kind;
  return std::move(*this);
}

Error::operator Status() && { return Status(std::shared_ptr<const Status::State>(std::move(state_))); }

Status InternalError(std::string_view text) { return Error("INTERNAL_ERROR").With("message", text); }

Status Unsupported(std::string_view what) {
  return Error("UNSUPPORTED_FEATURE.THALWEG").With("feature", what);
}

Status IoError(std::string_view attempted, int error_number) {
  return Error("IO_ERROR")
      .With("attempted", attempted)
      .With("error", std::generic_category().message(error_number))
      .With("errno", error_number)  // not shown; for who has to tell one from another
      .Kind(ErrorKind::kEnvironment);
}

Status Cancelled() { return Error("OPERATION_CANCELED").Kind(ErrorKind::kCancelled); }

namespace internal {

void DieOnError(const Status& status) {
  std::fprintf(stderr, "ValueOrDie on an error: %s\n", status.message().c_str());
  std::abort();
}

void CheckFailed(const char* file, int line, const char* condition) {
  std::fprintf(stderr, "%s:%d: check failed: %s\n", file, line, condition);
  std::abort();
}

}  // namespace internal
Status MakeForeignError(ForeignError error) {
  auto state = std::make_shared<Status::State>();
  state->condition = error.condition.empty() ? "SPARK_CONNECT_ERROR" : std::move(error.condition);
  state->sql_state = std::move(error.sql_state);
  state->parameters = std::move(error.parameters);
  state->contexts = std::move(error.query_context);
  state->cause = std::move(error.cause);
  state->foreign_message = std::move(error.message);
  if (state->condition.starts_with("INTERNAL_ERROR")) state->kind = ErrorKind::kInternal;
  if (state->condition == "OPERATION_CANCELED") state->kind = ErrorKind::kCancelled;
  return Status(std::move(state));
}

}  // namespace thalweg
