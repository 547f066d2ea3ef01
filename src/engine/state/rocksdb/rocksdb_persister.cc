#include "engine/state/rocksdb/rocksdb_persister.h"

#include <charconv>

#include "base/fault_point.h"
#include "base/log.h"
#include "data/io/path.h"
#include "engine/state/hdfs/state_file_format.h"

namespace thalweg::engine {
namespace {

// More than this in memory: the database is opened again from its files, which are read where they lie.
constexpr int64_t kMostDatabaseBytes = 8 << 20;

// The version that stands at the head of a changelog, as Spark finds it: a text "v<number>", else it is version 1.
int64_t ChangelogVersion(std::string_view head) {
  if (head.size() < 2) return 1;
  const size_t size = static_cast<uint8_t>(head[0]) << 8 | static_cast<uint8_t>(head[1]);
  if (size < 2 || head.size() < 2 + size || head[2] != 'v') return 1;
  int64_t version = 0;
  const char* last = head.data() + 2 + size;
  const auto [end, error] = std::from_chars(head.data() + 3, last, version);
  return error == std::errc{} && end == last ? version : 1;
}

}  // namespace

// Encodes on the strand, stages the bytes at the end.
class RocksDbPersister::ChangelogWriter final : public StateChangeWriter {
 public:
  ChangelogWriter(RocksDbPersister& persister, int64_t version)
      : persister_(persister), version_(version), encoder_(persister.codec_, /*row_checksum=*/false) {}

  Status Append(std::span<const StateChange> changes) override {
    const SpentTime spent(&spent_);
    bytes_.clear();
    sizes_.clear();
    for (const StateChange& change : changes) {
      size_t begin = bytes_.size();
      if (change.removed) {
        key_.clear();
        TW_RETURN_NOT_OK(persister_.encoding_.EncodeKey(change.key, &key_));
        persister_.encoding_.EncodeRemovedKey(key_, &bytes_);
        sizes_.push_back({bytes_.size() - begin, 0});
        continue;
      }
      TW_RETURN_NOT_OK(persister_.encoding_.EncodeKey(change.key, &bytes_));
      const size_t key_bytes = bytes_.size() - begin;
      key_.assign(bytes_, begin, key_bytes);
      begin = bytes_.size();
      persister_.encoding_.EncodeValue(key_, change.value, &bytes_);
      sizes_.push_back({key_bytes, bytes_.size() - begin});
    }
    records_.clear();
    const char* at = bytes_.data();
    for (size_t i = 0; i < changes.size(); ++i) {
      const auto [key_bytes, value_bytes] = sizes_[i];
      records_.push_back({{at, key_bytes}, {at + key_bytes, value_bytes}, changes[i].removed});
      at += key_bytes + value_bytes;
      puts_ += changes[i].removed ? 0 : 1;
    }
    put_bytes_ += static_cast<int64_t>(bytes_.size());
    return encoder_.Append(records_);
  }

  Status Finish(data::DurableGroup& group) override {
    {
      const SpentTime spent(&spent_);
      TW_RETURN_NOT_OK(encoder_.Finish());
      TW_FAULT_POINT("state: changelog encoded");
      TW_RETURN_NOT_OK(group.Stage(persister_.ChangesPath(version_), encoder_.bytes()));
    }
    persister_.Count([this](RocksDbMetrics& metrics) {
      metrics.changelog += spent_;
      metrics.puts += puts_;
      metrics.put_bytes += put_bytes_;
    });
    persister_.NoteStaged(version_, static_cast<int64_t>(encoder_.bytes().size()), false);
    return Status::OK();
  }

 private:
  RocksDbPersister& persister_;
  const int64_t version_;
  StateFileEncoder encoder_;
  std::chrono::nanoseconds spent_{0};
  int64_t puts_ = 0;
  int64_t put_bytes_ = 0;
  // Scratch of Append.
  std::string bytes_;
  std::string key_;
  std::vector<std::pair<size_t, size_t>> sizes_;
  std::vector<StateChange> records_;
};

// Takes the changes into the strand's database, whose tables and archive it stages.
class RocksDbPersister::SnapshotWriter final : public StateChangeWriter {
 public:
  SnapshotWriter(RocksDbPersister& persister, int64_t version) : persister_(persister), version_(version) {}

  Status Append(std::span<const StateChange> changes) override {
    RocksDbMetrics work;
    TW_RETURN_NOT_OK(TakeIn(changes, &work));
    persister_.Count([&work](RocksDbMetrics& metrics) {
      metrics.put += work.put;
      metrics.puts += work.puts;
      metrics.put_bytes += work.put_bytes;
    });
    return Status::OK();
  }

