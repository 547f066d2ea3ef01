#include "sql/expr/table_write_cast.h"

#include <memory>
#include <utility>

#include "sql/expr/cast.h"
#include "sql/expr/function.h"

namespace thalweg::sql {

using data::ColumnPtr;
using data::TypeKind;

namespace {

std::string Quoted(const DataType& type) { return "\"" + type.Sql() + "\""; }

struct Target final : BoundData {
  Target(DataType from_type, std::string name, TableWrite kind) : from(std::move(from_type)), column(std::move(name)), write(kind) {}
  const DataType from;
  const std::string column;
  const TableWrite write;
};

Result<ColumnPtr> Evaluate(const BoundScalar& call, const KernelInput& input, EvalContext& context) {
  auto cast = CastColumn(input.arguments[0], call.type, EvalMode::kAnsi, input.rows, input.validity, context);
  if (cast.ok()) return cast;
  const std::string& condition = cast.status().condition();
  if (condition != "CAST_OVERFLOW" && !condition.starts_with("NUMERIC_VALUE_OUT_OF_RANGE")) return cast;
  const auto& target = static_cast<const Target&>(*call.data);
  if (target.write == TableWrite::kInsert) {
    return Error("CAST_OVERFLOW_IN_TABLE_INSERT").With("sourceType", Quoted(target.from)).With("targetType", Quoted(call.type))
        .With("columnName", target.column);
  }
  return Error("DELTA_CAST_OVERFLOW_IN_TABLE_WRITE").With("sourceType", Quoted(target.from)).With("targetType", Quoted(call.type))
      .With("columnName", target.column).With("storeAssignmentPolicyFlag", "spark.sql.storeAssignmentPolicy")
      .With("updateAndMergeCastingFollowsAnsiEnabledFlag", "spark.databricks.delta.updateAndMergeCastingFollowsAnsiEnabledFlag")
      .With("ansiEnabledFlag", "spark.sql.ansi.enabled");
}

const ScalarFunction kInsertCast{.name = "checkoverflowintableinsert", .internal = true};
const ScalarFunction kUpdateCast{.name = "checkoverflowintablewrite", .internal = true};

bool MayOverflow(const DataType& to) {
  switch (to.kind()) {
    case TypeKind::kArray: return MayOverflow(to.element());
    case TypeKind::kMap: return MayOverflow(to.key()) || MayOverflow(to.value());
    case TypeKind::kDecimal: return true;
    default: return to.IsIntegral();
  }
}

}  // namespace

ExprPtr TableWriteCast(ExprPtr value, DataType to, std::string column, TableWrite write) {
  if (!MayOverflow(to) || CastIsTotal(value->type(), to)) return Cast::Make(std::move(value), std::move(to), EvalMode::kAnsi);
  auto bound = std::make_shared<BoundScalar>();
  bound->function = write == TableWrite::kInsert ? &kInsertCast : &kUpdateCast;
  bound->type = to;
  bound->nullable = value->nullable();
  bound->kernel = &Evaluate;
  bound->data = std::make_shared<Target>(value->type(), column, write);
  // The literals tell calls apart that differ in what `data` holds.
  ExprList arguments = {std::move(value), Literal::String(std::move(column)), Literal::String(to.Sql())};
  return Call::Make(std::move(bound), std::move(arguments));
}

}  // namespace thalweg::sql
