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
#include "base/status.h"
#include "data/columnar/chunk.h"
#include "sql/analyzer/analyzer.h"
#include "sql/datasource/data_source.h"
#include "sql/plan/commands.h"
#include "sql/plan/logical_plan.h"
#include "streaming/query/query_manager.h"

namespace thalweg::engine {
class Scheduler;
class StateServices;
}  // namespace thalweg::engine

namespace thalweg::sql {
class Catalog;
}

namespace thalweg::front {

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
};

/// Rows of a query as they come. Called on one thread; answer false to stop.
struct ResultConsumer {
  std::function<Status(const data::Schema& schema)> on_schema;
  std::function<Result<bool>(const data::Chunk& chunk)> on_chunk;
  /// Metrics per physical node after the last chunk; may be empty.
  std::function<void(const struct QueryMetrics& metrics)> on_metrics;
};

struct NodeMetric {
  std::string name;
  int64_t plan_id = 0, parent = 0;
  std::map<std::string, std::pair<int64_t, std::string>> values;  ///< name -> value, metric type ("sum", "timing", "size")
};
struct QueryMetrics {
  std::vector<NodeMetric> nodes;
  std::map<std::string, data::ValueList> observed;                 ///< CollectMetrics by name
};

/// Everything writeStream...start() says. See spark-connect.md 4.2.
struct StreamStart {
  sql::PlanPtr input;
  std::string format;                        ///< empty: spark.sql.sources.default
  sql::OptionMap options;
  std::vector<std::string> partition_columns, clustering_columns;
  streaming::Trigger trigger;
  sql::OutputMode output_mode = sql::OutputMode::kAppend;
  std::string query_name;
  std::string path;
  std::vector<std::string> table_name;       ///< toTable
  /// foreachBatch / foreach: a sink made by the caller; null otherwise.
  std::shared_ptr<sql::BatchSink> callback_sink;
};

/// One user's session. Thread: synchronised; queries of a session run in parallel. No lock is held while a query runs.
class Session : public std::enable_shared_from_this<Session> {
 public:
  static std::shared_ptr<Session> Make(ServerContext& server, std::string user, std::string id);
  ~Session();                                ///< Close() must have been called

  const std::string& id() const;
  const std::string& user() const;

  // --- settings (spark-connect.md 1.7) ---
  Status SetConf(const std::string& key, const std::string& value);
  /// Explicit value, else the default; SQL_CONF_NOT_FOUND.
  Result<std::string> GetConf(const std::string& key) const;
  std::optional<std::string> GetConfOption(const std::string& key) const;      ///< explicit value or default
  std::optional<std::string> GetExplicitConf(const std::string& key) const;
  Status UnsetConf(const std::string& key);
  std::map<std::string, std::string> AllConf() const;
  bool IsModifiable(const std::string& key) const;
  std::shared_ptr<const sql::EvalConfig> eval_config() const;

  // --- plans ---
  /// Parses SQL text to an unresolved plan (a query or a Command). `parameters`: named (":x") and positional ("?") literals.
  Result<sql::PlanPtr> ParseSql(const std::string& text, const std::map<std::string, sql::ExprPtr>& named,
                                const std::vector<sql::ExprPtr>& positional) const;
  Result<sql::PlanPtr> Analyze(const sql::PlanPtr& plan);
  /// `mode` of df.explain(): "simple", "extended", "codegen", "cost", "formatted".
  Result<std::string> Explain(const sql::PlanPtr& plan, const std::string& mode);
  /// Runs a batch query or a Command (unresolved or resolved) and delivers its rows; blocks the caller.
  Status Execute(const sql::PlanPtr& plan, const ResultConsumer& consumer, std::stop_token stop);
  /// Execute, all rows collected.
  Result<std::vector<data::Chunk>> Collect(const sql::PlanPtr& plan, std::stop_token stop = {});

  // --- views ---
  Status CreateTempView(const std::string& name, sql::PlanPtr analyzed, bool replace, bool global);
  bool DropTempView(const std::string& name, bool global);
  std::vector<std::string> TempViews() const;
  std::string current_database() const;
  void set_current_database(std::string name);

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
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace thalweg::front
