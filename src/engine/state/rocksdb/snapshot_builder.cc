#include "engine/state/rocksdb/snapshot_builder.h"

#include <utility>

#include "base/uuid.h"
#include "data/io/path.h"
#include "engine/state/rocksdb/zip_archive.h"

namespace thalweg::engine {
namespace {

constexpr size_t kMostArchiveBytes = 256 << 20;  // logs of the database's shape: some KiB, some MiB in old ones
constexpr char kMetadataEntry[] = "metadata";

Result<SnapshotMetadata> MetadataOf(const std::vector<ZipEntry>& entries) {
  for (const ZipEntry& entry : entries) {
    if (entry.name == kMetadataEntry) return ParseSnapshotMetadata(entry.bytes);
  }
  return InternalError("a RocksDB snapshot without metadata");
}

Result<std::string> ReadArchive(data::FileSystem& file_system, const std::string& path) {
  auto bytes = file_system.ReadWhole(path, kMostArchiveBytes);
  if (bytes.ok() || !data::IsNotFound(bytes.status())) return bytes;
  return Error("CANNOT_LOAD_STATE_STORE.CANNOT_READ_STREAMING_STATE_FILE")
      .With("fileToRead", data::QualifiedPathText(path))
      .Kind(ErrorKind::kEnvironment);
}

Result<StoredSnapshot> ParseSnapshot(std::string_view archive, const std::string& tables_directory) {
  TW_ASSIGN_OR_RETURN(std::vector<ZipEntry> entries, ReadZip(archive, kMostArchiveBytes));
  StoredSnapshot snapshot;
  TW_ASSIGN_OR_RETURN(snapshot.metadata, MetadataOf(entries));
  if (snapshot.metadata.column_families) return Unsupported("RocksDB state with column families");
  if (snapshot.metadata.log_files) return Unsupported("RocksDB state with archived write-ahead logs");
  for (ZipEntry& entry : entries) {
    // OPTIONS and the empty write-ahead log say nothing that we need.
    if (entry.name != "CURRENT" && !entry.name.starts_with("MANIFEST-")) continue;
    snapshot.image.files.push_back({std::move(entry.name), std::move(entry.bytes)});
  }
  if (snapshot.image.files.size() < 2) return InternalError("a RocksDB snapshot without CURRENT or MANIFEST");
  for (const SnapshotSst& sst : snapshot.metadata.ssts) {
    snapshot.image.tables.push_back({sst.local_name, data::JoinPath(tables_directory, sst.stored_name), sst.size_bytes});
  }
  return snapshot;
}

}  // namespace

std::string TablesDirectory(const std::string& store_directory) { return data::JoinPath(store_directory, "SSTs"); }

Status SnapshotLoadError(const std::string& path, const Status& status) {
  if (status.condition() != "INTERNAL_ERROR" && status.condition() != "IO_ERROR") return status;
  return Error("CANNOT_LOAD_STATE_STORE.UNCATEGORIZED")
      .Because(InternalError(data::QualifiedPathText(path) + ": " + std::string(status.message_text())))
      .Kind(ErrorKind::kEnvironment);
}

Result<StoredSnapshot> ReadStoredSnapshot(data::FileSystem& file_system, const std::string& store_directory,
                                          const std::string& path) {
  TW_ASSIGN_OR_RETURN(const std::string archive, ReadArchive(file_system, path));
  auto snapshot = ParseSnapshot(archive, TablesDirectory(store_directory));
  if (!snapshot.ok()) return SnapshotLoadError(path, snapshot.status());
  return snapshot;
}

Result<SnapshotMetadata> ReadStoredMetadata(data::FileSystem& file_system, const std::string& path) {
  TW_ASSIGN_OR_RETURN(const std::string archive, ReadArchive(file_system, path));
  const auto entries = ReadZip(archive, kMostArchiveBytes, kMetadataEntry);
  if (!entries.ok()) return SnapshotLoadError(path, entries.status());
  auto metadata = MetadataOf(*entries);
  if (!metadata.ok()) return SnapshotLoadError(path, metadata.status());
  return metadata;
}

Result<std::unique_ptr<SnapshotBuilder>> SnapshotBuilder::Open(data::FileSystem& file_system, std::string store_directory,
                                                               const std::optional<StoredSnapshot>& base,
                                                               VerifiedTables& verified, MemoryAccount* memory) {
  TW_ASSIGN_OR_RETURN(const CheckedImage image, CheckImage(base ? base->image : DatabaseImage{}));
  TW_RETURN_NOT_OK(VerifyImage(file_system, image, &verified, memory));
  TW_ASSIGN_OR_RETURN(auto database, Database::Open(file_system, image, memory));
  std::unique_ptr<SnapshotBuilder> builder(new SnapshotBuilder(std::move(store_directory), std::move(database), verified));
  if (!base) return builder;
  builder->num_keys_ = base->metadata.num_keys;
  for (const SnapshotSst& sst : base->metadata.ssts) builder->stored_names_[sst.local_name] = sst.stored_name;
  return builder;
}

Status SnapshotBuilder::Put(std::string_view key, std::string_view value) {
  if (num_keys_ >= 0) {
    ++gets_;
    TW_ASSIGN_OR_RETURN(const bool known, database_->Contains(key));
    num_keys_ += known ? 0 : 1;
  }
  return database_->Put(key, value);
}

Status SnapshotBuilder::Remove(std::string_view key) {
  if (num_keys_ >= 0) {
    ++gets_;
    TW_ASSIGN_OR_RETURN(const bool known, database_->Contains(key));
    if (!known) return Status::OK();
    --num_keys_;
  }
  return database_->Remove(key);
}

Result<StagedSnapshot> SnapshotBuilder::Stage(data::DurableGroup& group, const std::string& path, StagingWork* work) {
  work->gets += std::exchange(gets_, 0);
  TW_RETURN_NOT_OK(database_->Flush(&work->tables));
  DatabaseImage image;
  {
    const SpentTime spent(&work->image);
    TW_ASSIGN_OR_RETURN(image, database_->Image());
  }
  StagedSnapshot staged;
  TW_RETURN_NOT_OK(StageTables(group, image, &staged, work));
  NoteOwnTables(image);
  const SpentTime spent(&work->stage_archive);
  SnapshotMetadata metadata{.num_keys = num_keys_};
  for (const DatabaseImage::Table& table : image.tables) {
    metadata.ssts.push_back({table.name, stored_names_[table.name], table.size_bytes});
  }
  std::vector<ZipEntry> entries;
  for (auto& file : image.files) entries.push_back({std::move(file.name), std::move(file.bytes)});
  entries.push_back({kMetadataEntry, FormatSnapshotMetadata(metadata)});
  for (const ZipEntry& entry : entries) work->archive_bytes += static_cast<int64_t>(entry.bytes.size());
  const std::string archive = WriteZip(entries);
  TW_RETURN_NOT_OK(group.Stage(path, archive));
  staged.zip_bytes = static_cast<int64_t>(archive.size());
  return staged;
}

void SnapshotBuilder::NoteOwnTables(const DatabaseImage& image) {
  const auto checked = CheckImage(image);
  if (!checked.ok()) return;  // then they are looked at as those of others
  for (size_t i = 0; i < checked->tables.size(); ++i) {
    const DatabaseImage::Table& table = checked->tables[i];
    if (table.path.empty()) {
      verified_.Insert(data::JoinPath(TablesDirectory(store_directory_), stored_names_[table.name]), checked->manifest.tables[i]);
    }
  }
}

Status SnapshotBuilder::StageTables(data::DurableGroup& group, const DatabaseImage& image, StagedSnapshot* staged,
                                    StagingWork* work) {
  const SpentTime spent(&work->stage_tables);
  std::map<std::string, std::string> names;
  for (const DatabaseImage::Table& table : image.tables) {
    work->table_bytes += table.size_bytes;
    const auto known = stored_names_.find(table.name);
    std::string name;
    if (known != stored_names_.end()) {
      name = known->second;
      ++work->shared_tables;
    } else {
      name = table.name.substr(0, table.name.find('.')) + "-" + Uuid::MakeRandom().ToString() + ".sst";
      const std::string place = data::JoinPath(TablesDirectory(store_directory_), name);
      TW_RETURN_NOT_OK(group.Stage(place, *database_->NewTable(table.name)));
      staged->table_bytes += table.size_bytes;
      work->new_table_bytes += table.size_bytes;
      ++work->new_tables;
    }
    staged->tables.insert(name);
    names[table.name] = std::move(name);
  }
  stored_names_ = std::move(names);
  return Status::OK();
}

}  // namespace thalweg::engine
