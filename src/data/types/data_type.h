#pragma once

// Contract: Spark SQL's types as immutable values. A DataType is a shared pointer to an immutable node; copying is cheap.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace thalweg::data {

enum class TypeKind : uint8_t {
  kNull,  ///< VOID
  kBoolean,
  kByte,
  kShort,
  kInteger,
  kLong,
  kFloat,
  kDouble,
  kDecimal,
  kString,  ///< with collation; also CHAR(n) and VARCHAR(n), see StringConstraint
  kBinary,
  kDate,               ///< int32 days since 1970-01-01
  kTimestamp,          ///< int64 microseconds since 1970-01-01T00:00Z (TIMESTAMP_LTZ)
  kTimestampNtz,       ///< int64 microseconds of a local date-time
  kTime,               ///< int64 nanoseconds since midnight
  kYearMonthInterval,  ///< int32 months
  kDayTimeInterval,    ///< int64 microseconds
  kCalendarInterval,   ///< CalendarInterval
  kArray,
  kMap,
  kStruct,
  kVariant,
};

/// How values of a type lie in memory; kernels are instantiated by this, not by TypeKind.
enum class PhysicalType : uint8_t {
  kNull,      ///< no values buffer
  kBool,      ///< uint8_t, 0 or 1
  kInt8,
  kInt16,
  kInt32,
  kInt64,
  kFloat,
  kDouble,
  kInt128,    ///< decimals of every precision
  kText,      ///< TextView: strings and binaries
  kInterval,  ///< CalendarInterval
  kList,      ///< arrays: int32 offsets and one child
  kMap,       ///< int32 offsets and two children, keys and values
  kStruct,    ///< children only; variants are a struct of two binaries (value, metadata)
};

enum class StringConstraint : uint8_t { kNone, kChar, kVarchar };
enum class YearMonthField : uint8_t { kYear = 0, kMonth = 1 };
enum class DayTimeField : uint8_t { kDay = 0, kHour = 1, kMinute = 2, kSecond = 3 };

class DataType;
struct StructField;

namespace internal {
struct TypeNode;
}

/// One Spark SQL type. Thread: immutable.
class DataType {
 public:
  DataType();  ///< VOID
  static DataType Null();
  static DataType Boolean();
  static DataType Byte();
  static DataType Short();
  static DataType Integer();
  static DataType Long();
  static DataType Float();
  static DataType Double();
  static DataType Decimal(int precision, int scale);  ///< precision <= 38, scale <= precision; checked by TW_DCHECK
  static DataType String();
  static DataType String(std::string collation);      ///< "UTF8_BINARY" is the default collation
  static DataType Char(int length);
  static DataType Varchar(int length);
  static DataType Binary();
  static DataType Date();
  static DataType Timestamp();
  static DataType TimestampNtz();
  static DataType Time(int precision = 6);
  static DataType YearMonthInterval(YearMonthField start = YearMonthField::kYear,
                                    YearMonthField end = YearMonthField::kMonth);
  static DataType DayTimeInterval(DayTimeField start = DayTimeField::kDay,
                                  DayTimeField end = DayTimeField::kSecond);
  static DataType CalendarInterval();
  static DataType Array(DataType element, bool contains_null = true);
  static DataType Map(DataType key, DataType value, bool value_contains_null = true);
  static DataType Struct(std::vector<StructField> fields);
  static DataType Variant();

  TypeKind kind() const;
  PhysicalType physical() const;
  /// Bytes of one value in the values buffer; 0 for kNull, kStruct; 4 (an offset) for kList, kMap.
  int byte_width() const;

  int precision() const;  ///< decimal, time
  int scale() const;      ///< decimal
  int length() const;     ///< char, varchar
  StringConstraint string_constraint() const;
  const std::string& collation() const;  ///< strings; "UTF8_BINARY" unless said
  YearMonthField year_month_start() const;
  YearMonthField year_month_end() const;
  DayTimeField day_time_start() const;
  DayTimeField day_time_end() const;
  const DataType& element() const;       ///< array
  bool contains_null() const;            ///< array elements, map values
  const DataType& key() const;           ///< map
  const DataType& value() const;         ///< map
  const std::vector<StructField>& fields() const;  ///< struct

