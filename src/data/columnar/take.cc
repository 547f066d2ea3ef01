// Take and Flatten: gathers typed by width, validity gathered a word at a time.

#include <algorithm>
#include <cstring>

#include "base/process_memory.h"
#include "base/status.h"
#include "data/columnar/bitmap.h"
#include "data/columnar/column.h"
#include "data/columnar/fixed_width.h"

namespace thalweg::data {
namespace {

using Rows = std::span<const int32_t>;

bool AnyNegative(Rows rows) {
  int32_t all = 0;
  for (const int32_t row : rows) all |= row;
  return all < 0;
}

struct Validity {
  BufferPtr bitmap;  // absent without nulls
  int64_t null_count = 0;
};

// The bits of `words` (null: all valid) at `rows`; negative rows are null.
Validity GatherValidity(const uint64_t* words, Rows rows) {
  const auto length = static_cast<int64_t>(rows.size());
  auto bitmap = Buffer::Allocate(BitmapBytes(length));
  const auto out = bitmap->as_mutable<uint64_t>();
  int64_t valid = 0;
  for (size_t word = 0; word < out.size(); ++word) {
    const size_t begin = word * 64;
    const size_t end = std::min(begin + 64, rows.size());
    uint64_t bits = 0;
    for (size_t i = begin; i < end; ++i) {
      const int32_t row = rows[i];
      const uint64_t bit = row < 0 ? 0 : (words == nullptr ? 1 : words[row >> 6] >> (row & 63) & 1);
      bits |= bit << (i - begin);
    }
    out[word] = bits;
    valid += std::popcount(bits);
  }
  if (valid == length) return {};
  return {std::move(bitmap), length - valid};
}

BufferPtr GatherFixed(const Column& column, Rows rows, bool negative) {
  const int width = WidthOf(column.physical());
  auto buffer = Buffer::Allocate(static_cast<int64_t>(rows.size()) * width);
  VisitWidth(width, [&](auto tag) {
    using T = decltype(tag);
    const T* from = column.values<T>().data();
    T* to = reinterpret_cast<T*>(buffer->mutable_data());
    if (negative) {
      for (size_t i = 0; i < rows.size(); ++i) to[i] = rows[i] < 0 ? T{} : from[rows[i]];
    } else {
      for (size_t i = 0; i < rows.size(); ++i) to[i] = from[rows[i]];
    }
  });
  return buffer;
}

// New offsets (from 0) of lists or maps at `rows`, and the element rows they take.
BufferPtr GatherLists(const Column& column, Rows rows, std::vector<int32_t>* elements) {
  auto buffer = Buffer::Allocate(static_cast<int64_t>(rows.size() + 1) * 4);
  const auto to = buffer->as_mutable<int32_t>();
  const auto from = column.offsets();
  int64_t total = 0;
  for (size_t i = 0; i < rows.size(); ++i) {
    to[i] = static_cast<int32_t>(total);
    if (rows[i] >= 0 && !column.IsNull(rows[i])) {
      total += from[static_cast<size_t>(rows[i]) + 1] - from[static_cast<size_t>(rows[i])];
    }
  }
  if (total > INT32_MAX) ThrowOutOfMemory(total, "the elements of one chunk");
  to[rows.size()] = static_cast<int32_t>(total);
  elements->resize(static_cast<size_t>(total));
  int32_t* next = elements->data();
  for (size_t i = 0; i < rows.size(); ++i) {
    if (rows[i] < 0) continue;
    const int32_t count = to[i + 1] - to[i];
    const int32_t first = from[static_cast<size_t>(rows[i])];
    for (int32_t k = 0; k < count; ++k) next[k] = first + k;
    next += count;
  }
  return buffer;
}

ColumnPtr TakeFlat(const Column& column, Rows rows) {
  const bool negative = AnyNegative(rows);
  Column::Parts parts;
  parts.type = column.type();
  parts.length = static_cast<int64_t>(rows.size());
  if (column.physical() == PhysicalType::kNull) {
    parts.null_count = parts.length;
    return Column::Make(std::move(parts));
  }
  if (negative || column.has_nulls()) {
    Validity validity = GatherValidity(column.validity_words(), rows);
    parts.validity = std::move(validity.bitmap);
    parts.null_count = validity.null_count;
  }
  switch (column.physical()) {
    case PhysicalType::kList:
    case PhysicalType::kMap: {
      std::vector<int32_t> elements;
      parts.values = GatherLists(column, rows, &elements);
      for (const auto& child : column.parts().children) parts.children.push_back(Flatten(Take(child, elements)));
      break;
    }
    case PhysicalType::kStruct:
      for (const auto& child : column.parts().children) parts.children.push_back(Flatten(Take(child, rows)));
      break;
    default:
      parts.values = GatherFixed(column, rows, negative);
      parts.text = column.parts().text;
  }
  return Column::Make(std::move(parts));
}

// Rows of the dictionary for rows of the column; -1 for nulls.
std::vector<int32_t> DictionaryRows(const Column& column, Rows rows) {
  std::vector<int32_t> taken(rows.size());
  const int32_t* indices = column.indices().data();
  const uint64_t* words = column.validity_words();
  for (size_t i = 0; i < rows.size(); ++i) {
    const int32_t row = rows[i];
    taken[i] = row < 0 || (words != nullptr && !BitAt(words, row)) ? -1 : indices[row];
  }
  return taken;
}

std::vector<int32_t> AllDictionaryRows(const Column& column) {
  const auto indices = column.indices();
  std::vector<int32_t> taken(indices.begin(), indices.end());
  if (const uint64_t* words = column.validity_words()) {
    for (size_t i = 0; i < taken.size(); ++i) {
      if (!BitAt(words, static_cast<int64_t>(i))) taken[i] = -1;
    }
  }
  return taken;
}

// The one slot of a constant as a flat column of one row.
ColumnPtr ConstantSlot(const Column& column) {
  Column::Parts parts = column.parts();
  parts.encoding = Encoding::kFlat;
  parts.length = 1;
  parts.null_count = column.has_nulls() ? 1 : 0;
  return Column::Make(std::move(parts));
}

ColumnPtr FlattenConstant(const Column& column) {
  const int64_t length = column.length();
  const int width = WidthOf(column.physical());
  if (column.physical() == PhysicalType::kNull || width == 0 || column.type().IsNested()) {
    const std::vector<int32_t> rows(static_cast<size_t>(length), 0);
    return TakeFlat(*ConstantSlot(column), rows);
  }
  Column::Parts parts = column.parts();
  parts.encoding = Encoding::kFlat;
  auto buffer = Buffer::Allocate(length * width);
  VisitWidth(width, [&](auto tag) {
    using T = decltype(tag);
    const T value = column.values<T>()[0];
    std::fill_n(reinterpret_cast<T*>(buffer->mutable_data()), length, value);
  });
  parts.values = std::move(buffer);
  return Column::Make(std::move(parts));
}

bool AllFlat(const std::vector<ColumnPtr>& columns) {
  return std::all_of(columns.begin(), columns.end(), [](const ColumnPtr& column) {
    return column->encoding() == Encoding::kFlat && AllFlat(column->parts().children);
  });
}

}  // namespace

ColumnPtr Flatten(const ColumnPtr& column) {
  switch (column->encoding()) {
    case Encoding::kConstant: return FlattenConstant(*column);
    case Encoding::kDictionary: return Flatten(TakeFlat(*column->dictionary(), AllDictionaryRows(*column)));
    case Encoding::kFlat: break;
  }
  if (AllFlat(column->parts().children)) return column;
  Column::Parts parts = column->parts();
  for (auto& child : parts.children) child = Flatten(child);
  return Column::Make(std::move(parts));
}

ColumnPtr Take(const ColumnPtr& column, std::span<const int32_t> rows) {
  switch (column->encoding()) {
    case Encoding::kConstant: {
      if (!column->has_nulls() && AnyNegative(rows)) {
        std::vector<int32_t> slots(rows.begin(), rows.end());
        for (int32_t& slot : slots) slot = slot < 0 ? -1 : 0;
        return TakeFlat(*ConstantSlot(*column), slots);
      }
      Column::Parts parts = column->parts();
      parts.null_count = column->has_nulls() ? static_cast<int64_t>(rows.size()) : 0;
      parts.length = static_cast<int64_t>(rows.size());
      return Column::Make(std::move(parts));
    }
    case Encoding::kDictionary: return TakeFlat(*column->dictionary(), DictionaryRows(*column, rows));
    case Encoding::kFlat: break;
  }
  return TakeFlat(*column, rows);
}

}  // namespace thalweg::data
