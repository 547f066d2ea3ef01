#pragma once

#include "sql/functions/registry.h"

namespace thalweg::sql {

void RegisterFromJson(FunctionLists& lists);
void RegisterJsonPath(FunctionLists& lists);
void RegisterSchemaOfJson(FunctionLists& lists);

}  // namespace thalweg::sql
