#include "data/formats/json/json_inference.h"

#include <algorithm>
#include <optional>

#include "base/clock.h"
#include "base/random.h"
#include "base/string_case.h"
#include "data/formats/json/json_texts.h"
#include "data/text/datetime.h"
#include "data/text/decimal128.h"
#include "data/text/numbers.h"

namespace thalweg::data {
namespace {

/// The decimal type that holds the digits of a number as written; nothing beyond 38 of them.
std::optional<DataType> ExactDecimal(std::string_view text) {
  Int128 unscaled = 0;
  int scale = 0;
  if (!ParseDecimalExact(text, &unscaled, &scale)) return std::nullopt;
  int precision = DecimalDigits(unscaled);
  if (scale < 0) {
    precision -= scale;
    scale = 0;
  }
  precision = std::max(precision, scale);
  if (precision > kMaxDecimalPrecision) return std::nullopt;
  return DataType::Decimal(precision, scale);
}

/// Spark's findTightestCommonType: a type that holds both without loss; structs whose names differ in case only keep those of
/// the first. Nothing where only STRING or a merge by exact names is left.
std::optional<DataType> Tightest(const DataType& a, const DataType& b, bool case_sensitive) {
  if (a == b || b.Is(TypeKind::kNull)) return a;
  if (a.Is(TypeKind::kNull)) return b;
  if (a.Is(TypeKind::kArray) && b.Is(TypeKind::kArray)) {
    const std::optional<DataType> element = Tightest(a.element(), b.element(), case_sensitive);
    return element ? std::optional(DataType::Array(*element)) : std::nullopt;
  }
  if (a.Is(TypeKind::kStruct) && b.Is(TypeKind::kStruct)) {
    if (a.fields().size() != b.fields().size()) return std::nullopt;
    std::vector<StructField> fields;
    for (size_t i = 0; i < a.fields().size(); ++i) {
      const StructField& x = a.fields()[i];
      const StructField& y = b.fields()[i];
      if (case_sensitive ? x.name != y.name : !EqualsIgnoreCase(x.name, y.name)) return std::nullopt;
      const std::optional<DataType> type = Tightest(x.type, y.type, case_sensitive);
      if (!type) return std::nullopt;
      fields.push_back({x.name, *type});
    }
    return DataType::Struct(std::move(fields));
  }
  const auto both = [&](TypeKind x, TypeKind y) { return (a.Is(x) && b.Is(y)) || (a.Is(y) && b.Is(x)); };
  if (both(TypeKind::kLong, TypeKind::kDouble)) return DataType::Double();
  if (both(TypeKind::kTimestamp, TypeKind::kTimestampNtz)) return DataType::Timestamp();
  if (both(TypeKind::kLong, TypeKind::kDecimal)) {
    const DataType& decimal = a.Is(TypeKind::kDecimal) ? a : b;
    if (decimal.precision() - decimal.scale() >= 20) return decimal;
  }
  return std::nullopt;
}

/// Fields of both are in the order of their names, and so are those of the result. A name may come twice in one.
DataType MergeStructs(const DataType& a, const DataType& b, bool case_sensitive) {
  if (const std::optional<DataType> common = Tightest(a, b, case_sensitive)) return *common;
  const std::vector<StructField>& left = a.fields();
  const std::vector<StructField>& right = b.fields();
  std::vector<StructField> fields;
  size_t i = 0, j = 0;
  while (i < left.size() || j < right.size()) {
    if (j == right.size() || (i < left.size() && left[i].name < right[j].name)) {
      fields.push_back(left[i++]);
    } else if (i == left.size() || right[j].name < left[i].name) {
      fields.push_back(right[j++]);
    } else {
      fields.push_back({left[i].name, MergeInferredTypes(left[i].type, right[j].type, case_sensitive)});
      ++i;
      ++j;
    }
  }
  return DataType::Struct(std::move(fields));
}

/// Types of the values of one text.
class Typing {
 public:
  Typing(const JsonOptions& options, bool timestamp_ntz) : options_(options), timestamp_ntz_(timestamp_ntz) {}

