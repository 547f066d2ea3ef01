#include <type_traits>

#include "base/process_memory.h"
#include "base/status.h"
#include "data/columnar/builder.h"
#include "data/columnar/chunk.h"

namespace thalweg::data {
namespace {

// Where a row of a column of any encoding really lies.
struct Cell {
  const Column* column;
  int64_t slot;
};

Cell Locate(const Column& column, int64_t row) {
  if (column.is_constant()) return {&column, 0};
  if (column.encoding() == Encoding::kDictionary) {
    return {column.dictionary().get(), column.indices()[static_cast<size_t>(row)]};
  }
  return {&column, row};
}

class NullColumnBuilder final : public ColumnBuilder {
 public:
  explicit NullColumnBuilder(DataType type) : type_(std::move(type)) {}
  void AppendNull() override { ++length_; }
  void AppendValue(const Value& value) override {
    TW_DCHECK(value.is_null());
    ++length_;
  }
  void AppendFrom(const Column&, int64_t) override { ++length_; }
  int64_t length() const override { return length_; }
  ColumnPtr Finish() override {
    Column::Parts parts;
    parts.type = type_;
    parts.length = parts.null_count = length_;
    length_ = 0;
    return Column::Make(std::move(parts));
  }

 private:
  DataType type_;
  int64_t length_ = 0;
};

// T is what lies in the column; booleans are bool in a Value.
template <typename T>
class ScalarColumnBuilder final : public ColumnBuilder {
 public:
  using InValue = std::conditional_t<std::is_same_v<T, uint8_t>, bool, T>;
  explicit ScalarColumnBuilder(const DataType& type) : builder_(type) {}
  void Reserve(int64_t rows) override { builder_.Reserve(rows); }
  void AppendNull() override { builder_.AppendNull(); }
  void AppendValue(const Value& value) override {
    if (value.is_null()) return builder_.AppendNull();
    const InValue* given = value.get_if<InValue>();
    TW_DCHECK(given != nullptr);
    if (given == nullptr) return builder_.AppendNull();
    builder_.Append(static_cast<T>(*given));
  }
  void AppendFrom(const Column& column, int64_t row) override {
    if (column.IsNull(row)) return builder_.AppendNull();
    const Cell cell = Locate(column, row);
    builder_.Append(cell.column->values<T>()[static_cast<size_t>(cell.slot)]);
  }
  int64_t length() const override { return builder_.length(); }
  ColumnPtr Finish() override { return builder_.Finish(); }

 private:
  FixedBuilder<T> builder_;
};

class TextColumnBuilder final : public ColumnBuilder {
 public:
  explicit TextColumnBuilder(const DataType& type) : builder_(type) {}
  void Reserve(int64_t rows) override { builder_.Reserve(rows); }
  void AppendNull() override { builder_.AppendNull(); }
  void AppendValue(const Value& value) override {
    const auto* text = value.get_if<std::string>();
    TW_DCHECK(text != nullptr || value.is_null());
    if (text == nullptr) return builder_.AppendNull();
    builder_.Append(*text);
  }
  void AppendFrom(const Column& column, int64_t row) override {
    if (column.IsNull(row)) return builder_.AppendNull();
    const Cell cell = Locate(column, row);
    builder_.Append(cell.column->values<TextView>()[static_cast<size_t>(cell.slot)].view());
  }
  int64_t length() const override { return builder_.length(); }
  ColumnPtr Finish() override { return builder_.Finish(); }

 private:
  TextBuilder builder_;
};

// Arrays (one child) and maps (two).
class ListColumnBuilder final : public ColumnBuilder {
 public:
  explicit ListColumnBuilder(const DataType& type) : type_(type) {
    if (type.Is(TypeKind::kMap)) {
      children_.push_back(Make(type.key()));
      children_.push_back(Make(type.value()));
    } else {
      children_.push_back(Make(type.element()));
    }
    offsets_.Append(0);
  }
  void Reserve(int64_t rows) override { offsets_.Reserve(rows + 1); }
  void AppendNull() override {
    offsets_.Append(End());
    validity_.AppendNull();
  }
  void AppendValue(const Value& value) override {
    const auto* list = value.get_if<ValueList>();
    TW_DCHECK(list != nullptr || value.is_null());
    if (list == nullptr) return AppendNull();
    TW_DCHECK(list->size() % children_.size() == 0);
    for (size_t i = 0; i < list->size(); ++i) children_[i % children_.size()]->AppendValue((*list)[i]);
    AppendList();
  }
  void AppendFrom(const Column& column, int64_t row) override {
    if (column.IsNull(row)) return AppendNull();
    const Cell cell = Locate(column, row);
    const auto offsets = cell.column->offsets();
    const auto slot = static_cast<size_t>(cell.slot);
    for (int64_t i = offsets[slot]; i < offsets[slot + 1]; ++i) {
      for (size_t k = 0; k < children_.size(); ++k) {
        children_[k]->AppendFrom(*cell.column->child(static_cast<int>(k)), i);
      }
    }
    AppendList();
  }
  ColumnBuilder* child(int i) override { return children_[static_cast<size_t>(i)].get(); }
  void AppendList() override {
    offsets_.Append(End());
    validity_.AppendValid();
  }
  int64_t length() const override { return validity_.length(); }
  ColumnPtr Finish() override {
    Column::Parts parts;
    parts.type = type_;
    parts.length = validity_.length();
    parts.null_count = validity_.null_count();
    parts.validity = validity_.Finish();
    parts.values = offsets_.Finish();
    for (auto& child : children_) parts.children.push_back(child->Finish());
    offsets_.Append(0);
    return Column::Make(std::move(parts));
  }