  Status Finish(data::DurableGroup& group) override {
    TW_RETURN_NOT_OK(persister_.StageSnapshot(*persister_.database_, version_, group));
    persister_.database_version_ = version_;
    // A large one is read from its files next time: its tables need not wait in memory.
    if (persister_.database_->memory_bytes() > kMostDatabaseBytes) persister_.database_.reset();
    return Status::OK();
  }

 private:
  Status TakeIn(std::span<const StateChange> changes, RocksDbMetrics* work) {
    const SpentTime spent(&work->put);
    for (const StateChange& change : changes) {
      key_.clear();
      value_.clear();
      TW_RETURN_NOT_OK(persister_.encoding_.EncodeKey(change.key, &key_));
      if (change.removed) {
        TW_RETURN_NOT_OK(persister_.database_->Remove(key_));
        continue;
      }
      persister_.encoding_.EncodeValue(key_, change.value, &value_);
      TW_RETURN_NOT_OK(persister_.database_->Put(key_, value_));
      ++work->puts;
      work->put_bytes += static_cast<int64_t>(key_.size() + value_.size());
    }
    return persister_.database_->Charge();
  }

  RocksDbPersister& persister_;
  const int64_t version_;
  std::string key_;
  std::string value_;
};

RocksDbPersister::RocksDbPersister(data::FileSystem& file_system, StateStoreId id, const StateOptions& options,
                                   StateRowTypes types, StateCodecKind codec, StateMemory memory)
    : FilePersister(file_system, std::move(id), options, std::move(types), {".changelog", ".zip"}),
      codec_(codec),
      encoding_(types_.key, types_.prefix_columns, options_.row_checksum,
                "RocksDBStateStoreProvider[stateStoreProviderId=StateStoreProviderId[ storeId=" + id_.ToString() + " ]]"),
      memory_(memory) {}

RocksDbPersister::~RocksDbPersister() = default;

Status RocksDbPersister::CheckIds(const StateFiles& files) const {
  return files.with_ids ? Unsupported("RocksDB state with checkpoint ids (checkpoint format version 2)") : Status::OK();
}

Status RocksDbPersister::Load(StateVersion version, const StateVisitor& visitor) {
  if (version.value() > 0) {
    TW_ASSIGN_OR_RETURN(const StateFiles files, ListFiles());
    TW_RETURN_NOT_OK(CheckIds(files));
  }
  std::chrono::nanoseconds load{0};
  Status loaded;
  {
    const SpentTime spent(&load);
    loaded = FilePersister::Load(version, visitor);
  }
  Count([load](RocksDbMetrics& metrics) { metrics.load += load; });
  return loaded;
}

Status RocksDbPersister::ReadRecords(int64_t version, const StateVisitor& visitor) const {
  const std::string path = ChangesPath(version);
  auto file = file_system_.ReadWhole(path, INT64_MAX);
  if (!file.ok()) {
    if (!data::IsNotFound(file.status())) return file.status();
    return Error("CANNOT_LOAD_STATE_STORE.CANNOT_READ_STREAMING_STATE_FILE")
        .With("fileToRead", data::QualifiedPathText(path))
        .Kind(ErrorKind::kEnvironment);
  }
  std::string head;
  const auto more = StateDecompressor::Make(codec_, *file)->Next(&head);  // damage is told below
  const int64_t form = more.ok() ? ChangelogVersion(head) : 1;
  if (form == 2 || form == 4) return Unsupported("RocksDB state with column families");
  if (form == 3) return Unsupported("RocksDB state with checkpoint ids (checkpoint format version 2)");
  if (form != 1) {
    return Error("CANNOT_LOAD_STATE_STORE.INVALID_CHANGE_LOG_READER_VERSION").With("version", static_cast<long long>(form));
  }
  const StateFileSource source{
      .path = data::QualifiedPathText(path), .store = id_.ToString(), .any_value_size = true, .codec = codec_};
  return DecodeStateFile(source, *file, visitor);
}

Status RocksDbPersister::ReadChangesFile(int64_t version, const StateVisitor& visitor) {
  std::chrono::nanoseconds replay{0};
  TW_RETURN_NOT_OK(ReplayChangelog(version, visitor, &replay));
  Count([replay](RocksDbMetrics& metrics) {
    metrics.replay += replay;
    ++metrics.changelogs_replayed;
  });
  return Status::OK();
}

Status RocksDbPersister::ReplayChangelog(int64_t version, const StateVisitor& visitor, std::chrono::nanoseconds* replay) const {
  const SpentTime spent(replay);
  std::deque<std::string> texts;
  std::vector<StateChange> changes;
  return ReadRecords(version, [&](std::span<const StateChange> records) -> Status {
    texts.clear();
    changes.clear();
    for (const StateChange& record : records) {
      StateChange change{.removed = record.removed};
      if (record.removed) {
        TW_ASSIGN_OR_RETURN(const std::string_view key, encoding_.DecodeRemovedKey(record.key));
        TW_ASSIGN_OR_RETURN(change.key, encoding_.DecodeKey(key, &texts));
      } else {
        TW_ASSIGN_OR_RETURN(change.key, encoding_.DecodeKey(record.key, &texts));
        TW_ASSIGN_OR_RETURN(change.value, encoding_.DecodeValue(record.key, record.value));
      }
      changes.push_back(change);
    }
    return visitor(changes);
  });
}

Status RocksDbPersister::ReadSnapshot(int64_t version, const StateVisitor& visitor) {
  std::chrono::nanoseconds load{0};
  TW_RETURN_NOT_OK(ScanSnapshot(version, visitor, &load));
  Count([load](RocksDbMetrics& metrics) {
    metrics.load_snapshot += load;
    ++metrics.snapshots_loaded;
  });
  return Status::OK();
}

Status RocksDbPersister::ScanSnapshot(int64_t version, const StateVisitor& visitor, std::chrono::nanoseconds* load) const {
  const SpentTime spent(load);
  const std::string path = SnapshotPath(version);
  TW_ASSIGN_OR_RETURN(const StoredSnapshot snapshot, ReadStoredSnapshot(file_system_, directory_, path));
  const auto image = CheckImage(snapshot.image);
  if (!image.ok()) return SnapshotLoadError(path, image.status());
  Status visited;  // the visitor's errors are no damage
  std::deque<std::string> texts;
  std::vector<StateChange> changes;
  const Status scanned = ScanImage(file_system_, *image, &verified_, memory_.strand, [&](std::span<const DatabaseEntry> entries) -> Status {
    texts.clear();
    changes.clear();
    for (const DatabaseEntry& entry : entries) {
      StateChange change;
      TW_ASSIGN_OR_RETURN(change.key, encoding_.DecodeKey(entry.key, &texts));
      TW_ASSIGN_OR_RETURN(change.value, encoding_.DecodeValue(entry.key, entry.value));
      changes.push_back(change);
    }
    visited = visitor(changes);
    return visited;
  });
  if (!visited.ok()) return visited;
  return scanned.ok() ? scanned : SnapshotLoadError(path, scanned);
}

Result<std::unique_ptr<SnapshotBuilder>> RocksDbPersister::BuildFrom(int64_t base, int64_t version,
                                                                     MemoryAccount* memory) const {
  std::optional<StoredSnapshot> snapshot;
  const std::string path = SnapshotPath(base);
  if (base > 0) {
    TW_ASSIGN_OR_RETURN(snapshot, ReadStoredSnapshot(file_system_, directory_, path));
  }
  auto builder = SnapshotBuilder::Open(file_system_, directory_, snapshot, verified_, memory);
  if (!builder.ok()) return SnapshotLoadError(path, builder.status());
  for (int64_t changelog = base + 1; changelog <= version; ++changelog) {
    TW_RETURN_NOT_OK(ReadRecords(changelog, [&](std::span<const StateChange> records) -> Status {
      for (const StateChange& record : records) {
        if (!record.removed) {
          TW_RETURN_NOT_OK((*builder)->Put(record.key, record.value));
          continue;
        }
        TW_ASSIGN_OR_RETURN(const std::string_view key, encoding_.DecodeRemovedKey(record.key));
        TW_RETURN_NOT_OK((*builder)->Remove(key));
      }
      return (*builder)->Charge();
    }));
  }
  return builder;
}

Status RocksDbPersister::TakeDatabaseTo(int64_t version) {
  if (database_ != nullptr && database_version_ == version) return Status::OK();
  database_.reset();
  TW_ASSIGN_OR_RETURN(const StateFiles files, ListFiles());
  return FromBestBase(files, version, [&](int64_t base, bool) -> Status {
    TW_ASSIGN_OR_RETURN(database_, BuildFrom(base, version, memory_.strand));
    return Status::OK();
  });
}

Result<std::unique_ptr<StateChangeWriter>> RocksDbPersister::BeginChanges(StateVersion version) {
  if (!newest_snapshot_) {
    TW_ASSIGN_OR_RETURN(const StateFiles files, ListFiles());
    TW_RETURN_NOT_OK(CheckIds(files));
    newest_snapshot_ = files.snapshots.empty() ? 0 : files.snapshots.rbegin()->first;
  }
  if (options_.rocksdb_changelog && version.value() > *newest_snapshot_) {
    database_.reset();
    return std::unique_ptr<StateChangeWriter>(std::make_unique<ChangelogWriter>(*this, version.value()));
  }
  TW_RETURN_NOT_OK(TakeDatabaseTo(version.value() - 1));
  database_version_ = -1;  // until the writer is through
  return std::unique_ptr<StateChangeWriter>(std::make_unique<SnapshotWriter>(*this, version.value()));
}

Status RocksDbPersister::StageSnapshot(SnapshotBuilder& builder, int64_t version, data::DurableGroup& group) {
  StagingWork work;
  TW_ASSIGN_OR_RETURN(StagedSnapshot staged, builder.Stage(group, SnapshotPath(version), &work));
  Count([&work](RocksDbMetrics& metrics) { metrics.staging = work; });
  TW_FAULT_POINT("state: snapshot staged");
  NoteStaged(version, staged.zip_bytes + staged.table_bytes, true);
  MutexLock lock(tables_mutex_);
  staged_tables_[version] = std::move(staged.tables);
  return Status::OK();
}

void RocksDbPersister::Committed(StateVersion version, int64_t entries) {
  {
    MutexLock lock(tables_mutex_);
    const auto staged = staged_tables_.find(version.value());
    if (staged != staged_tables_.end()) {
      tables_[version.value()] = std::move(staged->second);
      staged_tables_.erase(staged);
    }
  }
  FilePersister::Committed(version, entries);
}

void RocksDbPersister::Report(const StateMetrics&, StateFormatMetrics* custom) {
  Count([&](RocksDbMetrics& metrics) {
    metrics.snapshots_repaired += TakeRepairs();
    metrics.PutInto(custom);
    metrics = {};
  });
}

// Beside the strand, from files alone: the tables of the base stay as they are.
Status RocksDbPersister::WriteSnapshot(int64_t base, int64_t version) {
  TW_ASSIGN_OR_RETURN(const auto builder, BuildFrom(base, version, memory_.maintenance));
  StagingWork unreported;
  data::DurableGroup group(file_system_);
  TW_ASSIGN_OR_RETURN(StagedSnapshot staged, builder->Stage(group, SnapshotPath(version), &unreported));
  TW_FAULT_POINT("state: snapshot written");
  TW_RETURN_NOT_OK(group.Publish(options_.durable));
  MutexLock lock(tables_mutex_);
  tables_[version] = std::move(staged.tables);
  return Status::OK();
}

Result<std::set<std::string>> RocksDbPersister::TablesOf(int64_t version) {
  {
    MutexLock lock(tables_mutex_);
    const auto known = tables_.find(version);
    if (known != tables_.end()) return known->second;
  }
  TW_ASSIGN_OR_RETURN(const SnapshotMetadata metadata, ReadStoredMetadata(file_system_, SnapshotPath(version)));
  std::set<std::string> names;
  for (const SnapshotSst& sst : metadata.ssts) names.insert(sst.stored_name);
  MutexLock lock(tables_mutex_);
  return tables_.emplace(version, std::move(names)).first->second;
}

Result<int64_t> RocksDbPersister::PurgeShared(const StateFiles& kept) {
  const std::string directory = TablesDirectory(directory_);
  auto listed = file_system_.List(directory);
  if (!listed.ok()) return data::IsNotFound(listed.status()) ? Result<int64_t>(int64_t{0}) : Result<int64_t>(listed.status());
  // What was staged is asked after the listing and before the snapshots: it is among the one or the others.
  std::set<std::string> needed;
  {
    MutexLock lock(tables_mutex_);
    tables_.erase(tables_.begin(), tables_.lower_bound(kept.snapshots.empty() ? INT64_MAX : kept.snapshots.begin()->first));
    for (const auto& [version, names] : staged_tables_) needed.insert(names.begin(), names.end());
    for (const auto& [version, names] : tables_) needed.insert(names.begin(), names.end());
  }
  TW_ASSIGN_OR_RETURN(const StateFiles files, ListFiles());
  for (const auto& [version, bytes] : files.snapshots) {
    const auto names = TablesOf(version);
    if (!names.ok()) {
      TW_LOG(kWarn, "table files are kept: a snapshot cannot be read", {"store", id_}, {"version", version}, {"error", names.status()});
      return int64_t{0};
    }
    needed.insert(names->begin(), names->end());
  }
  int64_t deleted = 0;
  for (const data::FileInfo& file : *listed) {
    const std::string name(file.name());
    if (file.is_directory || !name.ends_with(".sst") || name.starts_with(".") || needed.contains(name)) continue;
    TW_RETURN_NOT_OK(RemoveStateFile(data::JoinPath(directory, name)));
    ++deleted;
  }
  return deleted;
}

}  // namespace thalweg::engine
