#pragma once

// The schema of a store, and whether a query may continue what it says. The file's form: engine/checkpoint.

#include <optional>
#include <string_view>

#include "data/io/file_system.h"
#include "data/types/data_type.h"
#include "engine/checkpoint/checkpoint_layout.h"

namespace thalweg::engine {

struct StoreSchema {
  data::Schema key;
  data::Schema value;
};

/// The stored schema (versions 1 and 2), or nothing. Errors: those of ParseStateSchemaFile, INVALID_JSON_DATA_TYPE.
Result<std::optional<StoreSchema>> ReadStoreSchema(data::FileSystem& file_system, const CheckpointLayout& layout,
                                                   OperatorId operator_id, std::string_view store_name);
/// Writes the schema file unless there is one; else checks that `schema` may continue it: equal types position by position,
/// where a stored nullable column may become non-nullable, not the reverse. Names and metadata do not count.
/// Errors: STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE, STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE.
Status WriteOrCheckStoreSchema(data::FileSystem& file_system, const CheckpointLayout& layout, OperatorId operator_id,
                               std::string_view store_name, const StoreSchema& schema, bool check_value = true);

}  // namespace thalweg::engine
