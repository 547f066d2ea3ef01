#include "engine/state/rocksdb/database.h"

#include <rocksdb/cache.h>
#include <rocksdb/db.h>
#include <rocksdb/filter_policy.h>
#include <rocksdb/metadata.h>
#include <rocksdb/table.h>

#include <map>
#include <vector>

#include "base/no_throw.h"
#include "engine/state/rocksdb/database_files.h"

namespace thalweg::engine {
namespace {

constexpr char kPlace[] = "/db";
constexpr int kBottomLevel = 6;
constexpr size_t kFewTables = 4;  // of level 0, before they are merged
constexpr size_t kBlockCacheBytes = 32 << 20;
constexpr uint64_t kTableBytes = 64 << 20;

Status FromRocks(const rocksdb::Status& status) {
  return status.ok() ? Status::OK() : InternalError("RocksDB: " + status.ToString());
}

rocksdb::Slice SliceOf(std::string_view bytes) { return {bytes.data(), bytes.size()}; }

class NoLog final : public rocksdb::Logger {
 public:
  NoLog() : Logger(rocksdb::InfoLogLevel::FATAL_LEVEL) {}
  using Logger::Logv;
  void Logv(const char*, va_list) override {}
};

rocksdb::BlockBasedTableOptions TableOptions() {
  // One cache for all stores: what is cached there is read by the next commit of the same store at most.
  static const std::shared_ptr<rocksdb::Cache> cache = rocksdb::NewLRUCache(kBlockCacheBytes);
  rocksdb::BlockBasedTableOptions table;
  table.format_version = 5;
  table.checksum = rocksdb::kXXH3;
  table.filter_policy.reset(rocksdb::NewBloomFilterPolicy(10, false));
  table.block_cache = cache;
  return table;
}

/// What Spark's own instances write as far as it shows in files.
rocksdb::Options MakeOptions(rocksdb::Env* env) {
  rocksdb::Options options;
  options.env = env;
  options.compression = rocksdb::kLZ4Compression;
  options.bottommost_compression = rocksdb::kDisableCompressionOption;
  options.table_factory.reset(rocksdb::NewBlockBasedTableFactory(TableOptions()));
  options.disable_auto_compactions = true;  // Flush() decides
  options.level0_slowdown_writes_trigger = 1 << 30;
  options.level0_stop_writes_trigger = 1 << 30;
  options.write_buffer_size = 64 << 20;
  options.arena_block_size = 64 << 10;
  options.max_manifest_file_size = 32 << 10;  // it stands in every snapshot
  options.max_open_files = -1;
  options.skip_stats_update_on_db_open = true;
  options.stats_dump_period_sec = 0;
  options.stats_persist_period_sec = 0;
  options.allow_concurrent_memtable_write = false;
  options.avoid_flush_during_shutdown = true;
  options.info_log = std::make_shared<NoLog>();
  return options;
}

}  // namespace

struct Database::Impl {
  struct Tables {
    std::vector<std::string> names;
    uint64_t bytes = 0;
    void Add(const std::string& name, uint64_t size) {
      names.push_back(name);
      bytes += size;
    }
  };

  explicit Impl(MemoryAccount* account) : memory(account), files(std::make_shared<DatabaseFiles>(account)) {
    if (account != nullptr) changes = MemoryReservation(*account);
  }

  // Members in the order in which they must outlive each other.
  MemoryAccount* const memory;
  MemoryReservation changes;  // that are not in a table yet
  std::shared_ptr<DatabaseFiles> files;
  std::unique_ptr<rocksdb::Env> env = rocksdb::NewCompositeEnv(files);
  std::map<std::string, std::string> stored;  // tables by name: where they lie in the checkpoint
  std::unique_ptr<rocksdb::DB> db;

