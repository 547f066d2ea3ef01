#pragma once

// The little of an ORC file's footer that Arrow's adapter does not tell. Private to the ORC family.

#include <string_view>

namespace thalweg::data {

/// Whether the footer says that days are counted in the proleptic calendar. `file_tail`: the message FileTail of ORC's specification.
/// A tail that cannot be read says nothing: false, the hybrid calendar, as readers of ORC assume.
/// Source: https://orc.apache.org/specification/ORCv1, "File Tail".
bool SaysProleptic(std::string_view file_tail);

}  // namespace thalweg::data
