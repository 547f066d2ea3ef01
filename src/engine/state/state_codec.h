#pragma once

// Compression of state files, byte for byte what Spark's CompressionCodec classes read. Do not change.
//   lz4     lz4-java's block stream: "LZ4Block", token, payload and plain length (LE), xxHash32 & 0x0fffffff; 32 KiB
//   zstd    one standard frame, level 1
//   snappy  snappy-java's stream: "\x82SNAPPY\0", two int32 BE versions, then int32 BE length and a block; 32 KiB
//   lzf     "ZV" chunks of at most 65,535 bytes

#include <memory>
#include <string>
#include <string_view>

#include "base/status.h"

namespace thalweg::engine {

enum class StateCodecKind : unsigned char { kLz4, kZstd, kSnappy, kLzf };

/// By the setting's text: a short name, or the name of Spark's class. Errors: CODEC_NOT_AVAILABLE.WITH_CONF_SUGGESTION.
Result<StateCodecKind> FindStateCodec(std::string_view name);

/// Compresses a stream piece by piece. Thread: confined to its owner.
class StateCompressor {
 public:
  static std::unique_ptr<StateCompressor> Make(StateCodecKind kind);
  virtual ~StateCompressor() = default;
  /// Appends what is ready to `out`; may keep up to a block.
  virtual Status Append(std::string_view bytes, std::string* out) = 0;
  /// Appends the rest and the end mark.
  virtual Status Finish(std::string* out) = 0;
};

/// The reverse over a file in memory, which must outlive it.
class StateDecompressor {
 public:
  static std::unique_ptr<StateDecompressor> Make(StateCodecKind kind, std::string_view file);
  virtual ~StateDecompressor() = default;
  /// Appends the next piece to `out`; false at the end. Errors: INTERNAL_ERROR for a damaged stream.
  virtual Result<bool> Next(std::string* out) = 0;
};

}  // namespace thalweg::engine
