#pragma once

#include <optional>
#include <string>

#include "data/formats/option_list.h"
#include "data/formats/text/byte_stream.h"

namespace thalweg::data {

/// Options of text files, Spark's names and defaults.
struct TextOptions {
  bool whole_text = false;
  std::optional<std::string> line_separator;
  std::string encoding;  ///< of line separators only, as in Spark
  Compression compression = Compression::kNone;  ///< writing

  /// Errors: INVALID_OPTION_VALUE, CODEC_NOT_AVAILABLE.*.
  static Result<TextOptions> Make(const OptionList& options);
};

}  // namespace thalweg::data
