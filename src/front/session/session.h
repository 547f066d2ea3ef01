#pragma once

// Contract: the facade that all front ends call. Connect, the SQL shell and the C++ API see this and sql/plan, nothing below.

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/memory.h"
#include "base/settings.h"
#include "base/signal.h"
#include "base/status.h"
#include "data/columnar/chunk.h"
#include "sql/analyzer/analyzer.h"
#include "sql/datasource/data_source.h"
#include "sql/parser/parser.h"
#include "sql/plan/commands.h"
#include "sql/plan/logical_plan.h"
#include "streaming/query/query_manager.h"

namespace thalweg::engine {
class ExecutionView;
class PythonWorkers;
class Scheduler;
class StateServices;
}  // namespace thalweg::engine

namespace thalweg::sql {
class Catalog;
struct TableInfo;
}

namespace thalweg::front {

class Session;
struct ResultConsumer;
class ViewMap;
std::shared_ptr<ViewMap> MakeViewMap();
class CachedNames;
std::shared_ptr<CachedNames> MakeCachedNames();
class MakerTurns;
std::shared_ptr<MakerTurns> MakeMakerTurns();

/// What all sessions of a process share. Built once by apps; outlives every session.
struct ServerContext {
  engine::Scheduler* scheduler = nullptr;
  engine::StateServices* state = nullptr;
  sql::Catalog* catalog = nullptr;
  sql::DataSourceRegistry* data_sources = nullptr;
  const sql::FunctionRegistry* functions = nullptr;
  sql::ConnectorServices connectors;
  MemoryReservation* memory = nullptr;
  SettingsMap server_settings;               ///< static settings and the defaults of sessions (spark-defaults.conf, --conf)
  /// What settings may hold beside Spark's own table; null: anything. Borrowed.
  const SettingsTable* known_settings = nullptr;
  /// The user's Python; null: functions in Python are refused by name.
  engine::PythonWorkers* python = nullptr;
  /// How a Python worker reaches this server: "sc://localhost:15002/;token=..."; empty: it cannot.
  std::string worker_url;
  /// Runs a Command (front/commands); null: commands are refused by name.
  std::function<Status(Session& session, const sql::PlanPtr& command, const ResultConsumer& consumer, std::stop_token stop)>
      run_command;
  /// Views of the database global_temp, shared by all sessions.
  std::shared_ptr<ViewMap> global_views = MakeViewMap();
  /// What CACHE TABLE named, shared by all sessions.
  std::shared_ptr<CachedNames> cached_names = MakeCachedNames();
  /// Of the sessions that make tables: one at a time for a directory.
  std::shared_ptr<MakerTurns> maker_turns = MakeMakerTurns();
};

/// Rows of a query as they come, in the order of its partitions. Called by one thread at a time (workers among them); answer
/// false to stop.
struct ResultConsumer {
  std::function<Status(const data::Schema& schema)> on_schema;
  std::function<Result<bool>(const data::Chunk& chunk)> on_chunk;
  /// Metrics per physical node after the last chunk; may be empty.
  std::function<void(const struct QueryMetrics& metrics)> on_metrics;
  /// Asked after each chunk: a signal to wait for before the next one (a slow client), or null. May be empty.
  std::function<std::shared_ptr<Signal>()> throttle;
  /// Shows the run of the query to other threads. May be null.
  engine::ExecutionView* view = nullptr;
};

struct NodeMetric {
  std::string name;
  int64_t plan_id = 0, parent = 0;
  std::map<std::string, std::pair<int64_t, std::string>> values;  ///< name -> value, metric type ("sum", "timing", "size")
};
/// The values of one df.observe.
struct ObservedMetrics {
  std::string name;
  data::Schema schema;
  data::ValueList values;
};
struct QueryMetrics {
  std::vector<NodeMetric> nodes;
  std::vector<ObservedMetrics> observed;
};

/// Everything writeStream...start() says. See Spark's DataStreamWriter.
struct StreamStart {
  sql::PlanPtr input;
  std::stop_token stop;                      ///< of the request: ends the start, not the query
  std::string format;                        ///< empty: spark.sql.sources.default
  sql::OptionMap options;
  std::vector<std::string> partition_columns, clustering_columns;
  streaming::Trigger trigger;
  sql::OutputMode output_mode = sql::OutputMode::kAppend;
  std::string query_name;
  std::string path;
  std::vector<std::string> table_name;       ///< toTable
  std::vector<std::string> job_tags;         ///< told to listeners when it starts
  /// foreachBatch / foreach: a sink made by the caller, once everything else about the start is found to be right (it may launch a
  /// process); empty otherwise. `format` then says which: "foreachBatch" or "foreach".
  std::function<Result<streaming::SinkFactory>()> open_callback_sink;
  /// Called at every stop(), from its thread: the sink's calls are to give up. May be empty.
  std::function<void()> interrupt_sink;
};

/// One user's session. Thread: synchronised; queries of a session run in parallel. No lock is held while a query runs.
class Session : public std::enable_shared_from_this<Session> {
 public:
  static std::shared_ptr<Session> Make(ServerContext& server, std::string user, std::string id);
  ~Session();                                ///< Close() must have been called

  const std::string& id() const;
  /// Whose Python workers are this session's: its user and id.
  std::string python_owner() const;
  const std::string& user() const;

