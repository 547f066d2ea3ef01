#include "sql/expr/extract.h"

#include <algorithm>

#include "base/invariant.h"
#include "data/columnar/builder.h"

namespace thalweg::sql {
namespace {

using data::ColumnPtr;
using data::StructField;
using data::TypeKind;

struct FieldData final : BoundData {
  explicit FieldData(int o) : ordinal(o) {}
  int ordinal;
};

int OrdinalOf(const BoundScalar& call) { return static_cast<const FieldData&>(*call.data).ordinal; }

std::string Text(const ExprPtr& expr, bool plan_text) { return plan_text ? expr->PlanText() : expr->Sql(); }

std::string FieldName(const Call& call) { return call.child(1)->As<Literal>()->value().get<std::string>(); }

std::string FieldSql(const Call& call, bool plan_text) {
  // While a name is printed the field is bare text already.
  const auto* name = call.child(1)->As<Literal>();
  if (name == nullptr) return Text(call.child(0), plan_text) + "." + Text(call.child(1), plan_text);
  return Text(call.child(0), plan_text) + "." + (plan_text ? FieldName(call) : data::QuoteIdentifier(FieldName(call)));
}

std::string IndexSql(const Call& call, bool plan_text) {
  return Text(call.child(0), plan_text) + "[" + Text(call.child(1), plan_text) + "]";
}

/// The rows of `field` that are null where the struct is.
ColumnPtr FieldOf(const ColumnPtr& column, int ordinal, const DataType& type) {
  if (column->is_constant()) {
    const Value value = column->length() == 0 ? Value() : column->GetValue(0);
    if (value.is_null()) return data::Column::Nulls(type, column->length());
    return data::Column::Constant(type, value.get<data::ValueList>()[static_cast<size_t>(ordinal)], column->length());
  }
  const ColumnPtr& child = column->child(ordinal);
  if (!column->has_nulls()) return child;
  return data::WithValidity(child, column->parts().validity, column->null_count());
}

Result<ColumnPtr> EvaluateField(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  return FieldOf(input.arguments[0], OrdinalOf(call), call.type);
}

Result<ColumnPtr> EvaluateArrayFields(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const ColumnPtr list = data::Flatten(input.arguments[0]);
  data::Column::Parts parts = list->parts();
  const ColumnPtr element = data::Flatten(parts.children[0]);
  parts.children[0] = FieldOf(element, OrdinalOf(call), call.type.element());
  parts.type = call.type;
  return data::Column::Make(std::move(parts));
}

Status BadIndex(int64_t index, int64_t size) {
  return Error("INVALID_ARRAY_INDEX")
      .With("indexValue", index)
      .With("arraySize", size);
}

int64_t IndexAt(const data::Column& column, int64_t row) {
  return column.values<int32_t>()[column.is_constant() ? 0 : static_cast<size_t>(row)];
}

Result<ColumnPtr> EvaluateArrayItem(const BoundScalar& call, const KernelInput& input, EvalContext&) {
  const ColumnPtr list = data::Flatten(input.arguments[0]);
  const ColumnPtr& index = input.arguments[1];
  std::vector<int32_t> rows(static_cast<size_t>(list->length()), -1);
  const auto offsets = list->offsets();
  Status failed;
  input.rows.ForEach([&](int64_t row) {
    if (list->IsNull(row) || index->IsNull(row)) return;
    const int64_t begin = offsets[static_cast<size_t>(row)];
    const int64_t size = offsets[static_cast<size_t>(row) + 1] - begin;
    const int64_t at = IndexAt(*index, row);
    if (at >= 0 && at < size) {
      rows[static_cast<size_t>(row)] = static_cast<int32_t>(begin + at);
    } else if (call.mode == EvalMode::kAnsi && failed.ok()) {
      failed = BadIndex(at, size);
    }
  });
  TW_RETURN_NOT_OK(failed);
  return data::Take(data::Flatten(list->child(0)), rows);
}

/// Whether key slot `slot` equals row `row` of `wanted`.
bool KeyEquals(const data::Column& keys, int64_t slot, const data::Column& wanted, int64_t row) {
  if (keys.physical() == data::PhysicalType::kText) {
    const auto text = wanted.values<data::TextView>();
    return keys.values<data::TextView>()[static_cast<size_t>(slot)] ==
           text[wanted.is_constant() ? 0 : static_cast<size_t>(row)];
  }
  return keys.GetValue(slot) == wanted.GetValue(row);
}

Result<ColumnPtr> EvaluateMapValue(const BoundScalar&, const KernelInput& input, EvalContext&) {
  const ColumnPtr map = data::Flatten(input.arguments[0]);
  const ColumnPtr& wanted = input.arguments[1];
  const ColumnPtr keys = data::Flatten(map->child(0));
  std::vector<int32_t> rows(static_cast<size_t>(map->length()), -1);
  const auto offsets = map->offsets();
  input.rows.ForEach([&](int64_t row) {
    if (map->IsNull(row) || wanted->IsNull(row)) return;
    for (int32_t slot = offsets[static_cast<size_t>(row)]; slot < offsets[static_cast<size_t>(row) + 1]; ++slot) {
      if (KeyEquals(*keys, slot, *wanted, row)) {
        rows[static_cast<size_t>(row)] = slot;
        return;
      }
    }
  });
  return data::Take(data::Flatten(map->child(1)), rows);
}

const ScalarFunction kField{
    .name = "getstructfield", .nulls = NullPolicy::kCustom, .internal = true, .sql = &FieldSql};
const ScalarFunction kArrayFields{
    .name = "getarraystructfields", .nulls = NullPolicy::kCustom, .internal = true, .sql = &FieldSql};
const ScalarFunction kArrayItem{
    .name = "getarrayitem", .nulls = NullPolicy::kCustom, .internal = true, .sql = &IndexSql};
const ScalarFunction kMapValue{
    .name = "getmapvalue", .nulls = NullPolicy::kCustom, .internal = true, .sql = &IndexSql};

ExprPtr MakeCall(const ScalarFunction& function, ExprList arguments, DataType type, bool nullable, ScalarKernel kernel,
                 EvalMode mode, std::shared_ptr<const BoundData> data) {
  auto bound = std::make_shared<BoundScalar>();
  bound->function = &function;
  bound->type = std::move(type);
  bound->nullable = nullable;
  bound->mode = mode;
  bound->kernel = kernel;
  bound->data = std::move(data);
  return Call::Make(std::move(bound), std::move(arguments));
}

bool SameFieldName(std::string_view a, std::string_view b, bool cased) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [&](char x, char y) {
    const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
    return cased ? x == y : lower(x) == lower(y);
  });
}

