#include "engine/exec/row_keys.h"

#include <bit>
#include <cstring>
#include <utility>

#include "data/columnar/bitmap.h"
#include "data/columnar/builder.h"
#include "engine/exec/nested_bytes.h"

namespace thalweg::engine {
namespace {

using data::Column;
using data::ColumnPtr;
using data::DataType;
using data::PhysicalType;
using data::TextView;
using data::TypeKind;

constexpr uint64_t kSeed = 0x8f3c1d9b5a7e2461ULL;

int LeafBits(PhysicalType physical) {
  switch (physical) {
    case PhysicalType::kNull: return 0;
    case PhysicalType::kBool:
    case PhysicalType::kInt8: return 8;
    case PhysicalType::kInt16: return 16;
    case PhysicalType::kInt32:
    case PhysicalType::kFloat: return 32;
    case PhysicalType::kInt64:
    case PhysicalType::kDouble: return 64;
    default: return 128;
  }
}

Status CheckType(const DataType& type) {
  switch (type.kind()) {
    case TypeKind::kMap:
    case TypeKind::kVariant: return Unsupported("keys of type " + type.Sql());
    case TypeKind::kString:
      if (type.collation() != "UTF8_BINARY") return Unsupported("keys of collation " + type.collation());
      return Status::OK();
    case TypeKind::kArray: return CheckType(type.element());
    case TypeKind::kStruct:
      for (const auto& field : type.fields()) TW_RETURN_NOT_OK(CheckType(field.type));
      return Status::OK();
    default: return Status::OK();
  }
}

uint64_t WordOf(uint8_t v) { return v; }
uint64_t WordOf(int8_t v) { return static_cast<uint8_t>(v); }
uint64_t WordOf(int16_t v) { return static_cast<uint16_t>(v); }
uint64_t WordOf(int32_t v) { return static_cast<uint32_t>(v); }
uint64_t WordOf(int64_t v) { return static_cast<uint64_t>(v); }
uint64_t WordOf(float v) { return v == 0 ? 0 : v != v ? 0x7fc00000U : std::bit_cast<uint32_t>(v); }
uint64_t WordOf(double v) { return v == 0 ? 0 : v != v ? 0x7ff8000000000000ULL : std::bit_cast<uint64_t>(v); }

template <typename T>
void PutValues(const Column& column, int64_t rows, int shift, int stride, const uint8_t* nulls, uint64_t* out) {
  const T* values = column.values<T>().data();
  if (nulls == nullptr) {
    for (int64_t row = 0; row < rows; ++row) out[row * stride] |= WordOf(values[row]) << shift;
    return;
  }
  for (int64_t row = 0; row < rows; ++row) {
    if (!nulls[row]) out[row * stride] |= WordOf(values[row]) << shift;
  }
}

void Put128(const Column& column, int64_t rows, int stride, const uint8_t* nulls, uint64_t* out) {
  const auto* values = reinterpret_cast<const uint64_t*>(column.parts().values->data());
  for (int64_t row = 0; row < rows; ++row) {
    if (nulls != nullptr && nulls[row]) continue;
    out[row * stride] = values[2 * row];
    out[row * stride + 1] = values[2 * row + 1];
  }
}

}  // namespace

Result<KeyLayout> KeyLayout::Make(std::vector<DataType> types) {
  KeyLayout layout;
  int null_bits = 0;
  for (size_t i = 0; i < types.size(); ++i) {
    TW_RETURN_NOT_OK(CheckType(types[i]));
    layout.AddLeaves(static_cast<int>(i), {}, types[i], &null_bits);
  }
  layout.types_ = std::move(types);
  int value_bits = 0;
  for (const Leaf& leaf : layout.leaves_) value_bits += leaf.bits;
  if (layout.leaves_.size() == 1 && layout.leaves_[0].bits == 64) {
    layout.null_outside_ = true;
    return layout;
  }
  if (null_bits + value_bits <= 64) {
    int shift = null_bits;
    for (Leaf& leaf : layout.leaves_) {
      leaf.shift = shift;
      shift += leaf.bits;
    }
    return layout;
  }
  int word = (null_bits + 63) / 64;
  for (Leaf& leaf : layout.leaves_) {
    leaf.word = word;
    word += (leaf.bits + 63) / 64;
  }
  layout.words_ = word;
  return layout;
}

void KeyLayout::AddLeaves(int column, std::vector<int> path, const DataType& type, int* null_bits) {
  Leaf leaf;
  leaf.column = column;
  leaf.path = path;
  leaf.type = type;
  leaf.physical = type.physical();
  leaf.null_bit = (*null_bits)++;
  if (leaf.physical == PhysicalType::kStruct) {
    leaf.bits = 0;
    leaves_.push_back(leaf);
    for (size_t i = 0; i < type.fields().size(); ++i) {
      path.push_back(static_cast<int>(i));
      AddLeaves(column, path, type.fields()[i].type, null_bits);
      path.pop_back();
    }
    return;
  }
  leaf.bits = LeafBits(leaf.physical);
  has_text_ = has_text_ || leaf.physical == PhysicalType::kText || leaf.physical == PhysicalType::kList;
  leaves_.push_back(std::move(leaf));
}

bool KeyEncoder::IsPlain(std::span<const ColumnPtr> columns) const {
  if (columns.size() != 1 || layout_.words() != 1 || layout_.leaves().size() != 1) return false;
  const PhysicalType physical = layout_.leaves()[0].physical;
  if (columns[0]->has_nulls() || columns[0]->physical() != physical) return false;
  return physical == PhysicalType::kInt32 || physical == PhysicalType::kInt64 || physical == PhysicalType::kDouble;
}

template <typename T>
KeyEncoder::Block KeyEncoder::EncodePlain(int64_t first, int64_t count) {
  const T* const values = plain_->values<T>().data() + first;
  const int shift = layout_.leaves()[0].shift;
  // Cold columns: the processor's own prefetching ends at every page.
  const char* const ahead = reinterpret_cast<const char*>(values) + 512;
  for (size_t at = 0; at < static_cast<size_t>(count) * sizeof(T); at += 64) __builtin_prefetch(ahead + at);
  for (int64_t row = 0; row < count; ++row) {
    const uint64_t word = WordOf(values[row]) << shift;
    block_words_[row] = word;
    block_hashes_[row] = MixHash(kSeed, word);
  }
  return {block_words_.data(), block_hashes_.data()};
}

KeyEncoder::Block KeyEncoder::At(int64_t first, int64_t count) {
  TW_DCHECK(count <= kBlock && first + count <= rows_);
  if (plain_ == nullptr) return {words_.data() + first * layout_.words(), hashes_.data() + first};
  switch (plain_->physical()) {
    case PhysicalType::kInt32: return EncodePlain<int32_t>(first, count);
    case PhysicalType::kInt64: return EncodePlain<int64_t>(first, count);
    default: return EncodePlain<double>(first, count);
  }
}

void KeyEncoder::Encode(std::span<const ColumnPtr> columns, int64_t rows) {
  rows_ = rows;
  null_rows_.clear();
  encoded_.clear();
  plain_ = IsPlain(columns) ? data::Flatten(columns[0]) : nullptr;
  if (plain_ != nullptr) return;
  words_.assign(static_cast<size_t>(rows) * layout_.words(), 0);
  // Null flags of the structs above the leaf being encoded, by depth.
  std::vector<std::vector<uint8_t>> hidden;
  std::vector<ColumnPtr> flat(columns.size());
  for (size_t i = 0; i < columns.size(); ++i) flat[i] = data::Flatten(columns[i]);
  for (const KeyLayout::Leaf& leaf : layout_.leaves()) {
    const Column* column = flat[leaf.column].get();
    for (const int field : leaf.path) column = column->child(field).get();
    hidden.resize(leaf.path.size());
    const std::vector<uint8_t>* above = hidden.empty() || hidden.back().empty() ? nullptr : &hidden.back();
    EncodeLeaf(leaf, *column, above);
    if (leaf.physical == PhysicalType::kStruct) {
      std::vector<uint8_t> nulls;
      if (above != nullptr || column->has_nulls()) {
        nulls.resize(rows);
        for (int64_t row = 0; row < rows; ++row) {
          nulls[row] = (above != nullptr && (*above)[row]) || column->IsNull(row);
        }
      }
      hidden.push_back(std::move(nulls));
    }
  }
  Hash();
}

void KeyEncoder::EncodeLeaf(const KeyLayout::Leaf& leaf, const Column& column, const std::vector<uint8_t>* hidden) {
  const int stride = layout_.words();
  std::vector<uint8_t> own;
  const uint8_t* nulls = hidden != nullptr ? hidden->data() : nullptr;
  if (column.has_nulls() || column.physical() == PhysicalType::kNull) {
    own.resize(rows_);
    for (int64_t row = 0; row < rows_; ++row) {
      own[row] = column.physical() == PhysicalType::kNull || column.IsNull(row) || (nulls != nullptr && nulls[row]);
    }
    nulls = own.data();
  }
  if (nulls != nullptr) {
    if (leaf.path.empty()) {
      if (null_rows_.empty()) null_rows_.assign(rows_, 0);
      for (int64_t row = 0; row < rows_; ++row) null_rows_[row] |= nulls[row];
    }
    if (!layout_.null_outside()) {
      uint64_t* words = words_.data() + leaf.null_bit / 64;
      const int bit = leaf.null_bit % 64;
      for (int64_t row = 0; row < rows_; ++row) words[row * stride] |= uint64_t{nulls[row]} << bit;
    }
  }
  uint64_t* out = words_.data() + leaf.word;
  switch (leaf.physical) {
    case PhysicalType::kBool: return PutValues<uint8_t>(column, rows_, leaf.shift, stride, nulls, out);
    case PhysicalType::kInt8: return PutValues<int8_t>(column, rows_, leaf.shift, stride, nulls, out);
    case PhysicalType::kInt16: return PutValues<int16_t>(column, rows_, leaf.shift, stride, nulls, out);
    case PhysicalType::kInt32: return PutValues<int32_t>(column, rows_, leaf.shift, stride, nulls, out);
    case PhysicalType::kInt64: return PutValues<int64_t>(column, rows_, leaf.shift, stride, nulls, out);
    case PhysicalType::kFloat: return PutValues<float>(column, rows_, leaf.shift, stride, nulls, out);
    case PhysicalType::kDouble: return PutValues<double>(column, rows_, leaf.shift, stride, nulls, out);
    case PhysicalType::kInt128:
    case PhysicalType::kInterval:
    case PhysicalType::kText: return Put128(column, rows_, stride, nulls, out);
    case PhysicalType::kList: {
      const size_t first = encoded_.size();
      encoded_.resize(first + rows_);
      for (int64_t row = 0; row < rows_; ++row) {
        if (nulls != nullptr && nulls[row]) continue;
        std::string& bytes = encoded_[first + row];
        AppendNestedBytes(column, row, &bytes);
        const TextView view(bytes.data(), static_cast<uint32_t>(bytes.size()));
        std::memcpy(out + row * stride, &view, sizeof(view));
      }
      return;
    }
    case PhysicalType::kNull:
    case PhysicalType::kMap:
    case PhysicalType::kStruct: return;
  }
}

void KeyEncoder::Hash() {
  const int stride = layout_.words();
  hashes_.resize(rows_);
  if (stride == 1) {
    for (int64_t row = 0; row < rows_; ++row) hashes_[row] = MixHash(kSeed, words_[row]);
    return;
  }
  std::vector<int> text_words;
  std::vector<int> plain_words;
  std::vector<bool> is_text(stride, false);
  for (const KeyLayout::Leaf& leaf : layout_.leaves()) {
    if (leaf.physical != PhysicalType::kText && leaf.physical != PhysicalType::kList) continue;
    text_words.push_back(leaf.word);
    is_text[leaf.word] = is_text[leaf.word + 1] = true;
  }
  for (int word = 0; word < stride; ++word) {
    if (!is_text[word]) plain_words.push_back(word);
  }
  for (int64_t row = 0; row < rows_; ++row) {
    const uint64_t* key = words_.data() + row * stride;
    uint64_t hash = kSeed;
    for (const int word : plain_words) hash = MixHash(hash, key[word]);
    for (const int word : text_words) {
      TextView view;
      std::memcpy(static_cast<void*>(&view), key + word, sizeof(view));
      hash = MixHash(hash, key[word]);  // size and prefix
      if (view.is_inline()) {
        hash = MixHash(hash, key[word + 1]);
        continue;
      }
      const char* bytes = view.data();
      const uint32_t size = view.size();
      uint32_t i = 0;
      uint64_t part = 0;
      for (; i + 8 <= size; i += 8) {
        std::memcpy(&part, bytes + i, 8);
        hash = MixHash(hash, part);
      }
      std::memcpy(&part, bytes + size - 8, 8);  // longer than 12: overlaps what was taken
      hash = MixHash(hash, part);
    }
    hashes_[row] = hash;
  }
}

namespace {

/// Builds key columns from encoded rows.
class Decoder {
 public:
  Decoder(const KeyLayout& layout, std::span<uint8_t* const> rows, const uint8_t* null_row)
      : layout_(layout), rows_(rows), null_row_(null_row) {}

