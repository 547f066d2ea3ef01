#include "data/formats/text/byte_stream.h"

#include <arrow/util/compression.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <vector>

#include "base/string_case.h"
#include "data/columnar/arrow_bridge.h"
#include "data/formats/text/stream_codec.h"

namespace thalweg::data {
namespace {

constexpr size_t kPackedBlock = 256 * 1024;
constexpr int64_t kLeastRoom = 16;

/// Spark reads zstd by its extension but has no name for writing it.
struct StreamCodecName {
  Compression compression;
  std::string_view option;
  std::string_view extension;
};
constexpr StreamCodecName kStreamCodecs[] = {
    {Compression::kNone, "none", ""},          {Compression::kNone, "uncompressed", ""},
    {Compression::kBzip2, "bzip2", ".bz2"},    {Compression::kDeflate, "deflate", ".deflate"},
    {Compression::kGzip, "gzip", ".gz"},       {Compression::kLz4, "lz4", ".lz4"},
    {Compression::kSnappy, "snappy", ".snappy"}, {Compression::kZstd, "", ".zst"}};

class PlainStream final : public ByteStream {
 public:
  PlainStream(std::unique_ptr<ReadableFile> file, int64_t position) : file_(std::move(file)), position_(position) {}
  Result<size_t> Read(std::span<char> out) override {
    TW_ASSIGN_OR_RETURN(const size_t got, file_->ReadAt(position_, out));
    position_ += static_cast<int64_t>(got);
    return got;
  }

 private:
  std::unique_ptr<ReadableFile> file_;
  int64_t position_;
};

/// Members that follow one another (concatenated gzip files) are one text.
class PackedStream final : public ByteStream {
 public:
  PackedStream(std::unique_ptr<ReadableFile> file, std::string path, std::unique_ptr<arrow::util::Codec> codec,
               std::shared_ptr<arrow::util::Decompressor> decompressor)
      : file_(std::move(file)),
        path_(std::move(path)),
        codec_(std::move(codec)),
        decompressor_(std::move(decompressor)),
        packed_(kPackedBlock) {}

  Result<size_t> Read(std::span<char> out) override {
    while (true) {
      if (at_ == filled_ && !at_end_) {
        TW_ASSIGN_OR_RETURN(filled_, file_->Read(packed_));
        at_ = 0;
        at_end_ = filled_ == 0;
      }
      if (decompressor_->IsFinished()) {
        if (at_ == filled_) return size_t{0};
        TW_RETURN_NOT_OK(FromArrowStatus(decompressor_->Reset(), "unpack " + path_));
        started_ = false;
      }
      if (at_ == filled_ && !started_) return size_t{0};
      const auto step = decompressor_->Decompress(
          static_cast<int64_t>(filled_ - at_), reinterpret_cast<const uint8_t*>(packed_.data() + at_),
          static_cast<int64_t>(out.size()), reinterpret_cast<uint8_t*>(out.data()));
      if (!step.ok()) return Damaged(step.status().message());
      started_ = started_ || step->bytes_read > 0;
      at_ += static_cast<size_t>(step->bytes_read);
      if (step->bytes_written > 0) return static_cast<size_t>(step->bytes_written);
      if (step->bytes_read == 0 && at_end_ && !decompressor_->IsFinished()) return Damaged("it ends too early");
      if (step->need_more_output) return Damaged("a block does not fit");
    }
  }

 private:
  Status Damaged(std::string_view reason) const {
    return Error("IO_ERROR")
        .With("attempted", "unpack " + path_)
        .With("error", reason)
        .Kind(ErrorKind::kEnvironment);
  }