  // --- settings ---
  Status SetConf(const std::string& key, const std::string& value);
  /// Explicit value, else the default; SQL_CONF_NOT_FOUND.
  Result<std::string> GetConf(const std::string& key) const;
  std::optional<std::string> GetConfOption(const std::string& key) const;      ///< explicit value or default
  std::optional<std::string> GetExplicitConf(const std::string& key) const;
  Status UnsetConf(const std::string& key);
  std::map<std::string, std::string> AllConf() const;
  bool IsModifiable(const std::string& key) const;
  void ResetConf();                          ///< forgets what this session has set
  /// What was set, over the server's settings: what a streaming query takes at its start.
  SettingsMap SettingsSnapshot() const;
  std::shared_ptr<const sql::EvalConfig> eval_config() const;

  // --- plans ---
  /// Parses SQL text to an unresolved plan (a query or a Command). `parameters`: named (":x") and positional ("?") literals.
  Result<sql::PlanPtr> ParseSql(const std::string& text, const std::map<std::string, sql::ExprPtr>& named,
                                const std::vector<sql::ExprPtr>& positional) const;
  /// How this session's settings make SQL text be read.
  sql::ParserOptions parser_options() const;
  /// `stop` ends what has to run before anything is known: commands below the root, the values of a pivot, the rows of a transpose.
  Result<sql::PlanPtr> Analyze(const sql::PlanPtr& plan, std::stop_token stop = {});
  /// `mode` of df.explain(): "simple", "extended", "codegen", "cost", "formatted".
  Result<std::string> Explain(const sql::PlanPtr& plan, const std::string& mode, std::stop_token stop = {});
  /// Runs a batch query or a Command (unresolved or resolved) and delivers its rows; blocks the caller.
  Status Execute(const sql::PlanPtr& plan, const ResultConsumer& consumer, std::stop_token stop);
  /// Runs an analysed batch query into a write and commits it (or aborts it). Answers the rows written. Blocks.
  Result<int64_t> RunWrite(const sql::PlanPtr& analyzed, sql::BatchWrite& write, std::stop_token stop);
  /// Runs a Command and answers its rows as a LocalRelation.
  Result<sql::PlanPtr> CommandRows(const sql::PlanPtr& command, std::stop_token stop);
  /// Execute, all rows collected. They are charged to the session while they come, and stay charged to `held` where there is one.
  Result<std::vector<data::Chunk>> Collect(const sql::PlanPtr& plan, std::stop_token stop = {}, MemoryReservation* held = nullptr);

  // --- views ---
  Status CreateTempView(const std::string& name, sql::PlanPtr analyzed, bool replace, bool global);
  bool DropTempView(const std::string& name, bool global);
  /// Sorted names; `global`: those of the database global_temp, shared by the sessions of the server.
  std::vector<std::string> TempViews(bool global = false) const;
  /// The analysed plan of a temporary view, or null.
  sql::PlanPtr FindTempView(const std::string& name, bool global) const;
  /// CACHE TABLE: a name is remembered and told back, rows are read anew for every query. A name that is no temporary view is one of
  /// the catalogue's. Errors: those of TableName.
  Status SetCached(const std::vector<std::string>& name, bool cached);
  Result<bool> IsCached(const std::vector<std::string>& name) const;
  void ClearCached();
  /// Completes a table name with catalogue and current database: {database, table}. Errors: UNSUPPORTED_FEATURE.THALWEG for
  /// other catalogues, REQUIRES_SINGLE_PART_NAMESPACE.
  Result<std::pair<std::string, std::string>> TableName(const std::vector<std::string>& parts) const;
  /// A format by name or alias, as this session knows it. Errors: DATA_SOURCE_NOT_FOUND.
  Result<std::shared_ptr<const sql::DataSource>> FindDataSource(std::string_view name) const;
  /// The table of a catalogue entry, opened through its format; not for views.
  Result<sql::TablePtr> OpenTable(const sql::TableInfo& info, const sql::OptionMap& options, bool streaming, bool for_write) const;
  std::string current_database() const;
  void set_current_database(std::string name);

  /// Enters a table into the catalogue: completes location, owner and time, lets the format make its own metadata. `table.schema`
  /// may be empty for an external table whose format knows it. False: it existed and `if_not_exists` was said.
  /// Blocks while another session makes a table in the same directory.
  /// Errors: TABLE_OR_VIEW_ALREADY_EXISTS, SCHEMA_NOT_FOUND, LOCATION_ALREADY_EXISTS, DATA_SOURCE_NOT_FOUND, OPERATION_CANCELED.
  Result<bool> CreateTable(sql::TableInfo* table, bool if_not_exists, std::stop_token stop);

  // --- functions ---
  /// spark.udf.register: by its name without case; replaces one of the same name.
  void RegisterFunction(sql::PythonFunctionPtr function);
  /// Null when there is none.
  sql::PythonFunctionPtr FindFunction(const std::string& name) const;
  /// Names as registered, sorted.
  std::vector<std::string> RegisteredFunctions() const;

  // --- streaming ---
  Result<std::shared_ptr<streaming::StreamingQuery>> StartStream(StreamStart start);
  streaming::StreamingQueryManager& queries();

  ServerContext& server();
  MemoryReservation& memory();
  /// A session with the same settings, views and current database (CloneSession).
  std::shared_ptr<Session> Clone(std::string new_id) const;
  /// Stops its streaming queries (waiting), drops views.
  void Close();

 private:
  Session();
  Result<sql::PlanPtr> RunInnerCommands(const sql::PlanPtr& plan, const std::stop_token& stop);
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace thalweg::front
