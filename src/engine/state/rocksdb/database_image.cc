#include "engine/state/rocksdb/database_image.h"

#include <algorithm>
#include <map>
#include <memory>

#include "base/no_throw.h"
#include "data/io/path.h"
#include "engine/state/rocksdb/internal_key.h"
#include "engine/state/rocksdb/table_reader.h"

namespace thalweg::engine {
namespace {

constexpr size_t kMostVerified = 4096;
constexpr size_t kEntriesPerVisit = 4096;

Result<const DatabaseImage::Named*> ManifestOf(const DatabaseImage& image) {
  const auto named = [&image](std::string_view name) {
    return std::find_if(image.files.begin(), image.files.end(), [name](const auto& file) { return file.name == name; });
  };
  const auto current = named("CURRENT");
  if (current == image.files.end() || !current->bytes.starts_with("MANIFEST-") || !current->bytes.ends_with('\n')) {
    return InternalError("RocksDB: CURRENT names no MANIFEST");
  }
  const auto manifest = named(std::string_view(current->bytes).substr(0, current->bytes.size() - 1));
  if (manifest == image.files.end()) return InternalError("RocksDB: CURRENT names a MANIFEST that is not there");
  return &*manifest;
}

/// One table on its way through a merge.
class TableCursor {
 public:
  static Result<TableCursor> Open(data::FileSystem& file_system, const DatabaseImage::Table& table, const ManifestTable& stated) {
    TW_ASSIGN_OR_RETURN(auto file, OpenTable(file_system, table));
    TW_ASSIGN_OR_RETURN(auto reader, TableReader::Open(std::move(file), stated));
    return TableCursor(std::move(reader));
  }

  /// False at the end. At first before the first entry.
  Result<bool> Next() {
    if (block_ == nullptr || ++at_ == block_->entries.size()) {
      TW_ASSIGN_OR_RETURN(block_, reader_->NextBlock());
      at_ = 0;
    }
    return block_ != nullptr;
  }
  const BlockEntry& entry() const { return block_->entries[at_]; }

 private:
  explicit TableCursor(std::unique_ptr<TableReader> reader) : reader_(std::move(reader)) {}

  std::unique_ptr<TableReader> reader_;
  const DecodedBlock* block_ = nullptr;
  size_t at_ = 0;
};

/// Entries as copies, until there are enough of them.
class EntryBuffer {
 public:
  explicit EntryBuffer(const std::function<Status(std::span<const DatabaseEntry>)>& visit) : visit_(visit) {}

  Status Add(std::string_view key, std::string_view value) {
    bytes_.append(key).append(value);
    sizes_.emplace_back(key.size(), value.size());
    return sizes_.size() == kEntriesPerVisit ? Visit() : Status::OK();
  }
  Status Visit() {
    entries_.clear();
    const char* begin = bytes_.data();
    for (const auto& [key, value] : sizes_) {
      entries_.push_back({{begin, key}, {begin + key, value}});
      begin += key + value;
    }
    Status status = entries_.empty() ? Status::OK() : visit_(entries_);
    bytes_.clear();
    sizes_.clear();
    return status;
  }

 private:
  const std::function<Status(std::span<const DatabaseEntry>)>& visit_;
  std::string bytes_;
  std::vector<std::pair<size_t, size_t>> sizes_;
  std::vector<DatabaseEntry> entries_;
};

/// The newest entry of every key that is not deleted, from all tables.
Status Merge(std::vector<TableCursor> cursors, EntryBuffer* out) {
  std::vector<TableCursor*> heap;
  const auto later = [](const TableCursor* a, const TableCursor* b) { return CompareInternalKeys(a->entry().key, b->entry().key) > 0; };
  for (TableCursor& cursor : cursors) {
    TW_ASSIGN_OR_RETURN(const bool more, cursor.Next());
    if (more) heap.push_back(&cursor);
  }
  std::make_heap(heap.begin(), heap.end(), later);
  std::string last;
  bool has_last = false;
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    TableCursor& cursor = *heap.back();
    const auto [key, value] = cursor.entry();
    const std::string_view user_key = UserKey(key);
    if (!has_last || user_key != last) {
      last = user_key;
      has_last = true;
      if (!IsDeletion(key)) TW_RETURN_NOT_OK(out->Add(user_key, value));
    }
    TW_ASSIGN_OR_RETURN(const bool more, cursor.Next());
    if (!more) {
      heap.pop_back();
      continue;
    }
    std::push_heap(heap.begin(), heap.end(), later);
  }
  return out->Visit();
}

}  // namespace

