#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "data/columnar/chunk.h"
#include "data/types/data_type.h"

namespace thalweg::connectors {

/// The lengths of CHAR(n) and VARCHAR(n), which Delta's schemas hold as strings with the type as a hint of the column
/// (`__CHAR_VARCHAR_TYPE_STRING`). Written texts may not be longer, blanks at their end included; shorter ones stay as they are.
/// Source: Delta's Constraints and Spark's CharVarcharUtils, seen on Delta 4.4.0. Thread: immutable.
class TextLimits {
 public:
  explicit TextLimits(const data::Schema& schema);
  /// `chunk`: dense, the columns of the schema. Errors: DELTA_EXCEED_CHAR_VARCHAR_LIMIT with the text and the limit.
  Status Check(const data::Chunk& chunk) const;

 private:
  struct Limited {
    int column;
    std::string name;
    data::DataType type;  ///< as it was declared
  };
  std::vector<Limited> limited_;
};

/// The type that a column was declared with, as its hint names it. Nothing without a hint, and when the hint is of no type of the column's
/// shape: it is a hint.
std::optional<data::DataType> DeclaredTextType(const data::StructField& field);
/// The n of a column declared CHAR(n), to which its texts are padded when they are read; 0 for others, and from 2^20 on.
int CharLength(const data::StructField& field);
/// Puts the hint beside a column whose declared type has lengths in it, and takes them out of the type.
void StoreTextLimits(data::StructField* field);

}  // namespace thalweg::connectors
