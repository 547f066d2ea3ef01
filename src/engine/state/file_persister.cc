#include "engine/state/file_persister.h"

#include <algorithm>
#include <charconv>
#include <optional>

#include "base/log.h"
#include "data/io/path.h"
#include "data/rowformat/unsafe_row_reader.h"
#include "engine/state/row_hash.h"

namespace thalweg::engine {
namespace {

constexpr int64_t kVisit = 4096;
// Smaller heaps of deltas are folded by count or time, not by size alone: a snapshot costs a sync whatever it holds.
constexpr int64_t kLeastFoldBytes = 1 << 20;
// So many deltas are worth a snapshot that is not larger than twice of them.
constexpr int64_t kSmallFoldDeltas = 100;
// A removal in an overlay: values of puts are rows of at least 8 bytes, or empty for rows without columns.
constexpr std::string_view kRemovedMark("\1", 1);

std::optional<int64_t> ParseVersion(std::string_view text) {
  int64_t version = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), version);
  if (error != std::errc{} || end != text.data() + text.size() || version < 0) return std::nullopt;
  return version;
}

/// each(change) for all, their places in the map fetched ahead.
template <typename Each>
void ForEachFetched(std::span<const StateChange> changes, const RowMap& map, Each each) {
  constexpr size_t kBlock = 32;
  uint64_t hashes[kBlock];
  for (size_t begin = 0; begin < changes.size(); begin += kBlock) {
    const size_t count = std::min(kBlock, changes.size() - begin);
    for (size_t i = 0; i < count; ++i) {
      hashes[i] = HashRow(changes[begin + i].key);
      map.Prefetch(hashes[i]);
    }
    for (size_t i = 0; i < count; ++i) map.PrefetchEntry(hashes[i]);
    for (size_t i = 0; i < count; ++i) each(changes[begin + i]);
  }
}

Status EntriesOf(const RowMap& map, const StateVisitor& visitor) {
  std::vector<StateChange> batch;
  for (RowMap::Slot slot = 0; slot < map.slot_end(); ++slot) {
    if (!map.live(slot) || map.value(slot) == kRemovedMark) continue;
    batch.push_back({map.key(slot), map.value(slot), false});
    if (static_cast<int64_t>(batch.size()) == kVisit) {
      TW_RETURN_NOT_OK(visitor(batch));
      batch.clear();
    }
  }
  return batch.empty() ? Status::OK() : visitor(batch);
}

// Whether another snapshot may make good what this error says of one.
bool SnapshotDamaged(const Status& status) {
  return status.condition() == "CANNOT_LOAD_STATE_STORE.UNCATEGORIZED" ||
         status.condition() == "CANNOT_LOAD_STATE_STORE.UNEXPECTED_FILE_SIZE" ||
         status.condition().starts_with("CANNOT_LOAD_STATE_STORE.CANNOT_READ_SNAPSHOT_FILE");
}

}  // namespace

int64_t StateFiles::newest() const {
  const int64_t change = changes.empty() ? 0 : changes.rbegin()->first;
  return std::max(change, snapshots.empty() ? 0 : snapshots.rbegin()->first);
}

int64_t StateFiles::BaseOf(int64_t version) const {
  const auto above = snapshots.upper_bound(version);
  return above == snapshots.begin() ? 0 : std::prev(above)->first;
}

FilePersister::FilePersister(data::FileSystem& file_system, StateStoreId id, const StateOptions& options, StateRowTypes types,
                             StateFileSuffixes suffixes)
    : file_system_(file_system),
      id_(std::move(id)),
      options_(options),
      types_(std::move(types)),
      directory_(id_.Directory()),
      suffixes_(suffixes) {}

std::string FilePersister::Path(int64_t version, std::string_view suffix) const {
  return data::JoinPath(directory_, std::to_string(version) + std::string(suffix));
}

Result<StateFiles> FilePersister::ListFiles() const {
  StateFiles files;
  auto listed = file_system_.List(directory_);
  if (!listed.ok()) {
    if (data::IsNotFound(listed.status())) return files;
    return listed.status();
  }
  for (const data::FileInfo& file : *listed) {
    if (file.is_directory) continue;
    const std::string_view name = file.name();
    const size_t dot = name.find('.');
    if (dot == std::string_view::npos) continue;
    const std::string_view suffix = name.substr(dot);
    if (suffix != suffixes_.changes && suffix != suffixes_.snapshot) continue;
    const std::string_view stem = name.substr(0, dot);
    if (const auto version = ParseVersion(stem)) {
      (suffix == suffixes_.changes ? files.changes : files.snapshots)[*version] = file.size_bytes;
    } else if (const size_t line = stem.find('_'); line != std::string_view::npos && ParseVersion(stem.substr(0, line))) {
      files.with_ids = true;
    }
  }
  return files;
}

Status FilePersister::ReadChanges(StateVersion version, const StateVisitor& visitor) {
  return ReadChangesFile(version.value(), visitor);
}

