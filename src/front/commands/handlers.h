#pragma once

// One function per command; front/commands only.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "data/types/value.h"
#include "front/session/session.h"
#include "sql/catalog/catalog.h"
#include "sql/plan/commands.h"

namespace thalweg::front {

/// One run of a command.
struct CommandRun {
  Session& session;
  const ResultConsumer& consumer;
  std::stop_token stop;

  sql::Catalog& catalog() const { return *session.server().catalog; }
  /// The rows of the answer; called once at most. Without a call the answer has no columns and no rows.
  Status Answer(data::Schema schema, const std::vector<data::ValueList>& rows);
  bool answered = false;
};

inline data::Value TextValue(std::string text) { return data::Value(std::move(text)); }

// databases.cc
Status Run(CommandRun& run, const sql::CreateDatabase& command);
Status Run(CommandRun& run, const sql::DropDatabase& command);
Status Run(CommandRun& run, const sql::UseDatabase& command);
Status Run(CommandRun& run, const sql::UseCatalog& command);
Status Run(CommandRun& run, const sql::ShowDatabases& command);
Status Run(CommandRun& run, const sql::DescribeDatabase& command);
Status Run(CommandRun& run, const sql::AlterDatabase& command);
Status Run(CommandRun& run, const sql::ShowCatalogs& command);
Status Run(CommandRun& run, const sql::ShowCurrentNamespace& command);
// show.cc
Status Run(CommandRun& run, const sql::ShowTables& command);
Status Run(CommandRun& run, const sql::ShowViews& command);
Status Run(CommandRun& run, const sql::ShowColumns& command);
Status Run(CommandRun& run, const sql::ShowCreateTable& command);
Status Run(CommandRun& run, const sql::ShowTableExtended& command);
Status Run(CommandRun& run, const sql::ShowTableProperties& command);
// describe.cc
Status Run(CommandRun& run, const sql::DescribeTable& command);
Status Run(CommandRun& run, const sql::DescribeQuery& command);
Status Run(CommandRun& run, const sql::DescribeColumn& command);
// functions.cc
Status Run(CommandRun& run, const sql::ShowFunctions& command);
Status Run(CommandRun& run, const sql::DescribeFunction& command);
Status Run(CommandRun& run, const sql::CreateFunction& command);
Status Run(CommandRun& run, const sql::DropFunction& command);
Status Run(CommandRun& run, const sql::RefreshFunction& command);
// alter_table.cc, alter_partitions.cc
Status Run(CommandRun& run, const sql::AlterTable& command);
Status AddPartitions(CommandRun& run, const sql::TableInfo& table, const sql::AlterTable::AddPartitions& change);
Status DropPartitions(CommandRun& run, const sql::TableInfo& table, const sql::AlterTable::DropPartitions& change);
Status RenamePartition(CommandRun& run, const sql::TableInfo& table, const sql::AlterTable::RenamePartition& change);
Status RecoverPartitions(CommandRun& run, const sql::TableInfo& table, const std::string& operation);
Status Run(CommandRun& run, const sql::ShowPartitions& command);
Status Run(CommandRun& run, const sql::TruncateTable& command);
// analyze_table.cc
Status Run(CommandRun& run, const sql::AnalyzeTable& command);
// create_table_like.cc
Status Run(CommandRun& run, const sql::CreateTableLike& command);
// create_table.cc, drop_table.cc
Status Run(CommandRun& run, const sql::CreateTable& command);
Status Run(CommandRun& run, const sql::DropTable& command);
// create_view.cc
Status Run(CommandRun& run, const sql::CreateView& command);
Status Run(CommandRun& run, const sql::CreateTempViewFromPlan& command);
Status Run(CommandRun& run, const sql::CreateTempViewUsing& command);
Status Run(CommandRun& run, const sql::AlterViewAs& command);
// insert_into.cc, write_data_frame.cc
Status Run(CommandRun& run, const sql::InsertInto& command);
Status Run(CommandRun& run, const sql::WriteDataFrame& command);
// row_level.cc
Status Run(CommandRun& run, const sql::MergeIntoTable& command);
Status Run(CommandRun& run, const sql::UpdateTable& command);
Status Run(CommandRun& run, const sql::DeleteFromTable& command);
// settings.cc
Status Run(CommandRun& run, const sql::SetConfig& command);
Status Run(CommandRun& run, const sql::ResetConfig& command);
Status Run(CommandRun& run, const sql::SetTimeZone& command);
// explain.cc
Status Run(CommandRun& run, const sql::ExplainCommand& command);
// cache.cc
Status Run(CommandRun& run, const sql::CacheTable& command);
Status Run(CommandRun& run, const sql::UncacheTable& command);
Status Run(CommandRun& run, const sql::ClearCache& command);
Status Run(CommandRun& run, const sql::RefreshTable& command);
Status Run(CommandRun& run, const sql::RefreshPath& command);

// maintain_table.cc
Status Run(CommandRun& run, const sql::MaintainTable& command);

// table_writes.cc
/// The catalogue entry of a name; of delta.`/path`, which has none, one that says where it is. Errors: TABLE_OR_VIEW_NOT_FOUND with the name as written.
Result<sql::TableInfo> FindTable(Session& session, const sql::NameParts& name);
/// Removes an entry and, of a managed table, its data.
Status DropTableAndData(Session& session, const sql::TableInfo& table);
/// How the columns of a query become those of a table.
struct ColumnMatch {
  bool by_name = false;
  bool strict_names = false;         ///< with by_name: INSERT ... BY NAME, where columns may be left out
  std::vector<std::string> columns = {};  ///< INSERT INTO t (a, b); empty: all
  /// Columns that have one value of the table's type: INSERT INTO t PARTITION (p = 1).
  std::map<std::string, data::Value> fixed = {};
  std::map<std::string, data::Value> defaults = {};  ///< what columns are that the query leaves out; null: no default
  std::vector<std::pair<std::string, data::Value>> replaced = {};  ///< WriteRequest::overwrite_partition
};
/// A plan whose columns are exactly the table's, cast where Spark's store assignment allows it.
/// Errors: INSERT_COLUMN_ARITY_MISMATCH.*, INCOMPATIBLE_DATA_FOR_TABLE.*.
Result<sql::PlanPtr> MatchColumns(const sql::PlanPtr& analyzed, const data::Schema& table, const std::string& table_name,
                                  const ColumnMatch& match);
/// Writes an analysed query into a table of the catalogue.
Status WriteIntoTable(CommandRun& run, const sql::TableInfo& table, const sql::PlanPtr& analyzed, const sql::OptionMap& options,
                      sql::SaveMode mode, ColumnMatch match, sql::ExprPtr overwrite_condition);
struct TableCreation {
  bool if_not_exists = false;
  sql::SaveMode mode = sql::SaveMode::kErrorIfExists;  ///< otherwise files at an external location are replaced
};
/// Makes a table with the columns of an analysed query and fills it; takes it back when that fails.
/// Errors: _LEGACY_ERROR_TEMP_1241 (files at the location).
Status CreateTableAsSelect(CommandRun& run, sql::TableInfo table, const sql::PlanPtr& analyzed, const sql::OptionMap& options,
                           const TableCreation& creation);
/// The same in place of an old table. The query may read that: its rows are complete before the old ones go.
Status ReplaceTableAsSelect(CommandRun& run, const sql::TableInfo& old, sql::TableInfo table, const sql::PlanPtr& analyzed,
                            const sql::OptionMap& options);
/// Whether the session says that writes and MERGE add missing columns to Delta tables.
bool AutoMerges(Session& session);
/// The options of a write with mergeSchema when the session says so for all.
sql::OptionMap WithAutoMerge(Session& session, std::string_view format, sql::OptionMap options);
/// The value of an expression without columns, cast as a write casts.
Result<data::Value> ConstantOf(CommandRun& run, const sql::ExprPtr& expression, const data::DataType& type);
/// Whether a name means a temporary view of the session.
bool IsTemporary(const Session& session, const sql::NameParts& name);
/// What a table of the catalogue is when its format knows better: the schema and partitions of its log.
Result<sql::TableInfo> WithOwnSchema(Session& session, sql::TableInfo table);
/// A literal in SQL: quotes and backslashes escaped.
std::string SqlString(const std::string& text);
/// The lines of SHOW TABLE EXTENDED and DESCRIBE EXTENDED about a table or view: name and value.
std::vector<std::pair<std::string, std::string>> TableDetails(const sql::TableInfo& table);
/// Whether tables of a format say themselves what they are and which files they have (Delta).
bool KeepsOwnLog(std::string_view format);
/// Partition columns behind the others, as formats without metadata of their own keep them.
void OrderColumns(sql::TableInfo* table);

}  // namespace thalweg::front
