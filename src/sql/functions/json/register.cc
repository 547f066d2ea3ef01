#include "sql/functions/json/register.h"

namespace thalweg::sql {

void RegisterJson(FunctionLists& lists) {
  RegisterFromJson(lists);
  RegisterJsonPath(lists);
  RegisterSchemaOfJson(lists);
}

}  // namespace thalweg::sql
