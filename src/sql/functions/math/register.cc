#include "sql/functions/math/register.h"

namespace thalweg::sql {

void RegisterMath(FunctionLists& lists) {
  RegisterElementary(lists);
  RegisterRandom(lists);
  RegisterRounding(lists);
}

}  // namespace thalweg::sql
