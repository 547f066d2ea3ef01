#include "engine/pyworker/python_results.h"

#include <algorithm>

#include "data/columnar/builder.h"
#include "data/text/numbers.h"
#include "data/text/utf8.h"

namespace thalweg::engine {

namespace {

using data::DataType;
using data::TypeKind;
using data::Value;
using Kind = PyValue::Kind;

constexpr size_t kMaxTextDepth = 100;
constexpr size_t kMaxTextBytes = 1 << 30;

/// Java has a class for it: a value that fits no type. Others fail in Spark, too.
bool IsKnownClass(const Unpickler& unpickler, const PyValue& value) {
  const auto parts = unpickler.items(value);
  return value.kind == Kind::kObject && !parts.empty() && parts[0].kind == Kind::kClass && parts[0].text().starts_with("datetime ");
}

Status NoSuchValue(const Unpickler& unpickler, const PyValue& value) {
  std::string name = "a class";
  const auto parts = unpickler.items(value);
  if (value.kind == Kind::kClass) name = value.text();
  else if (!parts.empty() && parts[0].kind == Kind::kClass) name = parts[0].text();
  return Unsupported("results of Python functions without Arrow that hold objects (" + name + ")");
}

bool FitsInt32(int64_t value) { return value >= INT32_MIN && value <= INT32_MAX; }

// Little-endian two's complement of any length, in decimal.
void AppendBigInt(std::string_view bytes, std::string* out) {
  std::vector<uint8_t> magnitude(bytes.begin(), bytes.end());
  const bool negative = (magnitude.back() & 0x80) != 0;
  if (negative) {
    unsigned carry = 1;
    for (uint8_t& byte : magnitude) {
      const unsigned sum = static_cast<uint8_t>(~byte) + carry;
      byte = static_cast<uint8_t>(sum);
      carry = sum >> 8;
    }
  }
  std::string digits;  // least first
  while (!magnitude.empty()) {
    unsigned rest = 0;
    for (size_t i = magnitude.size(); i-- > 0;) {
      rest = rest << 8 | magnitude[i];
      magnitude[i] = static_cast<uint8_t>(rest / 10);
      rest %= 10;
    }
    digits.push_back(static_cast<char>('0' + rest));
    while (!magnitude.empty() && magnitude.back() == 0) magnitude.pop_back();
  }
  if (negative) out->push_back('-');
  out->append(digits.rbegin(), digits.rend());
}

/// Containers within each other, from the outermost, by number.
using Path = std::vector<uint32_t>;

Status AppendText(const Unpickler& unpickler, const PyValue& value, Path* path, std::string* out);

// What holds itself, or the same again and again, would make a text without an end of a few bytes.
Status AppendItems(const Unpickler& unpickler, const PyValue& value, Path* path, std::string* out) {
  if (path->size() == kMaxTextDepth) return Unsupported("results of Python functions nested deeper than 100 levels");
  if (std::find(path->begin(), path->end(), value.container) != path->end()) {
    return Unsupported("results of Python functions that hold themselves, as strings");
  }
  const bool map = value.kind == Kind::kDict;
  path->push_back(value.container);
  out->push_back(map ? '{' : '[');
  const auto items = unpickler.items(value);
  for (size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out->append(map && i % 2 == 1 ? "=" : ", ");
    TW_RETURN_NOT_OK(AppendText(unpickler, items[i], path, out));
    if (out->size() > kMaxTextBytes) return Unsupported("results of Python functions that are strings of more than 1 GiB");
  }
  out->push_back(map ? '}' : ']');
  path->pop_back();
  return Status::OK();
}

// What Java's toString makes of it.
Status AppendText(const Unpickler& unpickler, const PyValue& value, Path* path, std::string* out) {
  switch (value.kind) {
    case Kind::kNone: out->append("null"); return Status::OK();
    case Kind::kBool: out->append(value.integer != 0 ? "true" : "false"); return Status::OK();
    case Kind::kInt: data::AppendInt64(value.integer, out); return Status::OK();
    case Kind::kBigInt: AppendBigInt(value.text(), out); return Status::OK();
    case Kind::kFloat: data::AppendDouble(value.real, out); return Status::OK();
    case Kind::kText: case Kind::kBytes: data::AppendValidUtf8(value.text(), out); return Status::OK();
    case Kind::kDecimal: out->append(value.text()); return Status::OK();
    case Kind::kTuple: case Kind::kList: case Kind::kSet: case Kind::kDict: return AppendItems(unpickler, value, path, out);
    default: return NoSuchValue(unpickler, value);
  }
}

/// Converts by type; nothing for a value that does not fit.
Result<Value> Convert(const Unpickler& unpickler, const PyValue& value, const DataType& type);

Result<Value> ConvertDecimal(const PyValue& value, const DataType& type) {
  if (value.kind != Kind::kDecimal) return Value();
  data::Int128 unscaled = 0;
  switch (data::ParseDecimal(value.text(), type.precision(), type.scale(), &unscaled)) {
    case data::DecimalOutcome::kOk: return Value(unscaled);
    case data::DecimalOutcome::kMalformed: return Value();  // NaN, Infinity
    case data::DecimalOutcome::kOverflow: break;
  }
  return Error("NUMERIC_VALUE_OUT_OF_RANGE.WITHOUT_SUGGESTION")
      .With("roundedValue", value.text())
      .With("originalValue", value.text())
      .With("precision", type.precision())
      .With("scale", type.scale());
}

Result<Value> ConvertList(const Unpickler& unpickler, const PyValue& value, const DataType& type) {
  data::ValueList list;
  if (value.kind == Kind::kBytes) {  // Java sees an array of bytes
    for (const char byte : value.text()) {
      PyValue item;
      item.kind = Kind::kInt;
      item.integer = static_cast<signed char>(byte);
      TW_ASSIGN_OR_RETURN(Value element, Convert(unpickler, item, type.element()));
      list.push_back(std::move(element));
    }
    return Value(std::move(list));
  }
  if (value.kind != Kind::kList && value.kind != Kind::kTuple) return Value();
  for (const PyValue& item : unpickler.items(value)) {
    TW_ASSIGN_OR_RETURN(Value element, Convert(unpickler, item, type.element()));
    list.push_back(std::move(element));
  }
  return Value(std::move(list));
}

Result<Value> ConvertMap(const Unpickler& unpickler, const PyValue& value, const DataType& type) {
  if (value.kind != Kind::kDict) return Value();
  data::ValueList list;
  const auto items = unpickler.items(value);
  for (size_t i = 0; i + 1 < items.size(); i += 2) {
    TW_ASSIGN_OR_RETURN(Value key, Convert(unpickler, items[i], type.key()));
    TW_ASSIGN_OR_RETURN(Value mapped, Convert(unpickler, items[i + 1], type.value()));
    list.push_back(std::move(key));
    list.push_back(std::move(mapped));
  }
  return Value(std::move(list));
}

Result<Value> ConvertStruct(const Unpickler& unpickler, const PyValue& value, const DataType& type) {
  if (value.kind != Kind::kTuple) return Value();
  const auto items = unpickler.items(value);
  const auto& fields = type.fields();
  if (items.size() != fields.size()) {
    return Error("STRUCT_ARRAY_LENGTH_MISMATCH")
        .With("expected", static_cast<int64_t>(fields.size()))
        .With("actual", static_cast<int64_t>(items.size()));
  }
  data::ValueList list;
  for (size_t i = 0; i < fields.size(); ++i) {
    TW_ASSIGN_OR_RETURN(Value field, Convert(unpickler, items[i], fields[i].type));
    list.push_back(std::move(field));
  }
  return Value(std::move(list));
}

Result<Value> Convert(const Unpickler& unpickler, const PyValue& value, const DataType& type) {
  if (value.kind == Kind::kNone) return Value();
  if (value.kind == Kind::kObject || value.kind == Kind::kClass) {
    if (!type.Is(TypeKind::kString) && IsKnownClass(unpickler, value)) return Value();
    return NoSuchValue(unpickler, value);
  }
  const bool integer = value.kind == Kind::kInt;
  switch (type.kind()) {
    case TypeKind::kBoolean: return value.kind == Kind::kBool ? Value(value.integer != 0) : Value();
    case TypeKind::kByte: return integer ? Value(static_cast<int8_t>(value.integer)) : Value();
    case TypeKind::kShort: return integer ? Value(static_cast<int16_t>(value.integer)) : Value();
    case TypeKind::kInteger: return integer ? Value(static_cast<int32_t>(value.integer)) : Value();
    case TypeKind::kDate: case TypeKind::kYearMonthInterval:
      return integer && FitsInt32(value.integer) ? Value(static_cast<int32_t>(value.integer)) : Value();
    case TypeKind::kLong: case TypeKind::kTimestamp: case TypeKind::kTimestampNtz: case TypeKind::kTime: case TypeKind::kDayTimeInterval:
      return integer ? Value(value.integer) : Value();
    case TypeKind::kFloat: return value.kind == Kind::kFloat ? Value(static_cast<float>(value.real)) : Value();
    case TypeKind::kDouble: return value.kind == Kind::kFloat ? Value(value.real) : Value();
    case TypeKind::kDecimal: return ConvertDecimal(value, type);
    case TypeKind::kString: {
      std::string text;
      Path path;
      TW_RETURN_NOT_OK(AppendText(unpickler, value, &path, &text));
      return Value(std::move(text));
    }
    case TypeKind::kBinary: {
      if (value.kind != Kind::kText && value.kind != Kind::kBytes) return Value();
      return Value(std::string(value.text()));
    }
    case TypeKind::kArray: return ConvertList(unpickler, value, type);
    case TypeKind::kMap: return ConvertMap(unpickler, value, type);
    case TypeKind::kStruct: return ConvertStruct(unpickler, value, type);
    default: return Value();
  }
}

/// Numbers and booleans: a loop without a call per value.
template <typename T, typename Fit>
class FixedResults final : public PythonResults {
 public:
  FixedResults(const DataType& type, Kind kind, Fit fit) : builder_(type), kind_(kind), fit_(fit) {}
  Status Append(const Unpickler& unpickler, std::span<const PyValue> values) override {
    for (const PyValue& value : values) {
      if (value.kind == kind_) {
        builder_.Append(fit_(value));
      } else if ((value.kind == Kind::kObject || value.kind == Kind::kClass) && !IsKnownClass(unpickler, value)) {
        return NoSuchValue(unpickler, value);
      } else {
        builder_.AppendNull();
      }
    }
    return Status::OK();
  }
  int64_t length() const override { return builder_.length(); }
  data::ColumnPtr Finish() override { return builder_.Finish(); }