  DataType Of(const JsonNode& node) const {
    switch (node.kind) {
      case JsonNode::Kind::kNull:
        return DataType::Null();
      case JsonNode::Kind::kString:
        return node.text.empty() ? DataType::Null() : OfText(node.text);
      case JsonNode::Kind::kTrue:
      case JsonNode::Kind::kFalse:
        return options_.primitives_as_string ? DataType::String() : DataType::Boolean();
      case JsonNode::Kind::kInteger:
        return OfInteger(node.text);
      case JsonNode::Kind::kFraction:
      case JsonNode::Kind::kNonNumeric:
        if (options_.primitives_as_string) return DataType::String();
        if (options_.prefers_decimal) return ExactDecimal(node.text).value_or(DataType::Double());
        return DataType::Double();
      case JsonNode::Kind::kArray: {
        DataType element;
        for (const JsonNode* item : node.items) element = MergeInferredTypes(element, Of(*item), options_.case_sensitive);
        return DataType::Array(element);
      }
      case JsonNode::Kind::kObject: {
        std::vector<StructField> fields;  // a key that comes twice is there twice: whoever reads refuses it
        for (size_t i = 0; i < node.items.size(); ++i) fields.push_back({std::string(node.names[i]), Of(*node.items[i])});
        std::stable_sort(fields.begin(), fields.end(),
                         [](const StructField& x, const StructField& y) { return x.name < y.name; });
        return DataType::Struct(std::move(fields));
      }
    }
    return DataType::String();
  }

 private:
  DataType OfInteger(std::string_view text) const {
    if (options_.primitives_as_string) return DataType::String();
    int64_t value = 0;
    if (ParseJavaLong(text, &value)) return DataType::Long();
    return ExactDecimal(text).value_or(DataType::Double());
  }

  DataType OfText(std::string_view text) const {
    if (options_.prefers_decimal) {
      if (const std::optional<DataType> type = ExactDecimal(text)) return *type;
    }
    if (!options_.infer_timestamp) return DataType::String();
    int64_t micros = 0;
    if (timestamp_ntz_ && (options_.timestamp_ntz_format
                               ? options_.timestamp_ntz_format->ParseTimestampNtz(text, false, &micros)
                               : ParseTimestampNtz(text, false, &micros)))
      return DataType::TimestampNtz();
    const bool timestamp =
        options_.timestamp_format
            ? options_.timestamp_format->ParseTimestamp(text, options_.time_zone, &micros)
            : ParseTimestamp(text, options_.time_zone, SystemClock::Get().NowMicros(), &micros);
    return timestamp ? DataType::Timestamp() : DataType::String();
  }

