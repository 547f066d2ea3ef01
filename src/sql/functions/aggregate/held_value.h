#pragma once

// A value of any type kept by an accumulator: fixed-width ones in place, text on the heap, nested ones as a column of one row.

#include <cstdlib>
#include <cstring>
#include <memory>

#include "base/process_memory.h"
#include "data/columnar/builder.h"
#include "sql/functions/aggregate/accumulate.h"

namespace thalweg::sql {

/// A growing block of bytes that an accumulator owns; zero is empty.
struct HeldText {
  char* data;
  uint32_t size;
  uint32_t capacity;
  void Set(std::string_view text) {
    if (text.size() > capacity) {
      const size_t wanted = text.size() < 24 ? 24 : text.size();
      data = static_cast<char*>(std::realloc(data, wanted));
      if (data == nullptr) ThrowOutOfMemory(static_cast<int64_t>(wanted), "an aggregate");
      capacity = static_cast<uint32_t>(wanted);
    }
    if (!text.empty()) std::memcpy(data, text.data(), text.size());
    size = static_cast<uint32_t>(text.size());
  }
  /// Never without an address, which a TextView made of it wants.
  std::string_view view() const { return data == nullptr ? std::string_view("") : std::string_view(data, size); }
  void Free() { std::free(data); }
};

/// A column of one row that an accumulator owns; null pointer is none.
struct HeldRow {
  ColumnPtr* row;
  void Set(const Column& column, int64_t at) {
    auto builder = data::ColumnBuilder::Make(column.type());
    builder->AppendFrom(column, at);
    if (row == nullptr) row = new ColumnPtr();
    *row = builder->Finish();
  }
  void Free() { delete row; }
};

}  // namespace thalweg::sql
