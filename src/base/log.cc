#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <atomic>
#include <ctime>

#include "base/clock.h"
#include "base/redact.h"

namespace thalweg {
namespace {

std::atomic<LogLevel> g_level{LogLevel::kInfo};
std::atomic<LogFormat> g_format{LogFormat::kText};

constexpr std::string_view kLevelNames[] = {"trace", "debug", "info", "warn", "error", "off"};

std::string_view LevelName(LogLevel level) { return kLevelNames[static_cast<size_t>(level)]; }

spdlog::logger& Logger() {
  // Never destroyed: threads may log while the process ends.
  static spdlog::logger& logger = *[] {
    auto* made = new spdlog::logger("thalweg", std::make_shared<spdlog::sinks::stderr_sink_mt>());
    made->set_pattern("%v");
    made->set_level(spdlog::level::trace);
    made->flush_on(spdlog::level::trace);
    return made;
  }();
  return logger;
}

void AppendJsonString(std::string_view text, std::string& out) {
  constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    switch (c) {
      case '"': out += "\\\""; break;
      case '\\': out += "\\\\"; break;
      case '\n': out += "\\n"; break;
      case '\t': out += "\\t"; break;
      case '\r': out += "\\r"; break;
      default:
        if (byte < 0x20) {
          out += "\\u00";
          out += kHex[byte >> 4];
          out += kHex[byte & 0x0F];
        } else {
          out += c;
        }
    }
  }
  out += '"';
}

// Wall time as 2026-01-31T10:00:00.000Z.
std::string TimeText() {
  const int64_t millis = SystemClock::Get().NowMillis();
  const std::time_t seconds = millis / 1000;
  std::tm parts{};
  gmtime_r(&seconds, &parts);
  return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", parts.tm_year + 1900, parts.tm_mon + 1,
                     parts.tm_mday, parts.tm_hour, parts.tm_min, parts.tm_sec, millis % 1000);
}

bool NeedsQuotes(std::string_view text) {
  return text.empty() || text.find_first_of(" \"=\n\t") != std::string_view::npos;
}

std::string ShownValue(const LogField& field) {
  if (IsSecretKey(field.key)) return std::string(kRedacted);
  return field.quoted ? RedactText(field.value) : field.value;
}

}  // namespace

LogField::LogField(std::string_view key, double number) : key(key), value(fmt::format("{}", number)) {
  // JSON has no word for these.
  quoted = value.find_first_of("ni") != std::string::npos;
}

LogField::LogField(std::string_view key, const Status& status) : key(key), value(status.message()), quoted(true) {
  for (const std::string& layer : status.trace()) value += "; while " + layer;
  for (const Status* cause = &status.cause(); !cause->ok(); cause = &cause->cause()) {
    value += "; caused by " + cause->message();
  }
}

void ConfigureLog(LogLevel level, LogFormat format) {
  g_level = level;
  g_format = format;
}

Result<LogLevel> ParseLogLevel(std::string_view text) {
  std::string lower;
  for (const char c : text) lower += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  if (lower == "all") return LogLevel::kTrace;
  if (lower == "fatal") return LogLevel::kError;
  for (size_t i = 0; i < std::size(kLevelNames); ++i) {
    if (lower == kLevelNames[i]) return static_cast<LogLevel>(i);
  }
  return Error("ILLEGAL_ARGUMENT").With("message", "the log level is one of trace, debug, info, warn, error and off, not '" + std::string(text) + "'");
}

bool LogEnabled(LogLevel level) {
  return level >= g_level.load(std::memory_order_relaxed) && level != LogLevel::kOff;
}

std::string FormatLogLine(LogFormat format, LogLevel level, std::string_view time, std::string_view message,
                          std::initializer_list<LogField> fields) {
  std::string out;
  if (format == LogFormat::kJson) {
    out = "{\"time\":";
    AppendJsonString(time, out);
    out += ",\"level\":";
    AppendJsonString(LevelName(level), out);
    out += ",\"message\":";
    AppendJsonString(message, out);
    for (const LogField& field : fields) {
      out += ',';
      AppendJsonString(field.key, out);
      out += ':';
      const std::string value = ShownValue(field);
      if (field.quoted || IsSecretKey(field.key)) {
        AppendJsonString(value, out);
      } else {
        out += value;
      }
    }
    return out + '}';
  }
  out = fmt::format("{} {:<5} {}", time, LevelName(level), message);
  for (const LogField& field : fields) {
    const std::string value = ShownValue(field);
    out += ' ';
    out += field.key;
    out += '=';
    if (NeedsQuotes(value)) {
      AppendJsonString(value, out);
    } else {
      out += value;
    }
  }
  return out;
}

void WriteLog(LogLevel level, std::string_view message, std::initializer_list<LogField> fields) {
  try {
    const std::string line = FormatLogLine(g_format, level, TimeText(), message, fields);
    Logger().log(spdlog::level::info, spdlog::string_view_t(line.data(), line.size()));
  } catch (const std::exception&) {
    // A log line is not worth a query: there is nowhere left to report to.
  }
}

}  // namespace thalweg
