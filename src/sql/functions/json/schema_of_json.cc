// schema_of_json: the type of an example, as DDL. Source: Spark's JsonInferSchema.

#include <algorithm>
#include <map>

#include "data/formats/json/json_document.h"
#include "data/text/numbers.h"
#include "sql/expr/binding.h"
#include "sql/functions/json/register.h"

namespace thalweg::sql {
namespace {

using data::JsonNode;

/// One type for two values of an array.
DataType Merge(const DataType& a, const DataType& b) {
  if (a == b) return a;
  if (a.Is(TypeKind::kNull)) return b;
  if (b.Is(TypeKind::kNull)) return a;
  if (a.Is(TypeKind::kStruct) && b.Is(TypeKind::kStruct)) {
    std::map<std::string, DataType> fields;
    for (const auto& field : a.fields()) fields[field.name] = field.type;
    for (const auto& field : b.fields()) {
      const auto it = fields.find(field.name);
      fields[field.name] = it == fields.end() ? field.type : Merge(it->second, field.type);
    }
    std::vector<StructField> merged;
    for (const auto& [name, type] : fields) merged.push_back({name, type, true, "{}"});
    return DataType::Struct(std::move(merged));
  }
  if (a.Is(TypeKind::kArray) && b.Is(TypeKind::kArray)) return DataType::Array(Merge(a.element(), b.element()));
  if (a.IsNumeric() && b.IsNumeric()) {
    if (a.Is(TypeKind::kDouble) || b.Is(TypeKind::kDouble)) return DataType::Double();
    if (const auto type = WiderType(a, b, false)) return *type;
  }
  return DataType::String();
}

DataType TypeOf(const JsonNode& node, const data::JsonOptions& options) {
  switch (node.kind) {
    case JsonNode::Kind::kNull: return DataType::Null();
    case JsonNode::Kind::kTrue:
    case JsonNode::Kind::kFalse: return options.primitives_as_string ? DataType::String() : DataType::Boolean();
    case JsonNode::Kind::kString: return node.text.empty() ? DataType::Null() : DataType::String();
    case JsonNode::Kind::kInteger: {
      if (options.primitives_as_string) return DataType::String();
      int64_t value = 0;
      if (data::ParseJavaLong(node.text, &value)) return DataType::Long();
      const auto digits = static_cast<int>(std::count_if(node.text.begin(), node.text.end(), ::isdigit));
      return digits <= 38 ? DataType::Decimal(digits, 0) : DataType::Double();
    }
    case JsonNode::Kind::kFraction:
    case JsonNode::Kind::kNonNumeric: {
      if (options.primitives_as_string) return DataType::String();
      data::Int128 unscaled = 0;
      int scale = 0;
      if (options.prefers_decimal && data::ParseDecimalExact(node.text, &unscaled, &scale) && scale >= 0 && scale <= 38) {
        std::string digits;
        data::AppendInt128(unscaled < 0 ? -unscaled : unscaled, &digits);
        return DataType::Decimal(std::max(static_cast<int>(digits.size()), scale), scale);
      }
      return DataType::Double();
    }
    case JsonNode::Kind::kArray: {
      DataType element;
      for (const JsonNode* item : node.items) element = Merge(element, TypeOf(*item, options));
      return DataType::Array(element);
    }
    case JsonNode::Kind::kObject: {
      std::map<std::string, DataType> fields;
      for (size_t i = 0; i < node.items.size(); ++i) fields[std::string(node.names[i])] = TypeOf(*node.items[i], options);
      std::vector<StructField> sorted;
      for (const auto& [name, type] : fields) sorted.push_back({name, type, true, "{}"});
      return DataType::Struct(std::move(sorted));
    }
  }
  return DataType::String();
}

/// Unknown types become strings, empty structs disappear; nullopt when nothing is left.
std::optional<DataType> Canonical(const DataType& type) {
  if (type.Is(TypeKind::kNull)) return DataType::String();
  if (type.Is(TypeKind::kArray)) {
    auto element = Canonical(type.element());
    if (!element) return {};
    return DataType::Array(*element);
  }
  if (type.Is(TypeKind::kStruct)) {
    std::vector<StructField> fields;
    for (const auto& field : type.fields()) {
      if (auto canonical = Canonical(field.type)) fields.push_back({field.name, *canonical, true, "{}"});
    }
    if (fields.empty()) return {};
    return DataType::Struct(std::move(fields));
  }
  return type;
}

struct OptionsData final : BoundData {
  data::OptionList options;
};

Result<ColumnPtr> SchemaOf(const BoundScalar& call, const KernelInput& input, EvalContext& context) {
  const auto& given = static_cast<const OptionsData&>(*call.data);
  TW_ASSIGN_OR_RETURN(const data::JsonOptions options, data::JsonOptions::Make(given.options, context.config->time_zone));
  data::JsonDocument document(options);
  const KernelInput text_only{input.arguments.first(1), input.rows, input.validity};
  return MapTextChecked<std::string_view>(call, text_only, [&](std::string_view text, std::string* out, bool*) -> Status {
    bool malformed = false;
    const JsonNode* node = document.Parse(text, &malformed);
    if (node == nullptr) {
      return Error("MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION")
          .With("badRecord", text)
          .With("failFastMode", "FAILFAST");
    }
    const auto type = Canonical(TypeOf(*node, options));
    out->append(type ? type->Sql() : "STRUCT<>");
    return {};
  });
}

Result<BoundCall> BindSchemaOf(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 2));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 0, DataType::String(), context));
  TW_ASSIGN_OR_RETURN(const Value text, FoldArgument(function.name, arguments, 0, "json", context));
  if (text.is_null()) {
    return Error("DATATYPE_MISMATCH.UNEXPECTED_NULL")
        .With("sqlExpr", QuoteSql(CallSql(function.name, arguments)))
        .With("exprName", "json");
  }
  auto data = std::make_shared<OptionsData>();
  if (arguments.size() == 2) {
    const DataType& type = arguments[1]->type();
    if (!type.Is(TypeKind::kMap) || !type.key().Is(TypeKind::kString) || !type.value().Is(TypeKind::kString)) {
      return Error("INVALID_OPTIONS.NON_STRING_TYPE").With("mapType", QuoteSql(type.Sql()));
    }
    TW_ASSIGN_OR_RETURN(const Value map, FoldArgument(function.name, arguments, 1, "options", context));
    if (!map.is_null()) {
      const auto& entries = map.get<ValueList>();
      for (size_t i = 0; i + 1 < entries.size(); i += 2) {
        if (!entries[i + 1].is_null()) data->options.emplace_back(entries[i].get<std::string>(), entries[i + 1].get<std::string>());
      }
    }
  }
  return MakeBound(function, std::move(arguments), DataType::String(), false, &SchemaOf, context, std::move(data));
}

std::string OneArgumentText(const Call& call, bool plan_text) {
  return "schema_of_json(" + TextOf(call.child(0), plan_text) + ")";
}

}  // namespace

void RegisterSchemaOfJson(FunctionLists& lists) {
  static const ScalarFunction kSchema{.name = "schema_of_json", .since = "2.4.0", .doc = "The schema of an example in JSON, as DDL.",
                                      .example = {"SELECT schema_of_json('[{\"col\":0}]')", "ARRAY<STRUCT<col: BIGINT>>"},
                                      .bind = &BindSchemaOf, .sql = &OneArgumentText};
  lists.Add(kSchema);
}

}  // namespace thalweg::sql
