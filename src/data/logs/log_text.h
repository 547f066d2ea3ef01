#pragma once

// The text form that Spark's logs share: a line `v<decimal>`, then lines of JSON.

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace thalweg::data {

/// The lines of a text: separated by \n or \r\n; one line end at the very end is no further line.
std::vector<std::string_view> SplitLogLines(std::string_view text);

/// The number of a version line. Errors: MALFORMED_LOG_FILE for anything but `v` and a positive number,
/// INVALID_LOG_VERSION.MAX_SUPPORTED_VERSION for a number above `max_version`.
Result<int> ParseLogVersion(std::string_view line, int max_version);

/// "v1", "v2", ...
std::string LogVersionLine(int version);

/// The error for a line that is not what it should be. `place` such as "offsets/7, line 2".
Status MalformedLogEntry(std::string_view place, std::string_view reason);
/// An error of reading a log text, told of the file it stands in: who has to mend it must find it.
Status InLogFile(const Status& error, const std::string& path);

/// `text` as a JSON string with its quotes: what must be is escaped, letters beyond ASCII stay.
std::string JsonQuoted(std::string_view text);

}  // namespace thalweg::data
