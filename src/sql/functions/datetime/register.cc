#include "sql/functions/datetime/register.h"

namespace thalweg::sql {

void RegisterDatetime(FunctionLists& lists) {
  RegisterCalendar(lists);
  RegisterFields(lists);
  RegisterMake(lists);
  RegisterNow(lists);
  RegisterPatterns(lists);
  RegisterTrunc(lists);
  RegisterUnits(lists);
  RegisterUnix(lists);
}

}  // namespace thalweg::sql
