#include "data/logs/compactible_log.h"

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "data/io/atomic_write.h"
#include "data/io/path.h"
#include "data/logs/log_text.h"

namespace thalweg::data {
namespace {

constexpr std::string_view kCompactSuffix = ".compact";
constexpr int kVersion = 1;

struct LogFileName {
  int64_t id = 0;
  bool compact = false;
};

std::optional<LogFileName> ParseName(std::string_view name) {
  LogFileName parsed;
  if (name.ends_with(kCompactSuffix)) {
    parsed.compact = true;
    name.remove_suffix(kCompactSuffix.size());
  }
  const std::optional<int64_t> id = ParseLogId(name);
  if (!id.has_value()) return std::nullopt;
  parsed.id = *id;
  return parsed;
}

// Names of a log's files; a missing directory has none.
Result<std::vector<LogFileName>> ListNames(FileSystem& file_system, const std::string& directory) {
  std::vector<LogFileName> names;
  const Result<std::vector<FileInfo>> entries = file_system.List(directory);
  if (!entries.ok()) {
    if (IsNotFound(entries.status())) return names;
    return entries.status();
  }
  for (const FileInfo& entry : *entries) {
    const std::optional<LogFileName> name = ParseName(entry.name());
    if (name.has_value() && !entry.is_directory) names.push_back(*name);
  }
  std::sort(names.begin(), names.end(), [](const LogFileName& a, const LogFileName& b) { return a.id < b.id; });
  return names;
}

Status BatchMissing(int64_t id) { return Error("_LEGACY_ERROR_THALWEG_BATCH_MISSING").With("batchId", id); }

}  // namespace

bool IsCompactionId(int64_t id, int64_t interval) { return (id + 1) % interval == 0; }

std::optional<int64_t> LastCompactionId(int64_t id, int64_t interval) {
  const int64_t last = (id + 1) / interval * interval - 1;
  return last >= 0 ? std::optional<int64_t>(last) : std::nullopt;
}

int64_t DeriveCompactInterval(int64_t wanted, int64_t compact_id) {
  const int64_t files = compact_id + 1;
  if (files <= wanted) return files;
  if (wanted >= files / 2) return files;
  for (int64_t interval = std::max<int64_t>(wanted, 1); interval < files; ++interval) {
    if (files % interval == 0) return interval;
  }
  return files;
}

CompactibleLog::CompactibleLog(FileSystem& file_system, std::string directory, CompactibleLogOptions options,
                               Clock& clock, int64_t compact_interval)
    : file_system_(&file_system),
      directory_(std::move(directory)),
      options_(std::move(options)),
      clock_(&clock),
      compact_interval_(compact_interval) {}

Result<CompactibleLog> CompactibleLog::Open(FileSystem& file_system, std::string directory,
                                            CompactibleLogOptions options, Clock& clock) {
  TW_ASSIGN_OR_RETURN(const std::vector<LogFileName> names, ListNames(file_system, directory));
  std::vector<int64_t> compactions;
  for (const LogFileName& name : names) {
    if (name.compact) compactions.push_back(name.id);
  }
  int64_t interval = std::max<int64_t>(options.compact_interval, 1);
  if (compactions.size() >= 2) {
    interval = compactions.back() - compactions[compactions.size() - 2];
  } else if (compactions.size() == 1) {
    interval = DeriveCompactInterval(interval, compactions.front());
  }
  return CompactibleLog(file_system, std::move(directory), std::move(options), clock, interval);
}

std::string CompactibleLog::PathOf(int64_t id) const {
  const std::string name = std::to_string(id);
  return JoinPath(directory_, IsCompactionId(id, compact_interval_) ? name + std::string(kCompactSuffix) : name);
}

Result<std::optional<int64_t>> CompactibleLog::LatestId() const {
  TW_ASSIGN_OR_RETURN(const std::vector<LogFileName> names, ListNames(*file_system_, directory_));
  return names.empty() ? std::optional<int64_t>() : std::optional<int64_t>(names.back().id);
}

Result<std::optional<std::vector<std::string>>> CompactibleLog::Get(int64_t id) const {
  using Lines = std::optional<std::vector<std::string>>;
  const std::string path = PathOf(id);
  const Result<std::string> text = file_system_->ReadWhole(path);
  if (!text.ok()) return IsNotFound(text.status()) ? Result<Lines>(Lines()) : Result<Lines>(text.status());
  const std::vector<std::string_view> lines = SplitLogLines(*text);
  const Result<int> version = ParseLogVersion(lines.empty() ? std::string_view() : lines.front(), kVersion);
  if (!version.ok()) return InLogFile(version.status(), path);
  return Lines(std::vector<std::string>(lines.begin() + 1, lines.end()));
}

Result<std::vector<std::string>> CompactibleLog::LinesUpTo(int64_t last_id) const {
  std::vector<std::string> all;
  for (int64_t id = LastCompactionId(last_id, compact_interval_).value_or(0); id <= last_id; ++id) {
    TW_ASSIGN_OR_RETURN(std::optional<std::vector<std::string>> lines, Get(id));
    if (!lines.has_value()) return BatchMissing(id).WithTrace("reading " + PathOf(id));
    std::move(lines->begin(), lines->end(), std::back_inserter(all));
  }
  return all;
}

Result<std::vector<std::string>> CompactibleLog::AllLines() const {
  TW_ASSIGN_OR_RETURN(const std::optional<int64_t> latest, LatestId());
  if (!latest.has_value()) return std::vector<std::string>();
  return LinesUpTo(*latest);
}

Result<bool> CompactibleLog::Add(int64_t id, const std::vector<std::string>& lines) {
  std::string text = LogVersionLine(kVersion);
  const auto append = [&](const std::string& line) {
    text += '\n';
    text += line;
  };
  if (IsCompactionId(id, compact_interval_) && id > 0) {
    TW_ASSIGN_OR_RETURN(const std::vector<std::string> before, LinesUpTo(id - 1));
    for (const std::string& line : before) {
      if (!options_.retain || options_.retain(line)) append(line);
    }
  }
  for (const std::string& line : lines) append(line);
  const Status written = AtomicWriteFile(*file_system_, PathOf(id), text);
  if (IsAlreadyExists(written)) return false;
  TW_RETURN_NOT_OK(written);
  if (options_.deletion) {
    const Status removed = RemoveExpired(id);
    // The entry stands; what could not be removed is tried again next time.
    if (!removed.ok()) TW_LOG(kWarn, "expired log files left", {"directory", directory_}, {"error", removed});
  }
  return true;
}

Status CompactibleLog::RemoveExpired(int64_t current_id) {
  const int64_t oldest_kept = current_id - options_.min_batches_to_retain;
  // Files are only in the way once a compaction that repeats them has become old itself.
  if (compact_interval_ > oldest_kept + 1) return Status::OK();
  const std::optional<int64_t> needed_from = LastCompactionId(oldest_kept, compact_interval_);
  if (!needed_from.has_value()) return Status::OK();
  const int64_t oldest_time_ms = clock_->NowMillis() - options_.cleanup_delay_ms;
  TW_ASSIGN_OR_RETURN(const std::vector<FileInfo> entries, file_system_->List(directory_));
  for (const FileInfo& entry : entries) {
    const std::optional<LogFileName> name = ParseName(entry.name());
    if (!name.has_value() || name->id >= *needed_from || entry.modification_time_ms > oldest_time_ms) continue;
    TW_RETURN_NOT_OK(RemoveChecksumSidecars(*file_system_, entry.path));
    TW_RETURN_NOT_OK(file_system_->Remove(entry.path));
  }
  return Status::OK();
}

}  // namespace thalweg::data
