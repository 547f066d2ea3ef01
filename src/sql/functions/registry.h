#pragma once

#include <vector>

#include "sql/expr/function.h"

namespace thalweg::sql {

/// Functions on their way into the registry; the pointers live as long as the process.
struct FunctionLists {
  std::vector<const ScalarFunction*> scalars;
  std::vector<const AggregateFunction*> aggregates;
  void Add(const ScalarFunction& function) { scalars.push_back(&function); }
  void Add(const AggregateFunction& function) { aggregates.push_back(&function); }
};

// One function per family, in families of folders: <family>/register.cc.
void RegisterOperators(FunctionLists& lists);
void RegisterConditional(FunctionLists& lists);
void RegisterCollection(FunctionLists& lists);
void RegisterString(FunctionLists& lists);
void RegisterJson(FunctionLists& lists);
void RegisterMath(FunctionLists& lists);
void RegisterDatetime(FunctionLists& lists);
void RegisterHash(FunctionLists& lists);
void RegisterMisc(FunctionLists& lists);
void RegisterAggregate(FunctionLists& lists);

/// Every built-in function and operator, under the names that SQL and Spark Connect use. Thread: immutable, made at first use.
const FunctionRegistry& BuiltinFunctions();

/// Binds a built-in scalar function by name, for binders and rules that build calls. Errors: those of the binder;
/// INTERNAL_ERROR for an unknown name.
Result<ExprPtr> BindBuiltin(std::string_view name, ExprList arguments, const BindContext& context);

}  // namespace thalweg::sql
