#include "engine/state/rocksdb/zip_archive.h"

#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace thalweg::engine {
namespace {

// Little-endian records of the ZIP format. Do not change.
constexpr uint32_t kLocalHeader = 0x04034b50;
constexpr uint32_t kDirectoryHeader = 0x02014b50;
constexpr uint32_t kEndRecord = 0x06054b50;
constexpr size_t kLocalBytes = 30;
constexpr size_t kDirectoryBytes = 46;
constexpr size_t kEndBytes = 22;
constexpr size_t kMostComment = 65535;
constexpr uint16_t kVersion = 20;
constexpr uint16_t kUtf8Names = 1 << 11;
constexpr uint16_t kStored = 0;
constexpr uint16_t kDeflated = 8;
constexpr uint16_t kFirstDay = 0x21;  // 1980-01-01: times say nothing here, and equal snapshots are equal files

template <typename T>
void AppendRaw(T value, std::string* out) {
  out->append(reinterpret_cast<const char*>(&value), sizeof(T));
}
template <typename T>
T RawAt(std::string_view bytes, size_t offset) {
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}
uint32_t CrcOf(std::string_view bytes) {
  return static_cast<uint32_t>(crc32_z(0, reinterpret_cast<const Bytef*>(bytes.data()), bytes.size()));
}
Status ZipDamaged(const std::string& what) { return InternalError("a damaged zip file: " + what); }

// Raw deflate; empty when it does not get smaller.
std::string Deflated(std::string_view bytes) {
  std::string out(bytes.size(), '\0');
  z_stream stream{};
  if (deflateInit2(&stream, Z_DEFAULT_COMPRESSION, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) != Z_OK) return {};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  const int answer = deflate(&stream, Z_FINISH);
  out.resize(answer == Z_STREAM_END ? out.size() - stream.avail_out : 0);
  deflateEnd(&stream);
  return out;
}

Result<std::string> Inflated(std::string_view bytes, size_t size) {
  std::string out(size, '\0');
  z_stream stream{};
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) return InternalError("zlib does not start");
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  stream.avail_in = static_cast<uInt>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  char nothing = 0;
  if (out.empty()) stream.next_out = reinterpret_cast<Bytef*>(&nothing);
  const int answer = inflate(&stream, Z_FINISH);
  const bool whole = answer == Z_STREAM_END && stream.avail_out == 0;
  inflateEnd(&stream);
  if (!whole) return ZipDamaged("an entry does not unpack to its size");
  return out;
}

// What the directory says of an entry.
struct DirectoryEntry {
  std::string_view name;
  uint16_t flags = 0;
  uint16_t method = 0;
  uint32_t crc = 0;
  size_t packed = 0;
  size_t size = 0;
  size_t local_header = 0;
};

Result<std::string> Unpack(std::string_view archive, const DirectoryEntry& entry) {
  if ((entry.flags & 1) != 0) return ZipDamaged("an encrypted entry");
  if (entry.local_header + kLocalBytes > archive.size()) return ZipDamaged("an entry lies outside");
  if (RawAt<uint32_t>(archive, entry.local_header) != kLocalHeader) return ZipDamaged("an entry without its header");
  const size_t begin = entry.local_header + kLocalBytes + RawAt<uint16_t>(archive, entry.local_header + 26) +
                       RawAt<uint16_t>(archive, entry.local_header + 28);
  if (begin > archive.size() || entry.packed > archive.size() - begin) return ZipDamaged("an entry is cut off");
  const std::string_view packed = archive.substr(begin, entry.packed);
  std::string bytes;
  if (entry.method == kStored) {
    if (entry.packed != entry.size) return ZipDamaged("a stored entry of two sizes");
    bytes = packed;
  } else if (entry.method == kDeflated) {
    TW_ASSIGN_OR_RETURN(bytes, Inflated(packed, entry.size));
  } else {
    return ZipDamaged("compression method " + std::to_string(entry.method));
  }
  if (CrcOf(bytes) != entry.crc) return ZipDamaged("the checksum of an entry is wrong");
  return bytes;
}

}  // namespace

