#pragma once

// Contract: maintenance commands that a table offers by name. Parser and protocol make MaintainTable of sql/plan/commands.h,
// front/commands runs it.

#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <vector>

#include "sql/datasource/data_source.h"

namespace thalweg::sql {

/// One run of a command. Names are upper case words as in SQL: "VACUUM", "OPTIMIZE", "DESCRIBE HISTORY".
struct TableCommandRequest {
  std::string name;
  OptionMap arguments;                       ///< what the command knows by key; `tableName`: of the catalogue, when it has one
  ExprPtr condition;                         ///< WHERE, bound to `attributes`; null: none
  AttributeList attributes;                  ///< the table's columns
  std::vector<std::string> columns;          ///< ZORDER BY
  std::string user;
  std::shared_ptr<const EvalConfig> config;
  std::shared_ptr<const SettingsMap> settings;  ///< the session's
  std::stop_token stop;
};

/// What it answers: rows of plain values. A schema without columns: nothing.
struct TableCommandAnswer {
  data::Schema schema;
  std::vector<data::ValueList> rows;
};

/// What a Table also is when it can be maintained; found by dynamic_cast.
class SupportsTableCommands {
 public:
  virtual ~SupportsTableCommands() = default;
  /// Blocks until it is done. Errors: UNSUPPORTED_FEATURE.THALWEG for names the table does not know; the command's own.
  virtual Result<TableCommandAnswer> RunCommand(const TableCommandRequest& request) = 0;
};

/// What a DataSource also is when its tables keep a history that a new definition goes on with; found by dynamic_cast.
class SupportsReplaceTable {
 public:
  virtual ~SupportsReplaceTable() = default;
  /// DataSource::CreateTable in place of a table that is there, in one step. `or_create`: it need not be there.
  virtual Status ReplaceTable(const std::string& location, const data::Schema& schema, const std::vector<std::string>& partition_columns,
                              const std::map<std::string, std::string>& properties, bool or_create, const EvalConfig& config) const = 0;
};

}  // namespace thalweg::sql
