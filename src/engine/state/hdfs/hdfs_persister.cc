#include "engine/state/hdfs/hdfs_persister.h"

#include <algorithm>
#include <charconv>

#include "base/fault_point.h"
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

}  // namespace

// Encodes on the strand, stages the bytes at the end.
class HdfsPersister::Writer final : public StateChangeWriter {
 public:
  Writer(HdfsPersister& persister, int64_t version)
      : persister_(persister), version_(version), encoder_(persister.codec_, persister.options_.row_checksum) {}
  Status Append(std::span<const StateChange> changes) override { return encoder_.Append(changes); }
  Status Finish(data::DurableGroup& group) override {
    TW_RETURN_NOT_OK(encoder_.Finish());
    TW_FAULT_POINT("state: delta encoded");
    TW_RETURN_NOT_OK(group.Stage(persister_.Path(version_, false), encoder_.bytes()));
    persister_.NoteDelta(version_, static_cast<int64_t>(encoder_.bytes().size()));
    return Status::OK();
  }

 private:
  HdfsPersister& persister_;
  const int64_t version_;
  StateFileEncoder encoder_;
};

HdfsPersister::HdfsPersister(data::FileSystem& file_system, StateStoreId id, const StateOptions& options,
                             StateRowTypes types, StateCodecKind codec)
    : file_system_(file_system),
      id_(std::move(id)),
      options_(options),
      types_(std::move(types)),
      codec_(codec),
      directory_(id_.Directory()) {}

int64_t HdfsPersister::Files::newest() const {
  const int64_t delta = deltas.empty() ? 0 : deltas.rbegin()->first;
  return std::max(delta, snapshots.empty() ? 0 : snapshots.rbegin()->first);
}

std::string HdfsPersister::Path(int64_t version, bool snapshot) const {
  return data::JoinPath(directory_, std::to_string(version) + (snapshot ? ".snapshot" : ".delta"));
}

StateFileSource HdfsPersister::Source(int64_t version, bool snapshot) const {
  return {.path = data::QualifiedPathText(Path(version, snapshot)),
          .store = "HDFSStateStoreProvider[stateStoreProviderId=StateStoreProviderId[ storeId=" + id_.ToString() + " ]]",
          .snapshot = snapshot,
          .row_checksum = options_.row_checksum,
          .codec = codec_};
}

Result<HdfsPersister::Files> HdfsPersister::ListFiles() const {
  Files files;
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
    const auto version = ParseVersion(name.substr(0, dot));
    if (!version) continue;
    if (name.substr(dot) == ".delta") files.deltas[*version] = file.size_bytes;
    if (name.substr(dot) == ".snapshot") files.snapshots[*version] = file.size_bytes;
  }
  return files;
}

Status HdfsPersister::ReadFile(int64_t version, bool snapshot, const StateVisitor& visitor) const {
  const StateFileSource source = Source(version, snapshot);
  auto file = file_system_.ReadWhole(Path(version, snapshot), INT64_MAX);
  if (!file.ok()) {
    if (!data::IsNotFound(file.status())) return file.status();
    return Error(snapshot ? "CANNOT_LOAD_STATE_STORE.CANNOT_READ_MISSING_SNAPSHOT_FILE"
                          : "CANNOT_LOAD_STATE_STORE.CANNOT_READ_DELTA_FILE_NOT_EXISTS")
        .With("fileToRead", source.path)
        .With("clazz", source.store)
        .Kind(ErrorKind::kEnvironment);
  }
  return DecodeStateFile(source, *file, visitor);
}

Status HdfsPersister::ReadChanges(StateVersion version, const StateVisitor& visitor) {
  return ReadFile(version.value(), false, visitor);
}

Status HdfsPersister::ReadOverlay(int64_t base, int64_t version, RowMap* overlay) const {
  for (int64_t delta = base + 1; delta <= version; ++delta) {
    TW_RETURN_NOT_OK(ReadFile(delta, false, [overlay](std::span<const StateChange> changes) {
      ForEachFetched(changes, *overlay,
                     [&](const StateChange& change) { overlay->Put(change.key, change.removed ? kRemovedMark : change.value); });
      return Status::OK();
    }));
  }
  return Status::OK();
}

