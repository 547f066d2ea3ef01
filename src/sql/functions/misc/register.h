#pragma once

#include "sql/functions/registry.h"

namespace thalweg::sql {

void RegisterMore(FunctionLists& lists);

}  // namespace thalweg::sql