Status FilePersister::ReadOverlay(int64_t base, int64_t version, RowMap* overlay) {
  for (int64_t delta = base + 1; delta <= version; ++delta) {
    TW_RETURN_NOT_OK(ReadChangesFile(delta, [overlay](std::span<const StateChange> changes) {
      ForEachFetched(changes, *overlay,
                     [&](const StateChange& change) { overlay->Put(change.key, change.removed ? kRemovedMark : change.value); });
      return Status::OK();
    }));
  }
  return Status::OK();
}

// The changes first, then the base without what they say: so every key comes once.
Status FilePersister::LoadFrom(int64_t base, int64_t version, const StateVisitor& visitor) {
  RowMap overlay;
  TW_RETURN_NOT_OK(ReadOverlay(base, version, &overlay));
  if (base > 0) {
    std::vector<StateChange> kept;
    TW_RETURN_NOT_OK(ReadSnapshot(base, [&](std::span<const StateChange> entries) {
      if (overlay.size() == 0) return visitor(entries);
      kept.clear();
      ForEachFetched(entries, overlay, [&](const StateChange& entry) {
        if (overlay.Find(entry.key) == RowMap::kNoSlot) kept.push_back(entry);
      });
      return kept.empty() ? Status::OK() : visitor(kept);
    }));
  }
  return EntriesOf(overlay, visitor);
}

Status FilePersister::Load(StateVersion version, const StateVisitor& visitor) {
  if (version.value() < 0) {
    return Error("CANNOT_LOAD_STATE_STORE.UNEXPECTED_VERSION").With("version", static_cast<long long>(version.value()));
  }
  if (version.value() == 0) return Status::OK();
  TW_ASSIGN_OR_RETURN(const StateFiles files, ListFiles());
  const StateVisitor checked = [&](std::span<const StateChange> entries) {
    TW_RETURN_NOT_OK(ValidateFirst(entries));
    return visitor(entries);
  };
  return FromBestBase(files, version.value(), [&](int64_t base, bool again) -> Status {
    if (again) TW_RETURN_NOT_OK(visitor({}));  // begin again
    return LoadFrom(base, version.value(), checked);
  });
}

Status FilePersister::FromBestBase(const StateFiles& files, int64_t version, const std::function<Status(int64_t, bool)>& body) const {
  Status first;
  auto snapshot = files.snapshots.upper_bound(version);
  for (bool again = false;; again = true) {
    const int64_t base = snapshot == files.snapshots.begin() ? 0 : std::prev(snapshot)->first;
    Status status = body(base, again);
    if (status.ok()) {
      repairs_ += again ? 1 : 0;
      return status;
    }
    if (first.ok()) first = std::move(status);
    // A damaged snapshot may be made good by an older one and more changes, if those are all there.
    if (base == 0 || !SnapshotDamaged(first)) return first;
    --snapshot;
    TW_LOG(kWarn, "state snapshot is damaged, trying an older one", {"store", id_}, {"version", base}, {"error", first});
  }
}

Status FilePersister::Replay(StateVersion snapshot, StateVersion version, const StateVisitor& visitor) {
  return LoadFrom(snapshot.value(), version.value(), [&](std::span<const StateChange> entries) {
    TW_RETURN_NOT_OK(ValidateFirst(entries));
    return visitor(entries);
  });
}

Status FilePersister::ValidateFirst(std::span<const StateChange> changes) {
  if (validated_ || changes.empty() || !options_.format_validation || types_.key.empty()) return Status::OK();
  validated_ = true;
  const auto fault = [&](const std::vector<data::DataType>& types, std::string_view row, const char* condition,
                         const char* inner_condition) -> Status {
    const auto found = data::FindRowFault(types, row);
    if (!found) return Status::OK();
    const Status inner = Error(inner_condition).With("stateStoreID", id_.ToString()).With("errorMsg", *found);
    return Error(condition).With("msg", inner.message()).Because(inner);
  };
  TW_RETURN_NOT_OK(fault(types_.key, changes[0].key, "CANNOT_LOAD_STATE_STORE.KEY_ROW_FORMAT_VALIDATION_FAILURE",
                         "STATE_STORE_KEY_ROW_FORMAT_VALIDATION_FAILURE"));
  if (!types_.check_value) return Status::OK();
  return fault(types_.value, changes[0].value, "CANNOT_LOAD_STATE_STORE.VALUE_ROW_FORMAT_VALIDATION_FAILURE",
               "STATE_STORE_VALUE_ROW_FORMAT_VALIDATION_FAILURE");
}

Result<StateVersion> FilePersister::NewestVersion() {
  TW_ASSIGN_OR_RETURN(const StateFiles files, ListFiles());
  return StateVersion(files.newest());
}

void FilePersister::NoteStaged(int64_t version, int64_t bytes, bool snapshot) {
  MutexLock lock(mutex_);
  staged_[version] = {bytes, snapshot};
}

