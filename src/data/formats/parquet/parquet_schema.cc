#include "data/formats/parquet/parquet_schema.h"

#include <arrow/type.h>

#include "data/columnar/arrow_bridge.h"

namespace thalweg::data {

namespace {

using parquet::LogicalType;
using parquet::Repetition;
using parquet::schema::GroupNode;
using parquet::schema::NodePtr;
using parquet::schema::PrimitiveNode;

constexpr int kMaxDepth = 200;

struct Maker {
  const ParquetWriteOptions& options;

  int FieldId(const std::string& path) const {
    const auto found = options.field_ids.find(path);
    return found == options.field_ids.end() ? -1 : found->second;
  }

  Result<NodePtr> Primitive(const std::string& name, const std::string& path, const DataType& type,
                            Repetition::type repetition) const {
    std::shared_ptr<const LogicalType> logical = LogicalType::None();
    parquet::Type::type physical = parquet::Type::INT32;
    int length = -1;
    switch (type.kind()) {
      case TypeKind::kBoolean: physical = parquet::Type::BOOLEAN; break;
      case TypeKind::kByte: logical = LogicalType::Int(8, true); break;
      case TypeKind::kShort: logical = LogicalType::Int(16, true); break;
      case TypeKind::kInteger:
      case TypeKind::kYearMonthInterval: break;
      case TypeKind::kLong:
      case TypeKind::kDayTimeInterval: physical = parquet::Type::INT64; break;
      case TypeKind::kFloat: physical = parquet::Type::FLOAT; break;
      case TypeKind::kDouble: physical = parquet::Type::DOUBLE; break;
      case TypeKind::kDate: logical = LogicalType::Date(); break;
      case TypeKind::kTimestamp:
        if (options.timestamps == ParquetWriteOptions::Timestamps::kInt96) {
          physical = parquet::Type::INT96;
          break;
        }
        physical = parquet::Type::INT64;
        logical = LogicalType::Timestamp(true, LogicalType::TimeUnit::MICROS);
        break;
      case TypeKind::kTimestampNtz:
        physical = parquet::Type::INT64;
        logical = LogicalType::Timestamp(false, LogicalType::TimeUnit::MICROS);
        break;
      case TypeKind::kTime:
        physical = parquet::Type::INT64;
        logical = LogicalType::Time(false, LogicalType::TimeUnit::MICROS);
        break;
      case TypeKind::kString:
        physical = parquet::Type::BYTE_ARRAY;
        logical = LogicalType::String();
        break;
      case TypeKind::kBinary: physical = parquet::Type::BYTE_ARRAY; break;
      case TypeKind::kDecimal:
        logical = LogicalType::Decimal(type.precision(), type.scale());
        if (type.precision() > 18) {
          physical = parquet::Type::FIXED_LEN_BYTE_ARRAY;
          length = DecimalBytes(type.precision());
        } else if (type.precision() > 9) {
          physical = parquet::Type::INT64;
        }
        break;
      default:
        return Error("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE").With("format", "Parquet")
            .With("columnName", QuoteIdentifier(path)).With("columnType", "\"" + type.Sql() + "\"");
    }
    return PrimitiveNode::Make(name, repetition, logical, physical, length, FieldId(path));
  }

