#pragma once

// The log: constant lower-case message plus fields.
//   TW_LOG(kInfo, "micro-batch committed", {"query", id}, {"rows", n});

#include <concepts>
#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace thalweg {

enum class LogLevel : unsigned char {
  kTrace,
  kDebug,
  kInfo,   ///< lifecycle, one line per micro-batch
  kWarn,   ///< unexpected but recovered
  kError,  ///< data or a query is lost
  kOff,
};

/// One named value of a log line. Numbers and booleans stay such in JSON.
struct LogField {
  LogField(std::string_view key, std::string_view text) : key(key), value(text), quoted(true) {}
  LogField(std::string_view key, const char* text) : LogField(key, std::string_view(text)) {}
  LogField(std::string_view key, const std::string& text) : LogField(key, std::string_view(text)) {}
  LogField(std::string_view key, bool flag) : key(key), value(flag ? "true" : "false") {}
  LogField(std::string_view key, double number);
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  LogField(std::string_view key, T number) : key(key), value(std::to_string(number)) {}
  LogField(std::string_view key, const Status& status);
  /// Ids and whatever else has value() or ToString().
  template <typename T>
    requires requires(const T& object) { object.ToString(); }
  LogField(std::string_view key, const T& object) : LogField(key, std::string_view(object.ToString())) {}
  template <typename T>
    requires requires(const T& id) { typename T::rep; id.value(); }
  LogField(std::string_view key, const T& id) : LogField(key, id.value()) {}

  std::string_view key;
  std::string value;
  bool quoted = false;
};

/// How lines look: text for people, one JSON object per line for machines.
enum class LogFormat : unsigned char { kText, kJson };

/// Sets level and form of the process's log (standard error). Before it is called: info, text. Thread: any.
void ConfigureLog(LogLevel level, LogFormat format);
/// Reads "trace" to "error", "off", or Spark's upper-case names (ALL, TRACE, DEBUG, INFO, WARN, ERROR, FATAL, OFF).
Result<LogLevel> ParseLogLevel(std::string_view text);

bool LogEnabled(LogLevel level);
/// Writes one line; fields that name secrets are redacted. Thread: any. Blocks: for the write to standard error.
void WriteLog(LogLevel level, std::string_view message, std::initializer_list<LogField> fields);

/// One line as it would be written, without time: for tests and for WriteLog itself.
std::string FormatLogLine(LogFormat format, LogLevel level, std::string_view time, std::string_view message,
                          std::initializer_list<LogField> fields);

}  // namespace thalweg

#define TW_LOG(level, message, ...)                                                          \
  do {                                                                                       \
    if (::thalweg::LogEnabled(::thalweg::LogLevel::level)) {                                 \
      ::thalweg::WriteLog(::thalweg::LogLevel::level, message, {__VA_ARGS__});               \
    }                                                                                        \
  } while (false)