  const JsonOptions& options_;
  bool timestamp_ntz_;
};

/// Without fields that have no name, structs without fields; nulls are strings, or left out on request.
std::optional<DataType> Canonical(const DataType& type, bool drop_nulls) {
  switch (type.kind()) {
    case TypeKind::kArray: {
      std::optional<DataType> element = Canonical(type.element(), drop_nulls);
      if (!element) return std::nullopt;
      return DataType::Array(std::move(*element));
    }
    case TypeKind::kStruct: {
      std::vector<StructField> fields;
      for (const StructField& field : type.fields()) {
        if (field.name.empty()) continue;
        if (std::optional<DataType> kept = Canonical(field.type, drop_nulls))
          fields.push_back({field.name, std::move(*kept)});
      }
      if (fields.empty()) return std::nullopt;
      return DataType::Struct(std::move(fields));
    }
    case TypeKind::kNull:
      if (drop_nulls) return std::nullopt;
      return DataType::String();
    default:
      return type;
  }
}

}  // namespace

DataType MergeInferredTypes(const DataType& a, const DataType& b, bool case_sensitive) {
  if (a == b || b.Is(TypeKind::kNull)) return a;
  if (a.Is(TypeKind::kNull)) return b;
  const auto both = [&](TypeKind x, TypeKind y) { return (a.Is(x) && b.Is(y)) || (a.Is(y) && b.Is(x)); };
  if (both(TypeKind::kLong, TypeKind::kDouble) || both(TypeKind::kDecimal, TypeKind::kDouble) ||
      both(TypeKind::kInteger, TypeKind::kDouble))
    return DataType::Double();
  if (both(TypeKind::kInteger, TypeKind::kLong)) return DataType::Long();
  if (both(TypeKind::kLong, TypeKind::kDecimal)) {
    const DataType& decimal = a.Is(TypeKind::kDecimal) ? a : b;
    return MergeInferredTypes(DataType::Decimal(20, 0), decimal);
  }
  if (both(TypeKind::kInteger, TypeKind::kDecimal)) {
    const DataType& decimal = a.Is(TypeKind::kDecimal) ? a : b;
    return MergeInferredTypes(DataType::Decimal(10, 0), decimal);
  }
  if (a.Is(TypeKind::kDecimal) && b.Is(TypeKind::kDecimal)) {
    const int scale = std::max(a.scale(), b.scale());
    const int range = std::max(a.precision() - a.scale(), b.precision() - b.scale());
    return range + scale > kMaxDecimalPrecision ? DataType::Double() : DataType::Decimal(range + scale, scale);
  }
  if (both(TypeKind::kTimestamp, TypeKind::kTimestampNtz)) return DataType::Timestamp();
  if (a.Is(TypeKind::kStruct) && b.Is(TypeKind::kStruct)) return MergeStructs(a, b, case_sensitive);
  if (a.Is(TypeKind::kArray) && b.Is(TypeKind::kArray))
    return DataType::Array(MergeInferredTypes(a.element(), b.element(), case_sensitive));
  return DataType::String();
}

Status JsonInference::Add(std::string_view text) {
  bool malformed = false;
  const JsonNode* node = document_.Parse(text, &malformed);
  if (node != nullptr) return MergeRoot(Typing(options_, timestamp_ntz_).Of(*node));
  if (!malformed || options_.mode == ParseMode::kDropMalformed) return Status::OK();
  if (options_.mode == ParseMode::kFailFast) return Error("_LEGACY_ERROR_TEMP_2165").With("failFastMode", "FAILFAST");
  return MergeRoot(DataType::Struct({{options_.corrupt_record_column, DataType::String()}}));
}

Status JsonInference::MergeRoot(const DataType& type) {
  if (type.Is(TypeKind::kArray)) return MergeRoot(type.element());
  if (type.Is(TypeKind::kNull) || options_.mode == ParseMode::kDropMalformed) {
    if (type.Is(TypeKind::kStruct)) root_ = MergeInferredTypes(root_, type, options_.case_sensitive);
    return Status::OK();
  }
  if (type.Is(TypeKind::kStruct)) {
    root_ = MergeInferredTypes(root_, type, options_.case_sensitive);
    return Status::OK();
  }
  if (options_.mode == ParseMode::kFailFast)
    return Error("_LEGACY_ERROR_TEMP_2167").With("failFastMode", "FAILFAST").With("dataType", type.SimpleString());
  root_ = MergeInferredTypes(root_, DataType::Struct({{options_.corrupt_record_column, DataType::String()}}),
                             options_.case_sensitive);
  return Status::OK();
}

Schema JsonInference::Finish() const {
  const std::optional<DataType> canonical = Canonical(root_, options_.drop_field_if_all_null);
  return canonical ? canonical->fields() : Schema();
}

Result<Schema> InferJsonSchema(FileSystem& file_system, const std::vector<FileRange>& files,
                               const JsonOptions& options, bool timestamp_ntz) {
  JsonInference inference(options, timestamp_ntz);
  JsonTexts texts(options);
  Random random(1);
  for (const FileRange& file : files) {
    TW_RETURN_NOT_OK(texts.Open(file_system, file));
    std::string_view text;
    while (true) {
      TW_ASSIGN_OR_RETURN(const bool more, texts.Next(&text));
      if (!more) break;
      if (options.sampling_ratio < 1.0 && random.NextDouble() >= options.sampling_ratio) continue;
      TW_RETURN_NOT_OK(inference.Add(text));
    }
  }
  return inference.Finish();
}

}  // namespace thalweg::data
