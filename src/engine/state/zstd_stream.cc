#include <zstd.h>

#include "engine/state/state_codec.h"

namespace thalweg::engine {

std::unique_ptr<StateCompressor> MakeZstdCompressor();
std::unique_ptr<StateDecompressor> MakeZstdDecompressor(std::string_view file);

namespace {

constexpr size_t kStepBytes = 64 * 1024;

struct FreeCompress {
  void operator()(ZSTD_CCtx* context) const { ZSTD_freeCCtx(context); }
};
struct FreeDecompress {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

class ZstdCompressor final : public StateCompressor {
 public:
  ZstdCompressor() : context_(ZSTD_createCCtx()) { ZSTD_CCtx_setParameter(context_.get(), ZSTD_c_compressionLevel, 1); }
  Status Append(std::string_view bytes, std::string* out) override { return Step(bytes, ZSTD_e_continue, out); }
  Status Finish(std::string* out) override { return Step({}, ZSTD_e_end, out); }

 private:
  Status Step(std::string_view bytes, ZSTD_EndDirective directive, std::string* out) {
    ZSTD_inBuffer input{bytes.data(), bytes.size(), 0};
    while (true) {
      const size_t before = out->size();
      out->resize(before + kStepBytes);
      ZSTD_outBuffer output{out->data() + before, kStepBytes, 0};
      const size_t left = ZSTD_compressStream2(context_.get(), &output, &input, directive);
      out->resize(before + output.pos);
      if (ZSTD_isError(left) != 0) return InternalError(std::string("zstd: ") + ZSTD_getErrorName(left));
      const bool done = directive == ZSTD_e_end ? left == 0 : input.pos == input.size;
      if (done) return Status::OK();
    }
  }
  std::unique_ptr<ZSTD_CCtx, FreeCompress> context_;
};

class ZstdDecompressor final : public StateDecompressor {
 public:
  explicit ZstdDecompressor(std::string_view file)
      : context_(ZSTD_createDCtx()), input_{file.data(), file.size(), 0} {}

  Result<bool> Next(std::string* out) override {
    while (true) {
      const size_t before = out->size();
      out->resize(before + kStepBytes);
      ZSTD_outBuffer output{out->data() + before, kStepBytes, 0};
      const size_t consumed = input_.pos;
      const size_t hint = ZSTD_decompressStream(context_.get(), &output, &input_);
      out->resize(before + output.pos);
      if (ZSTD_isError(hint) != 0) return InternalError(std::string("zstd: ") + ZSTD_getErrorName(hint));
      const bool progress = output.pos > 0 || input_.pos > consumed;
      if (progress) inside_frame_ = hint != 0;
      if (output.pos > 0) return true;
      if (input_.pos < input_.size && progress) continue;
      if (inside_frame_ || input_.pos < input_.size) return InternalError("zstd: the stream ends inside a frame");
      return false;
    }
  }

 private:
  std::unique_ptr<ZSTD_DCtx, FreeDecompress> context_;
  ZSTD_inBuffer input_;
  bool inside_frame_ = false;
};

}  // namespace

std::unique_ptr<StateCompressor> MakeZstdCompressor() { return std::make_unique<ZstdCompressor>(); }
std::unique_ptr<StateDecompressor> MakeZstdDecompressor(std::string_view file) {
  return std::make_unique<ZstdDecompressor>(file);
}

}  // namespace thalweg::engine
