#include "sql/functions/conditional/register.h"

namespace thalweg::sql {

void RegisterConditional(FunctionLists& lists) {
  RegisterCase(lists);
  RegisterCoalesce(lists);
  RegisterExtremes(lists);
  RegisterIn(lists);
}

}  // namespace thalweg::sql