// The changes first, then the base without what they say: so every key comes once.
Status HdfsPersister::LoadFrom(int64_t base, int64_t version, const StateVisitor& visitor) const {
  RowMap overlay;
  TW_RETURN_NOT_OK(ReadOverlay(base, version, &overlay));
  if (base > 0) {
    std::vector<StateChange> kept;
    TW_RETURN_NOT_OK(ReadFile(base, true, [&](std::span<const StateChange> entries) {
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

Status HdfsPersister::Load(StateVersion version, const StateVisitor& visitor) {
  if (version.value() < 0) {
    return Error("CANNOT_LOAD_STATE_STORE.UNEXPECTED_VERSION").With("version", static_cast<long long>(version.value()));
  }
  if (version.value() == 0) return Status::OK();
  TW_ASSIGN_OR_RETURN(const Files files, ListFiles());
  const StateVisitor checked = [&](std::span<const StateChange> entries) {
    TW_RETURN_NOT_OK(ValidateFirst(entries));
    return visitor(entries);
  };
  Status first;
  auto snapshot = files.snapshots.upper_bound(version.value());
  while (true) {
    const int64_t base = snapshot == files.snapshots.begin() ? 0 : std::prev(snapshot)->first;
    Status status = LoadFrom(base, version.value(), checked);
    if (status.ok()) return status;
    if (first.ok()) first = std::move(status);
    // A damaged snapshot may be made good by an older one and more deltas, if those are all there.
    const bool damaged = first.condition() == "CANNOT_LOAD_STATE_STORE.UNCATEGORIZED" ||
                         first.condition().starts_with("CANNOT_LOAD_STATE_STORE.CANNOT_READ_SNAPSHOT_FILE");
    if (base == 0 || !damaged) return first;
    --snapshot;
    TW_LOG(kWarn, "state snapshot is damaged, trying an older one", {"store", id_}, {"version", base}, {"error", first});
    TW_RETURN_NOT_OK(visitor({}));  // begin again
  }
}

Status HdfsPersister::Replay(StateVersion snapshot, StateVersion version, const StateVisitor& visitor) {
  return LoadFrom(snapshot.value(), version.value(), [&](std::span<const StateChange> entries) {
    TW_RETURN_NOT_OK(ValidateFirst(entries));
    return visitor(entries);
  });
}

Status HdfsPersister::ValidateFirst(std::span<const StateChange> changes) {
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

Result<std::unique_ptr<StateChangeWriter>> HdfsPersister::BeginChanges(StateVersion version) {
  return std::unique_ptr<StateChangeWriter>(std::make_unique<Writer>(*this, version.value()));
}

Result<StateVersion> HdfsPersister::NewestVersion() {
  TW_ASSIGN_OR_RETURN(const Files files, ListFiles());
  return StateVersion(files.newest());
}

void HdfsPersister::NoteDelta(int64_t version, int64_t bytes) {
  MutexLock lock(mutex_);
  staged_bytes_[version] = bytes;
}

void HdfsPersister::Committed(StateVersion version, int64_t /*entries*/) {
  MutexLock lock(mutex_);
  progress_.newest = std::max(progress_.newest, version.value());
  const auto staged = staged_bytes_.find(version.value());
  if (staged == staged_bytes_.end()) return;
  progress_.delta_bytes += staged->second;
  staged_bytes_.erase(staged_bytes_.begin(), std::next(staged));
}

bool HdfsPersister::SnapshotDue(const Progress& progress, int64_t now_ms) const {
  const int64_t deltas = progress.newest - 1 - progress.last_snapshot;
  if (deltas <= 0) return false;
  if (deltas >= options_.max_deltas_for_snapshot) return true;
  const bool half = progress.delta_bytes >= progress.snapshot_bytes / 2;
  if (half && (progress.delta_bytes >= kLeastFoldBytes || deltas >= kSmallFoldDeltas)) return true;
  return deltas > options_.min_deltas_for_snapshot &&
         now_ms - progress.last_run_ms >= options_.maintenance_interval.count();
}

bool HdfsPersister::PurgeDue(const Progress& progress, int64_t now_ms) const {
  const int64_t fresh = progress.newest - progress.purged_at;
  if (fresh >= std::max<int64_t>(options_.min_versions_to_retain, 10)) return true;
  return fresh > 0 && now_ms - progress.last_run_ms >= options_.maintenance_interval.count();
}

bool HdfsPersister::MaintenanceDue(int64_t now_ms) const {
  MutexLock lock(mutex_);
  if (progress_.newest == 0) return false;
  return !progress_.known || SnapshotDue(progress_, now_ms) || PurgeDue(progress_, now_ms);
}

Result<StateMaintenanceResult> HdfsPersister::Maintain(int64_t now_ms, bool force) {
  StateMaintenanceResult result;
  Progress progress;
  {
    MutexLock lock(mutex_);
    progress = progress_;
  }
  if (progress.newest == 0 && !force) return result;
  TW_ASSIGN_OR_RETURN(Files files, ListFiles());
  if (!progress.known) {
    progress.known = true;
    progress.newest = std::max(progress.newest, files.newest());
    progress.last_run_ms = now_ms;
    if (!files.snapshots.empty()) {
      progress.last_snapshot = files.snapshots.rbegin()->first;
      progress.snapshot_bytes = files.snapshots.rbegin()->second;
    }
    progress.delta_bytes = 0;
    for (const auto& [version, bytes] : files.deltas) {
      if (version > progress.last_snapshot) progress.delta_bytes += bytes;
    }
  }
  const int64_t target = progress.newest - 1;
  const bool timely = now_ms - progress.last_run_ms >= options_.maintenance_interval.count();
  if (SnapshotDue(progress, now_ms) || (force && target > progress.last_snapshot)) {
    result.behind = target - progress.last_snapshot >= 2 * std::min(kSmallFoldDeltas, options_.max_deltas_for_snapshot);
    TW_RETURN_NOT_OK(WriteSnapshot(target));
    result.snapshot_written = true;
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

// From files alone, beside the strand: the changes since the last snapshot in memory, the snapshot streamed through.
Status HdfsPersister::WriteSnapshot(int64_t version) {
  TW_ASSIGN_OR_RETURN(const Files files, ListFiles());
  const auto above = files.snapshots.upper_bound(version);
  const int64_t base = above == files.snapshots.begin() ? 0 : std::prev(above)->first;
  data::DurableGroup group(file_system_);
  TW_ASSIGN_OR_RETURN(const auto file, group.Create(Path(version, true)));
  StateFileEncoder encoder(codec_, options_.row_checksum);
  TW_RETURN_NOT_OK(LoadFrom(base, version, [&](std::span<const StateChange> entries) {
    TW_RETURN_NOT_OK(encoder.Append(entries));
    TW_RETURN_NOT_OK(file->Append(encoder.bytes()));
    encoder.bytes().clear();
    return Status::OK();
  }));
  TW_RETURN_NOT_OK(encoder.Finish());
  TW_RETURN_NOT_OK(file->Append(encoder.bytes()));
  TW_RETURN_NOT_OK(file->Close());
  TW_FAULT_POINT("state: snapshot written");
  return group.Publish(options_.durable);
}

Result<int64_t> HdfsPersister::Purge(const Files& files) const {
  const int64_t oldest_needed = files.newest() - options_.min_versions_to_retain;
  if (oldest_needed <= 0) return int64_t{0};
  const auto above = files.snapshots.upper_bound(oldest_needed);
  if (above == files.snapshots.begin()) return int64_t{0};  // every delta from the first on is needed
  const int64_t base = std::prev(above)->first;
  int64_t deleted = 0;
  for (const bool snapshot : {false, true}) {
    for (const auto& [version, bytes] : snapshot ? files.snapshots : files.deltas) {
      if (version >= base) break;
      const std::string path = Path(version, snapshot);
      TW_RETURN_NOT_OK(data::RemoveChecksumSidecars(file_system_, path));
      Status removed = file_system_.Remove(path);
      if (!removed.ok() && !data::IsNotFound(removed)) return removed;
      ++deleted;
    }
  }
  return deleted;
}

}  // namespace thalweg::engine