Result<int> FindField(const std::vector<StructField>& fields, const std::string& name, bool cased) {
  int found = -1;
  int count = 0;
  for (size_t i = 0; i < fields.size(); ++i) {
    if (!SameFieldName(fields[i].name, name, cased)) continue;
    if (found < 0) found = static_cast<int>(i);
    ++count;
  }
  if (count > 1) {
    return Error("AMBIGUOUS_REFERENCE_TO_FIELDS").With("field", data::QuoteIdentifier(name)).With("count", count);
  }
  if (count == 0) {
    std::string names;
    for (const StructField& field : fields) names += (names.empty() ? "" : ", ") + data::QuoteIdentifier(field.name);
    return Error("FIELD_NOT_FOUND").With("fieldName", data::QuoteIdentifier(name)).With("fields", names);
  }
  return found;
}

ExprPtr ArrayFields(const ExprPtr& child, int ordinal) {
  const StructField& field = child->type().element().fields()[static_cast<size_t>(ordinal)];
  const DataType type = DataType::Array(field.type, child->type().contains_null() || field.nullable);
  return MakeCall(kArrayFields, {child, Literal::String(field.name)}, type, child->nullable(), &EvaluateArrayFields,
                  EvalMode::kAnsi, std::make_shared<FieldData>(ordinal));
}

