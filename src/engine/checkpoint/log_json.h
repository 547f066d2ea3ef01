#pragma once

// Private to this room: JSON objects of log lines, read without exceptions and with bounded depth.

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "base/status.h"

namespace thalweg::engine {

using OrderedJson = nlohmann::ordered_json;

/// `text` as a JSON object. `place` is for the message. Errors: MALFORMED_LOG_ENTRY, also for nesting beyond 64.
Result<OrderedJson> ParseLogObject(std::string_view place, std::string_view text);

/// A member that must be an integer or text, or `missing` when it is not there.
/// Errors: MALFORMED_LOG_ENTRY for another kind, or when it is missing and there is no default.
Result<int64_t> IntegerMember(std::string_view place, const OrderedJson& object, const char* name,
                              std::optional<int64_t> missing = std::nullopt);
Result<std::string> TextMember(std::string_view place, const OrderedJson& object, const char* name);

/// One line of JSON as Spark writes it: no blanks, members in order, letters beyond ASCII raw.
std::string DumpLine(const OrderedJson& value);

}  // namespace thalweg::engine
