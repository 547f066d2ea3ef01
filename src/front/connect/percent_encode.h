#pragma once

#include <string>
#include <string_view>

namespace thalweg::front {

/// A text as a parameter of an sc:// address.
std::string PercentEncode(std::string_view text);

}  // namespace thalweg::front
