#pragma once

#include <cstdint>

namespace thalweg::sql {

/// How rows may change what earlier rows said, between two operators or before a sink. A mode allows what those before it do.
enum class ChangelogMode : uint8_t {
  kInsertOnly,  ///< every row is new
  kUpsert,      ///< a row takes the place of an earlier one with its key, as in Spark's update mode; chunks carry no change kinds
  kRetract,     ///< chunks carry change kinds: rows are taken back too
};

}  // namespace thalweg::sql
