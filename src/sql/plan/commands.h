#pragma once

// Contract: statements that do something rather than describe rows. Parser and protocol build them, front/commands runs them,
// one file per command.

#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "sql/datasource/alter_table.h"
#include "sql/plan/logical_plan.h"

namespace thalweg::sql {

using NameParts = std::vector<std::string>;

/// A column of PARTITION (p = 1, q): a value, or null where the query gives it.
struct PartitionValue { std::string column; ExprPtr value; };
using PartitionSpec = std::vector<PartitionValue>;

struct CreateDatabase { NameParts name; bool if_not_exists; std::optional<std::string> location, comment; std::map<std::string, std::string> properties; };
struct DropDatabase { NameParts name; bool if_exists, cascade; };
struct UseDatabase { NameParts name; };          ///< USE / USE DATABASE / USE NAMESPACE
struct UseCatalog { std::string name; };
struct ShowDatabases { std::optional<std::string> pattern; NameParts catalog; };
struct ShowTables { NameParts database; std::optional<std::string> pattern; };
struct ShowColumns { NameParts table; NameParts database; };
struct ShowViews { NameParts database; std::optional<std::string> pattern; };
struct ShowFunctions { std::optional<std::string> pattern; std::string scope; NameParts database; };
struct ShowCreateTable { NameParts table; };
struct DescribeTable { NameParts table; bool extended; PartitionSpec partition = {}; };
struct DescribeColumn { NameParts table, column; bool extended; };
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
struct CreateView {
  NameParts name;
  PlanPtr query;
  std::string sql;                               ///< of the query
  bool replace, if_not_exists, temporary, global;
  std::vector<std::string> columns;
  std::vector<std::optional<std::string>> column_comments;  ///< one per column
  std::optional<std::string> comment;
  std::map<std::string, std::string> properties;
};
struct AlterViewAs { NameParts name; PlanPtr query; std::string sql; };
/// CREATE TEMPORARY VIEW v (columns) USING format OPTIONS (...).
struct CreateTempViewUsing { std::string name, format; std::optional<data::Schema> schema; OptionMap options; bool replace, global; };
struct CreateTableLike {
  NameParts table, source;
  bool if_not_exists = false;
  std::optional<std::string> format, location;
  std::map<std::string, std::string> properties;
};

/// ALTER DATABASE, COMMENT ON DATABASE.
struct AlterDatabase {
  NameParts name;
  std::map<std::string, std::string> set = {};
  std::vector<std::string> unset = {};
  std::optional<std::string> location = {};
  std::optional<std::optional<std::string>> comment = {};  ///< inner null: none from now on
};

/// ALTER TABLE, ALTER VIEW, COMMENT ON TABLE.
struct AlterTable {
  struct SetLocation { std::string location; PartitionSpec partition; };
  struct Rename { NameParts name; };
  struct AddPartitions { std::vector<PartitionSpec> partitions; bool if_not_exists; };
  struct DropPartitions { std::vector<PartitionSpec> partitions; bool if_exists; };
  struct RenamePartition { PartitionSpec from, to; };
  struct RecoverPartitions {};
  using Change = std::variant<TableChange, SetLocation, Rename, AddPartitions, DropPartitions, RenamePartition, RecoverPartitions>;
  NameParts table;
  bool view;                                     ///< ALTER VIEW
  std::string operation;                         ///< as errors name it: "ALTER TABLE ... ADD COLUMNS"
  Change change;
};

struct TruncateTable { NameParts table; PartitionSpec partition; };
/// ANALYZE TABLE; an empty name: ANALYZE TABLES, of a database.
struct AnalyzeTable { NameParts table; NameParts database; PartitionSpec partition; bool noscan = false; std::vector<std::string> columns; bool all_columns = false; };
struct ShowCatalogs { std::optional<std::string> pattern; };
struct ShowCurrentNamespace {};
struct ShowTableExtended { NameParts database; std::string pattern; PartitionSpec partition; };
struct ShowTableProperties { NameParts table; std::optional<std::string> key; };
struct ShowPartitions { NameParts table; PartitionSpec partition; };
struct CreateFunction { NameParts name; std::string class_name; bool temporary, replace, if_not_exists; };
struct DropFunction { NameParts name; bool temporary, if_exists; };
struct RefreshFunction { NameParts name; };
struct RefreshPath { std::string path; };
struct InsertInto {
  PlanPtr table, query;
  bool overwrite = false, by_name = false;
  std::vector<std::string> columns;
  PartitionSpec partition = {};
  bool if_not_exists = false;                    ///< with overwrite: a partition that is there stays
};
struct SetConfig { std::optional<std::string> key, value; };   ///< SET, SET k, SET k=v
struct ResetConfig { std::optional<std::string> key; };
struct SetTimeZone { ExprPtr zone; std::string text; };
struct ExplainCommand { PlanPtr query; enum class Mode : uint8_t { kSimple, kExtended, kCodegen, kCost, kFormatted } mode = Mode::kSimple; };
struct CacheTable { NameParts name; PlanPtr query; bool lazy; std::map<std::string, std::string> options = {}; };
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
                 UpdateTable, DeleteFromTable, MaintainTable, AlterDatabase, AlterTable, AlterViewAs, AnalyzeTable, CreateFunction, CreateTableLike,
                 CreateTempViewUsing, DescribeColumn, DropFunction, RefreshFunction, RefreshPath, ShowCatalogs, ShowCurrentNamespace, ShowPartitions,
                 ShowTableExtended, ShowTableProperties, TruncateTable>;

/// A command as the root of a plan. output() is the schema of the rows it answers with (empty for most).
struct Command final : PlanNode<Command, PlanKind::kCommand> {
  explicit Command(CommandBody b) : body(std::move(b)) {}
  CommandBody body;
  AttributeList output() const override;
  std::string NodeText() const override;
};

}  // namespace thalweg::sql
