#include "apps/spark_defaults.h"

#include <cstdlib>

#include "data/io/local_file_system.h"
#include "data/io/path.h"

namespace thalweg::apps {

namespace {

constexpr std::string_view kBlank = " \t\r";

std::string_view Trim(std::string_view text) {
  const size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

}  // namespace

Status ReadPropertiesFile(const std::string& path, SettingsMap* settings) {
  TW_ASSIGN_OR_RETURN(const std::string text, data::LocalFileSystem::Get().ReadWhole(path));
  size_t at = 0;
  while (at < text.size()) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = Trim(std::string_view(text).substr(at, end - at));
    at = end + 1;
    if (line.empty() || line.front() == '#' || line.front() == '!') continue;
    const size_t split = line.find_first_of(" \t=:");
    const std::string_view key = line.substr(0, split);
    std::string_view value = split == std::string_view::npos ? std::string_view() : Trim(line.substr(split));
    if (!value.empty() && (value.front() == '=' || value.front() == ':')) value = Trim(value.substr(1));
    if (key.starts_with("spark.") || key.starts_with("thalweg.")) settings->Set(key, value);
  }
  return Status::OK();
}

std::string DefaultPropertiesFile() {
  data::FileSystem& files = data::LocalFileSystem::Get();
  const auto candidate = [&](const char* variable, const char* below) -> std::string {
    const char* directory = std::getenv(variable);
    if (directory == nullptr || *directory == '\0') return {};
    const std::string path = data::JoinPath(directory, below);
    const Result<bool> exists = files.Exists(path);
    return exists.ok() && *exists ? path : std::string();
  };
  std::string path = candidate("SPARK_CONF_DIR", "spark-defaults.conf");
  return path.empty() ? candidate("SPARK_HOME", "conf/spark-defaults.conf") : path;
}

Status AddConf(const std::string& pair, SettingsMap* settings) {
  const size_t equals = pair.find('=');
  if (equals == std::string::npos || equals == 0) {
    return Error("ILLEGAL_ARGUMENT").With("message", "--conf takes key=value, not '" + pair + "'");
  }
  settings->Set(std::string_view(pair).substr(0, equals), std::string_view(pair).substr(equals + 1));
  return Status::OK();
}

}  // namespace thalweg::apps
