#include "connectors/delta/delta_log.h"

#include <algorithm>
#include <charconv>

#include "base/log.h"
#include "base/text.h"
#include "connectors/delta/delta_damaged.h"
#include "data/io/path.h"
#include "data/text/datetime.h"

namespace thalweg::connectors {

namespace {

using data::FileInfo;
using data::JoinPath;

constexpr int kMaxParts = 100000;

std::optional<int64_t> Digits(std::string_view text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty() || value < 0) return {};
  if (value == INT64_MAX) return {};  // no version may follow it
  return value;
}

std::vector<std::string_view> SplitDots(std::string_view name) {
  std::vector<std::string_view> parts;
  for (size_t at = 0; at <= name.size();) {
    const size_t dot = std::min(name.find('.', at), name.size());
    parts.push_back(name.substr(at, dot - at));
    at = dot + 1;
  }
  return parts;
}

/// Parts of multi-part checkpoints by version and number of parts.
using PartSets = std::map<std::pair<int64_t, int>, std::map<int, std::string>>;

void ReadCheckpointName(int64_t version, const std::vector<std::string_view>& parts, const std::string& path,
                        DeltaLogListing* listing, PartSets* part_sets) {
  if (parts.size() == 3 && parts[2] == "parquet") {
    listing->checkpoints.push_back({.version = version, .parts = 1, .paths = {path}});
  } else if (parts.size() == 4 && (parts[3] == "parquet" || parts[3] == "json")) {
    listing->checkpoints.push_back({.version = version, .parts = 1, .paths = {path}, .is_uuid = true});
  } else if (parts.size() == 5 && parts[4] == "parquet") {
    const auto part = Digits(parts[2]);
    const auto total = Digits(parts[3]);
    if (!part || !total || *part < 1 || *total < *part || *total > kMaxParts) return;
    (*part_sets)[{version, static_cast<int>(*total)}][static_cast<int>(*part)] = path;
  }
}

// Newest first; of one version: UUID-named, multi-part, single.
bool Preferred(const DeltaLogListing::Checkpoint& a, const DeltaLogListing::Checkpoint& b) {
  if (a.version != b.version) return a.version > b.version;
  if (a.is_uuid != b.is_uuid) return a.is_uuid;
  return a.parts > b.parts;
}

std::string TimestampText(int64_t ms) {
  std::string text;
  data::AppendTimestampNtz(ms * 1000, &text);
  return text;
}

}  // namespace

std::string DeltaLog::log_path() const { return JoinPath(table_path_, "_delta_log"); }

std::string DeltaLog::CommitPath(int64_t version) const { return JoinPath(log_path(), ZeroPadded(version, 20) + ".json"); }

Result<DeltaLogListing> DeltaLog::List() const {
  DeltaLogListing listing;
  auto entries = file_system_.List(log_path());
  if (!entries.ok()) {
    if (data::IsNotFound(entries.status())) return listing;
    return entries.status();
  }
  PartSets part_sets;
  for (FileInfo& entry : *entries) {
    if (entry.is_directory) continue;
    const std::string name(entry.name());
    const auto parts = SplitDots(name);
    const auto version = Digits(parts[0]);
    if (!version || parts[0].size() < 20) continue;
    if (parts.size() == 2 && parts[1] == "json") {
      listing.commits.emplace(*version, std::move(entry));
    } else if (parts.size() > 2 && parts[1] == "checkpoint" && entry.size_bytes > 0) {
      ReadCheckpointName(*version, parts, entry.path, &listing, &part_sets);
    }
  }
  for (auto& [key, parts] : part_sets) {
    if (static_cast<int>(parts.size()) != key.second) continue;  // incomplete: somebody is writing it, or died
    DeltaLogListing::Checkpoint checkpoint{.version = key.first, .parts = key.second, .paths = {}};
    for (auto& [number, path] : parts) checkpoint.paths.push_back(std::move(path));
    listing.checkpoints.push_back(std::move(checkpoint));
  }
  std::stable_sort(listing.checkpoints.begin(), listing.checkpoints.end(), Preferred);
  return listing;
}