 private:
  data::FixedBuilder<T> builder_;
  const Kind kind_;
  const Fit fit_;
};

template <typename T, typename Fit>
std::unique_ptr<PythonResults> Fixed(const DataType& type, Kind kind, Fit fit) {
  return std::make_unique<FixedResults<T, Fit>>(type, kind, fit);
}

class TextResults final : public PythonResults {
 public:
  explicit TextResults(const DataType& type) : builder_(type) {}
  Status Append(const Unpickler& unpickler, std::span<const PyValue> values) override {
    for (const PyValue& value : values) {
      if (value.kind == Kind::kNone) {
        builder_.AppendNull();
      } else if (value.kind == Kind::kText && data::IsValidUtf8(value.text())) {
        builder_.Append(value.text());
      } else {
        text_.clear();
        path_.clear();
        TW_RETURN_NOT_OK(AppendText(unpickler, value, &path_, &text_));
        builder_.Append(text_);
      }
    }
    return Status::OK();
  }
  int64_t length() const override { return builder_.length(); }
  data::ColumnPtr Finish() override { return builder_.Finish(); }

 private:
  data::TextBuilder builder_;
  std::string text_;
  Path path_;
};

class AnyResults final : public PythonResults {
 public:
  explicit AnyResults(const DataType& type) : type_(type), builder_(data::ColumnBuilder::Make(type)) {}
  Status Append(const Unpickler& unpickler, std::span<const PyValue> values) override {
    for (const PyValue& value : values) {
      TW_ASSIGN_OR_RETURN(const Value converted, Convert(unpickler, value, type_));
      if (converted.is_null()) builder_->AppendNull();
      else builder_->AppendValue(converted);
    }
    return Status::OK();
  }
  int64_t length() const override { return builder_->length(); }
  data::ColumnPtr Finish() override { return builder_->Finish(); }

