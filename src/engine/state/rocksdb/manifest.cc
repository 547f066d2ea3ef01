#include "engine/state/rocksdb/manifest.h"

#include <algorithm>
#include <map>

#include "engine/state/crc32c.h"
#include "engine/state/rocksdb/byte_cursor.h"
#include "engine/state/rocksdb/internal_key.h"

namespace thalweg::engine {
namespace {

// Records of a log, in blocks.
constexpr size_t kLogBlockBytes = 32768;
constexpr size_t kLogHeaderBytes = 7;
enum Fragment : uint8_t { kNone = 0, kFull = 1, kFirst = 2, kMiddle = 3, kLast = 4 };

// Fields of a change. From kMayBeSkipped on they have a length and may be unknown.
enum Tag : uint32_t {
  kComparator = 1,
  kLogNumber = 2,
  kNextFileNumber = 3,
  kLastSequence = 4,
  kCompactCursor = 5,
  kDeletedFile = 6,
  kPrevLogNumber = 9,
  kMinLogNumberToKeep = 10,
  kNewFile4 = 103,
  kColumnFamily = 200,
  kMaxColumnFamily = 203,
  kInAtomicGroup = 300,
  kMayBeSkipped = 1 << 13,
};
// Fields of a new table.
constexpr uint32_t kEndOfFile = 1;
constexpr uint32_t kOldestBlobFile = 4;
constexpr uint32_t kMustBeKnown = 1 << 6;

constexpr char kBytewise[] = "leveldb.BytewiseComparator";
constexpr uint32_t kLevels = 7;
constexpr uint64_t kMostFileNumber = uint64_t{1} << 48;
constexpr size_t kMostTables = 1 << 20;

Status Damaged(const char* what) { return InternalError(std::string("RocksDB: MANIFEST: ") + what); }

class LogReader {
 public:
  explicit LogReader(std::string_view bytes) : bytes_(bytes) {}

  /// False at the end. A log that ends within a record is damaged: snapshots hold it up to its last record.
  Result<bool> Next(std::string* record) {
    record->clear();
    for (bool begun = false;;) {
      const size_t left_in_block = kLogBlockBytes - position_ % kLogBlockBytes;
      if (left_in_block < kLogHeaderBytes) position_ = std::min(position_ + left_in_block, bytes_.size());
      if (position_ == bytes_.size()) return begun ? Result<bool>(Damaged("it ends within a record")) : Result<bool>(false);
      ByteCursor header(bytes_.substr(position_, std::min(bytes_.size() - position_, kLogBlockBytes - position_ % kLogBlockBytes)));
      uint32_t crc = 0;
      std::string_view size_and_kind, payload;
      if (!header.TakeFixed32(&crc) || !header.TakeBytes(3, &size_and_kind)) return Damaged("it ends within a record");
      const uint64_t size = static_cast<uint8_t>(size_and_kind[0]) | static_cast<uint64_t>(static_cast<uint8_t>(size_and_kind[1])) << 8;
      if (!header.TakeBytes(size, &payload)) return Damaged("a record does not fit into its block");
      if (crc != MaskedCrc32c(Crc32c(payload, Crc32c(size_and_kind.substr(2))))) return Damaged("a checksum does not match");
      const auto kind = static_cast<uint8_t>(size_and_kind[2]);
      if (kind < kFull || kind > kLast) return Damaged("a record of an unknown kind");
      if (begun != (kind == kMiddle || kind == kLast)) return Damaged("records are not whole");
      begun = true;
      record->append(payload);
      position_ += kLogHeaderBytes + payload.size();
      if (kind == kFull || kind == kLast) return true;
    }
  }

 private:
  const std::string_view bytes_;
  size_t position_ = 0;
};

class Replay {
 public:
  Status Apply(std::string_view change) {
    ByteCursor at(change);
    while (!at.empty()) {
      uint32_t tag = 0;
      if (!at.TakeVarint32(&tag)) return Damaged("a field has no name");
      TW_RETURN_NOT_OK(ApplyField(tag, &at));
    }
    return Status::OK();
  }