  Result<NodePtr> Node(const std::string& name, const std::string& path, const DataType& type, bool nullable,
                       int depth) const {
    if (depth > kMaxDepth) return Unsupported("Parquet columns nested more than 200 levels deep");
    const Repetition::type repetition = nullable ? Repetition::OPTIONAL : Repetition::REQUIRED;
    switch (type.kind()) {
      case TypeKind::kStruct: {
        parquet::schema::NodeVector children;
        for (const StructField& field : type.fields()) {
          TW_ASSIGN_OR_RETURN(NodePtr child,
                              Node(field.name, path + "." + field.name, field.type, field.nullable, depth + 1));
          children.push_back(std::move(child));
        }
        if (children.empty()) {
          return Error("UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE").With("format", "Parquet")
              .With("columnName", QuoteIdentifier(path)).With("columnType", "\"" + type.Sql() + "\"");
        }
        return GroupNode::Make(name, repetition, children, nullptr, FieldId(path));
      }
      case TypeKind::kArray: {
        TW_ASSIGN_OR_RETURN(NodePtr element,
                            Node("element", path + ".element", type.element(), type.contains_null(), depth + 1));
        const NodePtr list = GroupNode::Make("list", Repetition::REPEATED, {element});
        return GroupNode::Make(name, repetition, {list}, LogicalType::List(), FieldId(path));
      }
      case TypeKind::kMap: {
        TW_ASSIGN_OR_RETURN(NodePtr key, Node("key", path + ".key", type.key(), false, depth + 1));
        TW_ASSIGN_OR_RETURN(NodePtr value, Node("value", path + ".value", type.value(), type.contains_null(), depth + 1));
        const NodePtr entries = GroupNode::Make("key_value", Repetition::REPEATED, {key, value});
        return GroupNode::Make(name, repetition, {entries}, LogicalType::Map(), FieldId(path));
      }
      case TypeKind::kVariant: {
        const NodePtr value = PrimitiveNode::Make("value", Repetition::REQUIRED, LogicalType::None(),
                                                  parquet::Type::BYTE_ARRAY);
        const NodePtr metadata = PrimitiveNode::Make("metadata", Repetition::REQUIRED, LogicalType::None(),
                                                     parquet::Type::BYTE_ARRAY);
        return GroupNode::Make(name, repetition, {value, metadata}, LogicalType::Variant(), FieldId(path));
      }
      default: return Primitive(name, path, type, repetition);
    }
  }
};

Result<DataType> FieldType(const parquet::SchemaDescriptor& descriptor, const parquet::arrow::SchemaField& field,
                           int depth);

Status NotSupported(const parquet::arrow::SchemaField& field) {
  return Error("PARQUET_TYPE_NOT_SUPPORTED").With("parquetType", field.field->ToString());
}

Result<DataType> LeafType(const parquet::SchemaDescriptor& descriptor, const parquet::arrow::SchemaField& field) {
  const parquet::ColumnDescriptor* column = descriptor.Column(field.column_index);
  if (column->physical_type() == parquet::Type::INT96) return DataType::Timestamp();
  auto type = FromArrowType(*field.field->type());
  if (!type.ok()) return NotSupported(field);
  return type;
}

Result<DataType> StructType(const parquet::SchemaDescriptor& descriptor, const parquet::arrow::SchemaField& field,
                            int depth) {
  std::vector<StructField> fields;
  for (const auto& child : field.children) {
    TW_ASSIGN_OR_RETURN(DataType type, FieldType(descriptor, child, depth + 1));
    fields.push_back({.name = child.field->name(), .type = std::move(type), .nullable = child.field->nullable()});
  }
  return DataType::Struct(std::move(fields));
}

Result<DataType> FieldType(const parquet::SchemaDescriptor& descriptor, const parquet::arrow::SchemaField& field,
                           int depth) {
  if (depth > kMaxDepth) return NotSupported(field);
  if (field.is_leaf()) return LeafType(descriptor, field);
  switch (field.field->type()->id()) {
    case arrow::Type::STRUCT: return StructType(descriptor, field, depth);
    case arrow::Type::LIST: {
      if (field.children.size() != 1) return NotSupported(field);
      TW_ASSIGN_OR_RETURN(DataType element, FieldType(descriptor, field.children[0], depth + 1));
      return DataType::Array(std::move(element), field.children[0].field->nullable());
    }
    case arrow::Type::MAP: {
      if (field.children.size() != 1 || field.children[0].children.size() != 2) return NotSupported(field);
      const auto& entries = field.children[0].children;
      TW_ASSIGN_OR_RETURN(DataType key, FieldType(descriptor, entries[0], depth + 1));
      TW_ASSIGN_OR_RETURN(DataType value, FieldType(descriptor, entries[1], depth + 1));
      return DataType::Map(std::move(key), std::move(value), entries[1].field->nullable());
    }
    default: return NotSupported(field);
  }
}

// Whether the group's own annotation says VARIANT, and whether its two children are plain.
bool IsVariantNode(const parquet::schema::Node& node) {
  return node.is_group() && node.logical_type() != nullptr && node.logical_type()->is_variant();
}

}  // namespace

int DecimalBytes(int precision) {
  int bytes = 1;
  long double limit = 128;  // 2^7
  long double wanted = 1;
  for (int i = 0; i < precision; ++i) wanted *= 10;
  while (limit < wanted) {
    limit *= 256;
    ++bytes;
  }
  return bytes;
}

Result<std::shared_ptr<GroupNode>> ToParquetSchema(const Schema& schema, const ParquetWriteOptions& options) {
  const Maker maker{options};
  parquet::schema::NodeVector children;
  for (const StructField& field : schema) {
    TW_ASSIGN_OR_RETURN(NodePtr child, maker.Node(field.name, field.name, field.type, field.nullable, 1));
    children.push_back(std::move(child));
  }
  return std::static_pointer_cast<GroupNode>(GroupNode::Make("spark_schema", Repetition::REQUIRED, children));
}

Result<StructField> FromParquetField(const parquet::SchemaDescriptor& descriptor,
                                     const parquet::arrow::SchemaField& field) {
  const auto* root = descriptor.group_node();
  const int index = root->FieldIndex(field.field->name());
  if (index >= 0 && IsVariantNode(*root->field(index))) {
    if (field.children.size() != 2) return Unsupported("shredded variants in Parquet files");
    return StructField{.name = field.field->name(), .type = DataType::Variant(), .nullable = field.field->nullable()};
  }
  TW_ASSIGN_OR_RETURN(DataType type, FieldType(descriptor, field, 1));
  return StructField{.name = field.field->name(), .type = std::move(type), .nullable = field.field->nullable()};
}

}  // namespace thalweg::data
