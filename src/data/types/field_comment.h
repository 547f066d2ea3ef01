#pragma once

#include <optional>
#include <string>

#include "data/types/data_type.h"

namespace thalweg::data {

/// Gives a field a comment in place of the one it has, or takes it away; the rest of its metadata stays.
void SetComment(StructField* field, const std::optional<std::string>& comment);
/// The same of any text of the metadata: "CURRENT_DEFAULT", the expression that a column has where an INSERT leaves it out.
void SetMetadataText(StructField* field, const char* key, const std::optional<std::string>& text);

}  // namespace thalweg::data
