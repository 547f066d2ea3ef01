#include <algorithm>
#include <cstring>

#include "base/process_memory.h"
#include "base/status.h"
#include "data/columnar/bitmap.h"
#include "data/columnar/column.h"
#include "data/columnar/fixed_width.h"

namespace thalweg::data {
namespace {

using Columns = std::span<const ColumnPtr>;

void ConcatValidity(Columns columns, Column::Parts* parts) {
  for (const auto& column : columns) parts->null_count += column->null_count();
  if (parts->null_count == 0) return;
  auto bitmap = Buffer::AllocateZeroed(BitmapBytes(parts->length));
  auto* words = bitmap->as_mutable<uint64_t>().data();
  int64_t position = 0;
  for (const auto& column : columns) {
    if (!column->has_nulls()) {
      SetBits(words, position, column->length());
    } else if (column->validity_words() != nullptr) {
      OrBits(column->validity_words(), 0, words, position, column->length());
    }
    position += column->length();
  }
  parts->validity = std::move(bitmap);
}

// Flat or constant columns into one values buffer.
BufferPtr ConcatFixed(Columns columns, int width, int64_t length) {
  auto buffer = Buffer::Allocate(length * width);
  uint8_t* to = buffer->mutable_data();
  for (const auto& column : columns) {
    const int64_t size = column->length() * width;
    if (column->is_constant()) {
      VisitWidth(width, [&](auto tag) {
        using T = decltype(tag);
        std::fill_n(reinterpret_cast<T*>(to), column->length(), column->values<T>()[0]);
      });
    } else if (size > 0) {
      std::memcpy(to, column->parts().values->data(), static_cast<size_t>(size));
    }
    to += size;
  }
  return buffer;
}

// Each text buffer once, in a stable order.
void CollectText(Columns columns, std::vector<BufferPtr>* text) {
  for (const auto& column : columns) {
    for (const auto& buffer : column->parts().text) {
      if (text->empty() || text->back() != buffer) text->push_back(buffer);
    }
  }
  if (text->size() < 3) return;
  std::sort(text->begin(), text->end());
  text->erase(std::unique(text->begin(), text->end()), text->end());
}

void ConcatLists(Columns columns, Column::Parts* parts) {
  auto buffer = Buffer::Allocate((parts->length + 1) * 4);
  int32_t* to = buffer->as_mutable<int32_t>().data();
  std::vector<std::vector<ColumnPtr>> pieces(columns.empty() ? 0 : columns[0]->parts().children.size());
  int64_t total = 0;
  for (const auto& column : columns) {
    const auto offsets = column->offsets();
    const int32_t first = offsets.front();
    if (total + offsets.back() - first > INT32_MAX) ThrowOutOfMemory(total + offsets.back() - first, "the elements of one chunk");
    for (int64_t i = 0; i < column->length(); ++i) {
      *to++ = static_cast<int32_t>(total + offsets[static_cast<size_t>(i)] - first);
    }
    total += offsets.back() - first;
    for (size_t child = 0; child < pieces.size(); ++child) {
      pieces[child].push_back(Slice(column->child(static_cast<int>(child)), first, offsets.back() - first));
    }
  }
  *to = static_cast<int32_t>(total);
  parts->values = std::move(buffer);
  for (auto& piece : pieces) parts->children.push_back(Concat(piece));
}

void ConcatStructs(Columns columns, Column::Parts* parts) {
  for (int child = 0; child < columns[0]->num_children(); ++child) {
    std::vector<ColumnPtr> pieces;
    for (const auto& column : columns) pieces.push_back(column->child(child));
    parts->children.push_back(Concat(pieces));
  }
}

}  // namespace

ColumnPtr Concat(std::span<const ColumnPtr> columns) {
  TW_DCHECK(!columns.empty());
  if (columns.size() == 1) return Flatten(columns[0]);
  const PhysicalType physical = columns[0]->physical();
  const bool nested =
      physical == PhysicalType::kList || physical == PhysicalType::kMap || physical == PhysicalType::kStruct;
  std::vector<ColumnPtr> pieces;
  Column::Parts parts;
  parts.type = columns[0]->type();
  for (const auto& column : columns) {
    TW_DCHECK(column->physical() == physical);
    if (column->length() == 0) continue;
    const bool as_is = column->encoding() == Encoding::kFlat || (column->is_constant() && !nested);
    pieces.push_back(as_is ? column : Flatten(column));
    parts.length += column->length();
  }
  if (pieces.size() < 2) return Flatten(pieces.empty() ? columns[0] : pieces[0]);
  ConcatValidity(pieces, &parts);
  switch (physical) {
    case PhysicalType::kNull: break;
    case PhysicalType::kList:
    case PhysicalType::kMap: ConcatLists(pieces, &parts); break;
    case PhysicalType::kStruct: ConcatStructs(pieces, &parts); break;
    default:
      parts.values = ConcatFixed(pieces, WidthOf(physical), parts.length);
      CollectText(pieces, &parts.text);
  }
  return Column::Make(std::move(parts));
}

}  // namespace thalweg::data
