#pragma once

// What a checkpoint says about its stateful operators: operator metadata and state schema files, as Spark writes them.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "base/status.h"
#include "data/io/file_system.h"
#include "data/types/data_type.h"

namespace thalweg::engine {

struct StateStoreMetadata {
  std::string store_name;
  int32_t num_columns_prefix_key = 0;
  int32_t num_partitions = 0;
  std::vector<std::string> schema_file_paths;  ///< version 2 only, oldest first
};

struct OperatorStateMetadata {
  int version = 1;
  OperatorId operator_id{0};
  std::string operator_name;
  std::vector<StateStoreMetadata> stores;
  std::string properties_json = "{}";  ///< version 2 only
};

/// `v1\n{...}` or `v2\n{...}`.
std::string OperatorMetadataText(const OperatorStateMetadata& metadata);
/// Errors: MALFORMED_LOG_FILE, INVALID_LOG_VERSION.MAX_SUPPORTED_VERSION.
Result<OperatorStateMetadata> ParseOperatorMetadata(std::string_view text);

/// `state/<op>/_metadata/metadata`: writes it unless it is there.
Status WriteOperatorMetadata(data::FileSystem& file_system, const std::string& checkpoint_root,
                             const OperatorStateMetadata& metadata);
/// Version 1, or the newest version 2 file of at most `batch`; nothing when there is neither.
Result<std::optional<OperatorStateMetadata>> ReadOperatorMetadata(data::FileSystem& file_system,
                                                                  const std::string& checkpoint_root,
                                                                  OperatorId operator_id, BatchId batch);
/// Numbers of the operators that have a directory below `state`, ascending.
Result<std::vector<OperatorId>> ListStateOperators(data::FileSystem& file_system, const std::string& checkpoint_root);

/// One column family of a store ("default" in version 1 and 2 files).
struct StateSchema {
  std::string family = "default";
  int16_t key_schema_id = 0;
  int16_t value_schema_id = 0;
  data::Schema key;
  data::Schema value;
  std::string encoder_json;     ///< version 3
  std::string user_key_json;    ///< version 3; empty when there is none
};

/// The bytes of a schema file of version 2 or 3.
std::string StateSchemaBytes(const std::vector<StateSchema>& families, int version);
/// Versions 1 to 3. Errors: MALFORMED_LOG_FILE.
Result<std::vector<StateSchema>> ParseStateSchema(std::string_view bytes);

/// `state/<op>/0[/<store>]/_metadata/schema`.
std::string StateSchemaPath(const std::string& checkpoint_root, OperatorId operator_id, std::string_view store_name);
/// Writes the schema file unless there is one; else checks that `schema` may continue it (types position by position; a
/// stored nullable column may become non-nullable, not the reverse). Names and metadata do not count.
/// Columns are declared nullable in the file: such a file is always accepted by Spark.
/// Errors: STATE_STORE_KEY_SCHEMA_NOT_COMPATIBLE, STATE_STORE_VALUE_SCHEMA_NOT_COMPATIBLE.
Status WriteOrCheckStateSchema(data::FileSystem& file_system, const std::string& checkpoint_root,
                               OperatorId operator_id, std::string_view store_name, const StateSchema& schema,
                               bool check_value = true);
/// The stored schema, or nothing.
Result<std::optional<StateSchema>> ReadStateSchema(data::FileSystem& file_system, const std::string& checkpoint_root,
                                                   OperatorId operator_id, std::string_view store_name);

}  // namespace thalweg::engine