  bool Is(TypeKind k) const { return kind() == k; }
  bool IsNumeric() const;     ///< byte to double and decimal
  bool IsIntegral() const;    ///< byte, short, integer, long
  bool IsFractional() const;  ///< float, double, decimal
  bool IsNested() const;      ///< array, map, struct, variant
  bool IsAnsiInterval() const;
  /// Whether ORDER BY and comparison are defined (maps and variants are not, deep).
  bool IsOrderable() const;

  /// Structural equality, nullability and field metadata included.
  bool operator==(const DataType& other) const;
  /// Equality that ignores nullability of elements, values and fields, and field metadata.
  bool SameType(const DataType& other) const;
  /// This type with every nested nullability set to true (Spark's asNullable).
  DataType AsNullable() const;

  /// "array<int>": lower case, as in printSchema and DDL of nested types (Spark's simpleString / catalogString).
  std::string SimpleString() const;
  /// As SimpleString, structs cut after `max_fields` fields: "struct<a:int,... 3 more fields>" (spark.sql.debug.maxToStringFields).
  std::string SimpleString(int max_fields) const;
  /// "ARRAY<INT>": as in error messages and DDL (Spark's sql).
  std::string Sql() const;
  /// Spark's JSON form: "\"integer\"" or an object; bytes as Spark's DataType.json writes them.
  std::string Json() const;
  /// Pretty name used by printSchema: "integer", "string", "decimal(10,2)", "array", "struct" (typeName).
  std::string TypeName() const;

  explicit DataType(std::shared_ptr<const internal::TypeNode> node) : node_(std::move(node)) {}

 private:
  std::shared_ptr<const internal::TypeNode> node_;
};

/// A named column of a struct or of a table.
struct StructField {
  std::string name;
  DataType type;
  bool nullable = true;
  std::string metadata_json = "{}";  ///< one JSON object, compact, keys in the order they came

  bool operator==(const StructField& other) const = default;
  /// The "comment" entry of the metadata, if any.
  std::optional<std::string> Comment() const;
  /// A top-level string entry of the metadata, if any.
  std::optional<std::string> MetadataString(std::string_view key) const;
};

/// A table schema is a struct type; this alias says which one is meant.
using Schema = std::vector<StructField>;

/// Parses `DataType::Json`. Bounded in depth (1,000 levels). Errors: INVALID_JSON_DATA_TYPE.
Result<DataType> ParseTypeJson(std::string_view json);
/// Parses a DDL type ("array<int>", "decimal(10,2)", "a INT NOT NULL COMMENT 'x', b STRING" is not one).
/// Errors: PARSE_SYNTAX_ERROR, UNSUPPORTED_DATATYPE.
Result<DataType> ParseTypeDdl(std::string_view ddl);
/// Parses a table schema in DDL ("a INT NOT NULL, b STRING COMMENT 'x'"; also "a: int").
Result<Schema> ParseSchemaDdl(std::string_view ddl);
/// As Spark's DataFrameReader.schema: a table schema, else one type (must be a struct), else JSON.
Result<Schema> ParseSchema(std::string_view ddl_or_json);
/// Spark's StructType.toDDL.
std::string SchemaDdl(const Schema& schema);
/// Spark's printSchema text, "root\n |-- a: integer (nullable = true)\n".
std::string SchemaTree(const Schema& schema, int max_level = 0);
/// `a`.`b` quoting of one name part: backquotes doubled.
std::string QuoteIdentifier(std::string_view name);
/// As QuoteIdentifier, but only when the name needs it.
std::string QuoteIfNeeded(std::string_view name);

}  // namespace thalweg::data
