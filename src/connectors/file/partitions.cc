#include "connectors/file/partitions.h"

#include <algorithm>
#include <charconv>
#include <set>

#include "base/string_case.h"
#include "data/io/path.h"
#include "data/text/datetime.h"
#include "data/text/decimal128.h"
#include "data/text/numbers.h"

namespace thalweg::connectors {
namespace {

using data::DataType;
using data::TypeKind;

/// "column=value" of one directory name; nothing when it is none.
std::optional<std::pair<std::string, std::string>> ParseDirectory(std::string_view name) {
  const size_t equals = name.find('=');
  if (equals == std::string_view::npos || equals == 0 || equals + 1 == name.size()) return std::nullopt;
  return std::pair(data::UnescapePartitionValue(name.substr(0, equals)),
                   data::UnescapePartitionValue(name.substr(equals + 1)));
}

/// java.lang.Integer.parseInt or Long.parseLong.
template <typename T>
bool ParseWhole(std::string_view text, T* out) {
  int64_t value = 0;
  if (!data::ParseJavaLong(text, &value)) return false;
  *out = static_cast<T>(value);
  return *out == value;
}

/// The type of a whole number beyond 64 bits, if it is one of at most 38 digits.
std::optional<DataType> WideNumber(const std::string& text) {
  data::Int128 unscaled = 0;
  int scale = 0;
  if (!data::ParseDecimalExact(text, &unscaled, &scale) || scale > 0) return std::nullopt;
  const int digits = data::DecimalDigits(unscaled) - scale;
  if (digits > data::kMaxDecimalPrecision) return std::nullopt;
  return DataType::Decimal(digits, 0);
}

DataType InferType(const std::string& text, const PartitionOptions& options) {
  if (text == data::kDefaultPartitionName) return DataType::Null();
  if (!options.infer_types) return DataType::String();
  int32_t small = 0;
  int64_t large = 0;
  double fraction = 0;
  if (ParseWhole(text, &small)) return DataType::Integer();
  if (ParseWhole(text, &large)) return DataType::Long();
  if (const std::optional<DataType> wide = WideNumber(text)) return *wide;
  if (data::ParseJavaDouble(text, &fraction)) return DataType::Double();
  const bool date_form = text.size() >= 10 && text[4] == '-' && text[7] == '-';
  // Spark's pattern here is yyyy-MM-dd HH:mm:ss[.S]: no second digit of a fraction, no zone.
  const bool time_form = text.size() == 19 || (text.size() == 21 && text[19] == '.');
  if (date_form && time_form && text[10] == ' ' &&
      data::ParseTimestamp(text, options.zone, 0, &large))
    return options.timestamp_ntz ? DataType::TimestampNtz() : DataType::Timestamp();
  if (date_form && text.size() == 10 && data::ParseDate(text, &small)) return DataType::Date();
  return DataType::String();
}

/// The type that takes values of both, as Spark widens partition columns.
DataType Widen(const DataType& a, const DataType& b) {
  if (a == b || b.Is(TypeKind::kNull)) return a;
  if (a.Is(TypeKind::kNull)) return b;
  const auto both = [&](TypeKind x, TypeKind y) { return (a.Is(x) && b.Is(y)) || (a.Is(y) && b.Is(x)); };
  if (both(TypeKind::kInteger, TypeKind::kLong)) return DataType::Long();
  if (both(TypeKind::kInteger, TypeKind::kDouble)) return DataType::Double();
  if (a.Is(TypeKind::kDate) && (b.Is(TypeKind::kTimestamp) || b.Is(TypeKind::kTimestampNtz))) return b;
  if (b.Is(TypeKind::kDate) && (a.Is(TypeKind::kTimestamp) || a.Is(TypeKind::kTimestampNtz))) return a;
  const auto digits = [](const DataType& type) {
    return type.Is(TypeKind::kDecimal) ? type.precision() : type.Is(TypeKind::kInteger) ? 10
                                                        : type.Is(TypeKind::kLong)      ? 20
                                                                                        : 0;
  };
  if (digits(a) > 0 && digits(b) > 0) return DataType::Decimal(std::max(digits(a), digits(b)), 0);
  return DataType::String();
}

Status Conflict(const std::set<std::vector<std::string>>& lists) {
  std::string text;
  for (const std::vector<std::string>& names : lists) {
    std::string line;
    for (const std::string& name : names) line += (line.empty() ? "" : ", ") + name;
    text += (text.empty() ? "" : "\n") + ("Partition column name list: " + line);
  }
  return Error("CONFLICTING_PARTITION_COLUMN_NAMES").With("distinctPartColLists", text).With("suspiciousPaths", "");
}

}  // namespace

bool SameName(std::string_view a, std::string_view b, bool case_sensitive) {
  return case_sensitive ? a == b : EqualsIgnoreCase(a, b);
}

PathPartitions PartitionsOfPath(std::string_view file_path, const std::vector<std::string>& roots) {
  PathPartitions found;
  std::string directory = data::ParentPath(file_path);
  while (directory != "/" && directory != "." &&
         std::find(roots.begin(), roots.end(), directory) == roots.end()) {
    auto partition = ParseDirectory(data::PathName(directory));
    if (!partition && !found.empty()) break;
    if (partition) found.push_back(std::move(*partition));
    directory = data::ParentPath(directory);
  }
  std::reverse(found.begin(), found.end());
  return found;
}

Result<data::Schema> InferPartitionSchema(const FileListing& listing, const data::Schema& user_schema,
                                          const PartitionOptions& options) {
  std::set<std::vector<std::string>> name_lists;
  std::set<std::string> seen_directories;
  data::Schema schema;
  for (const FileEntry& file : listing.files) {
    if (!seen_directories.insert(data::ParentPath(file.path)).second) continue;
    const PathPartitions partitions = PartitionsOfPath(file.path, listing.roots);
    if (partitions.empty()) continue;
    std::vector<std::string> names;
    for (const auto& [name, value] : partitions) names.push_back(name);
    if (schema.empty()) {
      for (const std::string& name : names) schema.push_back({name, DataType::Null()});
    }
    name_lists.insert(names);
    if (name_lists.size() > 1) return Conflict(name_lists);
    for (size_t i = 0; i < partitions.size(); ++i)
      schema[i].type = Widen(schema[i].type, InferType(partitions[i].second, options));
  }
  for (data::StructField& column : schema) {
    if (column.type.Is(TypeKind::kNull)) column.type = DataType::String();
    for (const data::StructField& field : user_schema) {
      if (!SameName(field.name, column.name, options.case_sensitive)) continue;
      column.name = field.name;
      column.type = field.type;
    }
  }
  return schema;
}

Result<data::Value> ParsePartitionValue(const std::string& text, const data::StructField& column,
                                        const data::TimeZone& zone) {
  if (text == data::kDefaultPartitionName) return data::Value();
  int8_t byte = 0;
  int16_t small = 0;
  int32_t integer = 0;
  int64_t large = 0;
  float single = 0;
  double fraction = 0;
  bool flag = false;
  data::Int128 unscaled = 0;
  switch (column.type.kind()) {
    case TypeKind::kString:
    case TypeKind::kBinary:
      return data::Value(text);
    case TypeKind::kBoolean:
      if (data::ParseBoolean(text, &flag)) return data::Value(flag);
      break;
    case TypeKind::kByte:
      if (data::ParseInt8(text, false, &byte)) return data::Value(byte);
      break;
    case TypeKind::kShort:
      if (data::ParseInt16(text, false, &small)) return data::Value(small);
      break;
    case TypeKind::kInteger:
      if (data::ParseInt32(text, false, &integer)) return data::Value(integer);
      break;
    case TypeKind::kLong:
      if (data::ParseInt64(text, false, &large)) return data::Value(large);
      break;
    case TypeKind::kFloat:
      if (data::ParseFloat(text, &single)) return data::Value(single);
      break;
    case TypeKind::kDouble:
      if (data::ParseDouble(text, &fraction)) return data::Value(fraction);
      break;
    case TypeKind::kDecimal:
      if (data::ParseDecimal(text, column.type.precision(), column.type.scale(), &unscaled) ==
          data::DecimalOutcome::kOk)
        return data::Value(unscaled);
      break;
    case TypeKind::kDate:
      if (data::ParseDate(text, &integer)) return data::Value(integer);
      break;
    case TypeKind::kTimestamp:
      if (data::ParseTimestamp(text, zone, 0, &large)) return data::Value(large);
      break;
    case TypeKind::kTimestampNtz:
      if (data::ParseTimestampNtz(text, true, &large)) return data::Value(large);
      break;
    default:
      break;
  }
  return Error("INVALID_PARTITION_VALUE")
      .With("value", "'" + text + "'")
      .With("dataType", "\"" + column.type.Sql() + "\"")
      .With("columnName", data::QuoteIdentifier(column.name));
}

}  // namespace thalweg::connectors