bool VerifiedTables::Contains(const std::string& path, const ManifestTable& stated) const {
  MutexLock lock(mutex_);
  return seen_.contains(SeenOf(path, stated));
}

void VerifiedTables::Insert(const std::string& path, const ManifestTable& stated) {
  MutexLock lock(mutex_);
  if (seen_.size() >= kMostVerified) seen_.clear();
  seen_.insert(SeenOf(path, stated));
}

Result<CheckedImage> CheckImage(const DatabaseImage& image) {
  CheckedImage checked;
  if (image.files.empty()) return checked;
  TW_ASSIGN_OR_RETURN(const DatabaseImage::Named* manifest, ManifestOf(image));
  TW_ASSIGN_OR_RETURN(checked.manifest, ParseManifest(manifest->bytes));
  std::map<std::string_view, const DatabaseImage::Table*> by_name;
  for (const auto& table : image.tables) by_name[table.name] = &table;
  for (const ManifestTable& table : checked.manifest.tables) {
    const std::string name = TableName(table.number);
    const auto found = by_name.find(name);
    if (found == by_name.end()) return InternalError("RocksDB: the snapshot lacks table " + name);
    if (static_cast<uint64_t>(found->second->size_bytes) != table.size_bytes) {
      return InternalError("RocksDB: the sizes of table " + name + " differ");
    }
    checked.tables.push_back(*found->second);
  }
  return checked;
}

Result<std::unique_ptr<data::ReadableFile>> OpenTable(data::FileSystem& file_system, const DatabaseImage::Table& table) {
  TW_ASSIGN_OR_RETURN(auto file, file_system.OpenForRead(table.path));
  TW_ASSIGN_OR_RETURN(const int64_t size_bytes, file->Size());
  if (size_bytes == table.size_bytes) return file;
  return Error("CANNOT_LOAD_STATE_STORE.UNEXPECTED_FILE_SIZE")
      .With("dfsFile", data::QualifiedPathText(table.path))
      .With("localFile", table.name)
      .With("expectedSize", static_cast<long long>(table.size_bytes))
      .With("localFileSize", static_cast<long long>(size_bytes))
      .Kind(ErrorKind::kEnvironment);
}

Status VerifyImage(data::FileSystem& file_system, const CheckedImage& image, VerifiedTables* verified) {
  return NoThrow([&]() -> Status {
    for (size_t i = 0; i < image.tables.size(); ++i) {
      if (verified->Contains(image.tables[i].path, image.manifest.tables[i])) continue;
      TW_ASSIGN_OR_RETURN(TableCursor cursor, TableCursor::Open(file_system, image.tables[i], image.manifest.tables[i]));
      for (bool more = true; more;) {
        TW_ASSIGN_OR_RETURN(more, cursor.Next());
      }
      verified->Insert(image.tables[i].path, image.manifest.tables[i]);
    }
    return Status::OK();
  });
}

Status ScanImage(data::FileSystem& file_system, const CheckedImage& image, VerifiedTables* verified,
                 const std::function<Status(std::span<const DatabaseEntry>)>& visit) {
  return NoThrow([&]() -> Status {
    std::vector<TableCursor> cursors;
    for (size_t i = 0; i < image.tables.size(); ++i) {
      TW_ASSIGN_OR_RETURN(TableCursor cursor, TableCursor::Open(file_system, image.tables[i], image.manifest.tables[i]));
      cursors.push_back(std::move(cursor));
    }
    EntryBuffer entries(visit);
    TW_RETURN_NOT_OK(Merge(std::move(cursors), &entries));
    for (size_t i = 0; i < image.tables.size(); ++i) verified->Insert(image.tables[i].path, image.manifest.tables[i]);
    return Status::OK();
  });
}

}  // namespace thalweg::engine
