#include "data/io/checksum_file.h"

#include <zlib.h>

#include <cstdint>

#include "data/io/path.h"

namespace thalweg::data {
namespace {

constexpr std::string_view kMagic("crc\0", 4);
constexpr size_t kMagicBytes = 4;
constexpr uint32_t kChunkBytes = 512;

void AppendBigEndian(uint32_t value, std::string& out) {
  for (int shift = 24; shift >= 0; shift -= 8) out += static_cast<char>(value >> shift & 0xFF);
}

uint32_t ReadBigEndian(std::string_view bytes) {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

std::string ChecksumsWithChunk(std::string_view bytes, uint32_t chunk_bytes) {
  std::string out(kMagic.substr(0, kMagicBytes));
  AppendBigEndian(chunk_bytes, out);
  for (size_t at = 0; at < bytes.size(); at += chunk_bytes) {
    const std::string_view chunk = bytes.substr(at, chunk_bytes);
    AppendBigEndian(static_cast<uint32_t>(
                        crc32(0, reinterpret_cast<const Bytef*>(chunk.data()), static_cast<uInt>(chunk.size()))),
                    out);
  }
  return out;
}

}  // namespace

std::string HadoopChecksumBytes(std::string_view bytes) { return ChecksumsWithChunk(bytes, kChunkBytes); }

std::string HadoopChecksumPath(std::string_view path) {
  return JoinPath(ParentPath(path), "." + std::string(PathName(path)) + ".crc");
}

Result<ChecksumVerdict> CheckHadoopChecksum(FileSystem& file_system, const std::string& path) {
  TW_ASSIGN_OR_RETURN(const std::string bytes, file_system.ReadWhole(path));
  const Result<std::string> sidecar = file_system.ReadWhole(HadoopChecksumPath(path));
  if (!sidecar.ok()) {
    if (IsNotFound(sidecar.status())) return ChecksumVerdict::kNone;
    return sidecar.status();
  }
  if (!sidecar->starts_with(kMagic) || sidecar->size() < kMagicBytes + 4) return ChecksumVerdict::kStale;
  const uint32_t chunk_bytes = ReadBigEndian(std::string_view(*sidecar).substr(kMagicBytes));
  if (chunk_bytes == 0) return ChecksumVerdict::kStale;
  return *sidecar == ChecksumsWithChunk(bytes, chunk_bytes) ? ChecksumVerdict::kMatch : ChecksumVerdict::kStale;
}

}  // namespace thalweg::data
