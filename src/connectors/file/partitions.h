#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "connectors/file/file_listing.h"
#include "data/text/time_zone.h"
#include "data/types/data_type.h"
#include "data/types/value.h"

namespace thalweg::connectors {

/// `column=value` directories of a path below one of `roots`, outermost first; names and values unescaped.
using PathPartitions = std::vector<std::pair<std::string, std::string>>;
PathPartitions PartitionsOfPath(std::string_view file_path, const std::vector<std::string>& roots);

struct PartitionOptions {
  bool infer_types = true;  ///< spark.sql.sources.partitionColumnTypeInference.enabled
  bool case_sensitive = false;
  bool timestamp_ntz = false;
  data::TimeZone zone;
};

/// The partition columns of listed files, outermost first: types from `user_schema` where it names them, else the
/// narrowest that takes every value. Empty when no file lies in a partition directory.
/// Errors: CONFLICTING_PARTITION_COLUMN_NAMES. Source: Spark's PartitioningUtils.
Result<data::Schema> InferPartitionSchema(const FileListing& listing, const data::Schema& user_schema,
                                          const PartitionOptions& options);

/// A value of a partition directory as a column's type. Errors: INVALID_PARTITION_VALUE.
Result<data::Value> ParsePartitionValue(const std::string& text, const data::StructField& column,
                                        const data::TimeZone& zone);

bool SameName(std::string_view a, std::string_view b, bool case_sensitive);

}  // namespace thalweg::connectors
