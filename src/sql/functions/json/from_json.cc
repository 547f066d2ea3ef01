// from_json, to_json: texts to nested columns and back, by data/formats.

#include "data/formats/json/json_decoder.h"
#include "data/formats/json/json_writer.h"
#include "sql/expr/binding.h"
#include "sql/functions/json/register.h"

namespace thalweg::sql {
namespace {

/// Options of the call, checked when binding.
struct JsonData final : BoundData {
  data::OptionList options;
};

/// The literal map of options, argument `index`.
Result<data::OptionList> ReadOptions(const ScalarFunction& function, const ExprList& arguments, size_t index,
                                     const BindContext& context) {
  data::OptionList options;
  if (arguments.size() <= index) return options;
  const DataType& type = arguments[index]->type();
  if (!type.Is(TypeKind::kMap) || !type.key().Is(TypeKind::kString) || !type.value().Is(TypeKind::kString)) {
    return Error("INVALID_OPTIONS.NON_STRING_TYPE").With("mapType", QuoteSql(type.Sql()));
  }
  if (!arguments[index]->foldable()) return Error("INVALID_OPTIONS.NON_MAP_FUNCTION");
  TW_ASSIGN_OR_RETURN(const Value value, FoldArgument(function.name, arguments, index, "options", context));
  if (value.is_null()) return options;
  const auto& entries = value.get<ValueList>();
  for (size_t i = 0; i + 1 < entries.size(); i += 2) {
    if (!entries[i + 1].is_null()) options.emplace_back(entries[i].get<std::string>(), entries[i + 1].get<std::string>());
  }
  return options;
}

/// A column of decoded rows, one per row of `rows`, at the places they belong to.
ColumnPtr PlaceRows(const ColumnPtr& decoded, const RowSet& rows) {
  if (rows.rows == nullptr) return decoded;
  std::vector<int32_t> from(static_cast<size_t>(rows.length), -1);
  for (size_t i = 0; i < rows.rows->size(); ++i) from[static_cast<size_t>((*rows.rows)[i])] = static_cast<int32_t>(i);
  return data::Take(decoded, from);
}

Result<ColumnPtr> FromJson(const BoundScalar& call, const KernelInput& input, EvalContext& context) {
  const auto& json = static_cast<const JsonData&>(*call.data);
  TW_ASSIGN_OR_RETURN(data::JsonOptions options, data::JsonOptions::Make(json.options, context.config->time_zone));
  TW_ASSIGN_OR_RETURN(auto decoder, data::JsonDecoder::Make(call.type, std::move(options), {}));
  const Column& column = *input.arguments[0];
  const Reader<std::string_view> texts(column);
  const int64_t count = input.rows.count();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = input.rows.rows ? (*input.rows.rows)[static_cast<size_t>(i)] : i;
    if (column.IsNull(row)) {
      decoder->AppendNull();
    } else {
      TW_RETURN_NOT_OK(decoder->Append(texts[row]));
    }
  }
  return PlaceRows(data::WithType(decoder->Finish(), call.type), input.rows);
}

/// A schema as DDL or JSON, or one type.
Result<DataType> ReadSchema(const std::string& text) {
  if (!text.empty() && (text[0] == '{' || text[0] == '"')) return data::ParseTypeJson(text);
  auto type = data::ParseTypeDdl(text);
  if (type.ok()) return *type;
  auto schema = data::ParseSchemaDdl(text);
  if (schema.ok()) return DataType::Struct(*std::move(schema));
  auto json = data::ParseTypeJson(text);
  if (json.ok()) return *json;
  return schema.status();
}

Result<BoundCall> BindFromJson(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, 3));
  TW_RETURN_NOT_OK(CoerceArgument(function.name, &arguments, 0, DataType::String(), context));
  if (!arguments[1]->type().Is(TypeKind::kString) || !arguments[1]->foldable()) {
    return Error("INVALID_SCHEMA.NON_STRING_LITERAL").With("inputSchema", QuoteSql(arguments[1]->Sql()));
  }
  TW_ASSIGN_OR_RETURN(const Value schema, FoldArgument(function.name, arguments, 1, "schema", context));
  if (schema.is_null()) {
    return Error("DATATYPE_MISMATCH.UNEXPECTED_NULL")
        .With("sqlExpr", QuoteSql(CallSql(function.name, arguments)))
        .With("exprName", "`schema`");
  }
  TW_ASSIGN_OR_RETURN(const DataType parsed, ReadSchema(schema.get<std::string>()));
  const DataType type = parsed.AsNullable();
  if (!type.Is(TypeKind::kStruct) && !type.Is(TypeKind::kArray) && !type.Is(TypeKind::kMap)) {
    return Error("DATATYPE_MISMATCH.INVALID_JSON_SCHEMA")
        .With("sqlExpr", QuoteSql(CallSql(function.name, {arguments[0]})))
        .With("schema", QuoteSql(type.Sql()));
  }
  auto json = std::make_shared<JsonData>();
  TW_ASSIGN_OR_RETURN(json->options, ReadOptions(function, arguments, 2, context));
  // Says now what the options or the type would raise on the first row.
  TW_ASSIGN_OR_RETURN(data::JsonOptions options, data::JsonOptions::Make(json->options, context.config.time_zone));
  if (options.mode == data::ParseMode::kDropMalformed) {
    return Error("PARSE_MODE_UNSUPPORTED").With("funcName", "`from_json`").With("mode", "DROPMALFORMED");
  }
  TW_ASSIGN_OR_RETURN(auto decoder, data::JsonDecoder::Make(type, std::move(options), {}));
  return MakeBoundExact(function, std::move(arguments), type, true, &FromJson, ModeOf(function, context), std::move(json));
}

