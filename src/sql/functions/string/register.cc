#include "sql/functions/string/register.h"

namespace thalweg::sql {

void RegisterString(FunctionLists& lists) {
  RegisterCaseMapping(lists);
  RegisterCharset(lists);
  RegisterConcat(lists);
  RegisterEncoding(lists);
  RegisterFormat(lists);
  RegisterLength(lists);
  RegisterLike(lists);
  RegisterMoreText(lists);
  RegisterPad(lists);
  RegisterRegex(lists);
  RegisterSearch(lists);
  RegisterSubstring(lists);
  RegisterTrim(lists);
}

}  // namespace thalweg::sql
