#pragma once

#include "sql/functions/registry.h"

namespace thalweg::sql {

void RegisterCaseMapping(FunctionLists& lists);
void RegisterCharset(FunctionLists& lists);
void RegisterConcat(FunctionLists& lists);
void RegisterEncoding(FunctionLists& lists);
void RegisterFormat(FunctionLists& lists);
void RegisterLength(FunctionLists& lists);
void RegisterLike(FunctionLists& lists);
void RegisterMoreText(FunctionLists& lists);
void RegisterPad(FunctionLists& lists);
void RegisterRegex(FunctionLists& lists);
void RegisterSearch(FunctionLists& lists);
void RegisterSubstring(FunctionLists& lists);
void RegisterTrim(FunctionLists& lists);

}  // namespace thalweg::sql
