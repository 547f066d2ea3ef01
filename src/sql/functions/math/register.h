#pragma once

#include "sql/functions/registry.h"

namespace thalweg::sql {

void RegisterElementary(FunctionLists& lists);
void RegisterRandom(FunctionLists& lists);
void RegisterRounding(FunctionLists& lists);

}  // namespace thalweg::sql
