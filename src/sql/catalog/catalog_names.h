#pragma once

#include <string_view>

#include "base/status.h"

namespace thalweg::sql {

/// Names become directories: letters of ASCII, digits and _ only. Errors: INVALID_SCHEMA_OR_RELATION_NAME.
Status CheckCatalogName(std::string_view name);

}  // namespace thalweg::sql