Result<DeltaCommitPtr> DeltaLog::ReadCommit(int64_t version) const {
  const std::string path = CommitPath(version);
  TW_ASSIGN_OR_RETURN(const std::string text, file_system_.ReadWhole(path));
  TW_ASSIGN_OR_RETURN(DeltaCommit commit, ParseDeltaCommit(text, path));
  return DeltaCommitPtr(std::make_shared<const DeltaCommit>(std::move(commit)));
}

Result<DeltaSnapshotPtr> DeltaLog::LoadFrom(const DeltaLogListing& listing, const DeltaLogListing::Checkpoint* checkpoint,
                                            int64_t target) const {
  DeltaSnapshotPtr snapshot;
  int64_t next = 0;
  if (checkpoint != nullptr) {
    TW_ASSIGN_OR_RETURN(DeltaCommit contents, ReadDeltaCheckpoint(file_system_, log_path(), *checkpoint));
    TW_ASSIGN_OR_RETURN(snapshot, DeltaSnapshot::After(nullptr, std::make_shared<const DeltaCommit>(std::move(contents)),
                                                       checkpoint->version));
    next = checkpoint->version + 1;
  }
  for (; next <= target; ++next) {
    if (!listing.commits.contains(next)) {
      if (snapshot == nullptr) {
        return Error("DELTA_TRUNCATED_TRANSACTION_LOG").With("path", CommitPath(next)).With("version", target)
            .With("logRetentionKey", "delta.logRetentionDuration").With("logRetention", "30 days")
            .With("checkpointRetentionKey", "delta.checkpointRetentionDuration").With("checkpointRetention", "2 days");
      }
      const auto after = listing.commits.upper_bound(next);  // none when an unusable checkpoint is all that there is
      return Error("DELTA_VERSIONS_NOT_CONTIGUOUS").With("versionList", "gap at " + std::to_string(next))
          .With("startVersion", next - 1).With("endVersion", after == listing.commits.end() ? target : after->first)
          .With("versionToLoad", target);
    }
    TW_ASSIGN_OR_RETURN(DeltaCommitPtr commit, ReadCommit(next));
    TW_ASSIGN_OR_RETURN(snapshot, DeltaSnapshot::After(snapshot, std::move(commit), next));
  }
  if (!snapshot->complete()) return DeltaDamaged(log_path() + " has no protocol or no metadata");
  return snapshot;
}

Result<DeltaSnapshotPtr> DeltaLog::Load(std::optional<int64_t> target) const {
  TW_ASSIGN_OR_RETURN(const DeltaLogListing listing, List());
  if (listing.commits.empty() && listing.checkpoints.empty()) return DeltaSnapshotPtr();
  int64_t newest = listing.commits.empty() ? -1 : listing.commits.rbegin()->first;
  if (!listing.checkpoints.empty()) newest = std::max(newest, listing.checkpoints.front().version);
  const int64_t wanted = target.value_or(newest);
  if (wanted < 0 || wanted > newest) {
    const int64_t earliest = listing.commits.empty() ? newest : listing.commits.begin()->first;
    return Error("DELTA_VERSION_NOT_FOUND").With("userVersion", wanted).With("earliest", earliest).With("latest", newest);
  }
  for (const auto& checkpoint : listing.checkpoints) {
    if (checkpoint.version > wanted) continue;
    auto loaded = LoadFrom(listing, &checkpoint, wanted);
    if (loaded.ok() || loaded.status().condition().starts_with("DELTA_")) return loaded;
    TW_LOG(kWarn, "delta checkpoint unusable", {"path", checkpoint.paths.front()}, {"error", loaded.status()});
  }
  return LoadFrom(listing, nullptr, wanted);
}

void DeltaLog::Remember(const DeltaSnapshotPtr& snapshot) {
  const auto info = file_system_.Stat(CommitPath(snapshot->version()));
  if (!info.ok()) return;
  const MutexLock lock(mutex_);
  if (seen_.snapshot != nullptr && seen_.snapshot->version() > snapshot->version() &&
      seen_.snapshot->metadata().id == snapshot->metadata().id) {
    return;
  }
  seen_ = {.snapshot = snapshot, .size = info->size_bytes, .modification_time = info->modification_time_ms};
}