  std::unique_ptr<ReadableFile> file_;
  std::string path_;
  std::unique_ptr<arrow::util::Codec> codec_;
  std::shared_ptr<arrow::util::Decompressor> decompressor_;
  std::vector<char> packed_;
  size_t at_ = 0, filled_ = 0;
  bool started_ = false;  // in the middle of a member
  bool at_end_ = false;
};

}  // namespace

Result<std::unique_ptr<arrow::util::Codec>> MakeStreamCodec(Compression compression) {
  using arrow::util::Codec;
  arrow::Result<std::unique_ptr<Codec>> codec = arrow::Status::NotImplemented("");
  switch (compression) {
    case Compression::kGzip:
      codec = Codec::Create(arrow::Compression::GZIP, arrow::util::GZipCodecOptions());
      break;
    case Compression::kDeflate: {
      arrow::util::GZipCodecOptions options;
      options.gzip_format = arrow::util::GZipFormat::ZLIB;
      codec = Codec::Create(arrow::Compression::GZIP, options);
      break;
    }
    case Compression::kBzip2:
      codec = Codec::Create(arrow::Compression::BZ2);
      break;
    case Compression::kZstd:
      codec = Codec::Create(arrow::Compression::ZSTD);
      break;
    default:
      return Unsupported("text files packed with Hadoop's lz4 or snappy framing");
  }
  if (!codec.ok()) return FromArrowStatus(codec.status(), "make a codec");
  return std::move(codec).ValueUnsafe();
}

Compression CompressionOfName(std::string_view path) {
  for (const StreamCodecName& codec : kStreamCodecs) {
    if (!codec.extension.empty() && path.ends_with(codec.extension)) return codec.compression;
  }
  return Compression::kNone;
}

Result<Compression> CompressionOfOption(std::string_view name) {
  for (const StreamCodecName& codec : kStreamCodecs) {
    if (!codec.option.empty() && EqualsIgnoreCase(name, codec.option)) return codec.compression;
  }
  return Error("CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION")
      .With("codecName", name)
      .With("availableCodecs", "bzip2, deflate, uncompressed, snappy, none, lz4, gzip");
}

std::string_view CompressionExtension(Compression compression) {
  for (const StreamCodecName& codec : kStreamCodecs) {
    if (codec.compression == compression) return codec.extension;
  }
  return {};
}

Result<std::unique_ptr<ByteStream>> OpenByteStream(FileSystem& file_system, const std::string& path, int64_t start) {
  const Compression compression = CompressionOfName(path);
  TW_ASSIGN_OR_RETURN(std::unique_ptr<ReadableFile> file, file_system.OpenForRead(path));
  if (compression == Compression::kNone)
    return std::unique_ptr<ByteStream>(std::make_unique<PlainStream>(std::move(file), start));
  TW_ASSIGN_OR_RETURN(std::unique_ptr<arrow::util::Codec> codec, MakeStreamCodec(compression));
  auto decompressor = codec->MakeDecompressor();
  if (!decompressor.ok()) return FromArrowStatus(decompressor.status(), "unpack " + path);
  return std::unique_ptr<ByteStream>(std::make_unique<PackedStream>(std::move(file), path, std::move(codec),
                                                                    std::move(decompressor).ValueUnsafe()));
}

Result<std::shared_ptr<Buffer>> ReadAll(ByteStream& stream, int64_t size_hint, int64_t* size) {
  std::shared_ptr<Buffer> buffer = Buffer::Allocate(std::max<int64_t>(size_hint + kLeastRoom, 4096) + kTextSlack);
  *size = 0;
  while (true) {
    if (*size + kTextSlack + kLeastRoom > buffer->size()) {
      std::shared_ptr<Buffer> larger = Buffer::Allocate(2 * buffer->size());
      std::memcpy(larger->mutable_data(), buffer->data(), static_cast<size_t>(*size));
      buffer = std::move(larger);
    }
    TW_ASSIGN_OR_RETURN(const size_t got,
                        stream.Read({reinterpret_cast<char*>(buffer->mutable_data()) + *size,
                                     static_cast<size_t>(buffer->size() - kTextSlack - *size)}));
    if (got == 0) break;
    *size += static_cast<int64_t>(got);
  }
  std::memset(buffer->mutable_data() + *size, 0, static_cast<size_t>(kTextSlack));
  return buffer;
}

}  // namespace thalweg::data