void FilePersister::Committed(StateVersion version, int64_t /*entries*/) {
  MutexLock lock(mutex_);
  progress_.newest = std::max(progress_.newest, version.value());
  const auto staged = staged_.find(version.value());
  if (staged == staged_.end()) return;
  if (staged->second.snapshot) {
    newest_snapshot_ = version.value();
    progress_.last_snapshot = std::max(progress_.last_snapshot, version.value());
    progress_.snapshot_bytes = staged->second.bytes;
    progress_.delta_bytes = 0;
  } else {
    progress_.delta_bytes += staged->second.bytes;
  }
  staged_.erase(staged_.begin(), std::next(staged));
}

bool FilePersister::SnapshotDue(const Progress& progress, int64_t now_ms) const {
  const int64_t deltas = progress.newest - 1 - progress.last_snapshot;
  if (deltas <= 0) return false;
  if (deltas >= options_.max_deltas_for_snapshot) return true;
  const bool half = progress.delta_bytes >= progress.snapshot_bytes / 2;
  if (half && (progress.delta_bytes >= kLeastFoldBytes || deltas >= kSmallFoldDeltas)) return true;
  return deltas > options_.min_deltas_for_snapshot &&
         now_ms - progress.last_run_ms >= options_.maintenance_interval.count();
}

bool FilePersister::PurgeDue(const Progress& progress, int64_t now_ms) const {
  const int64_t fresh = progress.newest - progress.purged_at;
  if (fresh >= std::max<int64_t>(options_.min_versions_to_retain, 10)) return true;
  return fresh > 0 && now_ms - progress.last_run_ms >= options_.maintenance_interval.count();
}

bool FilePersister::MaintenanceDue(int64_t now_ms) const {
  MutexLock lock(mutex_);
  if (progress_.newest == 0) return false;
  return !progress_.known || SnapshotDue(progress_, now_ms) || PurgeDue(progress_, now_ms);
}

Result<StateMaintenanceResult> FilePersister::Maintain(int64_t now_ms, bool force) {
  StateMaintenanceResult result;
  Progress progress;
  {
    MutexLock lock(mutex_);
    progress = progress_;
  }
  if (progress.newest == 0 && !force) return result;
  TW_ASSIGN_OR_RETURN(StateFiles files, ListFiles());
  if (!progress.known) {
    progress.known = true;
    progress.newest = std::max(progress.newest, files.newest());
    progress.last_run_ms = now_ms;
    if (!files.snapshots.empty()) {
      progress.last_snapshot = files.snapshots.rbegin()->first;
      progress.snapshot_bytes = files.snapshots.rbegin()->second;
    }
    progress.delta_bytes = 0;
    for (const auto& [version, bytes] : files.changes) {
      if (version > progress.last_snapshot) progress.delta_bytes += bytes;
    }
  }
  const int64_t target = progress.newest - 1;
  const bool timely = now_ms - progress.last_run_ms >= options_.maintenance_interval.count();
  if (SnapshotDue(progress, now_ms) || (force && target > progress.last_snapshot)) {
    result.behind = target - progress.last_snapshot >= 2 * std::min(kSmallFoldDeltas, options_.max_deltas_for_snapshot);
    TW_RETURN_NOT_OK(FromBestBase(files, target, [&](int64_t base, bool) { return WriteSnapshot(base, target); }));
    result.snapshot_written = true;
    newest_snapshot_ = target;
    TW_ASSIGN_OR_RETURN(files, ListFiles());
    progress.last_snapshot = target;
    progress.snapshot_bytes = files.snapshots[target];
    progress.delta_bytes = 0;
  }
  if (PurgeDue(progress, now_ms) || result.snapshot_written || force) {
    TW_ASSIGN_OR_RETURN(result.files_deleted, Purge(files));
    progress.purged_at = progress.newest;
  }
  if (timely || result.snapshot_written) progress.last_run_ms = now_ms;
  MutexLock lock(mutex_);
  progress.newest = std::max(progress.newest, progress_.newest);
  progress_ = progress;
  return result;
}

Status FilePersister::RemoveStateFile(const std::string& path) const {
  TW_RETURN_NOT_OK(data::RemoveChecksumSidecars(file_system_, path));
  Status removed = file_system_.Remove(path);
  return data::IsNotFound(removed) ? Status::OK() : removed;
}

Result<int64_t> FilePersister::Purge(StateFiles files) {
  const int64_t oldest_needed = files.newest() - options_.min_versions_to_retain;
  if (oldest_needed <= 0) return int64_t{0};
  const int64_t base = files.BaseOf(oldest_needed);
  if (base == 0) return int64_t{0};  // all changes from the first on are needed
  int64_t deleted = 0;
  const auto purge = [&](std::map<int64_t, int64_t>* sizes, std::string_view suffix) -> Status {
    while (!sizes->empty() && sizes->begin()->first < base) {
      TW_RETURN_NOT_OK(RemoveStateFile(Path(sizes->begin()->first, suffix)));
      sizes->erase(sizes->begin());
      ++deleted;
    }
    return Status::OK();
  };
  TW_RETURN_NOT_OK(purge(&files.changes, suffixes_.changes));
  TW_RETURN_NOT_OK(purge(&files.snapshots, suffixes_.snapshot));
  TW_ASSIGN_OR_RETURN(const int64_t shared, PurgeShared(files));
  return deleted + shared;
}

}  // namespace thalweg::engine
