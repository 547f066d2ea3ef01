#include <cstring>

#include "base/status.h"
#include "data/columnar/bitmap.h"
#include "data/columnar/column.h"
#include "data/columnar/fixed_width.h"

namespace thalweg::data {
namespace {

// Shorter pieces are cheaper to copy than to count, and do not hold their whole buffer.
constexpr int64_t kShareBytes = 4096;

BufferPtr SliceValues(const BufferPtr& buffer, int64_t offset, int64_t size) {
  if (offset == 0 && size == buffer->size()) return buffer;
  if (size >= kShareBytes) return Buffer::SliceOf(buffer, offset, size);
  auto copy = Buffer::Allocate(size);
  std::memcpy(copy->mutable_data(), buffer->data() + offset, static_cast<size_t>(size));
  return copy;
}

void SliceValidity(const Column& column, int64_t offset, int64_t length, Column::Parts* parts) {
  if (!column.has_nulls()) return;
  auto bitmap = Buffer::AllocateZeroed(BitmapBytes(length));
  auto* words = bitmap->as_mutable<uint64_t>().data();
  OrBits(column.validity_words(), offset, words, 0, length);
  parts->null_count = length - CountBits(words, length);
  parts->validity = std::move(bitmap);
}

}  // namespace

ColumnPtr Slice(const ColumnPtr& column, int64_t offset, int64_t length) {
  TW_DCHECK(offset >= 0 && length >= 0 && offset + length <= column->length());
  if (offset == 0 && length == column->length()) return column;
  Column::Parts parts;
  parts.type = column->type();
  parts.encoding = column->encoding();
  parts.length = length;
  if (column->is_constant()) {
    parts = column->parts();
    parts.length = length;
    parts.null_count = column->has_nulls() ? length : 0;
    return Column::Make(std::move(parts));
  }
  SliceValidity(*column, offset, length, &parts);
  if (column->encoding() == Encoding::kDictionary) {
    parts.values = SliceValues(column->parts().values, offset * 4, length * 4);
    parts.children = column->parts().children;
    return Column::Make(std::move(parts));
  }
  switch (column->physical()) {
    case PhysicalType::kNull: break;
    case PhysicalType::kStruct:
      for (const auto& child : column->parts().children) parts.children.push_back(Slice(child, offset, length));
      break;
    case PhysicalType::kList:
    case PhysicalType::kMap:
      parts.values = SliceValues(column->parts().values, offset * 4, (length + 1) * 4);
      parts.children = column->parts().children;
      break;
    default: {
      const int width = WidthOf(column->physical());
      parts.values = SliceValues(column->parts().values, offset * width, length * width);
      parts.text = column->parts().text;
    }
  }
  return Column::Make(std::move(parts));
}

}  // namespace thalweg::data
