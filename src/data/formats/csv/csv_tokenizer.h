#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/formats/csv/csv_options.h"

namespace thalweg::data {

/// Cuts records of CSV into fields, by the rules of the univocity parser that Spark uses: what a stray quote, a blank
/// behind a closing quote or an open quote at the end means. Thread: confined.
class CsvTokenizer {
 public:
  /// `newline`: the byte that ends a record in a text of several, 0 for single lines. Borrows the options.
  CsvTokenizer(const CsvOptions& options, char newline);

  /// Cuts the record at `at`; returns where the next one begins (`end` at the end). Fields stay until the next call,
  /// those without escapes as long as the text.
  const char* Parse(const char* at, const char* end);

  size_t size() const { return fields_.size(); }
  /// Nothing stood there, not even quotes.
  bool IsNull(size_t i) const { return fields_[i].is_null; }
  /// Quotes with nothing between them count as `emptyValue`.
  std::string_view Text(size_t i) const {
    const Field& field = fields_[i];
    return {field.in_scratch ? scratch_.data() + field.offset : field.data, field.size};
  }
  /// Whether Text lies in the record's own bytes.
  bool IsInPlace(size_t i) const { return !fields_[i].in_scratch; }
  /// A quote where RAISE_ERROR allows none.
  bool refused() const { return refused_; }

 private:
  struct Field {
    const char* data = nullptr;
    size_t offset = 0;
    size_t size = 0;
    bool in_scratch = false;
    bool is_null = false;
  };
  static constexpr int kEnd = -1;

  bool AtDelimiter(const char* at) const {
    if (at == end_ || *at != first_of_delimiter_) return false;
    return delimiter_size_ == 1 || std::string_view(at, static_cast<size_t>(end_ - at)).starts_with(options_.delimiter);
  }
  bool AtStop(const char* at) const { return at == end_ || AtDelimiter(at) || (newline_ != 0 && *at == newline_); }
  const char* FindStop(const char* at) const;
  static bool IsBlank(char c) { return static_cast<unsigned char>(c) <= ' '; }
  void AddNull();
  void AddPlain(const char* begin, const char* end);
  void AddScratch(size_t offset);
  const char* Unquoted(const char* at);
  const char* Quoted(const char* at);
  const char* QuotedSlowly(const char* at, size_t offset);
  const char* UntilDelimiter(const char* at, size_t offset);

  const CsvOptions& options_;
  char newline_;
  char first_of_delimiter_;
  size_t delimiter_size_;
  const char* end_ = nullptr;
  std::vector<Field> fields_;
  std::string scratch_;
  bool refused_ = false;
};

}  // namespace thalweg::data
