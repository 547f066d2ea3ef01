#include "engine/pyworker/row_pickle.h"

#include <array>
#include <bit>
#include <cstring>

#include "data/columnar/buffer.h"
#include "data/text/numbers.h"
#include "data/text/utf8.h"
#include "engine/pyworker/java_data.h"

namespace thalweg::engine {

namespace {

using data::Column;
using data::ColumnPtr;
using data::DataType;
using data::PhysicalType;
using data::TypeKind;

constexpr size_t kMaxListBytes = INT32_MAX - 1024;  // beyond it the length would be one of the protocol's tags

// Places in the memo.
constexpr char kConverter = 0;
constexpr char kDecimalClass = 1;
constexpr char kByteArray = 2;

void PutLe32(uint32_t value, std::string* out) {
  for (int i = 0; i < 4; ++i) out->push_back(static_cast<char>(value >> (8 * i) & 0xFF));
}

void PutInteger(int64_t value, std::string* out) {
  if (value >= 0 && value < 256) {
    out->push_back('K');
    out->push_back(static_cast<char>(value));
  } else if (value >= INT32_MIN && value <= INT32_MAX) {
    out->push_back('J');
    PutLe32(static_cast<uint32_t>(value), out);
  } else {
    out->append("\x8a\x08", 2);
    for (int i = 0; i < 8; ++i) out->push_back(static_cast<char>(static_cast<uint64_t>(value) >> (8 * i) & 0xFF));
  }
}

void PutFloat(double value, std::string* out) {
  const auto bits = std::bit_cast<uint64_t>(value);
  out->push_back('G');
  for (int shift = 56; shift >= 0; shift -= 8) out->push_back(static_cast<char>(bits >> shift & 0xFF));
}

void PutText(std::string_view text, std::string* out) {
  out->push_back('X');
  const size_t length_at = out->size();
  PutLe32(0, out);
  data::AppendValidUtf8(text, out);
  const auto length = static_cast<uint32_t>(out->size() - length_at - 4);
  for (int i = 0; i < 4; ++i) (*out)[length_at + i] = static_cast<char>(length >> (8 * i) & 0xFF);
}

void PutBinary(std::string_view bytes, bool as_bytes, std::string* out) {
  if (!as_bytes) out->append({'h', kByteArray});
  out->push_back('B');
  PutLe32(static_cast<uint32_t>(bytes.size()), out);
  out->append(bytes);
  if (!as_bytes) out->append("\x85R");
}

void PutDecimal(data::Int128 unscaled, int scale, std::string* out) {
  out->append({'h', kDecimalClass});
  std::string text;
  data::AppendDecimal(unscaled, scale, &text);
  PutText(text, out);
  out->append("\x85R");
}

// One value, internal form: pyspark converts by the schema.
void PutValue(const Column& column, int64_t row, bool as_bytes, std::string* out);

void PutScalar(const Column& column, int64_t row, bool as_bytes, std::string* out) {
  switch (column.physical()) {
    case PhysicalType::kBool: out->push_back(column.values<uint8_t>()[row] != 0 ? '\x88' : '\x89'); return;
    case PhysicalType::kInt8: PutInteger(column.values<int8_t>()[row], out); return;
    case PhysicalType::kInt16: PutInteger(column.values<int16_t>()[row], out); return;
    case PhysicalType::kInt32: PutInteger(column.values<int32_t>()[row], out); return;
    case PhysicalType::kInt64: PutInteger(column.values<int64_t>()[row], out); return;
    case PhysicalType::kFloat: PutFloat(column.values<float>()[row], out); return;
    case PhysicalType::kDouble: PutFloat(column.values<double>()[row], out); return;
    case PhysicalType::kInt128: PutDecimal(column.values<data::Int128>()[row], column.type().scale(), out); return;
    case PhysicalType::kText: {
      const std::string_view text = column.values<data::TextView>()[row].view();
      if (column.type().Is(TypeKind::kString)) PutText(text, out);
      else PutBinary(text, as_bytes, out);
      return;
    }
    default: out->push_back('N'); return;
  }
}

void PutNested(const Column& column, int64_t row, bool as_bytes, std::string* out) {
  switch (column.physical()) {
    case PhysicalType::kList:
      out->append("](");
      for (int32_t i = column.offsets()[row]; i < column.offsets()[row + 1]; ++i) PutValue(*column.child(0), i, as_bytes, out);
      out->push_back('e');
      return;
    case PhysicalType::kMap:
      out->append("}(");
      for (int32_t i = column.offsets()[row]; i < column.offsets()[row + 1]; ++i) {
        PutValue(*column.child(0), i, as_bytes, out);
        PutValue(*column.child(1), i, as_bytes, out);
      }
      out->push_back('u');
      return;
    default: break;
  }
  if (column.type().Is(TypeKind::kVariant)) {
    out->append("}(");
    PutText("value", out);
    PutBinary(column.child(0)->values<data::TextView>()[row].view(), true, out);
    PutText("metadata", out);
    PutBinary(column.child(1)->values<data::TextView>()[row].view(), true, out);
    out->push_back('u');
    return;
  }
  out->push_back('(');
  for (int i = 0; i < column.num_children(); ++i) PutValue(*column.child(i), row, as_bytes, out);
  out->push_back('t');
}

void PutValue(const Column& column, int64_t row, bool as_bytes, std::string* out) {
  if (column.IsNull(row)) {
    out->push_back('N');
    return;
  }
  if (column.type().IsNested()) PutNested(column, row, as_bytes, out);
  else PutScalar(column, row, as_bytes, out);
}

// Whether Python sees another value than the internal one.
bool NeedsConversion(const DataType& type) {
  switch (type.kind()) {
    case TypeKind::kDate: case TypeKind::kTimestamp: case TypeKind::kTimestampNtz: case TypeKind::kTime:
    case TypeKind::kDayTimeInterval: case TypeKind::kStruct: case TypeKind::kVariant: return true;
    case TypeKind::kArray: return NeedsConversion(type.element());
    case TypeKind::kMap: return NeedsConversion(type.key()) || NeedsConversion(type.value());
    default: return false;
  }
}

bool Holds(const DataType& type, TypeKind kind) {
  if (type.Is(kind)) return true;
  switch (type.kind()) {
    case TypeKind::kArray: return Holds(type.element(), kind);
    case TypeKind::kMap: return Holds(type.key(), kind) || Holds(type.value(), kind);
    case TypeKind::kStruct:
      for (const data::StructField& field : type.fields()) {
        if (Holds(field.type, kind)) return true;
      }
      return false;
    default: return false;
  }
}

void PutGlobal(std::string_view module, std::string_view name, std::string* out) {
  out->push_back('c');
  out->append(module).push_back('\n');
  out->append(name).push_back('\n');
}

void PutMemo(char place, std::string* out) {
  out->push_back('q');
  out->push_back(place);
  out->push_back('0');  // off the stack
}

}  // namespace

Result<RowPickler> RowPickler::Make(const data::Schema& schema, PickledRow row, bool binary_as_bytes) {
  RowPickler pickler;
  const DataType type = DataType::Struct(schema);
  if (Holds(type, TypeKind::kCalendarInterval)) return Unsupported("calendar intervals in Python functions without Arrow");
  pickler.schema_ = schema;
  pickler.converts_ = row == PickledRow::kRow;
  for (const data::StructField& field : schema) pickler.converts_ = pickler.converts_ || NeedsConversion(field.type);
  pickler.binary_as_bytes_ = binary_as_bytes;
  std::string& head = pickler.head_;
  head.append("\x80\x03");
  if (pickler.converts_) {
    PutGlobal("pyspark.sql.types", "_create_row_inbound_converter", &head);
    PutGlobal("pyspark.sql.types", "_parse_datatype_json_string", &head);
    PutText(type.Json(), &head);
    head.append("\x85R\x85R");
    PutMemo(kConverter, &head);
  }
  if (Holds(type, TypeKind::kDecimal)) {
    PutGlobal("decimal", "Decimal", &head);
    PutMemo(kDecimalClass, &head);
  }
  if (!binary_as_bytes && Holds(type, TypeKind::kBinary)) {
    PutGlobal("builtins", "bytearray", &head);
    PutMemo(kByteArray, &head);
  }
  return pickler;
}

Status RowPickler::Append(const data::Chunk& chunk, std::string* out) const {
  const data::Chunk dense = chunk.Dense();
  std::vector<ColumnPtr> columns;
  for (const ColumnPtr& column : dense.columns()) columns.push_back(data::Flatten(column));
  const size_t length_at = out->size();
  out->append(4, '\0');
  out->append(head_);
  out->append("](");
  for (int64_t row = 0; row < dense.num_rows(); ++row) {
    if (converts_) out->append({'h', kConverter});
    out->push_back('(');
    for (const ColumnPtr& column : columns) PutValue(*column, row, binary_as_bytes_, out);
    out->push_back('t');
    if (converts_) out->push_back('R');
    if (out->size() - length_at > kMaxListBytes) return Unsupported("rows of more than 2 GiB together for Python functions without Arrow");
  }
  out->append("e.");
  const std::string length = JavaData().Int(static_cast<int32_t>(out->size() - length_at - 4)).Take();
  out->replace(length_at, 4, length);
  return Status::OK();
}

}  // namespace thalweg::engine