std::string WriteZip(const std::vector<ZipEntry>& entries) {
  std::string archive;
  std::string directory;
  for (const ZipEntry& entry : entries) {
    const std::string deflated = Deflated(entry.bytes);
    const bool stored = deflated.empty();
    const std::string_view packed = stored ? std::string_view(entry.bytes) : std::string_view(deflated);
    std::string common;  // what both headers say
    AppendRaw(kVersion, &common);
    AppendRaw(kUtf8Names, &common);
    AppendRaw(stored ? kStored : kDeflated, &common);
    AppendRaw(uint16_t{0}, &common);
    AppendRaw(kFirstDay, &common);
    AppendRaw(CrcOf(entry.bytes), &common);
    AppendRaw(static_cast<uint32_t>(packed.size()), &common);
    AppendRaw(static_cast<uint32_t>(entry.bytes.size()), &common);
    AppendRaw(static_cast<uint16_t>(entry.name.size()), &common);
    AppendRaw(uint16_t{0}, &common);  // no extra field
    AppendRaw(kDirectoryHeader, &directory);
    AppendRaw(kVersion, &directory);
    directory += common;
    directory.append(10, '\0');  // comment, disk, attributes
    AppendRaw(static_cast<uint32_t>(archive.size()), &directory);
    directory += entry.name;
    AppendRaw(kLocalHeader, &archive);
    archive += common;
    archive += entry.name;
    archive += packed;
  }
  const auto begin = static_cast<uint32_t>(archive.size());
  archive += directory;
  AppendRaw(kEndRecord, &archive);
  AppendRaw(uint32_t{0}, &archive);  // one disk
  AppendRaw(static_cast<uint16_t>(entries.size()), &archive);
  AppendRaw(static_cast<uint16_t>(entries.size()), &archive);
  AppendRaw(static_cast<uint32_t>(directory.size()), &archive);
  AppendRaw(begin, &archive);
  AppendRaw(uint16_t{0}, &archive);
  return archive;
}

Result<std::vector<ZipEntry>> ReadZip(std::string_view archive, size_t limit_bytes, std::string_view only) {
  if (archive.size() < kEndBytes) return ZipDamaged("too short");
  // The end record is followed by a comment, if anything.
  size_t end = archive.size() - kEndBytes;
  const size_t lowest = end > kMostComment ? end - kMostComment : 0;
  while (RawAt<uint32_t>(archive, end) != kEndRecord) {
    if (end == lowest) return ZipDamaged("no directory");
    --end;
  }
  const size_t count = RawAt<uint16_t>(archive, end + 10);
  size_t at = RawAt<uint32_t>(archive, end + 16);
  size_t total = 0;
  std::vector<ZipEntry> entries;
  for (size_t i = 0; i < count; ++i) {
    if (at > archive.size() || archive.size() - at < kDirectoryBytes) return ZipDamaged("the directory is cut off");
    if (RawAt<uint32_t>(archive, at) != kDirectoryHeader) return ZipDamaged("the directory does not hold what it says");
    const size_t name_bytes = RawAt<uint16_t>(archive, at + 28);
    const size_t behind = name_bytes + RawAt<uint16_t>(archive, at + 30) + RawAt<uint16_t>(archive, at + 32);
    if (archive.size() - at - kDirectoryBytes < behind) return ZipDamaged("the directory is cut off");
    const DirectoryEntry entry{.name = archive.substr(at + kDirectoryBytes, name_bytes),
                               .flags = RawAt<uint16_t>(archive, at + 8),
                               .method = RawAt<uint16_t>(archive, at + 10),
                               .crc = RawAt<uint32_t>(archive, at + 16),
                               .packed = RawAt<uint32_t>(archive, at + 20),
                               .size = RawAt<uint32_t>(archive, at + 24),
                               .local_header = RawAt<uint32_t>(archive, at + 42)};
    at += kDirectoryBytes + behind;
    if (!only.empty() && entry.name != only) continue;
    if (entry.size > limit_bytes - total) return ZipDamaged("it unpacks to more than " + std::to_string(limit_bytes) + " bytes");
    total += entry.size;
    TW_ASSIGN_OR_RETURN(std::string bytes, Unpack(archive, entry));
    entries.push_back({std::string(entry.name), std::move(bytes)});
  }
  return entries;
}

}  // namespace thalweg::engine
