#include "data/logs/file_logs.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "data/logs/log_text.h"

namespace thalweg::data {
namespace {

using Json = nlohmann::json;

// A JSON object of one line; discarded when it is anything else.
Json ParseObject(std::string_view line) {
  Json object = Json::parse(line, nullptr, false);
  return object.is_object() ? object : Json(Json::value_t::discarded);
}

// Reads a member of the wanted kind into `out`; false when it is missing or of another kind.
bool ReadText(const Json& object, const char* name, std::string& out) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_string()) return false;
  out = found->get<std::string>();
  return true;
}

bool ReadInteger(const Json& object, const char* name, int64_t& out) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_integer()) return false;
  if (found->is_number_unsigned() && found->get<uint64_t>() > INT64_MAX) return false;
  out = found->get<int64_t>();
  return true;
}

bool IsExpired(std::string_view line, Clock& clock, int64_t retention_ms) {
  const Result<FileSinkEntry> entry = ParseFileSinkEntry(line);
  return entry.ok() && clock.NowMillis() - entry->modification_time_ms > retention_ms;
}

// An error about a line, told of the file that the line stands in.
Status InItsFile(const CompactibleLog& log, const Status& error, const std::string& line) {
  const Result<std::optional<int64_t>> latest = log.LatestId();
  for (int64_t id = latest.ok() ? latest->value_or(-1) : -1; id >= 0; --id) {
    const auto lines = log.Get(id);
    if (!lines.ok() || !lines->has_value()) break;
    if (std::find((*lines)->begin(), (*lines)->end(), line) != (*lines)->end()) return InLogFile(error, log.PathOf(id));
  }
  return error;
}

}  // namespace

std::string FormatFileSourceEntry(const FileSourceEntry& entry) {
  return "{\"path\":" + JsonQuoted(entry.uri) + ",\"timestamp\":" + std::to_string(entry.timestamp_ms) +
         ",\"batchId\":" + std::to_string(entry.log_id) + "}";
}

Result<FileSourceEntry> ParseFileSourceEntry(std::string_view line) {
  const Json object = ParseObject(line);
  FileSourceEntry entry;
  if (object.is_discarded() || !ReadText(object, "path", entry.uri) ||
      !ReadInteger(object, "timestamp", entry.timestamp_ms) || !ReadInteger(object, "batchId", entry.log_id)) {
    return MalformedLogEntry("a line of a file source log", line);
  }
  return entry;
}

std::string FormatFileSinkEntry(const FileSinkEntry& entry) {
  return "{\"path\":" + JsonQuoted(entry.uri) + ",\"size\":" + std::to_string(entry.size_bytes) +
         ",\"isDir\":" + (entry.is_directory ? "true" : "false") +
         ",\"modificationTime\":" + std::to_string(entry.modification_time_ms) +
         ",\"blockReplication\":" + std::to_string(entry.block_replication) +
         ",\"blockSize\":" + std::to_string(entry.block_size_bytes) + ",\"action\":" + JsonQuoted(entry.action) + "}";
}

Result<FileSinkEntry> ParseFileSinkEntry(std::string_view line) {
  const Json object = ParseObject(line);
  FileSinkEntry entry;
  if (object.is_discarded() || !ReadText(object, "path", entry.uri) ||
      !ReadInteger(object, "size", entry.size_bytes) ||
      !ReadInteger(object, "modificationTime", entry.modification_time_ms) ||
      !ReadInteger(object, "blockReplication", entry.block_replication) ||
      !ReadInteger(object, "blockSize", entry.block_size_bytes) || !ReadText(object, "action", entry.action)) {
    return MalformedLogEntry("a line of a file sink log", line);
  }
  const auto directory = object.find("isDir");
  entry.is_directory = directory != object.end() && directory->is_boolean() && directory->get<bool>();
  return entry;
}

Result<FileSourceLog> FileSourceLog::Open(FileSystem& file_system, std::string directory,
                                          CompactibleLogOptions options, Clock& clock) {
  TW_ASSIGN_OR_RETURN(CompactibleLog log,
                      CompactibleLog::Open(file_system, std::move(directory), std::move(options), clock));
  return FileSourceLog(std::move(log));
}

