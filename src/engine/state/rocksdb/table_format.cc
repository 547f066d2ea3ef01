#include "engine/state/rocksdb/table_format.h"

#include <lz4.h>
#include <snappy.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>

#include "engine/state/crc32c.h"
#include "engine/state/rocksdb/byte_cursor.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

namespace thalweg::engine {
namespace {

constexpr uint64_t kTableMagic = 0x88e241b785f4cff7;
constexpr size_t kHandlesBytes = 40;  // in the footer, padded
enum ChecksumKind : uint8_t { kNoChecksum = 0, kCrc32c = 1, kXxHash = 2, kXxHash64 = 3, kXxh3 = 4 };
enum CompressionKind : uint8_t { kPlain = 0, kSnappy = 1, kZlib = 2, kLz4 = 4, kLz4Hc = 5, kZstd = 7 };
constexpr uint32_t kXxh3LastByte = 0x6b9083d9;

constexpr uint64_t kMostContents = 256 << 20;
constexpr uint64_t kMostGrowth = 4096;  // contents are at most so many times the stored bytes
constexpr size_t kMostEntries = 4 << 20;
constexpr size_t kMostKeyBytes = 64 << 20;  // of one block, beyond its own size

Status DamagedBlock(const char* what) { return InternalError(std::string("RocksDB: a table's block: ") + what); }

bool Decompress(uint8_t compression, std::string_view bytes, size_t size, char* out) {
  const auto expected = static_cast<int64_t>(size);
  switch (compression) {
    case kSnappy:
      return snappy::RawUncompress(bytes.data(), bytes.size(), out);
    case kLz4:
    case kLz4Hc:
      return LZ4_decompress_safe(bytes.data(), out, static_cast<int>(bytes.size()), static_cast<int>(size)) == expected;
    case kZstd:
      return ZSTD_decompress(out, size, bytes.data(), bytes.size()) == size;
    default: {  // zlib without its header
      z_stream stream{};
      if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return false;
      stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
      stream.avail_in = static_cast<uInt>(bytes.size());
      stream.next_out = reinterpret_cast<Bytef*>(out);
      stream.avail_out = static_cast<uInt>(size);
      const bool whole = inflate(&stream, Z_FINISH) == Z_STREAM_END && stream.avail_out == 0;
      inflateEnd(&stream);
      return whole;
    }
  }
}

/// The restart points of a block, and what lies before them.
Status TakeRestarts(std::string_view contents, std::string_view* entries, std::vector<uint32_t>* restarts) {
  uint32_t count = 0;
  if (contents.size() < 8 || !ByteCursor(contents.substr(contents.size() - 4)).TakeFixed32(&count)) return DamagedBlock("too short");
  if (count >> 31 != 0) return Unsupported("RocksDB state whose blocks have a hash index");
  if (count == 0 || count > contents.size() / 4 - 1) return DamagedBlock("its restart points");
  *entries = contents.substr(0, contents.size() - 4 * (size_t{count} + 1));
  ByteCursor at(contents.substr(entries->size()));
  restarts->resize(count);
  for (uint32_t& restart : *restarts) {
    if (!at.TakeFixed32(&restart)) return DamagedBlock("its restart points");
  }
  if (restarts->front() != 0) return DamagedBlock("its restart points");
  return Status::OK();
}

/// A key that shares its beginning with the one before, whose bytes end `keys`.
struct KeyAppender {
  std::string* keys;
  std::vector<std::pair<size_t, size_t>> places;  // offset and size in keys

