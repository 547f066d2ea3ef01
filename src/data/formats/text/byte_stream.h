#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/status.h"
#include "data/columnar/buffer.h"
#include "data/io/file_system.h"

namespace thalweg::data {

/// How the bytes of a file are packed, told by the end of its name as Hadoop does.
enum class Compression : uint8_t { kNone, kGzip, kDeflate, kBzip2, kZstd, kLz4, kSnappy };
Compression CompressionOfName(std::string_view path);
/// The value of a writer's option `compression` ("gzip", "bzip2", "none", ...), in any case.
/// Errors: CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION.
Result<Compression> CompressionOfOption(std::string_view name);
/// ".gz", ".zst", ...; empty for kNone.
std::string_view CompressionExtension(Compression compression);

/// A sequence of bytes. Thread: confined. Blocks: on the disk.
class ByteStream {
 public:
  virtual ~ByteStream() = default;
  /// The next bytes, at most out.size(); 0 only at the end. Errors: IO_ERROR (kEnvironment), also for damaged packing.
  virtual Result<size_t> Read(std::span<char> out) = 0;
};

/// The bytes of a file from `start` on, unpacked. `start` is 0 for packed files.
/// Errors: IO_ERROR; UNSUPPORTED_FEATURE.THALWEG for Hadoop's lz4 and snappy framing.
Result<std::unique_ptr<ByteStream>> OpenByteStream(FileSystem& file_system, const std::string& path, int64_t start = 0);

/// Room that readers of a text may touch behind its end (simdjson, wide loads).
inline constexpr int64_t kTextSlack = 64;

/// A whole stream in memory; the buffer is kTextSlack zero bytes longer than `*size`.
Result<std::shared_ptr<Buffer>> ReadAll(ByteStream& stream, int64_t size_hint, int64_t* size);

}  // namespace thalweg::data
