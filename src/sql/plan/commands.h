#pragma once

// Contract: statements that do something rather than describe rows. Parser and protocol build them, front/commands runs them,
// one file per command.

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sql/plan/logical_plan.h"

namespace thalweg::sql {

using NameParts = std::vector<std::string>;

struct CreateDatabase { NameParts name; bool if_not_exists; std::optional<std::string> location, comment; std::map<std::string, std::string> properties; };
struct DropDatabase { NameParts name; bool if_exists, cascade; };
struct UseDatabase { NameParts name; };          ///< USE / USE DATABASE / USE NAMESPACE
struct UseCatalog { std::string name; };
struct ShowDatabases { std::optional<std::string> pattern; };
struct ShowTables { NameParts database; std::optional<std::string> pattern; };
struct ShowColumns { NameParts table; };
struct ShowViews { NameParts database; std::optional<std::string> pattern; };
struct ShowFunctions { std::optional<std::string> pattern; std::string scope; };
struct ShowCreateTable { NameParts table; };
struct DescribeTable { NameParts table; bool extended; };
struct DescribeQuery { PlanPtr query; };
struct DescribeDatabase { NameParts name; bool extended; };
struct DescribeFunction { NameParts name; bool extended; };
struct CreateTable {
  NameParts table;
  bool if_not_exists = false, replace = false, external = false;
  bool replace_only = false;                     ///< with replace: REPLACE TABLE, of a table that has to be there
  std::optional<std::string> format, location, comment;
  data::Schema schema;
  std::vector<std::string> partition_columns;
  std::map<std::string, std::string> properties, options;
  PlanPtr query;                                 ///< CTAS; null otherwise
  bool has_schema = false;
};
struct DropTable { NameParts table; bool if_exists, purge, view; };
struct CreateView { NameParts name; PlanPtr query; std::string sql; bool replace, if_not_exists, temporary, global; std::vector<std::string> columns; };
struct InsertInto { PlanPtr table; PlanPtr query; bool overwrite = false, by_name = false; std::vector<std::string> columns; };
struct SetConfig { std::optional<std::string> key, value; };   ///< SET, SET k, SET k=v
struct ResetConfig { std::optional<std::string> key; };
struct SetTimeZone { ExprPtr zone; std::string text; };
struct ExplainCommand { PlanPtr query; enum class Mode : uint8_t { kSimple, kExtended, kCodegen, kCost, kFormatted } mode = Mode::kSimple; };
struct CacheTable { NameParts name; PlanPtr query; bool lazy; };
struct UncacheTable { NameParts name; bool if_exists; };
struct ClearCache {};
struct RefreshTable { NameParts name; };

/// df.write...save()/saveAsTable()/insertInto(), writeTo(...).
struct WriteDataFrame {
  PlanPtr input;
  std::string format;                            ///< empty: the default
  std::optional<std::string> path;
  NameParts table;                               ///< saveAsTable / insertInto
  enum class Method : uint8_t { kPath, kSaveAsTable, kInsertInto, kV2Create, kV2Append, kV2Overwrite, kV2OverwritePartitions, kV2Replace, kV2CreateOrReplace } method = Method::kPath;
  SaveMode mode = SaveMode::kErrorIfExists;
  OptionMap options;
  std::vector<std::string> partition_columns, sort_columns, clustering_columns;
  std::map<std::string, std::string> table_properties;
  ExprPtr overwrite_condition;
};

/// df.createOrReplaceTempView and kin.
struct CreateTempViewFromPlan { std::string name; PlanPtr query; bool global, replace; };

// --- statements that change rows of a table (sql/datasource/row_level_operation.h) ---
//
// `target` is any unresolved plan that names one table: UnresolvedRelation (also delta.`/path`), UnresolvedDataSource with a path,
// either under a SubqueryAlias for its alias. Expressions are unresolved, over the columns of target and source.

/// SET column = value; (column, ...) VALUES (value, ...).
struct Assignment {
  ExprPtr column;                                ///< UnresolvedAttribute, with nested fields as more name parts
  ExprPtr value;
};

/// One WHEN clause of a MERGE; the first whose condition holds decides over a row.
struct MergeAction {
  enum class Kind : uint8_t { kUpdate, kUpdateAll, kDelete, kInsert, kInsertAll } kind = Kind::kUpdate;
  ExprPtr condition;                             ///< null: always
  std::vector<Assignment> assignments;           ///< kUpdate and kInsert
};

struct MergeIntoTable {
  PlanPtr target, source;                        ///< aliases are SubqueryAlias nodes
  ExprPtr condition;
  std::vector<MergeAction> matched;              ///< kUpdate, kUpdateAll, kDelete
  std::vector<MergeAction> not_matched;          ///< kInsert, kInsertAll
  std::vector<MergeAction> not_matched_by_source;///< kUpdate, kDelete; over target columns only
  bool with_schema_evolution = false;
};

struct UpdateTable { PlanPtr target; std::vector<Assignment> assignments; ExprPtr condition; };  ///< condition null: all rows
struct DeleteFromTable { PlanPtr target; ExprPtr condition; };                                   ///< condition null: all rows

/// A maintenance command of a table (sql/datasource/table_command.h): VACUUM, OPTIMIZE, DESCRIBE HISTORY, RESTORE and kin.
struct MaintainTable {
  PlanPtr target;                                ///< as for the statements above
  std::string name;                              ///< upper case
  OptionMap arguments;
  ExprPtr condition;                             ///< unresolved, over the table's columns; null: none
  std::vector<std::string> columns;
};

using CommandBody =
    std::variant<CreateDatabase, DropDatabase, UseDatabase, UseCatalog, ShowDatabases, ShowTables, ShowColumns, ShowViews, ShowFunctions, ShowCreateTable,
                 DescribeTable, DescribeQuery, DescribeDatabase, DescribeFunction, CreateTable, DropTable, CreateView, InsertInto, SetConfig, ResetConfig,
                 SetTimeZone, ExplainCommand, CacheTable, UncacheTable, ClearCache, RefreshTable, WriteDataFrame, CreateTempViewFromPlan, MergeIntoTable,
                 UpdateTable, DeleteFromTable, MaintainTable>;

/// A command as the root of a plan. output() is the schema of the rows it answers with (empty for most).
struct Command final : PlanNode<Command, PlanKind::kCommand> {
  explicit Command(CommandBody b) : body(std::move(b)) {}
  CommandBody body;
  AttributeList output() const override;
  std::string NodeText() const override;
};

}  // namespace thalweg::sql
