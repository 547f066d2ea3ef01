#pragma once

// What both rate sources share: schema, options, and splits that make rows.

#include <cstdint>
#include <string>
#include <vector>

#include "sql/datasource/data_source.h"

namespace thalweg::connectors {

/// "timestamp TIMESTAMP, value BIGINT".
data::Schema RateSchema();

/// A whole number from an option. Errors: INVALID_RATE_OPTION in Spark's words ("must be positive",
/// ...).
Result<int64_t> RateOption(const sql::OptionMap& options, std::string_view name, int64_t otherwise,
                           int64_t least, std::string_view complaint);

/// Which rows a split makes: values `first`, `first + stride`, ... below `end`. The timestamp of
/// value v is base_us + round((v - origin) * span_ms / rows) ms; span 0: all the same.
struct RateRows {
  int64_t first = 0, end = 0, stride = 1;
  int64_t base_us = 0;
  int64_t origin = 0, span_ms = 0, rows = 1;
};

/// One split per partition with rows; `columns` as asked for ("timestamp", "value").
std::vector<sql::InputSplitPtr> PlanRateSplits(const RateRows& all, int64_t partitions,
                                               const std::vector<std::string>& columns);

}  // namespace thalweg::connectors
