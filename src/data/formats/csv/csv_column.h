#pragma once

#include <string_view>
#include <variant>

#include "data/columnar/builder.h"
#include "data/formats/csv/csv_options.h"

namespace thalweg::data {

/// Fields of CSV as values of one type, into a column. Made for row loops: typed, no virtual call.
/// Source: Spark's UnivocityParser.makeConverter.
class CsvColumn {
 public:
  /// Errors: UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE. Borrows the options.
  static Result<CsvColumn> Make(const StructField& field, const CsvOptions& options);

  void AppendNull();
  /// One row; false (and null) when the text is not a value of the type. `block` holds the text, or is null.
  bool Append(std::string_view text, const std::shared_ptr<Buffer>* block);
  ColumnPtr Finish();

 private:
  using Builder = std::variant<FixedBuilder<uint8_t>, FixedBuilder<int8_t>, FixedBuilder<int16_t>,
                               FixedBuilder<int32_t>, FixedBuilder<int64_t>, FixedBuilder<float>,
                               FixedBuilder<double>, FixedBuilder<Int128>, FixedBuilder<CalendarInterval>, TextBuilder>;
  CsvColumn(DataType type, const CsvOptions& options, Builder builder)
      : type_(std::move(type)), kind_(type_.kind()), options_(&options), builder_(std::move(builder)) {}

  template <typename T>
  bool Put(bool good, T value) {
    auto& builder = std::get<FixedBuilder<T>>(builder_);
    if (good)
      builder.Append(value);
    else
      builder.AppendNull();
    return good;
  }
  template <typename T>
  bool AppendWhole(std::string_view text);
  bool AppendTemporal(std::string_view text);
  bool AppendFraction(std::string_view text);
  void AppendText(std::string_view text, const std::shared_ptr<Buffer>* block);

  DataType type_;
  TypeKind kind_;
  const CsvOptions* options_;
  Builder builder_;
  const Buffer* held_block_ = nullptr;  // the last one given to the text builder
  std::string repaired_;
};

}  // namespace thalweg::data
