#pragma once

// The schema files of state: which columns keys and values have. Binary, Java's DataOutputStream; bytes that Spark reads; do
// not change. Source: checkpoint-format sections 7.4, 7.5; Spark's SchemaHelper.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/io/file_system.h"

namespace thalweg::engine {

/// Schemas of one column family; versions 1 and 2 know only `default`. Schemas are Spark's JSON of a struct.
struct StateSchema {
  std::string family = "default";
  int16_t key_schema_id = 0;
  std::string key_json;
  int16_t value_schema_id = 0;
  std::string value_json;
  std::string encoder_json;                ///< version 3: {"keyStateEncoderType":...}
  std::string user_key_json = "{    }";    ///< version 3: the key of a map state; this text (four blanks) when there is none
  friend bool operator==(const StateSchema&, const StateSchema&) = default;
};

struct StateSchemaFile {
  int version = 2;
  std::vector<StateSchema> families;  ///< version 3: sorted by name
  friend bool operator==(const StateSchemaFile&, const StateSchemaFile&) = default;
};

/// Reads versions 1 to 3. Errors: MALFORMED_LOG_ENTRY, INVALID_LOG_VERSION.MAX_SUPPORTED_VERSION.
Result<StateSchemaFile> ParseStateSchemaFile(std::string_view bytes);
/// Errors: INTERNAL_ERROR for a version other than 2 and 3, or version 2 without exactly one family.
Result<std::string> FormatStateSchemaFile(const StateSchemaFile& file);

/// Java's modified UTF-8 of a text: NUL is C0 80, a character beyond U+FFFF two surrogates of three bytes each.
std::string ToModifiedUtf8(std::string_view utf8);
/// The reverse. Errors: MALFORMED_LOG_ENTRY.
Result<std::string> FromModifiedUtf8(std::string_view bytes);

}  // namespace thalweg::engine
