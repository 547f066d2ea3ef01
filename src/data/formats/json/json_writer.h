#pragma once

#include <string>

#include "base/status.h"
#include "data/columnar/column.h"
#include "data/formats/json/json_options.h"

namespace thalweg::data {

/// Values as JSON text in Spark's form (to_json, JSON files). Thread: immutable.
/// Null fields of structs are left out unless ignore_null_fields is off; NaN and infinities are strings;
/// binaries base 64; timestamps and dates by their patterns; map keys that are times are numbers. Source: Spark's JacksonGenerator.
class JsonWriter {
 public:
  /// `type`: struct, array or map. Errors: UNSUPPORTED_FEATURE.THALWEG for variants.
  static Result<JsonWriter> Make(const DataType& type, JsonOptions options);
  /// Appends row `row` of a column of that type, which is not null there; any encoding.
  void AppendRow(const Column& column, int64_t row, std::string* out) const;

 private:
  explicit JsonWriter(JsonOptions options) : options_(std::move(options)) {}
  void AppendValue(const Column& column, int64_t row, int indent, std::string* out) const;
  void AppendStruct(const Column& column, int64_t row, int indent, std::string* out) const;
  void AppendMap(const Column& column, int64_t row, int indent, std::string* out) const;
  void AppendKey(const Column& column, int64_t row, std::string* out) const;
  void AppendArray(const Column& column, int64_t row, int indent, std::string* out) const;
  void NewLine(int indent, std::string* out) const;

  JsonOptions options_;
};

/// `text` as a JSON string with its quotes, escaped as Jackson does (what must be).
void AppendJsonString(std::string_view text, std::string* out);

}  // namespace thalweg::data