  ColumnPtr Next() {
    const KeyLayout::Leaf& leaf = layout_.leaves()[next_++];
    Column::Parts parts;
    parts.type = leaf.type;
    parts.length = static_cast<int64_t>(rows_.size());
    SetValidity(leaf, &parts);
    const auto length = parts.length;
    switch (leaf.physical) {
      case PhysicalType::kNull: return Column::Nulls(leaf.type, length);
      case PhysicalType::kStruct:
        for (size_t i = 0; i < leaf.type.fields().size(); ++i) parts.children.push_back(Next());
        return Column::Make(std::move(parts));
      case PhysicalType::kText: return Texts(leaf);
      case PhysicalType::kList: return Lists(leaf);
      case PhysicalType::kBool:
      case PhysicalType::kInt8: parts.values = Values<uint8_t>(leaf); break;
      case PhysicalType::kInt16: parts.values = Values<uint16_t>(leaf); break;
      case PhysicalType::kInt32:
      case PhysicalType::kFloat: parts.values = Values<uint32_t>(leaf); break;
      case PhysicalType::kInt64:
      case PhysicalType::kDouble: parts.values = Values<uint64_t>(leaf); break;
      case PhysicalType::kInt128:
      case PhysicalType::kInterval:
      case PhysicalType::kMap: parts.values = Wide(leaf); break;
    }
    return Column::Make(std::move(parts));
  }

