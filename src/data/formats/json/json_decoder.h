#pragma once

#include <memory>
#include <string_view>

#include "base/status.h"
#include "data/columnar/column.h"
#include "data/formats/json/json_options.h"

namespace thalweg::data {

/// JSON texts into a column of a given type: structs by field name (exact), arrays, maps. A strict
/// scanner finds the values of well-formed texts; what it refuses goes to a lenient reader that
/// reads as Jackson does, so both give Spark's answer. A field that cannot be read as its type is null and the rest
/// of its row stands (partial results). Malformed text: every field is null; with a field named as
/// the corrupt-record column (a string), that one gets the text. Rows: one per text in kPermissive,
/// but blank texts give a null row (keep_blank) or none; with `array_as_rows` a text that is an
/// array of objects gives a row each. Thread: confined. Source: Spark's JacksonParser,
/// JsonToStructs.
class JsonDecoder {
 public:
  struct Shape {
    bool array_as_rows = false;  ///< files; from_json treats it as malformed
    bool keep_blank = true;      ///< from_json; files skip blank lines
  };
  /// `type`: struct, array or map. Errors: UNSUPPORTED_FEATURE.THALWEG for variants,
  /// DATATYPE_MISMATCH-like for types JSON has not.
  static Result<std::unique_ptr<JsonDecoder>> Make(const DataType& type, JsonOptions options,
                                                   Shape shape);
  ~JsonDecoder();

  /// With `block`, which holds the text, long strings stay where they are and the columns hold the block.
  /// Errors: MALFORMED_RECORD_IN_PARSING.WITHOUT_SUGGESTION in kFailFast.
  Status Append(std::string_view text, const std::shared_ptr<Buffer>* block = nullptr);
  void AppendNull();
  int64_t length() const;
  /// The rows since the last Finish. In file mode a struct's children are the table's columns.
  ColumnPtr Finish();

 private:
  struct Impl;
  explicit JsonDecoder(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace thalweg::data
