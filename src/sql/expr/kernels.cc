#include "sql/expr/kernels.h"

#include <algorithm>
#include <cmath>

#include "base/process_memory.h"

namespace thalweg::sql {

void NullMarks::Allocate() {
  buffer_ = data::MakeBitmap(length_, true);
  words_ = reinterpret_cast<uint64_t*>(buffer_->mutable_data());
}

void NullMarks::Finish(Column::Parts* parts) {
  if (words_ == nullptr) return;
  parts->null_count = length_ - data::CountBits(words_, length_);
  parts->validity = std::move(buffer_);
}

TextOutput::TextOutput(const DataType& type, int64_t length)
    : type_(type),
      length_(length),
      buffer_(data::Buffer::AllocateZeroed(length * static_cast<int64_t>(sizeof(TextView)))),
      views_(reinterpret_cast<TextView*>(buffer_->mutable_data())),
      nulls_(length) {}

void TextOutput::Share(const Column& column) {
  for (const auto& buffer : column.parts().text) text_.push_back(buffer);
}

char* TextOutput::Room(int64_t size) {
  CheckValueBytes(size);
  if (size > left_) {
    constexpr int64_t kLargest = 1 << 20;
    block_ = std::min(kLargest, std::max<int64_t>(block_ * 2, 256));
    const int64_t bytes = std::max(block_, size);
    auto block = data::Buffer::Allocate(bytes);
    next_ = reinterpret_cast<char*>(block->mutable_data());
    left_ = bytes;
    text_.push_back(std::move(block));
  }
  char* room = next_;
  next_ += size;
  left_ -= size;
  return room;
}

void TextOutput::SetLong(int64_t row, std::string_view text) {
  char* room = Room(static_cast<int64_t>(text.size()));
  std::memcpy(room, text.data(), text.size());
  views_[row] = TextView(room, static_cast<uint32_t>(text.size()));
}

ColumnPtr TextOutput::Finish() {
  Column::Parts parts;
  parts.type = type_;
  parts.length = length_;
  parts.values = std::move(buffer_);
  std::sort(text_.begin(), text_.end());
  text_.erase(std::unique(text_.begin(), text_.end()), text_.end());
  parts.text = std::move(text_);
  nulls_.Finish(&parts);
  return Column::Make(std::move(parts));
}

const Value* LiteralValue(const ExprPtr& expression) {
  const auto* literal = expression->As<Literal>();
  return literal == nullptr ? nullptr : &literal->value();
}

ColumnPtr AndValidity(const ColumnPtr& column, const uint64_t* validity) {
  const int64_t length = column->length();
  if (validity == nullptr || length == 0) return column;
  if (column->is_constant()) {
    if (column->null_count() == length) return column;
    return AndValidity(data::Flatten(column), validity);
  }
  auto bitmap = data::Buffer::AllocateZeroed(data::BitmapBytes(length));
  auto* words = reinterpret_cast<uint64_t*>(bitmap->mutable_data());
  const uint64_t* own = column->validity_words();
  const int64_t count = data::BitmapWords(length);
  for (int64_t i = 0; i < count; ++i) words[i] = own == nullptr ? validity[i] : own[i] & validity[i];
  words[count - 1] &= data::LowBits(length - (count - 1) * 64);
  const int64_t nulls = length - data::CountBits(words, length);
  if (nulls == column->null_count()) return column;
  return data::WithValidity(column, std::move(bitmap), nulls);
}

ColumnPtr ConstantOfLength(const ColumnPtr& constant, int64_t length) {
  TW_DCHECK(constant->is_constant());
  if (constant->length() == length) return constant;
  Column::Parts parts = constant->parts();
  const bool null = parts.null_count != 0;
  parts.length = length;
  parts.null_count = null ? length : 0;
  return Column::Make(std::move(parts));
}

namespace {

template <typename T>
int Three(T a, T b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}

template <typename T>
int CompareFloats(T a, T b) {
  if (a < b) return -1;
  if (a > b) return 1;
  if (a == b) return 0;
  const bool a_nan = std::isnan(a);
  const bool b_nan = std::isnan(b);
  return a_nan == b_nan ? 0 : (a_nan ? 1 : -1);
}

int CompareNullable(const Column& a, int64_t a_row, const Column& b, int64_t b_row) {
  const bool a_null = a.IsNull(a_row);
  const bool b_null = b.IsNull(b_row);
  if (a_null || b_null) return a_null == b_null ? 0 : (a_null ? -1 : 1);
  return CompareRows(a, a_row, b, b_row);
}

template <typename T>
T ValueAt(const Column& column, int64_t row) {
  return column.values<T>()[static_cast<size_t>(SlotOf(column, row))];
}

int CompareElements(const Column& a, int64_t a_begin, int64_t a_end, const Column& b, int64_t b_begin, int64_t b_end) {
  while (a_begin < a_end && b_begin < b_end) {
    if (const int order = CompareNullable(a, a_begin++, b, b_begin++); order != 0) return order;
  }
  return Three(a_end - a_begin, b_end - b_begin);
}

int CompareMaps(const Column& a, int64_t a_slot, const Column& b, int64_t b_slot) {
  const auto ao = a.offsets();
  const auto bo = b.offsets();
  for (int side = 0; side < 2; ++side) {
    if (const int order = CompareElements(*a.child(side), ao[a_slot], ao[a_slot + 1], *b.child(side), bo[b_slot],
                                          bo[b_slot + 1]);
        order != 0) {
      return order;
    }
  }
  return 0;
}

}  // namespace

int CompareRows(const Column& a, int64_t a_row, const Column& b, int64_t b_row) {
  switch (a.physical()) {
    case PhysicalType::kNull: return 0;
    case PhysicalType::kBool: return Three(ValueAt<uint8_t>(a, a_row), ValueAt<uint8_t>(b, b_row));
    case PhysicalType::kInt8: return Three(ValueAt<int8_t>(a, a_row), ValueAt<int8_t>(b, b_row));
    case PhysicalType::kInt16: return Three(ValueAt<int16_t>(a, a_row), ValueAt<int16_t>(b, b_row));
    case PhysicalType::kInt32: return Three(ValueAt<int32_t>(a, a_row), ValueAt<int32_t>(b, b_row));
    case PhysicalType::kInt64: return Three(ValueAt<int64_t>(a, a_row), ValueAt<int64_t>(b, b_row));
    case PhysicalType::kFloat: return CompareFloats(ValueAt<float>(a, a_row), ValueAt<float>(b, b_row));
    case PhysicalType::kDouble: return CompareFloats(ValueAt<double>(a, a_row), ValueAt<double>(b, b_row));
    case PhysicalType::kInt128: return Three(ValueAt<Int128>(a, a_row), ValueAt<Int128>(b, b_row));
    case PhysicalType::kText: {
      const auto& left = a.values<TextView>()[static_cast<size_t>(SlotOf(a, a_row))];
      const auto& right = b.values<TextView>()[static_cast<size_t>(SlotOf(b, b_row))];
      const int order = left.Compare(right);
      return order < 0 ? -1 : (order > 0 ? 1 : 0);
    }
    case PhysicalType::kInterval: {
      const auto left = ValueAt<data::CalendarInterval>(a, a_row);
      const auto right = ValueAt<data::CalendarInterval>(b, b_row);
      if (const int order = Three(left.months, right.months); order != 0) return order;
      if (const int order = Three(left.days, right.days); order != 0) return order;
      return Three(left.microseconds, right.microseconds);
    }
    case PhysicalType::kList: {
      const int64_t i = SlotOf(a, a_row);
      const int64_t j = SlotOf(b, b_row);
      return CompareElements(*a.child(0), a.offsets()[i], a.offsets()[i + 1], *b.child(0), b.offsets()[j],
                             b.offsets()[j + 1]);
    }
    case PhysicalType::kMap: return CompareMaps(a, SlotOf(a, a_row), b, SlotOf(b, b_row));
    case PhysicalType::kStruct:
      for (int i = 0; i < a.num_children(); ++i) {
        if (const int order = CompareNullable(*a.child(i), SlotOf(a, a_row), *b.child(i), SlotOf(b, b_row)); order != 0) {
          return order;
        }
      }
      return 0;
  }
  return 0;
}

}  // namespace thalweg::sql
