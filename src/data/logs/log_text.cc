#include "data/logs/log_text.h"

#include <charconv>
#include <nlohmann/json.hpp>

namespace thalweg::data {

std::vector<std::string_view> SplitLogLines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    lines.push_back(line);
    if (end == std::string_view::npos) break;
    text.remove_prefix(end + 1);
  }
  return lines;
}

Result<int> ParseLogVersion(std::string_view line, int max_version) {
  int version = 0;
  const char* last = line.data() + line.size();
  const bool tagged = line.starts_with('v');
  const auto [end, error] = std::from_chars(tagged ? line.data() + 1 : last, last, version);
  if (!tagged || error != std::errc{} || end != last || version <= 0) {
    return Error("MALFORMED_LOG_FILE").With("text", line);
  }
  if (version > max_version) {
    return Error("INVALID_LOG_VERSION.MAX_SUPPORTED_VERSION")
        .With("maxSupportedVersion", max_version)
        .With("version", version);
  }
  return version;
}

std::string LogVersionLine(int version) { return "v" + std::to_string(version); }

Status MalformedLogEntry(std::string_view place, std::string_view reason) {
  return Error("MALFORMED_LOG_ENTRY").With("place", place).With("reason", reason);
}

Status InLogFile(const Status& error, const std::string& path) {
  if (error.ok()) return error;
  const bool entry = error.condition() == "MALFORMED_LOG_ENTRY";
  if (!entry && error.condition() != "MALFORMED_LOG_FILE") return error.WithTrace("reading " + path);
  Error told(error.condition());
  for (const auto& [name, value] : error.parameters()) {
    const bool names_file = name == (entry ? "place" : "text");
    told = std::move(told).With(name, names_file ? value + (entry ? " in the file " : " of the file ") + path : value);
  }
  return Status(std::move(told));
}

std::string JsonQuoted(std::string_view text) {
  // Bytes that are not UTF-8 become U+FFFD: JSON could not carry them.
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace thalweg::data
