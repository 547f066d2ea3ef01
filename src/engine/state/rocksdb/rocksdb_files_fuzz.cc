// What a checkpoint in RocksDB's format consists of: archives, their metadata, changelogs, and snapshots with the database's own
// files. No crash; what was understood survives being written again, and reads the same twice.
//
// The first byte says what follows: 0 an archive, 1 metadata, 2 a changelog, 3 a snapshot in parts: uint16 LE size and bytes of the
// metadata, the same of the MANIFEST, then the bytes of every table. Bits 2 and 3: row checksums, a prefix of the key. Bit 4: the
// checksums of MANIFEST and tables are put right, so that what is forged is looked at like what is whole. Bit 5: in a snapshot the
// table is the one of a store that we write, with the rest of the input written over it.

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/log.h"
#include "data/io/atomic_write.h"
#include "data/io/memory_file_system.h"
#include "data/io/path.h"
#include "engine/state/rocksdb/forged_files_test_support.h"
#include "engine/state/rocksdb/snapshot_metadata.h"
#include "engine/state/rocksdb/zip_archive.h"
#include "engine/state/state_persister.h"

namespace thalweg::engine {
namespace {

constexpr size_t kMostBytes = 1 << 20;
constexpr char kStore[] = "/ckpt/state/0/0";

void Require(bool kept) {
  if (!kept) std::abort();
}

void Archive(std::string_view bytes) {
  const auto entries = ReadZip(bytes, kMostBytes);
  if (!entries.ok()) return;
  const auto again = ReadZip(WriteZip(*entries), kMostBytes);
  Require(again.ok() && std::equal(entries->begin(), entries->end(), again->begin(), again->end(), [](const ZipEntry& a, const ZipEntry& b) {
            return a.name == b.name && a.bytes == b.bytes;
          }));
}

void Metadata(std::string_view bytes) {
  const auto metadata = ParseSnapshotMetadata(bytes);
  if (!metadata.ok()) return;
  const auto again = ParseSnapshotMetadata(FormatSnapshotMetadata(*metadata));
  Require(again.ok() && again->num_keys == metadata->num_keys);
  Require(std::equal(metadata->ssts.begin(), metadata->ssts.end(), again->ssts.begin(), again->ssts.end(),
                     [](const SnapshotSst& a, const SnapshotSst& b) {
                       return a.local_name == b.local_name && a.stored_name == b.stored_name && a.size_bytes == b.size_bytes;
                     }));
}

std::unique_ptr<StatePersister> OpenStore(data::FileSystem& files, uint8_t flags) {
  StateOptions options;
  options.provider_class = kRocksDbProviderClass;
  options.row_checksum = (flags & 4) != 0;
  StateRowTypes types;
  if ((flags & 8) != 0) types = {.key = {data::DataType::String(), data::DataType::Long()}, .check_value = false, .prefix_columns = 1};
  const auto provider = FindStateStoreProvider(kRocksDbProviderClass);
  Require(provider.ok());
  auto persister = (*provider)->Open(files, {"/ckpt", OperatorId(0), PartitionId(0)}, options, types);
  Require(persister.ok());
  return std::move(*persister);
}

using Contents = std::map<std::string, std::string>;

/// False: version 1 cannot be loaded.
bool LoadStore(StatePersister& persister, Contents* contents) {
  return persister
      .Load(StateVersion(1),
            [contents](std::span<const StateChange> entries) {
              if (entries.empty()) contents->clear();
              for (const StateChange& entry : entries) (*contents)[std::string(entry.key)] = entry.value;
              return Status::OK();
            })
      .ok();
}

/// Loads version 1; it reads the same twice, and goes on: version 2 has one entry more.
void Load(data::FileSystem& files, uint8_t flags) {
  const auto persister = OpenStore(files, flags);
  Contents contents, again;
  if (!LoadStore(*persister, &contents)) return;
  Require(LoadStore(*OpenStore(files, flags), &again) && again == contents);
  const auto writer = persister->BeginChanges(StateVersion(2));
  if (!writer.ok()) return;
  data::DurableGroup group(files);
  if ((*writer)->Finish(group).ok()) Require(group.Publish().ok());
}

void Put(data::FileSystem& files, const std::string& name, std::string_view bytes) {
  Require(data::AtomicWriteFile(files, data::JoinPath(kStore, name), bytes, {.overwrite = true}).ok());
}

std::string_view TakePart(std::string_view* bytes) {
  if (bytes->size() < 2) return {};
  const size_t size = static_cast<uint8_t>((*bytes)[0]) | static_cast<size_t>(static_cast<uint8_t>((*bytes)[1])) << 8;
  const std::string_view part = bytes->substr(2, size);
  bytes->remove_prefix(2 + part.size());
  return part;
}

/// A store of three rows as we write it: the archive of its version 1, and its table.
struct OwnStore {
  std::vector<ZipEntry> archive;
  std::string table_path;
  std::string table;
};

const OwnStore& ReadOwnStore() {
  static const OwnStore store = [] {
    OwnStore own;
    data::MemoryFileSystem files;
    const auto persister = OpenStore(files, 0);
    const auto writer = persister->BeginChanges(StateVersion(1));
    Require(writer.ok());
    const StateChange changes[] = {{"a key...", "a value.", false}, {"b key...", "another value...", false}, {"c key...", "", true}};
    data::DurableGroup group(files);
    Require((*writer)->Append(changes).ok() && (*writer)->Finish(group).ok() && group.Publish().ok());
    own.archive = *ReadZip(*files.ReadWhole(data::JoinPath(kStore, "1.zip")), kMostBytes);
    const auto tables = files.List(data::JoinPath(kStore, "SSTs"));
    Require(tables.ok() && tables->size() == 1);
    own.table_path = tables->front().path;
    own.table = *files.ReadWhole(own.table_path);
    return own;
  }();
  return store;
}

/// uint16 LE where, a byte of what: written over `bytes`, again and again.
void WriteOver(std::string_view changes, std::string* bytes) {
  for (; changes.size() >= 3 && !bytes->empty(); changes.remove_prefix(3)) {
    const size_t at = static_cast<uint8_t>(changes[0]) | static_cast<size_t>(static_cast<uint8_t>(changes[1])) << 8;
    (*bytes)[at % bytes->size()] = changes[2];
  }
}

/// A store of ours with other bytes here and there, all checksums right.
void ForgedStore(std::string_view bytes, uint8_t flags) {
  OwnStore store = ReadOwnStore();
  for (ZipEntry& entry : store.archive) {
    if (!entry.name.starts_with("MANIFEST")) continue;
    WriteOver(TakePart(&bytes), &entry.bytes);
    ForgeManifest(&entry.bytes);
  }
  WriteOver(bytes, &store.table);
  ForgeTable(&store.table);
  data::MemoryFileSystem files;
  Require(data::AtomicWriteFile(files, store.table_path, store.table, {.overwrite = true}).ok());
  Put(files, "1.zip", WriteZip(store.archive));
  Load(files, flags);
}

void Snapshot(std::string_view bytes, uint8_t flags) {
  if ((flags & 32) != 0) return ForgedStore(bytes, flags);
  const bool forged = (flags & 16) != 0;
  data::MemoryFileSystem files;
  const std::string_view metadata = TakePart(&bytes);
  std::string manifest(TakePart(&bytes));
  if (forged) ForgeManifest(&manifest);
  const auto parsed = ParseSnapshotMetadata(metadata);
  if (parsed.ok()) {
    for (const SnapshotSst& sst : parsed->ssts) {
      std::string table(bytes);
      if (sst.size_bytes < static_cast<int64_t>(kMostBytes)) table.resize(static_cast<size_t>(sst.size_bytes));
      if (forged) ForgeTable(&table);
      Put(files, "SSTs/" + sst.stored_name, table);
    }
  }
  Put(files, "1.zip", WriteZip({{"CURRENT", "MANIFEST-000005\n"}, {"MANIFEST-000005", manifest}, {"metadata", std::string(metadata)}}));
  Load(files, flags);
}

}  // namespace
}  // namespace thalweg::engine

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace thalweg::engine;  // NOLINT
  thalweg::ConfigureLog(thalweg::LogLevel::kOff, thalweg::LogFormat::kText);
  if (size == 0) return 0;
  const uint8_t flags = bytes[0];
  const std::string_view input(reinterpret_cast<const char*>(bytes) + 1, size - 1);
  switch (flags & 3) {
    case 0:
      Archive(input);
      break;
    case 1:
      Metadata(input);
      break;
    case 2: {
      thalweg::data::MemoryFileSystem files;
      Put(files, "1.changelog", input);
      Load(files, flags);
      break;
    }
    default:
      Snapshot(input, flags);
  }
  return 0;
}
