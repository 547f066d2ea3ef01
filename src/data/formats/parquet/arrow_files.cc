#include "data/formats/parquet/arrow_files.h"

#include <arrow/buffer.h>
#include <arrow/result.h>
#include <arrow/status.h>
#include <parquet/exception.h>

#include <algorithm>

#include "base/process_memory.h"
#include "data/columnar/arrow_bridge.h"
#include "data/columnar/buffer.h"

namespace thalweg::data {

namespace {

arrow::Status ToArrow(const Status& status) { return arrow::Status::IOError(status.message()); }

class InputFile final : public arrow::io::RandomAccessFile {
 public:
  InputFile(std::unique_ptr<ReadableFile> file, int64_t size) : file_(std::move(file)), size_(size) {}

  arrow::Status Close() override {
    closed_ = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return closed_; }
  arrow::Result<int64_t> Tell() const override { return position_; }
  arrow::Status Seek(int64_t position) override {
    if (position < 0 || position > size_) return arrow::Status::IOError("seek beyond the end of the file");
    position_ = position;
    return arrow::Status::OK();
  }
  arrow::Result<int64_t> GetSize() override { return size_; }

  arrow::Result<int64_t> ReadAt(int64_t position, int64_t nbytes, void* out) override {
    if (position < 0 || nbytes < 0) return arrow::Status::Invalid("negative position or length");
    const int64_t wanted = std::min(nbytes, std::max<int64_t>(0, size_ - position));
    auto read = file_->ReadAt(position, {static_cast<char*>(out), static_cast<size_t>(wanted)});
    if (!read.ok()) return ToArrow(read.status());
    return static_cast<int64_t>(*read);
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> ReadAt(int64_t position, int64_t nbytes) override {
    if (position < 0 || nbytes < 0) return arrow::Status::Invalid("negative position or length");
    const int64_t wanted = std::min(nbytes, std::max<int64_t>(0, size_ - position));
    ARROW_ASSIGN_OR_RAISE(auto buffer, arrow::AllocateResizableBuffer(wanted, ProcessPool()));
    ARROW_ASSIGN_OR_RAISE(const int64_t read, ReadAt(position, wanted, buffer->mutable_data()));
    if (read < wanted) ARROW_RETURN_NOT_OK(buffer->Resize(read, false));
    return std::shared_ptr<arrow::Buffer>(std::move(buffer));
  }
  arrow::Result<int64_t> Read(int64_t nbytes, void* out) override {
    ARROW_ASSIGN_OR_RAISE(const int64_t read, ReadAt(position_, nbytes, out));
    position_ += read;
    return read;
  }
  arrow::Result<std::shared_ptr<arrow::Buffer>> Read(int64_t nbytes) override {
    ARROW_ASSIGN_OR_RAISE(auto buffer, ReadAt(position_, nbytes));
    position_ += buffer->size();
    return buffer;
  }

 private:
  std::unique_ptr<ReadableFile> file_;
  int64_t size_;
  int64_t position_ = 0;
  bool closed_ = false;
};

}  // namespace

std::shared_ptr<arrow::io::RandomAccessFile> ArrowInput(std::unique_ptr<ReadableFile> file, int64_t size) {
  return std::make_shared<InputFile>(std::move(file), size);
}

class ArrowOutput final : public arrow::io::OutputStream {
 public:
  ArrowOutput(std::unique_ptr<WritableFile> file, Status* error) : file_(std::move(file)), error_(error) {}

  arrow::Status Write(const void* data, int64_t nbytes) override {
    const auto* bytes = static_cast<const char*>(data);
    position_ += nbytes;
    if (static_cast<int64_t>(block_.size()) + nbytes > kBlockBytes) ARROW_RETURN_NOT_OK(Spill());
    if (nbytes > kBlockBytes) return Keep(file_->Append({bytes, static_cast<size_t>(nbytes)}));
    block_.append(bytes, static_cast<size_t>(nbytes));
    return arrow::Status::OK();
  }
  arrow::Status Flush() override { return Spill(); }
  arrow::Status Close() override {
    if (closed_) return arrow::Status::OK();
    closed_ = true;
    ARROW_RETURN_NOT_OK(Spill());
    ARROW_RETURN_NOT_OK(Keep(file_->WriteBack()));
    return Keep(file_->Close());
  }
  arrow::Status Abort() override {
    closed_ = true;
    return arrow::Status::OK();
  }
  bool closed() const override { return closed_; }
  arrow::Result<int64_t> Tell() const override { return position_; }

 private:
  static constexpr int64_t kBlockBytes = 256 * 1024;

  arrow::Status Spill() {
    if (block_.empty()) return arrow::Status::OK();
    const Status status = file_->Append(block_);
    block_.clear();
    return Keep(status);
  }
  arrow::Status Keep(const Status& status) {
    if (status.ok()) return arrow::Status::OK();
    if (error_->ok()) *error_ = status;
    return ToArrow(status);
  }

  std::unique_ptr<WritableFile> file_;
  Status* error_;  // borrowed from the writer, which outlives the stream
  std::string block_;
  int64_t position_ = 0;
  bool closed_ = false;
};

std::shared_ptr<arrow::io::OutputStream> MakeArrowOutput(std::unique_ptr<WritableFile> file, Status* error) {
  return std::make_shared<ArrowOutput>(std::move(file), error);
}

Status GuardWriting(const std::string& path, const std::function<Status()>& body) {
  try {
    return body();
  } catch (const parquet::ParquetStatusException& error) {
    return FromArrowStatus(error.status(), "write " + path);
  } catch (const std::bad_alloc& error) {
    return OutOfMemoryStatus(error);
  } catch (const std::exception& error) {
    return InternalError("writing " + path + ": " + error.what());
  }
}

}  // namespace thalweg::data