std::string FirstArgumentText(const Call& call, bool plan_text) {
  if (call.function_name() == "from_json" && call.type().Is(TypeKind::kMap)) return "entries";
  return call.function_name() + "(" + TextOf(call.child(0), plan_text) + ")";
}

Result<ColumnPtr> ToJson(const BoundScalar& call, const KernelInput& input, EvalContext& context) {
  const auto& json = static_cast<const JsonData&>(*call.data);
  TW_ASSIGN_OR_RETURN(data::JsonOptions options, data::JsonOptions::Make(json.options, context.config->time_zone));
  const Column& column = *input.arguments[0];
  TW_ASSIGN_OR_RETURN(const data::JsonWriter writer, data::JsonWriter::Make(column.type(), std::move(options)));
  TextOutput out(call.type, input.rows.length);
  std::string text;
  input.rows.ForEach([&](int64_t row) {
    if (column.IsNull(row)) {
      out.SetNull(row);
      return;
    }
    text.clear();
    writer.AppendRow(column, row, &text);
    out.Set(row, text);
  });
  return out.Finish();
}

Result<BoundCall> BindToJson(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 1, 2));
  const DataType& type = arguments[0]->type();
  if (!type.Is(TypeKind::kStruct) && !type.Is(TypeKind::kArray) && !type.Is(TypeKind::kMap)) {
    if (type.Is(TypeKind::kVariant)) return Unsupported("to_json of a variant");
    return Error("DATATYPE_MISMATCH.INVALID_JSON_SCHEMA")
        .With("sqlExpr", QuoteSql(CallSql(function.name, {arguments[0]})))
        .With("schema", QuoteSql(type.Sql()));
  }
  auto json = std::make_shared<JsonData>();
  TW_ASSIGN_OR_RETURN(json->options, ReadOptions(function, arguments, 1, context));
  TW_ASSIGN_OR_RETURN(data::JsonOptions options, data::JsonOptions::Make(json->options, context.config.time_zone));
  TW_ASSIGN_OR_RETURN(const data::JsonWriter writer, data::JsonWriter::Make(type, std::move(options)));
  return MakeBoundExact(function, std::move(arguments), DataType::String(), true, &ToJson, ModeOf(function, context),
                        std::move(json));
}

}  // namespace

void RegisterFromJson(FunctionLists& lists) {
  static const ScalarFunction kFrom{.name = "from_json", .since = "2.2.0", .doc = "JSON text as a value of a schema.",
                                    .example = {"SELECT from_json('{\"a\":1, \"b\":0.8}', 'a INT, b DOUBLE')", "{1, 0.8}"},
                                    .nulls = NullPolicy::kCustom, .bind = &BindFromJson, .sql = &FirstArgumentText};
  static const ScalarFunction kTo{.name = "to_json", .since = "2.2.0", .doc = "A struct, map or array as JSON text.",
                                  .example = {"SELECT to_json(named_struct('a', 1, 'b', 2))", "{\"a\":1,\"b\":2}"},
                                  .nulls = NullPolicy::kCustom, .bind = &BindToJson, .sql = &FirstArgumentText};
  lists.Add(kFrom);
  lists.Add(kTo);
}

}  // namespace thalweg::sql