 private:
  const DataType type_;
  std::unique_ptr<data::ColumnBuilder> builder_;
};

bool IsReadable(const DataType& type) {
  switch (type.kind()) {
    case TypeKind::kCalendarInterval: case TypeKind::kVariant: return false;
    case TypeKind::kArray: return IsReadable(type.element());
    case TypeKind::kMap: return IsReadable(type.key()) && IsReadable(type.value());
    case TypeKind::kStruct:
      for (const data::StructField& field : type.fields()) {
        if (!IsReadable(field.type)) return false;
      }
      return true;
    default: return true;
  }
}

}  // namespace

Result<std::unique_ptr<PythonResults>> PythonResults::Make(const DataType& type) {
  if (!IsReadable(type)) return Unsupported("results of Python functions without Arrow of the type " + type.Sql());
  switch (type.kind()) {
    case TypeKind::kBoolean: return Fixed<uint8_t>(type, Kind::kBool, [](const PyValue& v) { return static_cast<uint8_t>(v.integer); });
    case TypeKind::kByte: return Fixed<int8_t>(type, Kind::kInt, [](const PyValue& v) { return static_cast<int8_t>(v.integer); });
    case TypeKind::kShort: return Fixed<int16_t>(type, Kind::kInt, [](const PyValue& v) { return static_cast<int16_t>(v.integer); });
    case TypeKind::kInteger: return Fixed<int32_t>(type, Kind::kInt, [](const PyValue& v) { return static_cast<int32_t>(v.integer); });
    case TypeKind::kLong: case TypeKind::kTimestamp: case TypeKind::kTimestampNtz: case TypeKind::kTime: case TypeKind::kDayTimeInterval:
      return Fixed<int64_t>(type, Kind::kInt, [](const PyValue& v) { return v.integer; });
    case TypeKind::kFloat: return Fixed<float>(type, Kind::kFloat, [](const PyValue& v) { return static_cast<float>(v.real); });
    case TypeKind::kDouble: return Fixed<double>(type, Kind::kFloat, [](const PyValue& v) { return v.real; });
    case TypeKind::kString: return std::unique_ptr<PythonResults>(std::make_unique<TextResults>(type));
    default: return std::unique_ptr<PythonResults>(std::make_unique<AnyResults>(type));
  }
}

}  // namespace thalweg::engine
