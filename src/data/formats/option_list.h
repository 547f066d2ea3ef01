#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace thalweg::data {

enum class ParseMode : uint8_t {
  kPermissive,     ///< what cannot be read is null
  kDropMalformed,  ///< rows that cannot be read are left out
  kFailFast,       ///< MALFORMED_RECORD_IN_PARSING
};

/// Option names and values as the user gave them; names compare without case.
using OptionList = std::vector<std::pair<std::string, std::string>>;

/// The value of an option in a list, the last one when it is given twice.
const std::string* FindOption(const OptionList& options, std::string_view name);
std::string TextOption(const OptionList& options, std::string_view name, std::string_view otherwise);
/// "true"/"false" in any case. Errors: INVALID_OPTION_VALUE.
Result<bool> BoolOption(const OptionList& options, std::string_view name, bool otherwise);
/// Errors: INVALID_OPTION_VALUE.
Result<int64_t> IntOption(const OptionList& options, std::string_view name, int64_t otherwise);
/// A number above 0 and up to 1. Errors: INVALID_OPTION_VALUE.
Result<double> SamplingRatioOption(const OptionList& options);
/// Not empty. Errors: ILLEGAL_ARGUMENT.
Result<std::optional<std::string>> LineSeparatorOption(const OptionList& options);
/// PERMISSIVE, DROPMALFORMED, FAILFAST in any case; other words are PERMISSIVE, as in Spark.
ParseMode ParseModeOption(const OptionList& options);

}  // namespace thalweg::data
