#pragma once

// Where decoded values go: one sink per field of the schema, typed so that a value costs a switch
// and no virtual call.

#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <variant>
#include <vector>

#include "data/columnar/builder.h"
#include "data/formats/json/json_options.h"
#include "data/formats/json/json_scanner.h"

namespace thalweg::data {

class JsonSink;

/// A field of a struct and where a member of that name lands.
struct JsonField {
  std::string name;
  std::unique_ptr<JsonSink> sink;
};

/// Appends values of one type. Every Append makes exactly one row.
class JsonSink {
 public:
  /// Errors: UNSUPPORTED_FEATURE.THALWEG.
  static Result<std::unique_ptr<JsonSink>> Make(const DataType& type, const JsonOptions& options);
  ~JsonSink();

  const DataType& type() const { return type_; }
  void AppendNull();
  /// Scalars: false when the token is not a value of the type; a null was appended then.
  bool AppendString(std::string_view text);
  /// `text`: digits as written. `fraction`: has a point or an exponent.
  bool AppendNumber(std::string_view text, bool fraction);
  bool AppendInteger(int64_t value);
  bool AppendFraction(double value);  ///< not for decimals: they want the digits
  bool AppendBoolean(bool value);
  /// Strings and binaries, as they are.
  void AppendText(std::string_view text);
  /// The same without a copy: `block` holds the text.
  void AppendTextIn(std::string_view text, const std::shared_ptr<Buffer>& block);

  bool is_string() const { return kind_ == TypeKind::kString; }
  /// Whether numbers and nested values are wanted as they are written (JsonOptions::exact_text).
  bool keeps_text() const { return exact_; }
  bool is_nested() const { return nested_; }

  // Nested types.
  std::vector<JsonField>& fields() { return fields_; }  ///< struct
  /// The field of a name, or -1.
  int FindField(std::string_view name) const;
  /// What a scanner remembers of a struct between rows: the names of members in the order in which they came last, and
  /// where their values lie in this row.
  struct Members {
    struct Name {
      std::string text;  ///< with the quote and the colon behind it
      int field = -1;
    };
    std::vector<Name> names;
    std::vector<JsonToken> tokens;  ///< one per field
  };
  Members& members() { return members_; }
  JsonSink& element() { return *children_[0]; }  ///< array; map: keys
  JsonSink& map_value() { return *children_[1]; }
  void CloseList();        ///< array, map: everything appended to the children is one row
  void CloseListAsNull();  ///< the same, but the row is null: an element could not be read
  void CloseStruct();
  int64_t length() const { return length_; }
  ColumnPtr Finish();

 private:
  JsonSink(DataType type, const JsonOptions& options);
  bool AppendTemporal(std::string_view text);
  bool Fail() {
    AppendNull();
    return false;
  }
  template <typename T>
  bool Put(T value) {
    std::get<FixedBuilder<T>>(builder_).Append(value);
    ++length_;
    return true;
  }

  DataType type_;
  TypeKind kind_;  // of type_
  bool nested_;
  bool exact_;
  const JsonOptions& options_;
  int64_t length_ = 0;
  std::variant<std::monostate, FixedBuilder<uint8_t>, FixedBuilder<int8_t>, FixedBuilder<int16_t>,
               FixedBuilder<int32_t>, FixedBuilder<int64_t>, FixedBuilder<float>,
               FixedBuilder<double>, FixedBuilder<Int128>, FixedBuilder<CalendarInterval>,
               TextBuilder>
      builder_;
  ValidityBuilder validity_;      // nested types
  std::vector<int32_t> offsets_;  // lists, maps
  std::vector<std::unique_ptr<JsonSink>> children_;
  std::vector<JsonField> fields_;
  std::unordered_map<std::string_view, int> by_name_;
  Members members_;
  const Buffer* held_block_ = nullptr;  // the last one given to the text builder
};

}  // namespace thalweg::data