  Status AddFiles(data::FileSystem& file_system, const CheckedImage& image);
  Status Open();
  Status Charge();
  Status Merge(const Tables& tables, int level, TableWork* work);
  Status MergeWhatIsDue(TableWork* work);
  /// An error of RocksDB; the one of ours behind it where there is one.
  Status Told(const rocksdb::Status& status) const {
    if (status.ok()) return Status::OK();
    const Status failure = files->failure();
    return failure.ok() ? FromRocks(status) : failure;
  }
};

Status Database::Impl::AddFiles(data::FileSystem& file_system, const CheckedImage& image) {
  Manifest manifest = image.manifest;
  const std::string name = ManifestName(manifest.next_file_number++);
  TW_RETURN_NOT_OK(files->AddBytes("CURRENT", name + "\n"));
  TW_RETURN_NOT_OK(files->AddBytes(name, FormatManifest(manifest)));
  for (const auto& table : image.tables) {
    TW_ASSIGN_OR_RETURN(std::shared_ptr<data::ReadableFile> file, OpenTable(file_system, table));
    files->AddStored(table.name, std::move(file), static_cast<uint64_t>(table.size_bytes));
    stored[table.name] = table.path;
  }
  return Status::OK();
}

Status Database::Impl::Open() {
  rocksdb::DB* opened = nullptr;
  const rocksdb::Status status = rocksdb::DB::Open(MakeOptions(env.get()), kPlace, &opened);
  db.reset(opened);
  return Told(status);
}

Database::Database(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}

Database::~Database() {
  Ignore(NoThrow([this] {
           impl_->db.reset();
           return Status::OK();
         }),
         "nothing of it is kept");
}

Result<std::unique_ptr<Database>> Database::Open(data::FileSystem& file_system, const CheckedImage& image, MemoryAccount* memory) {
  std::unique_ptr<Database> database;
  TW_RETURN_NOT_OK(NoThrow([&]() -> Status {
    database.reset(new Database(std::make_unique<Impl>(memory)));
    TW_RETURN_NOT_OK(database->impl_->AddFiles(file_system, image));
    return database->impl_->Open();
  }));
  return database;
}

Result<bool> Database::Contains(std::string_view key) const {
  bool found = false;
  TW_RETURN_NOT_OK(NoThrow([&]() -> Status {
    rocksdb::PinnableSlice value;
    const rocksdb::Status status = impl_->db->Get({}, impl_->db->DefaultColumnFamily(), SliceOf(key), &value);
    found = status.ok();
    return status.IsNotFound() ? Status::OK() : FromRocks(status);
  }));
  return found;
}

Status Database::Put(std::string_view key, std::string_view value) {
  return NoThrow([&] {
    rocksdb::WriteOptions options;
    options.disableWAL = true;
    return impl_->Told(impl_->db->Put(options, SliceOf(key), SliceOf(value)));
  });
}

Status Database::Remove(std::string_view key) {
  return NoThrow([&] {
    rocksdb::WriteOptions options;
    options.disableWAL = true;
    return impl_->Told(impl_->db->Delete(options, SliceOf(key)));
  });
}

Status Database::Charge() { return impl_->Charge(); }

Status Database::Impl::Charge() {
  return NoThrow([this]() -> Status {
    uint64_t bytes = 0;
    if (!db->GetIntProperty(rocksdb::DB::Properties::kCurSizeAllMemTables, &bytes)) return Status::OK();
    return changes.Resize(static_cast<int64_t>(bytes));
  });
}

Status Database::Flush(TableWork* work) {
  return NoThrow([this, work]() -> Status {
    const int64_t before = impl_->files->table_bytes_written();
    {
      const SpentTime spent(&work->flush);
      TW_RETURN_NOT_OK(impl_->Told(impl_->db->Flush({})));
    }
    work->flushed_bytes += impl_->files->table_bytes_written() - before;
    TW_RETURN_NOT_OK(impl_->Charge());
    const SpentTime spent(&work->merge);
    return impl_->MergeWhatIsDue(work);
  });
}

// Three tiers: new tables on level 0, a few of them merged on level 1, all of it on the bottom once that has grown by half.
Status Database::Impl::MergeWhatIsDue(TableWork* work) {
  rocksdb::ColumnFamilyMetaData shape;
  db->GetColumnFamilyMetaData(&shape);
  Tables fresh, all;
  size_t fresh_tables = 0;
  for (const auto& level : shape.levels) {
    if (level.level == 0) fresh_tables = level.files.size();
    for (const auto& file : level.files) {
      all.Add(file.name, file.size);
      if (level.level <= 1) fresh.Add(file.name, file.size);
    }
  }
  if (fresh_tables < kFewTables) return Status::OK();
  const uint64_t bottom_bytes = all.bytes - fresh.bytes;
  const bool everything = fresh.bytes >= bottom_bytes / 2;
  return Merge(everything ? all : fresh, everything ? kBottomLevel : 1, work);
}

Status Database::Impl::Merge(const Tables& tables, int level, TableWork* work) {
  // New tables grow by doubling. What is refused now comes with a later commit.
  const auto needed = static_cast<int64_t>(2 * tables.bytes);
  if (memory != nullptr) {
    if (!memory->Grow(needed).ok()) return Status::OK();
    memory->Shrink(needed);
  }
  rocksdb::CompactionOptions options;
  options.compression = rocksdb::kLZ4Compression;
  options.output_file_size_limit = kTableBytes;
  const int64_t before = files->table_bytes_written();
  TW_RETURN_NOT_OK(Told(db->CompactFiles(options, tables.names, level)));
  work->merge_read_bytes += static_cast<int64_t>(tables.bytes);
  work->merge_written_bytes += files->table_bytes_written() - before;
  return Status::OK();
}

Result<DatabaseImage> Database::Image() const {
  DatabaseImage image;
  TW_RETURN_NOT_OK(NoThrow([&]() -> Status {
    std::vector<std::string> names;
    uint64_t manifest_bytes = 0;
    TW_RETURN_NOT_OK(FromRocks(impl_->db->GetLiveFiles(names, &manifest_bytes, /*flush_memtable=*/false)));
    for (const std::string& path : names) {
      const std::string name = path.substr(path.rfind('/') + 1);
      if (name.starts_with("OPTIONS")) continue;  // nobody reads it from a snapshot
      const auto bytes = impl_->files->BytesOf(name);
      if (name.ends_with(".sst")) {
        const auto place = impl_->stored.find(name);
        uint64_t size = 0;
        TW_RETURN_NOT_OK(FromRocks(impl_->files->GetFileSize(name, {}, &size, nullptr)));
        image.tables.push_back({name, place == impl_->stored.end() ? "" : place->second, static_cast<int64_t>(size)});
      } else if (bytes == nullptr) {
        return InternalError("RocksDB: its file " + name + " is gone");
      } else {
        image.files.push_back({name, name.starts_with("MANIFEST") ? bytes->substr(0, manifest_bytes) : *bytes});
      }
    }
    return Status::OK();
  }));
  return image;
}

std::shared_ptr<const std::string> Database::NewTable(const std::string& name) const { return impl_->files->BytesOf(name); }
int64_t Database::memory_bytes() const { return impl_->files->memory_bytes(); }

}  // namespace thalweg::engine
