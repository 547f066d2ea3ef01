#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace thalweg::front {

/// The database of the temporary views that the sessions of a server share.
inline constexpr std::string_view kGlobalTempDatabase = "global_temp";

/// The name of a temporary view that a client gave as text: "v", "`my view`".
/// Errors: _LEGACY_ERROR_TEMP_1321 (no name), TEMP_VIEW_NAME_TOO_MANY_NAME_PARTS ("db.v").
Result<std::string> ParseTempViewName(const std::string& text);

}  // namespace thalweg::front