  Result<Manifest> Finish();

 private:
  Status ApplyField(uint32_t tag, ByteCursor* at);
  Status TakeNewFile(ByteCursor* at);
  Status TakeDeletedFile(ByteCursor* at);

  Manifest manifest_;
  std::map<uint64_t, ManifestTable> live_;
};

Status Replay::ApplyField(uint32_t tag, ByteCursor* at) {
  uint32_t number32 = 0;
  uint64_t number = 0;
  std::string_view text;
  const Status damaged = Damaged("a field is not whole");
  switch (tag) {
    case kComparator:
      if (!at->TakeSized(&text)) return damaged;
      return text == kBytewise ? Status::OK() : Unsupported("RocksDB state in another order than that of bytes");
    case kLogNumber:
    case kPrevLogNumber:
    case kMinLogNumberToKeep:
      return at->TakeVarint64(&number) ? Status::OK() : damaged;  // there are no logs of writes in a snapshot
    case kNextFileNumber:
      return at->TakeVarint64(&manifest_.next_file_number) ? Status::OK() : damaged;
    case kLastSequence:
      return at->TakeVarint64(&manifest_.last_sequence) ? Status::OK() : damaged;
    case kCompactCursor:
      return at->TakeVarint32(&number32) && at->TakeSized(&text) ? Status::OK() : damaged;
    case kDeletedFile:
      return TakeDeletedFile(at);
    case kNewFile4:
      return TakeNewFile(at);
    case kColumnFamily:
      if (!at->TakeVarint32(&number32)) return damaged;
      return number32 == 0 ? Status::OK() : Unsupported("RocksDB state with column families");
    case kMaxColumnFamily:
    case kInAtomicGroup:
      return at->TakeVarint32(&number32) ? Status::OK() : damaged;
    default:
      if ((tag & kMayBeSkipped) == 0) return Unsupported("RocksDB state whose MANIFEST has a field " + std::to_string(tag));
      return at->TakeSized(&text) ? Status::OK() : damaged;
  }
}

Status Replay::TakeDeletedFile(ByteCursor* at) {
  uint32_t level = 0;
  uint64_t number = 0;
  if (!at->TakeVarint32(&level) || !at->TakeVarint64(&number)) return Damaged("a field is not whole");
  const auto found = live_.find(number);
  if (found == live_.end() || found->second.level != level) return Damaged("a table is deleted that is not there");
  live_.erase(found);
  return Status::OK();
}

Status Replay::TakeNewFile(ByteCursor* at) {
  ManifestTable table;
  std::string_view smallest, largest;
  if (!at->TakeVarint32(&table.level) || !at->TakeVarint64(&table.number) || !at->TakeVarint64(&table.size_bytes) ||
      !at->TakeSized(&smallest) || !at->TakeSized(&largest) || !at->TakeVarint64(&table.smallest_sequence) ||
      !at->TakeVarint64(&table.largest_sequence)) {
    return Damaged("a table is not whole");
  }
  for (;;) {
    uint32_t field = 0;
    std::string_view text;
    if (!at->TakeVarint32(&field)) return Damaged("a table is not whole");
    if (field == kEndOfFile) break;
    if (!at->TakeSized(&text)) return Damaged("a table is not whole");
    if (field == kOldestBlobFile || (field & kMustBeKnown) != 0) {
      return Unsupported("RocksDB state with blob files, or tables in several directories");
    }
  }
  table.smallest = smallest;
  table.largest = largest;
  if (live_.size() >= kMostTables) return Damaged("too many tables");
  if (!live_.emplace(table.number, std::move(table)).second) return Damaged("a table is there twice");
  return Status::OK();
}

Result<Manifest> Replay::Finish() {
  for (auto& [number, table] : live_) manifest_.tables.push_back(std::move(table));
  if (manifest_.next_file_number > kMostFileNumber || manifest_.last_sequence > kMostSequence) return Damaged("its counters are too high");
  for (const ManifestTable& table : manifest_.tables) {
    if (table.level >= kLevels || table.number == 0 || table.number >= manifest_.next_file_number) return Damaged("a table is out of place");
    if (table.smallest_sequence > table.largest_sequence || table.largest_sequence > manifest_.last_sequence ||
        !IsInternalKey(table.smallest, table.largest_sequence) || !IsInternalKey(table.largest, table.largest_sequence) ||
        CompareInternalKeys(table.smallest, table.largest) > 0) {
      return Damaged("the range of a table");
    }
  }
  // On level 0 the newest first, below in the order of keys.
  std::sort(manifest_.tables.begin(), manifest_.tables.end(), [](const ManifestTable& a, const ManifestTable& b) {
    if (a.level != b.level) return a.level < b.level;
    if (a.level > 0) return CompareInternalKeys(a.smallest, b.smallest) < 0;
    return a.largest_sequence != b.largest_sequence ? a.largest_sequence > b.largest_sequence : a.number > b.number;
  });
  for (size_t i = 1; i < manifest_.tables.size(); ++i) {
    const ManifestTable& before = manifest_.tables[i - 1];
    const ManifestTable& table = manifest_.tables[i];
    if (before.level != table.level) continue;
    const bool apart = table.level > 0 ? CompareInternalKeys(before.largest, table.smallest) < 0
                                       : before.smallest_sequence > table.largest_sequence;
    if (!apart) return Damaged("tables overlap");
  }
  return std::move(manifest_);
}

std::string SixDigits(uint64_t number) {
  std::string digits = std::to_string(number);
  return std::string(digits.size() < 6 ? 6 - digits.size() : 0, '0') + digits;
}

void AppendRecord(std::string_view record, std::string* log) {
  for (bool first = true;;) {
    const size_t left = kLogBlockBytes - log->size() % kLogBlockBytes;
    if (left < kLogHeaderBytes) {
      log->append(left, '\0');
      continue;
    }
    const std::string_view part = record.substr(0, left - kLogHeaderBytes);
    record.remove_prefix(part.size());
    const bool last = record.empty();
    const char kind = static_cast<char>(first ? last ? kFull : kFirst : last ? kLast : kMiddle);
    AppendFixed32(MaskedCrc32c(Crc32c(part, Crc32c({&kind, 1}))), log);
    log->push_back(static_cast<char>(part.size()));
    log->push_back(static_cast<char>(part.size() >> 8));
    log->push_back(kind);
    log->append(part);
    if (last) return;
    first = false;
  }
}

}  // namespace

Result<Manifest> ParseManifest(std::string_view bytes) {
  LogReader log(bytes);
  Replay replay;
  std::string change;
  for (;;) {
    TW_ASSIGN_OR_RETURN(const bool more, log.Next(&change));
    if (!more) return replay.Finish();
    TW_RETURN_NOT_OK(replay.Apply(change));
  }
}

std::string FormatManifest(const Manifest& manifest) {
  std::string change;
  AppendVarint(kComparator, &change);
  AppendSized(kBytewise, &change);
  const std::pair<uint32_t, uint64_t> numbers[] = {{kLogNumber, 0},
                                                   {kPrevLogNumber, 0},
                                                   {kNextFileNumber, manifest.next_file_number},
                                                   {kLastSequence, manifest.last_sequence}};
  for (const auto& [tag, number] : numbers) {
    AppendVarint(tag, &change);
    AppendVarint(number, &change);
  }
  for (const ManifestTable& table : manifest.tables) {
    AppendVarint(kNewFile4, &change);
    AppendVarint(table.level, &change);
    AppendVarint(table.number, &change);
    AppendVarint(table.size_bytes, &change);
    AppendSized(table.smallest, &change);
    AppendSized(table.largest, &change);
    AppendVarint(table.smallest_sequence, &change);
    AppendVarint(table.largest_sequence, &change);
    AppendVarint(kEndOfFile, &change);
  }
  std::string log;
  AppendRecord(change, &log);
  return log;
}

std::string TableName(uint64_t number) { return SixDigits(number) + ".sst"; }
std::string ManifestName(uint64_t number) { return "MANIFEST-" + SixDigits(number); }

}  // namespace thalweg::engine
