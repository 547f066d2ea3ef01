#include "sql/functions/collection/register.h"

namespace thalweg::sql {

void RegisterCollection(FunctionLists& lists) {
  RegisterArrays(lists);
  RegisterConstructors(lists);
  RegisterElementAt(lists);
  RegisterMapParts(lists);
  RegisterSetOperations(lists);
}

}  // namespace thalweg::sql