 private:
  int32_t End() const {
    TW_DCHECK(children_[0]->length() == children_.back()->length());
    if (children_[0]->length() > INT32_MAX) ThrowOutOfMemory(children_[0]->length(), "the elements of one chunk");
    return static_cast<int32_t>(children_[0]->length());
  }
  DataType type_;
  std::vector<std::unique_ptr<ColumnBuilder>> children_;
  BufferBuilder<int32_t> offsets_;
  ValidityBuilder validity_;
};

// Structs, and variants as a struct of two binaries.
class StructColumnBuilder final : public ColumnBuilder {
 public:
  explicit StructColumnBuilder(const DataType& type) : type_(type) {
    if (type.Is(TypeKind::kVariant)) {
      children_.push_back(Make(DataType::Binary()));
      children_.push_back(Make(DataType::Binary()));
    } else {
      for (const auto& field : type.fields()) children_.push_back(Make(field.type));
    }
  }
  void Reserve(int64_t rows) override {
    for (auto& child : children_) child->Reserve(rows);
  }
  void AppendNull() override {
    for (auto& child : children_) child->AppendNull();
    validity_.AppendNull();
  }
  void AppendValue(const Value& value) override {
    const auto* fields = value.get_if<ValueList>();
    TW_DCHECK(fields != nullptr || value.is_null());
    if (fields == nullptr) return AppendNull();
    TW_DCHECK(fields->size() == children_.size());
    for (size_t i = 0; i < children_.size(); ++i) children_[i]->AppendValue((*fields)[i]);
    AppendStruct();
  }
  void AppendFrom(const Column& column, int64_t row) override {
    if (column.IsNull(row)) return AppendNull();
    const Cell cell = Locate(column, row);
    for (size_t i = 0; i < children_.size(); ++i) {
      children_[i]->AppendFrom(*cell.column->child(static_cast<int>(i)), cell.slot);
    }
    AppendStruct();
  }
  ColumnBuilder* child(int i) override { return children_[static_cast<size_t>(i)].get(); }
  void AppendStruct() override {
    validity_.AppendValid();
    TW_DCHECK(children_.empty() || children_[0]->length() == validity_.length());
  }
  int64_t length() const override { return validity_.length(); }
  ColumnPtr Finish() override {
    Column::Parts parts;
    parts.type = type_;
    parts.length = validity_.length();
    parts.null_count = validity_.null_count();
    parts.validity = validity_.Finish();
    for (auto& child : children_) parts.children.push_back(child->Finish());
    return Column::Make(std::move(parts));
  }

 private:
  DataType type_;
  std::vector<std::unique_ptr<ColumnBuilder>> children_;
  ValidityBuilder validity_;
};

}  // namespace

std::unique_ptr<ColumnBuilder> ColumnBuilder::Make(const DataType& type) {
  switch (type.physical()) {
    case PhysicalType::kNull: return std::make_unique<NullColumnBuilder>(type);
    case PhysicalType::kBool: return std::make_unique<ScalarColumnBuilder<uint8_t>>(type);
    case PhysicalType::kInt8: return std::make_unique<ScalarColumnBuilder<int8_t>>(type);
    case PhysicalType::kInt16: return std::make_unique<ScalarColumnBuilder<int16_t>>(type);
    case PhysicalType::kInt32: return std::make_unique<ScalarColumnBuilder<int32_t>>(type);
    case PhysicalType::kInt64: return std::make_unique<ScalarColumnBuilder<int64_t>>(type);
    case PhysicalType::kFloat: return std::make_unique<ScalarColumnBuilder<float>>(type);
    case PhysicalType::kDouble: return std::make_unique<ScalarColumnBuilder<double>>(type);
    case PhysicalType::kInt128: return std::make_unique<ScalarColumnBuilder<Int128>>(type);
    case PhysicalType::kText: return std::make_unique<TextColumnBuilder>(type);
    case PhysicalType::kInterval: return std::make_unique<ScalarColumnBuilder<CalendarInterval>>(type);
    case PhysicalType::kList:
    case PhysicalType::kMap: return std::make_unique<ListColumnBuilder>(type);
    case PhysicalType::kStruct: return std::make_unique<StructColumnBuilder>(type);
  }
  return nullptr;
}

Chunk ChunkFromRows(const std::vector<DataType>& types, const std::vector<ValueList>& rows) {
  std::vector<ColumnPtr> columns;
  for (size_t i = 0; i < types.size(); ++i) {
    auto builder = ColumnBuilder::Make(types[i]);
    builder->Reserve(static_cast<int64_t>(rows.size()));
    for (const ValueList& row : rows) builder->AppendValue(row[i]);
    columns.push_back(builder->Finish());
  }
  return Chunk(std::move(columns), static_cast<int64_t>(rows.size()));
}

}  // namespace thalweg::data
