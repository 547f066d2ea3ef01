#include "engine/state/state_codec.h"

namespace thalweg::engine {

std::unique_ptr<StateCompressor> MakeLz4Compressor();
std::unique_ptr<StateDecompressor> MakeLz4Decompressor(std::string_view file);
std::unique_ptr<StateCompressor> MakeZstdCompressor();
std::unique_ptr<StateDecompressor> MakeZstdDecompressor(std::string_view file);
std::unique_ptr<StateCompressor> MakeSnappyCompressor();
std::unique_ptr<StateDecompressor> MakeSnappyDecompressor(std::string_view file);
std::unique_ptr<StateCompressor> MakeLzfCompressor();
std::unique_ptr<StateDecompressor> MakeLzfDecompressor(std::string_view file);

Result<StateCodecKind> FindStateCodec(std::string_view name) {
  std::string text;
  for (const char c : name) text += static_cast<char>(c >= 'A' && c <= 'Z' ? c + 32 : c);
  constexpr std::string_view kPackage = "org.apache.spark.io.";
  constexpr std::string_view kSuffix = "compressioncodec";
  if (text.starts_with(kPackage)) text = text.substr(kPackage.size());
  if (text.ends_with(kSuffix)) text.resize(text.size() - kSuffix.size());
  if (text == "lz4") return StateCodecKind::kLz4;
  if (text == "zstd" || text == "zstandard") return StateCodecKind::kZstd;
  if (text == "snappy") return StateCodecKind::kSnappy;
  if (text == "lzf") return StateCodecKind::kLzf;
  return Error("CODEC_NOT_AVAILABLE.WITH_CONF_SUGGESTION")
      .With("codecName", name)
      .With("configKey", "\"spark.sql.streaming.stateStore.compression.codec\"")
      .With("configVal", "\"lz4\"");
}

std::unique_ptr<StateCompressor> StateCompressor::Make(StateCodecKind kind) {
  switch (kind) {
    case StateCodecKind::kLz4: return MakeLz4Compressor();
    case StateCodecKind::kZstd: return MakeZstdCompressor();
    case StateCodecKind::kSnappy: return MakeSnappyCompressor();
    case StateCodecKind::kLzf: return MakeLzfCompressor();
  }
  return nullptr;
}

std::unique_ptr<StateDecompressor> StateDecompressor::Make(StateCodecKind kind, std::string_view file) {
  switch (kind) {
    case StateCodecKind::kLz4: return MakeLz4Decompressor(file);
    case StateCodecKind::kZstd: return MakeZstdDecompressor(file);
    case StateCodecKind::kSnappy: return MakeSnappyDecompressor(file);
    case StateCodecKind::kLzf: return MakeLzfDecompressor(file);
  }
  return nullptr;
}

}  // namespace thalweg::engine
