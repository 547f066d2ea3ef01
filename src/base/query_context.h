#pragma once

// Builds the pieces of the user's text that an error shows, in Spark's printed form.

#include <string_view>

#include "base/status.h"

namespace thalweg {

/// The context of characters [start_index, stop_index] (code points, 0-based, inclusive) of a SQL text: fragment and
/// the summary with the line underlined by carets. An invalid range gives an empty fragment and summary.
/// `object_type` and `object_name` say whose text it is ("VIEW", "spark_catalog.default.v"), or are empty.
QueryContext MakeSqlContext(std::string_view sql_text, int start_index, int stop_index,
                            std::string_view object_type = {}, std::string_view object_name = {});

/// The context of a DataFrame method (`fragment`, such as "__truediv__") called from `call_site` (file:line).
QueryContext MakeDataFrameContext(std::string_view fragment, std::string_view call_site);

}  // namespace thalweg
