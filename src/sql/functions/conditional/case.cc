// CASE WHEN (when), if. The evaluator computes each branch on its rows only.

#include "sql/expr/binding.h"
#include "sql/functions/conditional/register.h"

namespace thalweg::sql {

Result<DataType> UnifyArguments(const ScalarFunction& function, ExprList* arguments, const std::vector<size_t>& which,
                                const BindContext& context) {
  std::vector<DataType> types;
  for (const size_t i : which) types.push_back((*arguments)[i]->type());
  const auto type = WiderTypeOf(types, context.config.ansi);
  if (!type) {
    const bool extreme = function.name == "greatest" || function.name == "least";  // which list their types in brackets
    std::string listed;
    for (const auto& t : types) listed += (listed.empty() ? "" : extreme ? ", " : " or ") + QuoteSql(t.Sql());
    return Error("DATATYPE_MISMATCH.DATA_DIFF_TYPES")
        .With("sqlExpr", QuoteSql(CallSql(function.name, *arguments)))
        .With("functionName", QuoteFunctionName(function.name == "when" ? "casewhen" : function.name))
        .With("dataType", extreme ? "[" + listed + "]" : "(" + listed + ")");
  }
  for (const size_t i : which) (*arguments)[i] = Coerce((*arguments)[i], *type, context.config);
  return *type;
}

namespace {

Status CheckCondition(const ScalarFunction& function, ExprList* arguments, size_t i, const BindContext& context) {
  const DataType& type = (*arguments)[i]->type();
  if (type.Is(TypeKind::kBoolean)) return {};
  if (type.Is(TypeKind::kNull) || (type.Is(TypeKind::kString) && context.config.ansi)) {
    (*arguments)[i] = Coerce((*arguments)[i], DataType::Boolean(), context.config);
    return {};
  }
  return UnexpectedInputType(function.name, *arguments, i, "\"BOOLEAN\"");
}

/// when(c1, v1, c2, v2, ..., [else])
Result<BoundCall> BindCase(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 2, -1));
  const bool has_else = arguments.size() % 2 == 1;
  std::vector<size_t> values;
  for (size_t i = 0; i + 1 < arguments.size(); i += 2) {
    TW_RETURN_NOT_OK(CheckCondition(function, &arguments, i, context));
    values.push_back(i + 1);
  }
  if (has_else) values.push_back(arguments.size() - 1);
  TW_ASSIGN_OR_RETURN(const DataType type, UnifyArguments(function, &arguments, values, context));
  bool nullable = !has_else;
  for (const size_t i : values) nullable = nullable || arguments[i]->nullable();
  return MakeBoundExact(function, std::move(arguments), type, nullable, nullptr, ModeOf(function, context));
}

Result<BoundCall> BindIf(const ScalarFunction& function, ExprList arguments, const BindContext& context) {
  TW_RETURN_NOT_OK(CheckArity(function.name, arguments.size(), 3, 3));
  TW_RETURN_NOT_OK(CheckCondition(function, &arguments, 0, context));
  TW_ASSIGN_OR_RETURN(const DataType type, UnifyArguments(function, &arguments, {1, 2}, context));
  const bool nullable = arguments[1]->nullable() || arguments[2]->nullable();
  return MakeBoundExact(function, std::move(arguments), type, nullable, nullptr, ModeOf(function, context));
}

std::string CaseText(const Call& call, bool plan_text) {
  std::string text = "CASE";
  const auto& children = call.children();
  size_t i = 0;
  for (; i + 1 < children.size(); i += 2) {
    text += " WHEN " + TextOf(children[i], plan_text) + " THEN " + TextOf(children[i + 1], plan_text);
  }
  if (i < children.size()) text += " ELSE " + TextOf(children[i], plan_text);
  return text + " END";
}

std::string IfText(const Call& call, bool plan_text) {
  const std::string arguments = TextOf(call.child(0), plan_text) + (plan_text ? ") " : ", ") +
                                TextOf(call.child(1), plan_text) + (plan_text ? " else " : ", ") +
                                TextOf(call.child(2), plan_text);
  return plan_text ? "if (" + arguments : "(IF(" + arguments + "))";
}

}  // namespace

void RegisterCase(FunctionLists& lists) {
  static const ScalarFunction kWhen{.name = "when", .aliases = {"case"},
                                    .doc = "The value behind the first condition that is true; the last argument alone is ELSE.",
                                    .example = {"SELECT CASE WHEN 1 > 0 THEN 1 ELSE 2 END", "1"},
                                    .nulls = NullPolicy::kCustom, .bind = &BindCase, .laziness = Laziness::kLazy,
                                    .sql = &CaseText};
  static const ScalarFunction kIf{.name = "if", .doc = "The second argument where the first is true, else the third.",
                                  .example = {"SELECT if(1 < 2, 'a', 'b')", "a"}, .nulls = NullPolicy::kCustom,
                                  .bind = &BindIf, .laziness = Laziness::kLazy, .sql = &IfText};
  lists.Add(kWhen);
  lists.Add(kIf);
}

}  // namespace thalweg::sql
