#include "data/columnar/builder.h"

#include <algorithm>

#include "base/process_memory.h"
#include "base/status.h"
#include "data/columnar/bitmap.h"

namespace thalweg::data {

void ValidityBuilder::AppendNull() { AppendNulls(1); }

void ValidityBuilder::AppendNulls(int64_t count) {
  if (count == 0) return;
  null_bits_.resize(static_cast<size_t>(BitmapWords(length_ + count)), 0);
  SetBits(null_bits_.data(), length_, count);
  length_ += count;
  null_count_ += count;
}

BufferPtr ValidityBuilder::Finish() {
  BufferPtr result;
  if (null_count_ > 0) {
    auto bitmap = MakeBitmap(length_, true);
    const auto words = bitmap->as_mutable<uint64_t>();
    for (size_t i = 0; i < null_bits_.size(); ++i) words[i] &= ~null_bits_[i];
    result = std::move(bitmap);
  }
  null_bits_.clear();
  length_ = null_count_ = 0;
  return result;
}

template <typename T>
ColumnPtr FixedBuilder<T>::Finish() {
  Column::Parts parts;
  parts.type = type_;
  parts.length = validity_.length();
  parts.null_count = validity_.null_count();
  parts.validity = validity_.Finish();
  parts.values = values_.Finish();
  return Column::Make(std::move(parts));
}

template class FixedBuilder<uint8_t>;
template class FixedBuilder<int8_t>;
template class FixedBuilder<int16_t>;
template class FixedBuilder<int32_t>;
template class FixedBuilder<int64_t>;
template class FixedBuilder<float>;
template class FixedBuilder<double>;
template class FixedBuilder<Int128>;
template class FixedBuilder<CalendarInterval>;

namespace {
constexpr int64_t kFirstTextBlock = 1024;
constexpr int64_t kLargestTextBlock = 256 * 1024;
}  // namespace

struct TextBuilder::State {
  DataType type;
  BufferBuilder<TextView> views;
  ValidityBuilder validity;
  std::vector<BufferPtr> text;
  std::shared_ptr<Buffer> block;  // the last of `text`, being filled
  char* next = nullptr;
  int64_t left = 0;
  int64_t next_block = kFirstTextBlock;

  char* Room(int64_t size) {
    if (size > left) {
      CheckValueBytes(size);
      CloseBlock();
      block = Buffer::Allocate(std::max(size, next_block));
      next = reinterpret_cast<char*>(block->mutable_data());
      left = block->size();
      next_block = std::min(next_block * 2, kLargestTextBlock);
    }
    char* room = next;
    next += size;
    left -= size;
    return room;
  }
  void CloseBlock() {
    if (block == nullptr) return;
    block->ShrinkTo(block->size() - left);
    text.push_back(std::move(block));
    block.reset();
    left = 0;
  }
};

TextBuilder::TextBuilder(DataType type) : state_(std::make_unique<State>()) { state_->type = std::move(type); }
TextBuilder::~TextBuilder() = default;
TextBuilder::TextBuilder(TextBuilder&&) noexcept = default;

void TextBuilder::Reserve(int64_t rows) { state_->views.Reserve(rows); }

void TextBuilder::Append(std::string_view text) {
  const char* data = text.data();
  if (text.size() > TextView::kInline) {
    char* room = state_->Room(static_cast<int64_t>(text.size()));
    std::memcpy(room, data, text.size());
    data = room;
  }
  state_->views.Append(TextView(data, static_cast<uint32_t>(text.size())));
  state_->validity.AppendValid();
}

void TextBuilder::AppendView(TextView view) {
  state_->views.Append(view);
  state_->validity.AppendValid();
}

void TextBuilder::AppendNull() {
  state_->views.Append(TextView());
  state_->validity.AppendNull();
}

void TextBuilder::AddTextBuffer(BufferPtr buffer) { state_->text.push_back(std::move(buffer)); }
char* TextBuilder::AllocateText(int64_t size) { return state_->Room(size); }
int64_t TextBuilder::length() const { return state_->validity.length(); }

ColumnPtr TextBuilder::Finish() {
  state_->CloseBlock();
  state_->next_block = kFirstTextBlock;
  Column::Parts parts;
  parts.type = state_->type;
  parts.length = state_->validity.length();
  parts.null_count = state_->validity.null_count();
  parts.validity = state_->validity.Finish();
  parts.values = state_->views.Finish();
  parts.text = std::move(state_->text);
  state_->text.clear();
  return Column::Make(std::move(parts));
}

}  // namespace thalweg::data
