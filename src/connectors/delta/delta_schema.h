#pragma once

// Columns of a Delta table: names in the log and in files (physical) against names of users (logical), partition values as text.

#include <optional>
#include <string>

#include "connectors/delta/delta_snapshot.h"
#include "data/text/time_zone.h"
#include "data/types/data_type.h"
#include "data/types/value.h"

namespace thalweg::connectors {

/// Whether `delta.columnMapping.mode` is name or id.
bool HasColumnMapping(const DeltaMetadata& metadata);
/// The field as files hold it: physical names at every level when `mapped`.
data::StructField PhysicalField(const data::StructField& field, bool mapped);
/// The schema as users see it: without Delta's own field metadata.
data::Schema PublicSchema(const data::Schema& schema);
/// Position of a column by name, -1 without. Without case an exact match goes first.
int FindColumn(const data::Schema& schema, std::string_view name, bool case_sensitive);
/// The hint in a column's metadata that names its declared type, with CHAR(n) and VARCHAR(n).
inline constexpr std::string_view kCharVarcharHint = "__CHAR_VARCHAR_TYPE_STRING";

/// A partition value of the log. Null for nullopt and the empty text. Errors: DELTA_FAILED_CAST_PARTITION_VALUE.
Result<data::Value> ParsePartitionValue(const std::optional<std::string>& text, const data::DataType& type,
                                        const data::TimeZone& zone);
/// The text of the log; nullopt for null, the empty string, and the text that names the directory of nulls.
std::optional<std::string> PartitionValueText(const data::Value& value, const data::DataType& type);
/// The text of the directory name, before escaping: timestamps in the session's zone.
std::string PartitionDirectoryText(const data::Value& value, const data::DataType& type, const data::TimeZone& zone);

}  // namespace thalweg::connectors