  bool Append(uint32_t shared, std::string_view rest, size_t most_bytes) {
    const auto [before, before_size] = places.empty() ? std::pair<size_t, size_t>(0, 0) : places.back();
    if (shared > before_size || keys->size() + shared + rest.size() > most_bytes) return false;
    const size_t begin = keys->size();
    keys->resize(begin + shared + rest.size());
    std::copy_n(keys->data() + before, shared, keys->data() + begin);
    std::copy(rest.begin(), rest.end(), keys->data() + begin + shared);
    places.emplace_back(begin, shared + rest.size());
    return true;
  }
};

/// take_value(cursor, shared) takes an entry's value.
template <typename TakeValue>
Status DecodeEntries(std::string_view contents, bool value_has_length, DecodedBlock* block, const TakeValue& take_value) {
  block->entries.clear();
  block->keys.clear();
  std::string_view bytes;
  std::vector<uint32_t> restarts;
  TW_RETURN_NOT_OK(TakeRestarts(contents, &bytes, &restarts));
  KeyAppender keys{&block->keys, {}};
  std::vector<std::string_view> values;
  size_t restart = 0;
  ByteCursor at(bytes);
  while (!at.empty()) {
    const size_t offset = bytes.size() - at.rest().size();
    uint32_t shared = 0, unshared = 0, value_bytes = 0;
    std::string_view rest, value;
    if (!at.TakeVarint32(&shared) || !at.TakeVarint32(&unshared) || (value_has_length && !at.TakeVarint32(&value_bytes)) ||
        !at.TakeBytes(unshared, &rest) || !keys.Append(shared, rest, kMostKeyBytes + contents.size()) ||
        !at.TakeBytes(value_bytes, &value) || !take_value(&at, shared)) {
      return DamagedBlock("an entry is not whole");
    }
    if (values.size() == kMostEntries) return DamagedBlock("too many entries");
    values.push_back(value);
    if (restart < restarts.size() && restarts[restart] == offset) {
      if (shared != 0) return DamagedBlock("its restart points");
      ++restart;
    }
  }
  if (values.empty() || restart != restarts.size()) return DamagedBlock("its restart points");
  block->entries.reserve(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const auto [begin, size] = keys.places[i];
    block->entries.push_back({std::string_view(block->keys).substr(begin, size), values[i]});
  }
  return Status::OK();
}

}  // namespace

Result<TableFooter> ParseTableFooter(std::string_view bytes, uint64_t file_bytes) {
  if (bytes.size() != kFooterBytes || file_bytes < kFooterBytes) return DamagedBlock("the footer is not whole");
  TableFooter footer;
  footer.checksum = static_cast<uint8_t>(bytes[0]);
  ByteCursor end(bytes.substr(1 + kHandlesBytes));
  uint32_t version = 0;
  uint64_t magic = 0;
  if (!end.TakeFixed32(&version) || !end.TakeFixed64(&magic) || magic != kTableMagic) return DamagedBlock("not a table");
  if (version < 2 || version > 5) return Unsupported("RocksDB state in tables of format version " + std::to_string(version));
  ByteCursor at(bytes.substr(1, kHandlesBytes));
  for (BlockHandle* handle : {&footer.meta_index, &footer.index}) {
    if (!at.TakeVarint64(&handle->offset) || !at.TakeVarint64(&handle->size)) return DamagedBlock("the footer is not whole");
    const uint64_t most = file_bytes - kFooterBytes;
    if (handle->offset > most || handle->size > most - handle->offset || most - handle->offset - handle->size < kBlockTrailerBytes) {
      return DamagedBlock("the footer points outside");
    }
  }
  return footer;
}

Result<BlockHandle> ParseBlockHandle(std::string_view bytes) {
  ByteCursor at(bytes);
  BlockHandle handle;
  if (!at.TakeVarint64(&handle.offset) || !at.TakeVarint64(&handle.size) || !at.empty()) return DamagedBlock("a handle is not whole");
  return handle;
}

Result<uint32_t> BlockChecksum(uint8_t kind, std::string_view block) {
  switch (kind) {
    case kNoChecksum:
      return 0u;
    case kCrc32c:
      return MaskedCrc32c(Crc32c(block));
    case kXxHash:
      return XXH32(block.data(), block.size(), 0);
    case kXxHash64:
      return static_cast<uint32_t>(XXH64(block.data(), block.size(), 0));
    case kXxh3:
      return static_cast<uint32_t>(XXH3_64bits(block.data(), block.size() - 1)) ^ static_cast<uint8_t>(block.back()) * kXxh3LastByte;
    default:
      return Unsupported("RocksDB state with checksums of kind " + std::to_string(kind));
  }
}

Result<std::string_view> OpenBlock(uint8_t checksum, std::string_view stored, std::string* scratch,
                                   const std::function<Status(size_t bytes)>& make_room) {
  if (stored.size() < kBlockTrailerBytes) return DamagedBlock("not whole");
  const std::string_view checked = stored.substr(0, stored.size() - 4);
  uint32_t expected = 0;
  TW_ASSIGN_OR_RETURN(const uint32_t actual, BlockChecksum(checksum, checked));
  if (!ByteCursor(stored.substr(checked.size())).TakeFixed32(&expected)) return DamagedBlock("not whole");
  if (checksum != kNoChecksum && actual != expected) return DamagedBlock("a checksum does not match");
  std::string_view contents = checked.substr(0, checked.size() - 1);
  const auto compression = static_cast<uint8_t>(checked.back());
  if (compression == kPlain) return contents;
  uint64_t size = 0;
  if (compression == kSnappy) {
    size_t snappy_size = 0;
    if (!snappy::GetUncompressedLength(contents.data(), contents.size(), &snappy_size)) return DamagedBlock("its size");
    size = snappy_size;
  } else if (compression == kZlib || compression == kLz4 || compression == kLz4Hc || compression == kZstd) {
    ByteCursor at(contents);
    uint32_t prefix = 0;
    if (!at.TakeVarint32(&prefix)) return DamagedBlock("its size");
    size = prefix;
    contents = at.rest();
  } else {
    return Unsupported("RocksDB state with compression of kind " + std::to_string(compression));
  }
  if (size > kMostContents || size > kMostGrowth * (contents.size() + 1)) return DamagedBlock("its size");
  if (make_room) TW_RETURN_NOT_OK(make_room(size));
  scratch->resize(size);
  if (!Decompress(compression, contents, size, scratch->data())) return DamagedBlock("it cannot be decompressed");
  return std::string_view(*scratch);
}

Status DecodeBlock(std::string_view contents, DecodedBlock* block) {
  return DecodeEntries(contents, true, block, [](ByteCursor*, uint32_t) { return true; });
}

Status DecodeIndex(std::string_view contents, bool bare_handles, DecodedIndex* index) {
  index->handles.clear();
  if (!bare_handles) {
    TW_RETURN_NOT_OK(DecodeBlock(contents, &index->block));
    for (const BlockEntry& entry : index->block.entries) {
      TW_ASSIGN_OR_RETURN(const BlockHandle handle, ParseBlockHandle(entry.value));
      index->handles.push_back(handle);
    }
    return Status::OK();
  }
  return DecodeEntries(contents, false, &index->block, [index](ByteCursor* at, uint32_t shared) {
    BlockHandle handle;
    if (shared == 0) {
      if (!at->TakeVarint64(&handle.offset) || !at->TakeVarint64(&handle.size)) return false;
    } else {
      uint64_t zigzag = 0;
      if (index->handles.empty() || !at->TakeVarint64(&zigzag)) return false;
      const BlockHandle& before = index->handles.back();
      handle.offset = before.offset + before.size + kBlockTrailerBytes;
      handle.size = before.size + (zigzag >> 1 ^ (~(zigzag & 1) + 1));
    }
    index->handles.push_back(handle);
    return true;
  });
}

}  // namespace thalweg::engine