Result<bool> FileSourceLog::Add(int64_t log_id, std::vector<FileSourceEntry> entries) {
  std::vector<std::string> lines;
  lines.reserve(entries.size());
  for (FileSourceEntry& entry : entries) {
    entry.log_id = log_id;
    lines.push_back(FormatFileSourceEntry(entry));
  }
  return log_.Add(log_id, lines);
}

Result<std::vector<FileSourceEntry>> FileSourceLog::AllFiles() const {
  TW_ASSIGN_OR_RETURN(const std::vector<std::string> lines, log_.AllLines());
  std::vector<FileSourceEntry> entries;
  entries.reserve(lines.size());
  for (const std::string& line : lines) {
    Result<FileSourceEntry> entry = ParseFileSourceEntry(line);
    if (!entry.ok()) return InItsFile(log_, entry.status(), line);
    entries.push_back(std::move(*entry));
  }
  return entries;
}

Result<std::optional<std::vector<FileSourceEntry>>> FileSourceLog::Get(int64_t log_id) const {
  using Entries = std::optional<std::vector<FileSourceEntry>>;
  TW_ASSIGN_OR_RETURN(std::optional<std::vector<std::string>> lines, log_.Get(log_id));
  if (!lines.has_value()) {
    // Its own file may be gone: the next compaction repeats it.
    TW_ASSIGN_OR_RETURN(const std::optional<int64_t> latest, log_.LatestId());
    if (!latest.has_value() || log_id > *latest || log_id < 0) return Entries();
    for (int64_t id = log_id; id <= *latest && !lines.has_value(); ++id) {
      if (!IsCompactionId(id, log_.compact_interval())) continue;
      TW_ASSIGN_OR_RETURN(lines, log_.Get(id));
    }
    if (!lines.has_value()) return Entries();
  }
  std::vector<FileSourceEntry> entries;
  for (const std::string& line : *lines) {
    Result<FileSourceEntry> entry = ParseFileSourceEntry(line);
    if (!entry.ok()) return InItsFile(log_, entry.status(), line);
    if (entry->log_id == log_id) entries.push_back(std::move(*entry));
  }
  return Entries(std::move(entries));
}

Result<std::vector<FileSourceEntry>> FileSourceLog::Range(int64_t after, int64_t up_to) const {
  std::vector<FileSourceEntry> all;
  for (int64_t id = after + 1; id <= up_to; ++id) {
    TW_ASSIGN_OR_RETURN(std::optional<std::vector<FileSourceEntry>> entries, Get(id));
    if (!entries.has_value()) return Error("_LEGACY_ERROR_THALWEG_BATCH_MISSING").With("batchId", id);
    std::move(entries->begin(), entries->end(), std::back_inserter(all));
  }
  return all;
}

Result<FileSinkLog> FileSinkLog::Open(FileSystem& file_system, std::string directory, CompactibleLogOptions options,
                                      Clock& clock, std::optional<int64_t> retention_ms) {
  if (retention_ms.has_value()) {
    options.retain = [&clock, limit = *retention_ms](std::string_view line) { return !IsExpired(line, clock, limit); };
  }
  TW_ASSIGN_OR_RETURN(CompactibleLog log,
                      CompactibleLog::Open(file_system, std::move(directory), std::move(options), clock));
  return FileSinkLog(std::move(log), clock, retention_ms);
}

Result<bool> FileSinkLog::Add(int64_t batch_id, const std::vector<FileSinkEntry>& entries) {
  std::vector<std::string> lines;
  lines.reserve(entries.size());
  for (const FileSinkEntry& entry : entries) lines.push_back(FormatFileSinkEntry(entry));
  return log_.Add(batch_id, lines);
}

Result<std::vector<FileSinkEntry>> FileSinkLog::AllFiles() const {
  TW_ASSIGN_OR_RETURN(const std::vector<std::string> lines, log_.AllLines());
  const int64_t now_ms = clock_->NowMillis();
  std::vector<FileSinkEntry> entries;
  for (const std::string& line : lines) {
    Result<FileSinkEntry> entry = ParseFileSinkEntry(line);
    if (!entry.ok()) return InItsFile(log_, entry.status(), line);
    if (retention_ms_.has_value() && now_ms - entry->modification_time_ms > *retention_ms_) continue;
    entries.push_back(std::move(*entry));
  }
  return entries;
}

}  // namespace thalweg::data