 private:
  const uint64_t* Words(size_t row) const { return reinterpret_cast<const uint64_t*>(rows_[row]); }

  bool IsNull(const KeyLayout::Leaf& leaf, size_t row) const {
    if (layout_.null_outside()) return rows_[row] == null_row_;
    return (Words(row)[leaf.null_bit / 64] >> (leaf.null_bit % 64) & 1) != 0;
  }

  void SetValidity(const KeyLayout::Leaf& leaf, Column::Parts* parts) const {
    data::ValidityBuilder validity;
    for (size_t row = 0; row < rows_.size(); ++row) {
      if (IsNull(leaf, row)) {
        validity.AppendNull();
      } else {
        validity.AppendValid();
      }
    }
    parts->null_count = validity.null_count();
    parts->validity = validity.Finish();
  }

  template <typename T>
  data::BufferPtr Values(const KeyLayout::Leaf& leaf) const {
    auto buffer = data::Buffer::Allocate(static_cast<int64_t>(rows_.size() * sizeof(T)));
    const auto out = buffer->as_mutable<T>();
    for (size_t row = 0; row < rows_.size(); ++row) out[row] = static_cast<T>(Words(row)[leaf.word] >> leaf.shift);
    return buffer;
  }

  data::BufferPtr Wide(const KeyLayout::Leaf& leaf) const {
    auto buffer = data::Buffer::Allocate(static_cast<int64_t>(rows_.size() * 16));
    for (size_t row = 0; row < rows_.size(); ++row) {
      std::memcpy(buffer->mutable_data() + row * 16, Words(row) + leaf.word, 16);
    }
    return buffer;
  }

