#pragma once

// Contract: changes of a table's definition, as values. sql/plan/commands.h carries them, front/commands applies them to the
// catalogue's entry, a table that keeps a definition of its own (Delta) applies them there.

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <stop_token>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "sql/datasource/data_source.h"

namespace thalweg::sql {

/// A column, or a field of one: {"address", "city"}.
using ColumnPath = std::vector<std::string>;

struct SetTableProperties { std::map<std::string, std::string> properties; };
struct UnsetTableProperties { std::vector<std::string> keys; bool if_exists; };
struct SetTableComment { std::optional<std::string> comment; };   ///< nullopt: none from now on
struct AddTableColumns { std::vector<std::pair<ColumnPath, data::StructField>> columns; };  ///< the field's name is the path's last part
struct DropTableColumns { std::vector<ColumnPath> columns; bool if_exists; };
struct RenameTableColumn { ColumnPath column; std::string name; };
/// What is nullopt stays as it is.
struct ChangeTableColumn { ColumnPath column; std::optional<data::DataType> type; std::optional<std::string> comment; std::optional<bool> nullable; };

using TableChange = std::variant<SetTableProperties, UnsetTableProperties, SetTableComment, AddTableColumns, DropTableColumns,
                                 RenameTableColumn, ChangeTableColumn>;

/// Who changes, and by which settings.
struct TableChangeContext {
  std::string table_name;                         ///< for errors
  std::string user = {};
  std::shared_ptr<const EvalConfig> config = {};
  std::stop_token stop = {};
};

/// What a Table also is when it keeps its definition itself; found by dynamic_cast.
class SupportsAlterTable {
 public:
  virtual ~SupportsAlterTable() = default;
  /// Applies the changes in their order, all or none. Blocks until they are durable.
  /// Errors: UNSUPPORTED_FEATURE.* for a change the table cannot make; the table's own.
  virtual Status Alter(std::span<const TableChange> changes, const TableChangeContext& context) = 0;
};

}  // namespace thalweg::sql