/// Only of an array written out as array(...) is it known which element a literal index takes.
bool ItemIsNullable(const ExprPtr& child, const ExprPtr& index) {
  const auto* call = child->As<Call>();
  const auto* literal = index->As<Literal>();
  if (call == nullptr || literal == nullptr || literal->value().is_null() || call->function_name() != "array") return true;
  const int64_t at = literal->value().AsInt64();
  if (at < 0 || at >= static_cast<int64_t>(call->children().size())) return true;
  return call->child(static_cast<size_t>(at))->nullable();
}

Result<ExprPtr> ArrayItem(const ExprPtr& child, const ExprPtr& extraction, const BindContext& context) {
  ExprPtr index = extraction;
  const TypeKind kind = index->type().kind();
  if (!index->type().IsIntegral() && kind != TypeKind::kNull) {
    return Error("DATATYPE_MISMATCH.UNEXPECTED_INPUT_TYPE")
        .With("sqlExpr", "\"" + child->Sql() + "[" + extraction->Sql() + "]\"")
        .With("paramIndex", "second")
        .With("requiredType", "\"INTEGRAL\"")
        .With("inputSql", "\"" + extraction->Sql() + "\"")
        .With("inputType", "\"" + extraction->type().Sql() + "\"");
  }
  const EvalMode mode = context.config.ansi ? EvalMode::kAnsi : EvalMode::kLegacy;
  if (kind != TypeKind::kInteger) index = Cast::Make(index, DataType::Integer(), mode);
  const bool nullable = ItemIsNullable(child, extraction);
  return MakeCall(kArrayItem, {child, index}, child->type().element(), nullable, &EvaluateArrayItem, mode, nullptr);
}

}  // namespace

ExprPtr MakeStructField(const ExprPtr& child, size_t ordinal) {
  const StructField& field = child->type().fields()[ordinal];
  return MakeCall(kField, {child, Literal::String(field.name)}, field.type, child->nullable() || field.nullable,
                  &EvaluateField, EvalMode::kAnsi, std::make_shared<FieldData>(static_cast<int>(ordinal)));
}

Result<ExprPtr> MakeExtract(const ExprPtr& child, const ExprPtr& extraction, const BindContext& context) {
  const DataType& type = child->type();
  const auto* literal = extraction->As<Literal>();
  const std::string* name = literal == nullptr ? nullptr : literal->value().get_if<std::string>();
  if (literal != nullptr && !literal->type().Is(TypeKind::kString)) name = nullptr;
  if (type.Is(TypeKind::kStruct)) {
    if (name == nullptr) return Error("INVALID_EXTRACT_FIELD_TYPE").With("extraction", "\"" + extraction->Sql() + "\"");
    TW_ASSIGN_OR_RETURN(const int ordinal, FindField(type.fields(), *name, context.config.case_sensitive));
    return MakeStructField(child, static_cast<size_t>(ordinal));
  }
  if (type.Is(TypeKind::kArray)) {
    if (name != nullptr && type.element().Is(TypeKind::kStruct)) {
      TW_ASSIGN_OR_RETURN(const int ordinal, FindField(type.element().fields(), *name, context.config.case_sensitive));
      return ArrayFields(child, ordinal);
    }
    return ArrayItem(child, extraction, context);
  }
  if (type.Is(TypeKind::kMap)) {
    ExprPtr key = extraction;
    if (!key->type().SameType(type.key())) {
      key = Cast::Make(key, type.key(), context.config.ansi ? EvalMode::kAnsi : EvalMode::kLegacy);
    }
    return MakeCall(kMapValue, {child, key}, type.value(), true, &EvaluateMapValue, EvalMode::kAnsi, nullptr);
  }
  return Error("INVALID_EXTRACT_BASE_FIELD_TYPE")
      .With("base", "\"" + AutoName(child) + "\"")
      .With("other", "\"" + type.Sql() + "\"");
}

bool IsExtract(const Expr& expr) {
  const auto* call = expr.As<Call>();
  if (call == nullptr) return false;
  const ScalarFunction* function = call->bound().function;
  return function == &kField || function == &kArrayFields || function == &kArrayItem || function == &kMapValue;
}

int StructFieldOrdinal(const Expr& expr) {
  const auto* call = expr.As<Call>();
  if (call == nullptr || call->bound().function != &kField) return -1;
  return OrdinalOf(call->bound());
}

}  // namespace thalweg::sql
