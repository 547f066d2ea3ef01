#pragma once

// Contract: tables, sources and sinks as the planner and the streaming driver see them. A connector implements DataSource
// (and Table) and adds one line to src/apps/builtin_connectors.cc; nothing else names it.

#include <chrono>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/ids.h"
#include "base/settings.h"
#include "base/signal.h"
#include "base/status.h"
#include "data/columnar/chunk.h"
#include "data/io/file_system.h"
#include "sql/datasource/changelog_mode.h"
#include "sql/expr/eval_context.h"
#include "sql/expr/expression.h"

namespace thalweg::sql {

/// Options of a reader or writer: keys compare without case, values as given; original spelling is kept for the connector.
class OptionMap {
 public:
  void Set(std::string key, std::string value);
  std::optional<std::string> Get(std::string_view key) const;
  bool Has(std::string_view key) const { return Get(key).has_value(); }
  /// Errors: INVALID_OPTION-like conditions naming key and value.
  Result<int64_t> GetInt(std::string_view key, int64_t otherwise) const;
  Result<bool> GetBool(std::string_view key, bool otherwise) const;
  /// In the order given, original spelling.
  const std::vector<std::pair<std::string, std::string>>& entries() const { return entries_; }

 private:
  std::vector<std::pair<std::string, std::string>> entries_;
};

/// What a connector may use. Lives as long as the server.
struct ConnectorServices {
  data::FileSystem* file_system = nullptr;
  Clock* clock = nullptr;
  /// Lines of the console sink go here (the client's terminal in submit, stdout in server).
  std::function<void(std::string_view)> console;
};

/// What identifies a relation's data at one moment; equal versions give equal rows ("a static leaf is asked for its version").
struct LeafVersion {
  std::string text;
  bool operator==(const LeafVersion&) const = default;
};

// --- reading ---

/// A filter or projection pushed into a reader. Filters are conjuncts over the table's columns, named by `attributes`; a reader
/// may use them to skip but need not apply them: the plan filters again.
struct ScanRequest {
  std::vector<std::string> columns;   ///< top-level columns to read, in this order; may be empty (count only)
  ExprList filters;                   ///< attributes carry the table's column names
  AttributeList attributes;           ///< the attributes behind `columns`, with the ids that `filters` use
  std::optional<int64_t> limit;       ///< rows needed at most, a hint
};

/// One step of a reader: a chunk, "wait for this signal", or the end.
struct ReadChunk { data::Chunk chunk; };
struct ReadBlocked { std::shared_ptr<Signal> signal; };
struct ReadEnd {};
using ReadStep = std::variant<ReadChunk, ReadBlocked, ReadEnd>;

/// Reads one split. Thread: one task at a time. Blocks: only on local files and in-memory work; network readers answer
/// ReadBlocked and fill from their own thread.
class PartitionReader {
 public:
  virtual ~PartitionReader() = default;
  virtual Result<ReadStep> Next() = 0;
  /// Rows and bytes read so far, for metrics.
  virtual int64_t bytes_read() const { return 0; }
};

/// A piece of work for one task; cheap to copy, may outlive the scan it came from.
class InputSplit {
 public:
  virtual ~InputSplit() = default;
  virtual Result<std::unique_ptr<PartitionReader>> Open(const EvalConfig& config) const = 0;
  virtual int64_t estimated_bytes() const { return 0; }
  virtual std::string Describe() const = 0;
};
using InputSplitPtr = std::shared_ptr<const InputSplit>;

/// A scan with projection and filters fixed. Its chunks have exactly the requested columns in order.
class Scan {
 public:
  virtual ~Scan() = default;
  virtual data::Schema schema() const = 0;
  /// For explain: "FileScan json [a#0,b#1] ...".
  virtual std::string Describe() const = 0;
  /// Splits of the data as of now. Batch queries and static leaves.
  virtual Result<std::vector<InputSplitPtr>> PlanSplits() = 0;
  virtual Result<LeafVersion> Version() { return LeafVersion{"constant"}; }
  virtual std::vector<std::string> InputFiles() const { return {}; }
  /// Rows and bytes when known cheaply, for join side choice.
  virtual std::optional<int64_t> EstimatedRows() const { return {}; }
};

// --- streaming sources ---

/// A source's position: JSON text exactly as Spark writes it in offset logs.
struct Offset {
  std::string json;
  bool operator==(const Offset&) const = default;
};

/// How much one micro-batch may take.
struct ReadAllAvailable {};
struct ReadMaxRows { int64_t rows; };
struct ReadMaxFiles { int64_t files; };
struct ReadMaxBytes { int64_t bytes; };
struct ReadMinRows { int64_t rows; std::chrono::milliseconds max_delay; };
using ReadLimit = std::variant<ReadAllAvailable, ReadMaxRows, ReadMaxFiles, ReadMaxBytes, ReadMinRows>;

/// What a streaming source gets when it is opened.
struct StreamContext {
  std::string checkpoint_root;    ///< the query's checkpoint directory
  std::string metadata_path;      ///< checkpoint_root + "/sources/<n>"
  int source_index = 0;
  QueryId query_id;
  RunId run_id;
  /// Requested when the query stops: calls that wait for a network give up with OPERATION_CANCELED.
  std::stop_token stop;
  /// Called from any thread when more data may be there; the driver wakes up. Never null.
  std::function<void()> on_more_data;
  std::shared_ptr<const EvalConfig> config;
};

/// A replayable streaming source. Thread: called by the query's driver thread only; splits are read by workers.
/// Source: Spark's MicroBatchStream with SupportsAdmissionControl and SupportsTriggerAvailableNow.
class MicroBatchStream {
 public:
  virtual ~MicroBatchStream() = default;
  /// The position at which a new query starts. Called once, for a source that no logged batch has a position of. An empty
  /// text means "before any data" (file source): no batch runs until LatestOffset gives a position; with any other text
  /// batch 0 runs at once, even without rows, as in Spark.
  virtual Result<Offset> InitialOffset() = 0;
  /// The limits of this source's options; applied when the trigger asks for admission control.
  virtual std::vector<ReadLimit> DefaultReadLimits() const { return {ReadAllAvailable{}}; }
  /// The end of the next range after `start`, within the limits; nullopt: nothing there (equal to start).
  virtual Result<std::optional<Offset>> LatestOffset(const Offset& start, const std::vector<ReadLimit>& limits) = 0;
  /// The newest position regardless of limits, for progress ("latestOffset"); nullopt when the source does not report it.
  virtual Result<std::optional<Offset>> ReportLatestOffset() { return std::optional<Offset>{}; }
  /// Trigger.AvailableNow: fix today's end now; LatestOffset never goes beyond it afterwards.
  virtual Status PrepareForTriggerAvailableNow() { return Status::OK(); }
  /// Checks and normalises an offset read from the log. Errors: as Spark for malformed offsets.
  virtual Result<Offset> DeserializeOffset(std::string_view json) { return Offset{std::string(json)}; }
  /// Work for rows in (start, end]; `scan` holds projection and filters.
  virtual Result<std::vector<InputSplitPtr>> PlanSplits(const Offset& start, const Offset& end, const ScanRequest& scan) = 0;
  /// Rows up to `end` are done: the source may forget them.
  virtual Status Commit(const Offset& end) = 0;
  /// Rows or bytes of backlog etc. for progress: sources[i].metrics. Keys and values are text.
  virtual std::map<std::string, std::string> Metrics(const std::optional<Offset>& latest_consumed) { (void)latest_consumed; return {}; }
  /// How long the driver may wait without asking for offsets when `on_more_data` was not called. Zero: the source always
  /// calls it, so an idle query sleeps.
  virtual std::chrono::milliseconds poll_interval() const { return std::chrono::milliseconds(10); }
  /// Whether the source fixes its end for Trigger.AvailableNow; if not, the whole query runs one batch.
  virtual bool supports_available_now() const { return true; }
  /// "KafkaV2[Subscribe[t]]", as Spark's progress names it.
  virtual std::string Description() const = 0;
  virtual void Stop() = 0;
};

// --- writing ---

enum class OutputMode : uint8_t { kAppend, kUpdate, kComplete };
enum class DeliveryGuarantee : uint8_t { kExactlyOnce, kAtLeastOnce };
enum class SaveMode : uint8_t { kAppend, kOverwrite, kErrorIfExists, kIgnore };

/// What a writing task hands to the commit. Connector-specific.
struct CommitMessage {
  virtual ~CommitMessage() = default;
};
using CommitMessagePtr = std::shared_ptr<const CommitMessage>;

/// Writes one partition of one epoch. Thread: one task. Blocking disk work is allowed (I/O pool); network waits answer by signal.
class DataWriter {
 public:
  virtual ~DataWriter() = default;
  virtual Status Write(const data::Chunk& chunk) = 0;
  /// Everything written is ready to be committed. A writer may ask to be called again after a signal: set `*blocked`.
  virtual Result<CommitMessagePtr> Finish(std::shared_ptr<Signal>* blocked) = 0;
  virtual void Abort() = 0;
};

/// A streaming sink by tasks and a commit. Commit is idempotent by epoch, records it in the target atomically.
class StreamingWrite {
 public:
  virtual ~StreamingWrite() = default;
  virtual DeliveryGuarantee guarantee() const = 0;
  virtual Result<std::unique_ptr<DataWriter>> NewWriter(PartitionId partition, BatchId epoch) = 0;
  /// The last epoch that the target already holds; nullopt when it does not know.
  virtual Result<std::optional<BatchId>> LastCommitted() { return std::optional<BatchId>{}; }
  virtual Status Commit(BatchId epoch, const std::vector<CommitMessagePtr>& messages) = 0;
  virtual void Abort(BatchId epoch, const std::vector<CommitMessagePtr>& messages) = 0;
  virtual std::string Description() const = 0;
  /// sink.metrics and numOutputRows of progress: -1 when unknown.
  virtual int64_t LastEpochRows() const { return -1; }
};

/// The rows of one micro-batch, computed once; immutable, counted by references, outlives the batch if somebody holds it.
class BatchRelation {
 public:
  virtual ~BatchRelation() = default;
  virtual const data::Schema& schema() const = 0;
  virtual int64_t num_rows() const = 0;
  virtual std::vector<data::Chunk> chunks() const = 0;
};

/// A sink that sees whole micro-batches: foreachBatch, memory, console.
class BatchSink {
 public:
  virtual ~BatchSink() = default;
  virtual DeliveryGuarantee guarantee() const = 0;
  virtual Status AddBatch(BatchId epoch, std::shared_ptr<const BatchRelation> rows) = 0;
  virtual std::string Description() const = 0;
  /// Whether progress tells how many rows it took (foreachBatch does not).
  virtual bool reports_rows() const { return true; }
  /// False: a checkpoint that holds batches is refused (memory sink, except complete mode).
  virtual bool recoverable() const { return true; }
};

/// A batch write: tasks and one commit.
class BatchWrite {
 public:
  virtual ~BatchWrite() = default;
  virtual Result<std::unique_ptr<DataWriter>> NewWriter(PartitionId partition) = 0;
  virtual Status Commit(const std::vector<CommitMessagePtr>& messages) = 0;
  virtual void Abort(const std::vector<CommitMessagePtr>& messages) = 0;
};

struct WriteRequest {
  data::Schema schema;                        ///< of the rows that come
  OptionMap options;
  std::vector<std::string> partition_columns;
  SaveMode mode = SaveMode::kErrorIfExists;
  bool by_name = false;                       ///< writeTo / saveAsTable append match columns by name
  ExprPtr overwrite_condition;                ///< null: whole table
  /// INSERT OVERWRITE ... PARTITION (p = v): with kOverwrite, only rows with these values are replaced, partition columns by name and
  /// values of their types; empty: everything.
  std::vector<std::pair<std::string, data::Value>> overwrite_partition = {};
  std::string user_metadata;
  std::shared_ptr<const EvalConfig> config;
};

struct StreamWriteRequest {
  data::Schema schema;
  OptionMap options;
  std::vector<std::string> partition_columns;
  OutputMode mode = OutputMode::kAppend;
  QueryId query_id;
  RunId run_id;
  std::string query_name;                     ///< memory sink: the table's name
  std::string checkpoint_root;
  bool has_aggregation = false;
  std::shared_ptr<const EvalConfig> config;
};

// --- tables ---

struct TableCapabilities {
  bool batch_read = false;
  bool micro_batch_read = false;
  bool batch_write = false;
  bool streaming_write = false;
  /// The memory sink: while it is written to, the session shows it as a temp view named after the query.
  bool shown_as_view = false;
};

/// A named or path-based table with a fixed schema, or a source or sink built from options.
class Table {
 public:
  virtual ~Table() = default;
  virtual std::string name() const = 0;      ///< for messages and explain
  virtual data::Schema schema() const = 0;
  virtual std::vector<std::string> partition_columns() const { return {}; }
  virtual TableCapabilities capabilities() const = 0;
  virtual Result<std::unique_ptr<Scan>> NewScan(const ScanRequest& request, std::shared_ptr<const EvalConfig> config);
  virtual Result<std::unique_ptr<MicroBatchStream>> NewMicroBatchStream(const StreamContext& context);
  virtual Result<std::unique_ptr<BatchWrite>> NewBatchWrite(const WriteRequest& request);
  /// One of the two shapes. Errors: output modes the sink does not take (by Spark's condition).
  virtual Result<std::variant<std::unique_ptr<StreamingWrite>, std::unique_ptr<BatchSink>>> NewStreamingWrite(
      const StreamWriteRequest& request);
  /// The most that rows written in that mode may do to earlier ones; a stream that does more is refused when it is planned.
  virtual ChangelogMode accepted_changes(OutputMode mode) const {
    return mode == OutputMode::kUpdate ? ChangelogMode::kUpsert : ChangelogMode::kInsertOnly;
  }
  virtual std::map<std::string, std::string> properties() const { return {}; }
};
using TablePtr = std::shared_ptr<Table>;

struct LoadRequest {
  std::vector<std::string> paths;            ///< load(path...) in order; option "path" is merged by the caller
  OptionMap options;
  std::optional<data::Schema> schema;        ///< the user's; for the sink of a stream, the schema of the query
  bool streaming = false;
  bool for_write = false;                    ///< the table is only going to be written; schema may be empty
  std::shared_ptr<const EvalConfig> config;
  std::shared_ptr<const SettingsMap> settings;  ///< the session's, as of now; null: defaults
};

/// A format: "json", "kafka", "delta". Thread: immutable.
class DataSource {
 public:
  virtual ~DataSource() = default;
  virtual std::string short_name() const = 0;
  virtual std::vector<std::string> aliases() const { return {}; }
  /// Builds the table: checks options, infers the schema where the format does. Errors: Spark's conditions for bad options.
  virtual Result<TablePtr> Load(const LoadRequest& request) const = 0;
  /// Creates the target of CREATE TABLE / saveAsTable when the format keeps metadata of its own (Delta); default: nothing to do.
  virtual Status CreateTable(const std::string& location, const data::Schema& schema,
                             const std::vector<std::string>& partition_columns,
                             const std::map<std::string, std::string>& properties, const EvalConfig& config) const;
};

/// Formats by short name and alias, without case. Errors of Find: DATA_SOURCE_NOT_FOUND.
class DataSourceRegistry {
 public:
  Status Register(std::shared_ptr<const DataSource> source);
  Result<std::shared_ptr<const DataSource>> Find(std::string_view name) const;

 private:
  std::map<std::string, std::shared_ptr<const DataSource>> sources_;
};

}  // namespace thalweg::sql
