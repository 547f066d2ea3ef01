#include "base/error_table.h"

#include <algorithm>

namespace thalweg {

const ErrorCondition* FindErrorCondition(std::string_view name) {
  const std::span<const ErrorCondition> all = ErrorConditions();
  const auto found = std::lower_bound(
      all.begin(), all.end(), name,
      [](const ErrorCondition& entry, std::string_view wanted) { return entry.name < wanted; });
  if (found == all.end() || found->name != name) return nullptr;
  return &*found;
}

}  // namespace thalweg