  TextView Text(const KeyLayout::Leaf& leaf, size_t row) const {
    TextView view;
    std::memcpy(static_cast<void*>(&view), Words(row) + leaf.word, sizeof(view));
    return view;
  }

  ColumnPtr Texts(const KeyLayout::Leaf& leaf) const {
    data::TextBuilder builder(leaf.type);
    builder.Reserve(static_cast<int64_t>(rows_.size()));
    for (size_t row = 0; row < rows_.size(); ++row) {
      if (IsNull(leaf, row)) {
        builder.AppendNull();
      } else {
        builder.Append(Text(leaf, row).view());
      }
    }
    return builder.Finish();
  }

  ColumnPtr Lists(const KeyLayout::Leaf& leaf) const {
    const auto builder = data::ColumnBuilder::Make(leaf.type);
    for (size_t row = 0; row < rows_.size(); ++row) {
      if (IsNull(leaf, row)) {
        builder->AppendNull();
      } else {
        const TextView view = Text(leaf, row);
        AppendFromNestedBytes(leaf.type, view.view(), builder.get());
      }
    }
    return builder->Finish();
  }

  const KeyLayout& layout_;
  const std::span<uint8_t* const> rows_;
  const uint8_t* const null_row_;
  size_t next_ = 0;
};

}  // namespace

std::vector<ColumnPtr> DecodeKeys(const KeyLayout& layout, std::span<uint8_t* const> rows, const uint8_t* null_row) {
  Decoder decoder(layout, rows, null_row);
  std::vector<ColumnPtr> out;
  for (size_t i = 0; i < layout.types().size(); ++i) out.push_back(decoder.Next());
  return out;
}

}  // namespace thalweg::engine
