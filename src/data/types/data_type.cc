#include "data/types/data_type.h"

#include <algorithm>
#include <array>

#include "data/types/type_node.h"

namespace thalweg::data {
namespace {

using internal::TypeNode;

constexpr std::string_view kDefaultCollation = "UTF8_BINARY";

std::shared_ptr<const TypeNode> MakeSimple(TypeKind kind) {
  auto node = std::make_shared<TypeNode>();
  node->kind = kind;
  return node;
}

// One shared node per type without parameters.
const std::shared_ptr<const TypeNode>& SimpleNode(TypeKind kind) {
  static const auto* const nodes = [] {
    auto* all = new std::array<std::shared_ptr<const TypeNode>, static_cast<size_t>(TypeKind::kVariant) + 1>();
    for (size_t i = 0; i < all->size(); ++i) (*all)[i] = MakeSimple(static_cast<TypeKind>(i));
    return all;
  }();
  return (*nodes)[static_cast<size_t>(kind)];
}

DataType Simple(TypeKind kind) { return DataType(SimpleNode(kind)); }

DataType WithNumbers(TypeKind kind, int first, int second) {
  auto node = std::make_shared<TypeNode>();
  node->kind = kind;
  node->first = first;
  node->second = second;
  return DataType(std::move(node));
}

DataType MakeString(std::string collation, StringConstraint constraint, int length) {
  auto node = std::make_shared<TypeNode>();
  node->kind = TypeKind::kString;
  node->collation = std::move(collation);
  node->constraint = constraint;
  node->first = length;
  return DataType(std::move(node));
}

}  // namespace

DataType::DataType() : node_(SimpleNode(TypeKind::kNull)) {}
DataType DataType::Null() { return Simple(TypeKind::kNull); }
DataType DataType::Boolean() { return Simple(TypeKind::kBoolean); }
DataType DataType::Byte() { return Simple(TypeKind::kByte); }
DataType DataType::Short() { return Simple(TypeKind::kShort); }
DataType DataType::Integer() { return Simple(TypeKind::kInteger); }
DataType DataType::Long() { return Simple(TypeKind::kLong); }
DataType DataType::Float() { return Simple(TypeKind::kFloat); }
DataType DataType::Double() { return Simple(TypeKind::kDouble); }
DataType DataType::Binary() { return Simple(TypeKind::kBinary); }
DataType DataType::Date() { return Simple(TypeKind::kDate); }
DataType DataType::Timestamp() { return Simple(TypeKind::kTimestamp); }
DataType DataType::TimestampNtz() { return Simple(TypeKind::kTimestampNtz); }
DataType DataType::CalendarInterval() { return Simple(TypeKind::kCalendarInterval); }
DataType DataType::Variant() { return Simple(TypeKind::kVariant); }

DataType DataType::Decimal(int precision, int scale) {
  TW_DCHECK(precision >= 0 && precision <= 38 && scale <= precision);
  return WithNumbers(TypeKind::kDecimal, precision, scale);
}

DataType DataType::String() {
  static const auto* const type = new DataType(MakeString(std::string(kDefaultCollation), StringConstraint::kNone, 0));
  return *type;
}

DataType DataType::String(std::string collation) {
  if (collation == kDefaultCollation) return String();
  return MakeString(std::move(collation), StringConstraint::kNone, 0);
}

DataType DataType::Char(int length) {
  return MakeString(std::string(kDefaultCollation), StringConstraint::kChar, length);
}

DataType DataType::Varchar(int length) {
  return MakeString(std::string(kDefaultCollation), StringConstraint::kVarchar, length);
}

DataType DataType::Time(int precision) { return WithNumbers(TypeKind::kTime, precision, 0); }

DataType DataType::YearMonthInterval(YearMonthField start, YearMonthField end) {
  return WithNumbers(TypeKind::kYearMonthInterval, static_cast<int>(start), static_cast<int>(end));
}

DataType DataType::DayTimeInterval(DayTimeField start, DayTimeField end) {
  return WithNumbers(TypeKind::kDayTimeInterval, static_cast<int>(start), static_cast<int>(end));
}

DataType DataType::Array(DataType element, bool contains_null) {
  auto node = std::make_shared<TypeNode>();
  node->kind = TypeKind::kArray;
  node->contains_null = contains_null;
  node->children.push_back(std::move(element));
  return DataType(std::move(node));
}

DataType DataType::Map(DataType key, DataType value, bool value_contains_null) {
  auto node = std::make_shared<TypeNode>();
  node->kind = TypeKind::kMap;
  node->contains_null = value_contains_null;
  node->children.push_back(std::move(key));
  node->children.push_back(std::move(value));
  return DataType(std::move(node));
}

DataType DataType::Struct(std::vector<StructField> fields) {
  auto node = std::make_shared<TypeNode>();
  node->kind = TypeKind::kStruct;
  node->fields = std::move(fields);
  return DataType(std::move(node));
}

TypeKind DataType::kind() const { return node_->kind; }

PhysicalType DataType::physical() const {
  switch (node_->kind) {
    case TypeKind::kNull: return PhysicalType::kNull;
    case TypeKind::kBoolean: return PhysicalType::kBool;
    case TypeKind::kByte: return PhysicalType::kInt8;
    case TypeKind::kShort: return PhysicalType::kInt16;
    case TypeKind::kInteger:
    case TypeKind::kDate:
    case TypeKind::kYearMonthInterval: return PhysicalType::kInt32;
    case TypeKind::kLong:
    case TypeKind::kTimestamp:
    case TypeKind::kTimestampNtz:
    case TypeKind::kTime:
    case TypeKind::kDayTimeInterval: return PhysicalType::kInt64;
    case TypeKind::kFloat: return PhysicalType::kFloat;
    case TypeKind::kDouble: return PhysicalType::kDouble;
    case TypeKind::kDecimal: return PhysicalType::kInt128;
    case TypeKind::kString:
    case TypeKind::kBinary: return PhysicalType::kText;
    case TypeKind::kCalendarInterval: return PhysicalType::kInterval;
    case TypeKind::kArray: return PhysicalType::kList;
    case TypeKind::kMap: return PhysicalType::kMap;
    case TypeKind::kStruct:
    case TypeKind::kVariant: return PhysicalType::kStruct;
  }
  return PhysicalType::kNull;
}

int DataType::byte_width() const {
  switch (physical()) {
    case PhysicalType::kNull:
    case PhysicalType::kStruct: return 0;
    case PhysicalType::kBool:
    case PhysicalType::kInt8: return 1;
    case PhysicalType::kInt16: return 2;
    case PhysicalType::kInt32:
    case PhysicalType::kFloat:
    case PhysicalType::kList:
    case PhysicalType::kMap: return 4;
    case PhysicalType::kInt64:
    case PhysicalType::kDouble: return 8;
    case PhysicalType::kInt128:
    case PhysicalType::kText:
    case PhysicalType::kInterval: return 16;
  }
  return 0;
}

int DataType::precision() const { return node_->first; }
int DataType::scale() const { return node_->second; }
int DataType::length() const { return node_->first; }
StringConstraint DataType::string_constraint() const { return node_->constraint; }
const std::string& DataType::collation() const { return node_->collation; }
YearMonthField DataType::year_month_start() const { return static_cast<YearMonthField>(node_->first); }
YearMonthField DataType::year_month_end() const { return static_cast<YearMonthField>(node_->second); }
DayTimeField DataType::day_time_start() const { return static_cast<DayTimeField>(node_->first); }
DayTimeField DataType::day_time_end() const { return static_cast<DayTimeField>(node_->second); }

const DataType& DataType::element() const {
  TW_DCHECK(kind() == TypeKind::kArray);
  return node_->children[0];
}

bool DataType::contains_null() const { return node_->contains_null; }

const DataType& DataType::key() const {
  TW_DCHECK(kind() == TypeKind::kMap);
  return node_->children[0];
}

const DataType& DataType::value() const {
  TW_DCHECK(kind() == TypeKind::kMap);
  return node_->children[1];
}

const std::vector<StructField>& DataType::fields() const {
  TW_DCHECK(kind() == TypeKind::kStruct);
  return node_->fields;
}

bool DataType::IsIntegral() const { return kind() >= TypeKind::kByte && kind() <= TypeKind::kLong; }

bool DataType::IsFractional() const {
  return Is(TypeKind::kFloat) || Is(TypeKind::kDouble) || Is(TypeKind::kDecimal);
}

bool DataType::IsNumeric() const { return IsIntegral() || IsFractional(); }

bool DataType::IsNested() const {
  return Is(TypeKind::kArray) || Is(TypeKind::kMap) || Is(TypeKind::kStruct) || Is(TypeKind::kVariant);
}

bool DataType::IsAnsiInterval() const {
  return Is(TypeKind::kYearMonthInterval) || Is(TypeKind::kDayTimeInterval);
}

bool DataType::IsOrderable() const {
  switch (kind()) {
    case TypeKind::kMap:
    case TypeKind::kVariant:
    case TypeKind::kCalendarInterval: return false;
    case TypeKind::kArray: return element().IsOrderable();
    case TypeKind::kStruct:
      return std::all_of(fields().begin(), fields().end(),
                         [](const StructField& field) { return field.type.IsOrderable(); });
    default: return true;
  }
}

bool DataType::operator==(const DataType& other) const {
  if (node_ == other.node_) return true;
  const TypeNode& a = *node_;
  const TypeNode& b = *other.node_;
  return a.kind == b.kind && a.constraint == b.constraint && a.contains_null == b.contains_null &&
         a.first == b.first && a.second == b.second && a.collation == b.collation && a.children == b.children &&
         a.fields == b.fields;
}

bool DataType::SameType(const DataType& other) const {
  if (node_ == other.node_) return true;
  const TypeNode& a = *node_;
  const TypeNode& b = *other.node_;
  if (a.kind != b.kind || a.constraint != b.constraint || a.first != b.first || a.second != b.second ||
      a.collation != b.collation || a.children.size() != b.children.size() || a.fields.size() != b.fields.size()) {
    return false;
  }
  for (size_t i = 0; i < a.children.size(); ++i) {
    if (!a.children[i].SameType(b.children[i])) return false;
  }
  for (size_t i = 0; i < a.fields.size(); ++i) {
    if (a.fields[i].name != b.fields[i].name || !a.fields[i].type.SameType(b.fields[i].type)) return false;
  }
  return true;
}

DataType DataType::AsNullable() const {
  switch (kind()) {
    case TypeKind::kArray: return Array(element().AsNullable(), true);
    case TypeKind::kMap: return Map(key().AsNullable(), value().AsNullable(), true);
    case TypeKind::kStruct: {
      std::vector<StructField> nullable = fields();
      for (StructField& field : nullable) {
        field.type = field.type.AsNullable();
        field.nullable = true;
      }
      return Struct(std::move(nullable));
    }
    default: return *this;
  }
}

}  // namespace thalweg::data
