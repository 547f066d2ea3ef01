#pragma once

// Errors as values, inside and at the public API. Invariants:
// - an ok Status holds no memory; copying any Status is a pointer copy;
// - every condition name stands in src/base/errors.json (a test reads the tree and checks it).

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace thalweg {

/// Who has to act on an error.
enum class ErrorKind : unsigned char {
  kUser,         ///< the user's: a query, an option, data
  kEnvironment,  ///< disk, network, broker; retried only where the call is known to be idempotent
  kInternal,     ///< ours: a broken invariant; fails the query, keeps the server
  kCancelled,    ///< the work was interrupted on request
};

/// A piece of the user's text that an error points to.
struct QueryContext {
  enum class Kind : unsigned char { kSql, kDataFrame };
  Kind kind = Kind::kSql;
  std::string object_type;  ///< "VIEW" or empty
  std::string object_name;
  std::string fragment;     ///< the SQL text, or the name of the DataFrame method
  std::string call_site;    ///< DataFrame only: file:line
  std::string summary;      ///< as Spark prints it below the message
  int start_index = -1;     ///< first character in the SQL text, 0-based; -1 unknown
  int stop_index = -1;      ///< last character, inclusive
};

/// The result of an operation that returns nothing. Thread: immutable once returned; movable between threads.
class [[nodiscard]] Status {
 public:
  Status() = default;  ///< ok
  static Status OK() { return {}; }

  bool ok() const { return state_ == nullptr; }
  /// Spark's condition name, such as "UNRESOLVED_COLUMN.WITH_SUGGESTION"; empty when ok.
  const std::string& condition() const;
  /// Five characters, empty when ok or none is defined.
  const std::string& sql_state() const;
  ErrorKind kind() const;
  /// Named values of the message template, in the order they were given.
  const std::vector<std::pair<std::string, std::string>>& parameters() const;
  const std::vector<QueryContext>& query_context() const;
  /// The error that led to this one, or ok.
  const Status& cause() const;
  /// "[CONDITION] text SQLSTATE: xxxxx" and the query context below, as Spark writes it.
  std::string message() const;
  /// The text alone, without condition and SQLSTATE.
  std::string message_text() const;
  /// Context added by the layers it passed ("reading offsets/7: ..."), outermost first; for logs.
  const std::vector<std::string>& trace() const;

  /// This error with one more layer of context for the log; the condition stays.
  Status WithTrace(std::string layer) const;
  /// This error with a context added, unless it has one already.
  Status WithQueryContext(QueryContext context) const;
  /// A new error that names this one as its cause.
  Status Because(Status cause) const;

  struct State;
  explicit Status(std::shared_ptr<const State> state) : state_(std::move(state)) {}

 private:
  std::shared_ptr<const State> state_;
};

/// Builds an error: `return Error("INVALID_OFFSET").With("offset", text);`
/// Kind is kUser unless said; conditions that begin with INTERNAL_ERROR are kInternal.
class [[nodiscard]] Error {
 public:
  explicit Error(std::string_view condition);
  Error&& With(std::string_view parameter, std::string_view value) &&;
  Error&& With(std::string_view parameter, long long value) &&;
  Error&& Context(QueryContext context) &&;
  Error&& Because(Status cause) &&;
  Error&& Kind(ErrorKind kind) &&;
  operator Status() &&;  // NOLINT(google-explicit-constructor)

 private:
  std::shared_ptr<Status::State> state_;
};

/// `INTERNAL_ERROR` with a text; for broken invariants.
Status InternalError(std::string_view text);
/// `UNSUPPORTED_FEATURE.THALWEG`: something of Spark's that is not there yet; `what` names it.
Status Unsupported(std::string_view what);
/// Kind kEnvironment, condition `IO_ERROR`: `attempted` such as "open /a/b", `error_number` an errno.
Status IoError(std::string_view attempted, int error_number);
/// Kind kCancelled, condition `OPERATION_CANCELED`.
Status Cancelled();

/// States that an error is dropped on purpose.
inline void Ignore(const Status&, const char* /*why*/) {}

/// A value or an error.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}          // NOLINT(google-explicit-constructor)
  Result(Status status) : status_(std::move(status)) {}  // NOLINT(google-explicit-constructor)
  Result(Error&& error) : status_(std::move(error)) {}   // NOLINT(google-explicit-constructor)
  template <typename U, typename = std::enable_if_t<std::is_convertible_v<U&&, T> &&
                                                    !std::is_same_v<std::decay_t<U>, T> &&
                                                    !std::is_same_v<std::decay_t<U>, Status> &&
                                                    !std::is_same_v<std::decay_t<U>, Error> &&
                                                    !std::is_same_v<std::decay_t<U>, Result>>>
  Result(U&& value) : value_(std::forward<U>(value)) {}  // NOLINT(google-explicit-constructor)

  bool ok() const { return value_.has_value(); }
  const Status& status() const& { return status_; }
  Status status() && { return std::move(status_); }
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return std::move(*value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }
  /// Tests only: aborts with the message when it is an error.
  T ValueOrDie() &&;

 private:
  std::optional<T> value_;
  Status status_;
};

namespace internal {
[[noreturn]] void DieOnError(const Status& status);
[[noreturn]] void CheckFailed(const char* file, int line, const char* condition);
}  // namespace internal

template <typename T>
T Result<T>::ValueOrDie() && {
  if (!ok()) internal::DieOnError(status_);
  return std::move(*value_);
}

}  // namespace thalweg

#define TW_CONCAT_INNER(a, b) a##b
#define TW_CONCAT(a, b) TW_CONCAT_INNER(a, b)

#define TW_RETURN_NOT_OK(expression)                     \
  do {                                                   \
    ::thalweg::Status tw_status_ = (expression);         \
    if (!tw_status_.ok()) return tw_status_;             \
  } while (false)

#define TW_ASSIGN_OR_RETURN_IMPL(result, lhs, expression) \
  auto result = (expression);                             \
  if (!result.ok()) return std::move(result).status();    \
  lhs = std::move(*result)

#define TW_ASSIGN_OR_RETURN(lhs, expression) \
  TW_ASSIGN_OR_RETURN_IMPL(TW_CONCAT(tw_result_, __LINE__), lhs, expression)

/// Aborts the process: only for damage that no query owns.
#define TW_CHECK(condition) \
  do {                      \
    if (!(condition)) [[unlikely]] ::thalweg::internal::CheckFailed(__FILE__, __LINE__, #condition); \
  } while (false)

#ifdef TW_DCHECKS
#define TW_DCHECK(condition) TW_CHECK(condition)
#else
#define TW_DCHECK(condition) \
  do {                       \
  } while (false && (condition))
#endif
