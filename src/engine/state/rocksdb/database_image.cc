#include "engine/state/rocksdb/database_image.h"

#include <algorithm>
#include <map>
#include <memory>
#include <optional>

#include "base/no_throw.h"
#include "data/io/path.h"
#include "engine/state/rocksdb/internal_key.h"
#include "engine/state/rocksdb/table_reader.h"

namespace thalweg::engine {
namespace {

constexpr size_t kMostVerified = 4096;
constexpr size_t kEntriesPerVisit = 4096;
constexpr size_t kBytesPerVisit = 1 << 20;

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
  static Result<TableCursor> Open(data::FileSystem& file_system, const DatabaseImage::Table& table, const ManifestTable& stated,
                                  MemoryAccount* memory) {
    TW_ASSIGN_OR_RETURN(auto file, OpenTable(file_system, table));
    TW_ASSIGN_OR_RETURN(auto reader, TableReader::Open(std::move(file), stated, memory));
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
    return sizes_.size() == kEntriesPerVisit || bytes_.size() >= kBytesPerVisit ? Visit() : Status::OK();
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

/// A table in a merge: where it stands, or will when it is its turn.
struct MergedTable {
  const DatabaseImage::Table& file;
  const ManifestTable& stated;
  std::optional<TableCursor> cursor;

  std::string_view key() const { return cursor ? cursor->entry().key : std::string_view(stated.smallest); }
};

/// The newest entry of every key that is not deleted, from all tables.
Status Merge(data::FileSystem& file_system, const CheckedImage& image, MemoryAccount* memory, EntryBuffer* out) {
  std::vector<MergedTable> tables;
  for (size_t i = 0; i < image.tables.size(); ++i) tables.push_back({image.tables[i], image.manifest.tables[i], std::nullopt});
  std::vector<MergedTable*> heap;
  for (MergedTable& table : tables) heap.push_back(&table);
  const auto later = [](const MergedTable* a, const MergedTable* b) { return CompareInternalKeys(a->key(), b->key()) > 0; };
  std::make_heap(heap.begin(), heap.end(), later);
  std::string last;
  bool has_last = false;
  while (!heap.empty()) {
    std::pop_heap(heap.begin(), heap.end(), later);
    MergedTable& table = *heap.back();
    bool more = true;
    if (!table.cursor) {
      TW_ASSIGN_OR_RETURN(table.cursor, TableCursor::Open(file_system, table.file, table.stated, memory));
      TW_ASSIGN_OR_RETURN(more, table.cursor->Next());  // to the key that it stood at
    }
    if (more) {
      const auto [key, value] = table.cursor->entry();
      const std::string_view user_key = UserKey(key);
      if (!has_last || user_key != last) {
        last = user_key;
        has_last = true;
        if (!IsDeletion(key)) TW_RETURN_NOT_OK(out->Add(user_key, value));
      }
      TW_ASSIGN_OR_RETURN(more, table.cursor->Next());
    }
    if (more) {
      std::push_heap(heap.begin(), heap.end(), later);
    } else {
      table.cursor.reset();
      heap.pop_back();
    }
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

Status VerifyImage(data::FileSystem& file_system, const CheckedImage& image, VerifiedTables* verified, MemoryAccount* memory) {
  return NoThrow([&]() -> Status {
    for (size_t i = 0; i < image.tables.size(); ++i) {
      if (verified->Contains(image.tables[i].path, image.manifest.tables[i])) continue;
      TW_ASSIGN_OR_RETURN(TableCursor cursor, TableCursor::Open(file_system, image.tables[i], image.manifest.tables[i], memory));
      for (bool more = true; more;) {
        TW_ASSIGN_OR_RETURN(more, cursor.Next());
      }
      verified->Insert(image.tables[i].path, image.manifest.tables[i]);
    }
    return Status::OK();
  });
}

Status ScanImage(data::FileSystem& file_system, const CheckedImage& image, VerifiedTables* verified, MemoryAccount* memory,
                 const std::function<Status(std::span<const DatabaseEntry>)>& visit) {
  return NoThrow([&]() -> Status {
    EntryBuffer entries(visit);
    TW_RETURN_NOT_OK(Merge(file_system, image, memory, &entries));
    for (size_t i = 0; i < image.tables.size(); ++i) verified->Insert(image.tables[i].path, image.manifest.tables[i]);
    return Status::OK();
  });
}

}  // namespace thalweg::engine
