#include "engine/state/rocksdb/table_reader.h"

#include <algorithm>
#include <map>

#include "engine/state/rocksdb/byte_cursor.h"
#include "engine/state/rocksdb/internal_key.h"

namespace thalweg::engine {
namespace {

constexpr uint64_t kWindowBytes = 256 << 10;
constexpr uint64_t kMostBlockBytes = 256 << 20;
constexpr char kPropertiesName[] = "rocksdb.properties";
constexpr char kFilterName[] = "fullfilter.rocksdb.BuiltinBloomFilter";
constexpr size_t kFilterMetadataBytes = 5;
constexpr size_t kFilterLineBytes = 64;
constexpr uint32_t kMostProbes = 30;

Status DamagedTable(const char* what) { return InternalError(std::string("RocksDB: a table: ") + what); }

}  // namespace

Result<std::unique_ptr<TableReader>> TableReader::Open(std::unique_ptr<data::ReadableFile> file, const ManifestTable& table,
                                                       MemoryAccount* memory) {
  std::unique_ptr<TableReader> reader(new TableReader(std::move(file), table, memory));
  TW_RETURN_NOT_OK(reader->ReadFrame());
  return reader;
}

Status TableReader::MakeRoom(size_t bytes, std::string* of) {
  if (bytes <= of->capacity()) return Status::OK();
  TW_RETURN_NOT_OK(memory_.Grow(static_cast<int64_t>(bytes - of->capacity())));
  *of = std::string();
  of->reserve(bytes);
  return Status::OK();
}

Status TableReader::Charge() {
  const auto bytes_of = [](const DecodedBlock& block) { return block.keys.capacity() + block.entries.capacity() * sizeof(BlockEntry); };
  return memory_.Resize(static_cast<int64_t>(window_.capacity() + scratch_.capacity() + bytes_of(block_) + bytes_of(index_.block) +
                                             index_.handles.capacity() * sizeof(BlockHandle)));
}

Result<std::string_view> TableReader::Stored(BlockHandle handle) {
  const uint64_t end = table_.size_bytes - kFooterBytes;
  if (handle.size > kMostBlockBytes || handle.offset > end || handle.size + kBlockTrailerBytes > end - handle.offset) {
    return DamagedTable("a handle points outside");
  }
  const uint64_t size = handle.size + kBlockTrailerBytes;
  const bool inside = handle.offset >= window_offset_ && handle.offset - window_offset_ <= window_.size() &&
                      size <= window_.size() - (handle.offset - window_offset_);
  if (!inside) {
    const uint64_t window = std::min(std::max(size, kWindowBytes), end - handle.offset);
    TW_RETURN_NOT_OK(MakeRoom(window, &window_));
    window_.resize(window);
    window_offset_ = handle.offset;
    TW_ASSIGN_OR_RETURN(const size_t read, file_->ReadAt(static_cast<int64_t>(handle.offset), window_));
    if (read != window_.size()) return DamagedTable("shorter than its size");
  }
  return std::string_view(window_).substr(handle.offset - window_offset_, size);
}

Result<std::string_view> TableReader::Contents(BlockHandle handle) {
  TW_ASSIGN_OR_RETURN(const std::string_view stored, Stored(handle));
  return OpenBlock(footer_.checksum, stored, &scratch_, [this](size_t bytes) { return MakeRoom(bytes, &scratch_); });
}

Status TableReader::ReadFrame() {
  if (table_.size_bytes < kFooterBytes || table_.size_bytes > static_cast<uint64_t>(INT64_MAX)) return DamagedTable("too short");
  std::string footer(kFooterBytes, '\0');
  TW_ASSIGN_OR_RETURN(const size_t read, file_->ReadAt(static_cast<int64_t>(table_.size_bytes - kFooterBytes), footer));
  if (read != kFooterBytes) return DamagedTable("shorter than its size");
  TW_ASSIGN_OR_RETURN(footer_, ParseTableFooter(footer, table_.size_bytes));

  DecodedIndex meta;
  TW_ASSIGN_OR_RETURN(std::string_view contents, Contents(footer_.meta_index));
  TW_RETURN_NOT_OK(DecodeIndex(contents, false, &meta));
  bool has_properties = false;
  std::string_view before;
  for (size_t i = 0; i < meta.handles.size(); ++i) {
    const std::string_view name = meta.block.entries[i].key;
    if (i > 0 && name <= before) return DamagedTable("the order of its parts");
    before = name;
    if (name == kPropertiesName) {
      TW_RETURN_NOT_OK(ReadProperties(meta.handles[i]));
      has_properties = true;
    } else if (name == kFilterName) {
      TW_RETURN_NOT_OK(ReadFilter(meta.handles[i]));
    } else {
      return Unsupported("RocksDB state with range deletions, dictionaries, or filters and indexes other than Spark's");
    }
  }
  if (!has_properties) return DamagedTable("it has no properties");
  TW_ASSIGN_OR_RETURN(contents, Contents(footer_.index));
  TW_RETURN_NOT_OK(DecodeIndex(contents, bare_handles_, &index_));
  TW_RETURN_NOT_OK(CheckIndex());
  return Charge();
}

Status TableReader::ReadProperties(BlockHandle handle) {
  TW_ASSIGN_OR_RETURN(const std::string_view contents, Contents(handle));
  DecodedBlock block;
  TW_RETURN_NOT_OK(DecodeBlock(contents, &block));
  std::map<std::string_view, std::string_view> texts;
  std::string_view before;
  for (const BlockEntry& entry : block.entries) {
    if (!texts.empty() && entry.key <= before) return DamagedTable("the order of its properties");
    texts.emplace(entry.key, entry.value);
    before = entry.key;
  }
  if (texts.contains("rocksdb.external_sst_file.version") || texts.contains("rocksdb.external_sst_file.global_seqno")) {
    return Unsupported("RocksDB state with tables that came from outside");
  }
  const auto kind = texts.find("rocksdb.block.based.table.index.type");
  if (kind != texts.end()) {
    uint32_t index_kind = 0;
    if (!ByteCursor(kind->second).TakeFixed32(&index_kind)) return DamagedTable("its properties");
    if (index_kind != 0) return Unsupported("RocksDB state with an index of kind " + std::to_string(index_kind));
  }
  const auto order = texts.find("rocksdb.comparator");
  if (order != texts.end() && order->second != "leveldb.BytewiseComparator") {
    return Unsupported("RocksDB state in another order than that of bytes");
  }
  bool whole = true;
  const auto number = [&](const char* name, uint64_t* value) {
    const auto found = texts.find(name);
    if (found == texts.end()) return false;
    ByteCursor at(found->second);
    if (!at.TakeVarint64(value) || !at.empty()) whole = false;
    return true;
  };
  uint64_t user_keys = 0, bare_handles = 0, range_deletions = 0, operands = 0;
  number("rocksdb.index.key.is.user.key", &user_keys);
  number("rocksdb.index.value.is.delta.encoded", &bare_handles);
  number("rocksdb.num.range-deletions", &range_deletions);
  number("rocksdb.merge.operands", &operands);
  const bool counted = number("rocksdb.num.entries", &stated_.entries) & number("rocksdb.deleted.keys", &stated_.deletions) &
                       number("rocksdb.raw.key.size", &stated_.key_bytes) & number("rocksdb.raw.value.size", &stated_.value_bytes);
  if (!whole || user_keys > 1 || bare_handles > 1 || !counted) return DamagedTable("its properties");
  if (range_deletions != 0 || operands != 0) return Unsupported("RocksDB state with range deletions or merge operands");
  user_keys_in_index_ = user_keys == 1;
  bare_handles_ = bare_handles == 1;
  return Status::OK();
}

// RocksDB's own Bloom filter since format version 5: lines of a cache, then -1, 0, the number of probes, 0, 0.
Status TableReader::ReadFilter(BlockHandle handle) {
  TW_ASSIGN_OR_RETURN(const std::string_view contents, Contents(handle));
  if (contents.size() < kFilterMetadataBytes) return DamagedTable("its filter");
  const std::string_view end = contents.substr(contents.size() - kFilterMetadataBytes);
  const auto probes = static_cast<uint8_t>(end[2]);
  if (end[0] != '\xff' || end[1] != '\0' || probes == 0 || probes > kMostProbes || end[3] != '\0' || end[4] != '\0') {
    return Unsupported("RocksDB state with filters other than Spark's");
  }
  if ((contents.size() - kFilterMetadataBytes) % kFilterLineBytes != 0) return DamagedTable("its filter");
  return Status::OK();
}

int TableReader::CompareIndexKey(std::string_view index_key, std::string_view key) const {
  return user_keys_in_index_ ? index_key.compare(UserKey(key)) : CompareInternalKeys(index_key, key);
}

Status TableReader::CheckIndex() const {
  uint64_t end = 0;
  for (size_t i = 0; i < index_.handles.size(); ++i) {
    const BlockHandle& handle = index_.handles[i];
    if (handle.offset < end || handle.offset > table_.size_bytes || handle.size > table_.size_bytes) return DamagedTable("its index");
    end = handle.offset + handle.size + kBlockTrailerBytes;
    // A separator's sequence number may be the highest of all.
    if (!user_keys_in_index_ && index_.block.entries[i].key.size() < kKeyTrailerBytes) return DamagedTable("its index");
  }
  return Status::OK();
}

Status TableReader::CheckBlock(const DecodedBlock& block) {
  for (const BlockEntry& entry : block.entries) {
    if (!IsInternalKey(entry.key, table_.largest_sequence)) return DamagedTable("a key");
    const bool first = seen_.entries == 0;
    const std::string_view before = &entry == block.entries.data() ? std::string_view(last_key_) : (&entry - 1)->key;
    if (first ? entry.key != table_.smallest : CompareInternalKeys(before, entry.key) >= 0) return DamagedTable("the order of its keys");
    ++seen_.entries;
    seen_.deletions += IsDeletion(entry.key) ? 1 : 0;
    seen_.key_bytes += entry.key.size();
    seen_.value_bytes += entry.value.size();
  }
  const std::string_view first = block.entries.front().key;
  const std::string_view last = block.entries.back().key;
  const size_t at = next_block_ - 1;
  if (CompareIndexKey(index_.block.entries[at].key, last) < 0 || (at > 0 && CompareIndexKey(index_.block.entries[at - 1].key, first) >= 0)) {
    return DamagedTable("its index");
  }
  last_key_ = last;
  return Status::OK();
}

Status TableReader::CheckEnd() const {
  if (last_key_ != table_.largest) return DamagedTable("the range of its keys");
  return seen_ == stated_ ? Status::OK() : DamagedTable("the counts of its entries");
}

Result<const DecodedBlock*> TableReader::NextBlock() {
  if (next_block_ == index_.handles.size()) {
    TW_RETURN_NOT_OK(CheckEnd());
    return static_cast<const DecodedBlock*>(nullptr);
  }
  TW_ASSIGN_OR_RETURN(const std::string_view contents, Contents(index_.handles[next_block_++]));
  TW_RETURN_NOT_OK(DecodeBlock(contents, &block_));
  TW_RETURN_NOT_OK(CheckBlock(block_));
  TW_RETURN_NOT_OK(Charge());
  return static_cast<const DecodedBlock*>(&block_);
}

}  // namespace thalweg::engine
