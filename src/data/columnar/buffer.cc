#include "data/columnar/buffer.h"

#include <arrow/buffer.h>
#include <arrow/memory_pool.h>
#include <arrow/status.h>

#include <cstring>

#include "base/process_memory.h"
#include "base/status.h"

namespace thalweg::data {
namespace {

constexpr int64_t kAlignment = 64;

int64_t RoundUp(int64_t size) { return (size + kAlignment - 1) & ~(kAlignment - 1); }

// Shows one of our buffers to Arrow and keeps it alive.
class ArrowView final : public arrow::Buffer {
 public:
  explicit ArrowView(std::shared_ptr<const thalweg::data::Buffer> buffer)
      : arrow::Buffer(buffer->data(), buffer->size()), buffer_(std::move(buffer)) {}

 private:
  std::shared_ptr<const thalweg::data::Buffer> buffer_;
};

int64_t RootSize(const arrow::Buffer* buffer) {
  while (buffer->parent() != nullptr) buffer = buffer->parent().get();
  return std::max(buffer->size(), buffer->capacity());
}

}  // namespace

std::shared_ptr<Buffer> Buffer::Allocate(int64_t size) {
  struct Concrete : Buffer {};
  auto buffer = std::make_shared<Concrete>();
  const int64_t capacity = std::max(RoundUp(size), kAlignment);
  if (!ProcessPool()->Allocate(capacity, kAlignment, &buffer->data_).ok()) ThrowOutOfMemory(capacity, "a buffer");
  buffer->held_bytes_ = capacity;
  buffer->ShrinkTo(size);
  return buffer;
}

std::shared_ptr<Buffer> Buffer::AllocateZeroed(int64_t size) {
  auto buffer = Allocate(size);
  std::memset(buffer->data_, 0, static_cast<size_t>(buffer->held_bytes_));
  return buffer;
}

std::shared_ptr<Buffer> Buffer::FromArrow(std::shared_ptr<arrow::Buffer> arrow_buffer) {
  struct Concrete : Buffer {};
  auto buffer = std::make_shared<Concrete>();
  buffer->data_ = const_cast<uint8_t*>(arrow_buffer->data());
  buffer->size_ = arrow_buffer->size();
  buffer->held_bytes_ = RootSize(arrow_buffer.get());
  buffer->owner_ = std::move(arrow_buffer);
  return buffer;
}

std::shared_ptr<const Buffer> Buffer::SliceOf(const std::shared_ptr<const Buffer>& parent, int64_t offset, int64_t size) {
  TW_DCHECK(offset >= 0 && size >= 0 && offset + size <= parent->size());
  struct Concrete : Buffer {};
  auto buffer = std::make_shared<Concrete>();
  buffer->data_ = parent->data_ + offset;
  buffer->size_ = size;
  buffer->held_bytes_ = parent->held_bytes_;
  buffer->parent_ = parent->parent_ ? parent->parent_ : parent;
  return buffer;
}

Buffer::~Buffer() {
  if (owner_ == nullptr && parent_ == nullptr && data_ != nullptr) ProcessPool()->Free(data_, held_bytes_, kAlignment);
}

void Buffer::ShrinkTo(int64_t size) {
  TW_DCHECK(size <= held_bytes_);
  size_ = size;
  // Whole words may be read past the end, never past the padding; slack of a growing builder is nobody's business.
  const int64_t padded = std::min(held_bytes_, std::max(RoundUp(size), kAlignment));
  std::memset(data_ + size, 0, static_cast<size_t>(padded - size));
}

std::shared_ptr<arrow::Buffer> Buffer::ToArrow() const {
  if (owner_ != nullptr) return owner_;
  return std::make_shared<ArrowView>(shared_from_this());
}

}  // namespace thalweg::data
