#include "data/formats/text/charset.h"

#include <iconv.h>

#include <cerrno>
#include <cstring>
#include <string>
#include <vector>

#include "base/string_case.h"

namespace thalweg::data {
namespace {

constexpr std::string_view kReplacement = "\xEF\xBF\xBD";
constexpr size_t kBlock = 64 * 1024;

class Converter {
 public:
  Converter(const std::string& to, const std::string& from) : handle_(iconv_open(to.c_str(), from.c_str())) {}
  ~Converter() {
    if (valid()) iconv_close(handle_);
  }
  Converter(const Converter&) = delete;
  Converter& operator=(const Converter&) = delete;
  bool valid() const { return handle_ != reinterpret_cast<iconv_t>(-1); }

  /// Converts what it can; the rest of `*input` stays. 0 or an errno.
  int Step(std::string_view* input, char** out, size_t* room) {
    char* in = const_cast<char*>(input->data());
    size_t left = input->size();
    const size_t result = iconv(handle_, &in, &left, out, room);
    const int error = result == static_cast<size_t>(-1) ? errno : 0;
    input->remove_prefix(input->size() - left);
    return error;
  }

 private:
  iconv_t handle_;
};

/// Bytes of one unit, to step over what cannot be decoded.
size_t UnitBytes(std::string_view charset) {
  if (charset.starts_with("UTF-16")) return 2;
  if (charset.starts_with("UTF-32")) return 4;
  return 1;
}

class DecodingStream final : public ByteStream {
 public:
  DecodingStream(std::unique_ptr<ByteStream> inner, std::string charset)
      : inner_(std::move(inner)), charset_(std::move(charset)), raw_(kBlock) {}

  Status Start() {
    TW_RETURN_NOT_OK(Fill());
    const std::string_view first(raw_.data(), filled_);
    std::string exact = charset_;
    if (charset_ == "UTF-16") exact = first.starts_with("\xFF\xFE") ? "UTF-16LE" : "UTF-16BE";
    if (charset_ == "UTF-32")
      exact = first.starts_with(std::string_view("\xFF\xFE\0\0", 4)) ? "UTF-32LE" : "UTF-32BE";
    if (exact == "UTF-16LE" && first.starts_with("\xFF\xFE")) at_ = 2;
    if (exact == "UTF-16BE" && first.starts_with("\xFE\xFF")) at_ = 2;
    if (exact == "UTF-32LE" && first.starts_with(std::string_view("\xFF\xFE\0\0", 4))) at_ = 4;
    if (exact == "UTF-32BE" && first.starts_with(std::string_view("\0\0\xFE\xFF", 4))) at_ = 4;
    converter_ = std::make_unique<Converter>("UTF-8", exact);
    if (!converter_->valid())
      return Error("INVALID_OPTION_VALUE")
          .With("option", "encoding")
          .With("value", charset_)
          .With("expected", "a known charset");
    return Status::OK();
  }

  Result<size_t> Read(std::span<char> out) override {
    char* target = out.data();
    size_t room = out.size();
    while (true) {
      if (room < kReplacement.size() + 1) break;
      std::string_view input(raw_.data() + at_, filled_ - at_);
      const int error = converter_->Step(&input, &target, &room);
      at_ = filled_ - input.size();
      if (error == E2BIG) break;
      if (error == EILSEQ || (error == EINVAL && at_end_)) {
        if (room < kReplacement.size()) break;
        std::memcpy(target, kReplacement.data(), kReplacement.size());
        target += kReplacement.size();
        room -= kReplacement.size();
        at_ += std::min(UnitBytes(charset_), filled_ - at_);
        continue;
      }
      if (target != out.data()) break;
      if (at_end_) return size_t{0};
      TW_RETURN_NOT_OK(Fill());
    }
    return static_cast<size_t>(target - out.data());
  }

 private:
  Status Fill() {
    std::memmove(raw_.data(), raw_.data() + at_, filled_ - at_);
    filled_ -= at_;
    at_ = 0;
    do {
      TW_ASSIGN_OR_RETURN(const size_t got, inner_->Read({raw_.data() + filled_, raw_.size() - filled_}));
      filled_ += got;
      at_end_ = got == 0;
    } while (!at_end_ && filled_ < 4);
    return Status::OK();
  }

  std::unique_ptr<ByteStream> inner_;
  std::string charset_;
  std::unique_ptr<Converter> converter_;
  std::vector<char> raw_;
  size_t at_ = 0, filled_ = 0;
  bool at_end_ = false;
};

}  // namespace

bool IsUtf8Charset(std::string_view charset) {
  return charset.empty() || EqualsIgnoreCase(charset, "UTF-8") || EqualsIgnoreCase(charset, "UTF8");
}

Status CheckCharset(std::string_view format, std::string_view charset) {
  for (const std::string_view known :
       {"UTF-8", "US-ASCII", "ISO-8859-1", "UTF-16BE", "UTF-16LE", "UTF-16", "UTF-32", "UTF8"}) {
    if (EqualsIgnoreCase(known, charset)) return Status::OK();
  }
  return Error("INVALID_PARAMETER_VALUE.CHARSET")
      .With("functionName", "`" + std::string(format) + "`")
      .With("parameter", "`charset`")
      .With("charset", charset)
      .With("charsets", "iso-8859-1, us-ascii, utf-16, utf-16be, utf-16le, utf-32, utf-8");
}

Result<std::unique_ptr<ByteStream>> DecodeToUtf8(std::unique_ptr<ByteStream> stream, std::string_view charset) {
  auto decoding = std::make_unique<DecodingStream>(std::move(stream), ToAsciiUpper(charset));
  TW_RETURN_NOT_OK(decoding->Start());
  return std::unique_ptr<ByteStream>(std::move(decoding));
}

std::string_view DetectJsonCharset(std::string_view first) {
  const auto zero = [&](size_t i) { return first[i] == '\0'; };
  if (first.size() >= 4) {
    if (first.starts_with(std::string_view("\xFF\xFE\0\0", 4))) return "UTF-32LE";
    if (first.starts_with(std::string_view("\0\0\xFE\xFF", 4))) return "UTF-32BE";
    if (zero(0) && zero(1) && zero(2)) return "UTF-32BE";
    if (zero(1) && zero(2) && zero(3)) return "UTF-32LE";
  }
  if (first.size() >= 2) {
    if (first.starts_with("\xFF\xFE")) return "UTF-16LE";
    if (first.starts_with("\xFE\xFF")) return "UTF-16BE";
    if (zero(0)) return "UTF-16BE";
    if (zero(1)) return "UTF-16LE";
  }
  return "UTF-8";
}

Result<std::string> EncodeFromUtf8(std::string_view text, std::string_view charset) {
  Converter converter(ToAsciiUpper(charset), "UTF-8");
  if (!converter.valid())
    return Error("INVALID_OPTION_VALUE")
        .With("option", "encoding")
        .With("value", charset)
        .With("expected", "a known charset");
  std::string out;
  char block[4096];
  while (!text.empty()) {
    char* target = block;
    size_t room = sizeof(block);
    const int error = converter.Step(&text, &target, &room);
    out.append(block, sizeof(block) - room);
    if (error == EILSEQ || error == EINVAL) {
      out.push_back('?');
      size_t skip = 1;
      while (skip < text.size() && (static_cast<unsigned char>(text[skip]) & 0xC0) == 0x80) ++skip;
      text.remove_prefix(skip);
    }
  }
  return out;
}

}  // namespace thalweg::data
