#pragma once

// The error conditions known to this program: src/base/errors.json, embedded when it is built.
// Invariant: entries are sorted by name, names are unique.

#include <span>
#include <string_view>

namespace thalweg {

/// One condition. All views point to static storage.
struct ErrorCondition {
  std::string_view name;       ///< "UNRESOLVED_COLUMN.WITH_SUGGESTION"
  std::string_view message;    ///< template; values stand as <parameter>; sub-conditions carry their own whole text
  std::string_view sql_state;  ///< five characters, or empty
};

/// All conditions, sorted by name. Thread: immutable.
std::span<const ErrorCondition> ErrorConditions();

/// The condition of that name, or null when it is unknown. Thread: any.
const ErrorCondition* FindErrorCondition(std::string_view name);

}  // namespace thalweg