void DeltaLog::Advance(const DeltaSnapshotPtr& snapshot) { Remember(snapshot); }

Result<DeltaSnapshotPtr> DeltaLog::Update() {
  Seen seen;
  {
    const MutexLock lock(mutex_);
    seen = seen_;
  }
  if (seen.snapshot != nullptr) {
    const auto info = file_system_.Stat(CommitPath(seen.snapshot->version()));
    if (!info.ok() && !data::IsNotFound(info.status())) return info.status();
    if (!info.ok() || info->size_bytes != seen.size || info->modification_time_ms != seen.modification_time) {
      const MutexLock lock(mutex_);
      seen_ = {};
      seen.snapshot = nullptr;
    }
  }
  DeltaSnapshotPtr snapshot = seen.snapshot;
  if (snapshot == nullptr) {
    TW_ASSIGN_OR_RETURN(snapshot, Load({}));
    if (snapshot == nullptr) return snapshot;
  }
  while (true) {
    auto commit = ReadCommit(snapshot->version() + 1);
    if (!commit.ok() && data::IsNotFound(commit.status())) break;
    if (!commit.ok()) return commit.status();
    TW_ASSIGN_OR_RETURN(snapshot, DeltaSnapshot::After(snapshot, std::move(*commit), snapshot->version() + 1));
  }
  if (snapshot != seen.snapshot) Remember(snapshot);
  return snapshot;
}

Result<DeltaSnapshotPtr> DeltaLog::At(int64_t version) {
  {
    const MutexLock lock(mutex_);
    if (seen_.snapshot != nullptr && seen_.snapshot->version() == version) return seen_.snapshot;
  }
  return Load(version);
}

Error DeltaTimestampAfterLastCommit(int64_t timestamp_ms, int64_t last_ms) {
  return Error("DELTA_TIMESTAMP_GREATER_THAN_COMMIT").With("providedTimestamp", TimestampText(timestamp_ms))
      .With("lastCommitTimestamp", TimestampText(last_ms)).With("maximumTimestamp", TimestampText(last_ms));
}

Result<std::vector<DeltaCommitTime>> DeltaLog::CommitTimes() {
  TW_ASSIGN_OR_RETURN(const DeltaSnapshotPtr newest, Update());
  // Commits are read only where a timestamp may stand in them.
  const bool in_commits = newest != nullptr && newest->metadata().Property("delta.enableInCommitTimestamps").value_or("") == "true";
  TW_ASSIGN_OR_RETURN(const DeltaLogListing listing, List());
  std::vector<DeltaCommitTime> times;
  for (const auto& [version, info] : listing.commits) {
    int64_t timestamp = info.modification_time_ms;
    if (in_commits) {
      TW_ASSIGN_OR_RETURN(const DeltaCommitPtr commit, ReadCommit(version));
      if (commit->info && commit->info->in_commit_timestamp) timestamp = *commit->info->in_commit_timestamp;
    }
    if (!times.empty()) timestamp = std::max(timestamp, times.back().timestamp_ms + 1);
    times.push_back({.version = version, .timestamp_ms = timestamp});
  }
  return times;
}

Result<int64_t> DeltaLog::VersionAt(int64_t timestamp_ms) {
  TW_ASSIGN_OR_RETURN(const std::vector<DeltaCommitTime> times, CommitTimes());
  if (times.empty()) return InternalError("a Delta log without commits has no timestamps");
  if (timestamp_ms < times.front().timestamp_ms) {
    const std::string earliest = TimestampText(times.front().timestamp_ms);
    return Error("DELTA_TIMESTAMP_EARLIER_THAN_COMMIT_RETENTION").With("userTimestamp", TimestampText(timestamp_ms))
        .With("commitTs", earliest).With("timestampString", earliest);
  }
  if (timestamp_ms > times.back().timestamp_ms) return DeltaTimestampAfterLastCommit(timestamp_ms, times.back().timestamp_ms);
  const auto after = std::upper_bound(times.begin(), times.end(), timestamp_ms,
                                      [](int64_t wanted, const DeltaCommitTime& commit) { return wanted < commit.timestamp_ms; });
  return std::prev(after)->version;
}

}  // namespace thalweg::connectors
