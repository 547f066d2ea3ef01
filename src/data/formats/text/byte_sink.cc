#include "data/formats/text/byte_sink.h"

#include <arrow/util/compression.h>

#include "base/string_case.h"
#include "data/columnar/arrow_bridge.h"
#include "data/formats/text/charset.h"
#include "data/formats/text/stream_codec.h"

namespace thalweg::data {
namespace {

constexpr size_t kPackedRoom = 64 * 1024;

class Sink final : public ByteSink {
 public:
  Sink(std::unique_ptr<WritableFile> file, std::string path) : file_(std::move(file)), path_(std::move(path)) {}

  void SetCharset(std::string_view charset) {
    charset_ = ToAsciiUpper(charset);
    if (charset_ == "UTF-16") {
      charset_ = "UTF-16BE";
      encoded_ = "\xFE\xFF";
    }
    if (charset_ == "UTF-32") charset_ = "UTF-32BE";
  }

  Status SetCompression(Compression compression) {
    TW_ASSIGN_OR_RETURN(codec_, MakeStreamCodec(compression));
    auto compressor = codec_->MakeCompressor();
    if (!compressor.ok()) return Packing(compressor.status());
    compressor_ = std::move(compressor).ValueUnsafe();
    packed_.resize(kPackedRoom);
    return Status::OK();
  }

  Status Close() override {
    TW_RETURN_NOT_OK(Flush());
    bool more = compressor_ != nullptr;
    while (more) {
      const auto step = compressor_->End(static_cast<int64_t>(packed_.size()), packed());
      if (!step.ok()) return Packing(step.status());
      TW_RETURN_NOT_OK(AppendPacked(step->bytes_written));
      more = step->should_retry;
      if (more && step->bytes_written == 0) packed_.resize(2 * packed_.size());
    }
    return file_->Close();
  }

 protected:
  Status Flush() override {
    std::string_view bytes = text_;
    if (!charset_.empty()) {
      TW_ASSIGN_OR_RETURN(const std::string encoded, EncodeFromUtf8(text_, charset_));
      encoded_ += encoded;
      bytes = encoded_;
    }
    if (compressor_ == nullptr) {
      if (!bytes.empty()) TW_RETURN_NOT_OK(file_->Append(bytes));
      bytes = {};
    }
    while (!bytes.empty()) {
      const auto step = compressor_->Compress(static_cast<int64_t>(bytes.size()), reinterpret_cast<const uint8_t*>(bytes.data()),
                                              static_cast<int64_t>(packed_.size()), packed());
      if (!step.ok()) return Packing(step.status());
      TW_RETURN_NOT_OK(AppendPacked(step->bytes_written));
      if (step->bytes_read == 0 && step->bytes_written == 0) packed_.resize(2 * packed_.size());
      bytes.remove_prefix(static_cast<size_t>(step->bytes_read));
    }
    text_.clear();
    encoded_.clear();
    return Status::OK();
  }

 private:
  Status Packing(const arrow::Status& status) const { return FromArrowStatus(status, "pack " + path_); }
  uint8_t* packed() { return reinterpret_cast<uint8_t*>(packed_.data()); }
  Status AppendPacked(int64_t size) {
    return size == 0 ? Status::OK() : file_->Append({packed_.data(), static_cast<size_t>(size)});
  }

  std::unique_ptr<WritableFile> file_;
  std::string path_;
  std::string charset_;  // empty: UTF-8
  std::string encoded_;
  std::unique_ptr<arrow::util::Codec> codec_;
  std::shared_ptr<arrow::util::Compressor> compressor_;  // null: not packed
  std::string packed_;
};

}  // namespace

Status ByteSink::CheckCompression(Compression compression) {
  return compression == Compression::kNone ? Status::OK() : MakeStreamCodec(compression).status();
}

Result<std::unique_ptr<ByteSink>> ByteSink::Create(FileSystem& file_system, const std::string& path,
                                                   Compression compression, std::string_view charset) {
  TW_ASSIGN_OR_RETURN(std::unique_ptr<WritableFile> file, file_system.Create(path, CreateMode::kReplace));
  auto sink = std::make_unique<Sink>(std::move(file), path);
  if (!IsUtf8Charset(charset)) sink->SetCharset(charset);
  if (compression != Compression::kNone) TW_RETURN_NOT_OK(sink->SetCompression(compression));
  return std::unique_ptr<ByteSink>(std::move(sink));
}

}  // namespace thalweg::data
