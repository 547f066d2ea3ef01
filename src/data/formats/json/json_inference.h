#pragma once

#include <vector>

#include "data/formats/file_reader.h"
#include "data/formats/json/json_document.h"
#include "data/formats/json/json_options.h"

namespace thalweg::data {

/// The type that takes values of both, as Spark merges what it sees in texts (JSON, and by its rules elsewhere): whole
/// numbers and fractions are DOUBLE, decimals widen, structs and arrays merge field by field, whatever does not go together is
/// STRING. Structs of the same fields but for case have the names of the first. Source: JsonInferSchema.compatibleType.
DataType MergeInferredTypes(const DataType& a, const DataType& b, bool case_sensitive = false);

/// Finds the fields of JSON texts. Fields are in the order of their names, all nullable; names may repeat.
/// Thread: confined. Source: Spark's JsonInferSchema.
class JsonInference {
 public:
  /// `timestamp_ntz`: spark.sql.timestampType.
  JsonInference(const JsonOptions& options, bool timestamp_ntz)
      : options_(options), timestamp_ntz_(timestamp_ntz), document_(options) {}
  /// Errors: _LEGACY_ERROR_TEMP_2165 and 2167 in kFailFast.
  Status Add(std::string_view text);
  Schema Finish() const;

 private:
  Status MergeRoot(const DataType& type);
  const JsonOptions& options_;
  bool timestamp_ntz_;
  JsonDocument document_;
  DataType root_ = DataType::Struct({});
};

/// The schema of files; a part of the texts when `samplingRatio` says so. Errors: IO_ERROR, as JsonInference.
Result<Schema> InferJsonSchema(FileSystem& file_system, const std::vector<FileRange>& files,
                               const JsonOptions& options, bool timestamp_ntz);

}  // namespace thalweg::data
