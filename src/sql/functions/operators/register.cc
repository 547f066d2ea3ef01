#include "sql/functions/operators/register.h"

namespace thalweg::sql {

void RegisterOperators(FunctionLists& lists) {
  RegisterArithmetic(lists);
  RegisterBitwise(lists);
  RegisterBoolean(lists);
  RegisterComparison(lists);
}

}  // namespace thalweg::sql
