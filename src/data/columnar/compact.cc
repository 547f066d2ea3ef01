#include <cstring>

#include "data/columnar/column.h"
#include "data/columnar/fixed_width.h"

namespace thalweg::data {
namespace {

// Copies long texts into one block; short ones stay inline.
void CopyText(const Column& column, int64_t live_bytes, Column::Parts* parts) {
  const auto from = column.values<TextView>();
  auto views = Buffer::Allocate(static_cast<int64_t>(from.size_bytes()));
  auto block = Buffer::Allocate(live_bytes);
  const auto to = views->as_mutable<TextView>();
  char* next = reinterpret_cast<char*>(block->mutable_data());
  for (size_t i = 0; i < from.size(); ++i) {
    if (from[i].is_inline()) {
      to[i] = from[i];
      continue;
    }
    std::memcpy(next, from[i].data(), from[i].size());
    to[i] = TextView(next, from[i].size());
    next += from[i].size();
  }
  parts->values = std::move(views);
  parts->text.clear();
  if (live_bytes > 0) parts->text.push_back(std::move(block));
}

ColumnPtr CompactText(const ColumnPtr& column) {
  if (column->parts().text.empty()) return column;
  int64_t held = 0;
  for (const auto& buffer : column->parts().text) held += buffer->held_bytes();
  int64_t live = 0;
  for (const TextView& view : column->values<TextView>()) live += view.is_inline() ? 0 : view.size();
  if (live * 2 >= held) return column;
  Column::Parts parts = column->parts();
  CopyText(*column, live, &parts);
  return Column::Make(std::move(parts));
}

// Offsets from 0 and only the elements they name, when less than half of the elements are live.
ColumnPtr CompactLists(const ColumnPtr& column) {
  const auto offsets = column->offsets();
  const int64_t live = offsets.back() - offsets.front();
  Column::Parts parts = column->parts();
  bool changed = false;
  if (live * 2 < column->child(0)->length()) {
    auto buffer = Buffer::Allocate(static_cast<int64_t>(offsets.size_bytes()));
    const auto to = buffer->as_mutable<int32_t>();
    for (size_t i = 0; i < offsets.size(); ++i) to[i] = offsets[i] - offsets.front();
    parts.values = std::move(buffer);
    for (auto& child : parts.children) child = Slice(child, offsets.front(), live);
    changed = true;
  }
  for (auto& child : parts.children) {
    ColumnPtr compact = Compact(child);
    changed = changed || compact != child;
    child = std::move(compact);
  }
  return changed ? Column::Make(std::move(parts)) : column;
}

ColumnPtr CompactChildren(const ColumnPtr& column) {
  bool changed = false;
  Column::Parts parts = column->parts();
  for (auto& child : parts.children) {
    ColumnPtr compact = Compact(child);
    changed = changed || compact != child;
    child = std::move(compact);
  }
  return changed ? Column::Make(std::move(parts)) : column;
}

// A slice of a larger block lets go of the block.
ColumnPtr CompactValues(const ColumnPtr& column) {
  const BufferPtr& values = column->parts().values;
  if (values == nullptr || values->held_bytes() <= 2 * values->size() + 64) return column;
  Column::Parts parts = column->parts();
  auto copy = Buffer::Allocate(values->size());
  std::memcpy(copy->mutable_data(), values->data(), static_cast<size_t>(values->size()));
  parts.values = std::move(copy);
  return Column::Make(std::move(parts));
}

}  // namespace

ColumnPtr Compact(const ColumnPtr& column) {
  const ColumnPtr owned = CompactValues(column);
  if (column->encoding() == Encoding::kDictionary) return CompactChildren(owned);
  switch (column->physical()) {
    case PhysicalType::kText: return CompactText(owned);
    case PhysicalType::kList:
    case PhysicalType::kMap: return CompactLists(owned);
    case PhysicalType::kStruct: return CompactChildren(owned);
    default: return owned;
  }
}

}  // namespace thalweg::data
