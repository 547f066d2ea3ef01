// writeStream.foreachBatch and .foreach with Python functions. Source: Spark Connect's
// commands.proto (WriteStreamOperationStart) and PySpark's foreach_batch_worker.py.
#include "front/connect/foreach_start.h"

#include <spark/connect/base.pb.h>

#include "base/uuid.h"
#include "engine/pyworker/python_workers.h"
#include "front/connect/percent_encode.h"
#include "front/foreach/foreach_batch.h"
#include "front/foreach/foreach_rows.h"
#include "front/foreach/native_foreach_batch.h"
#include "front/foreach/shared_sink.h"

namespace thalweg::front {

namespace {

namespace pb = ::spark::connect;
using MadeSink = std::variant<std::unique_ptr<sql::StreamingWrite>, std::unique_ptr<sql::BatchSink>>;

RelationsById RelationsOf(const std::weak_ptr<SessionHolder>& holder) {
  RelationsById relations;
  relations.put = [holder](const std::string& id, sql::PlanPtr plan) {
    if (const std::shared_ptr<SessionHolder> there = holder.lock()) there->PutRelation(id, std::move(plan));
  };
  relations.drop = [holder](const std::string& id) {
    if (const std::shared_ptr<SessionHolder> there = holder.lock()) there->DropRelation(id);
  };
  return relations;
}

// Holds the sink weakly: the run, not its handle, decides how long the worker lives.
struct LateSink {
  Mutex mutex;
  std::weak_ptr<PythonForeachBatch> sink TW_GUARDED_BY(mutex);
};

std::string NewAgent() { return std::string(kForeachAgent) + Uuid::MakeRandom().ToString(); }

std::string AddForeachBatch(const ExecuteContext& context, const pb::PythonUDF& udf, StreamStart* start) {
  SessionHolder& holder = context.holder;
  Session& session = holder.session();
  const std::string agent = NewAgent();
  ForeachBatchFunction function;
  function.workers = session.server().python;
  function.request = WorkerRequestOf(holder, udf.python_ver());
  function.connect_url = session.server().worker_url + ";user_agent=" + agent;
  if (holder.user().empty()) {
    function.request.environment["SPARK_USER"] = "";
  } else {
    function.connect_url += ";user_id=" + PercentEncode(holder.user());
  }
  function.session_id = holder.id();
  function.user = holder.user();
  function.command = udf.command();
  function.relations = RelationsOf(holder.weak_from_this());
  const auto late = std::make_shared<LateSink>();
  start->interrupt_sink = [late] {
    std::shared_ptr<PythonForeachBatch> sink;
    {
      const MutexLock lock(late->mutex);
      sink = late->sink.lock();
    }
    if (sink != nullptr) sink->Interrupt();
  };
  start->open_callback_sink = [function = std::move(function), late,
                               stop = context.operation->stop_token()]() mutable -> Result<streaming::SinkFactory> {
    TW_ASSIGN_OR_RETURN(std::shared_ptr<PythonForeachBatch> sink, PythonForeachBatch::Make(std::move(function), stop));
    {
      const MutexLock lock(late->mutex);
      late->sink = sink;
    }
    return streaming::SinkFactory([sink](const sql::StreamWriteRequest&) -> Result<MadeSink> {
      return MadeSink(std::unique_ptr<sql::BatchSink>(std::make_unique<SharedSink>(sink)));
    });
  };
  return agent;
}

std::string AddNativeForeachBatch(const ExecuteContext& context, sql::BatchCallback callback, StreamStart* start) {
  start->format = "foreachBatch";
  const std::string agent = NewAgent();
  const auto sink = std::make_shared<NativeForeachBatch>(std::move(callback), RelationsOf(context.holder.weak_from_this()), agent);
  start->open_callback_sink = [sink]() -> Result<streaming::SinkFactory> {
    return streaming::SinkFactory([sink](const sql::StreamWriteRequest&) -> Result<MadeSink> {
      return MadeSink(std::unique_ptr<sql::BatchSink>(std::make_unique<SharedSink>(sink)));
    });
  };
  return agent;
}

void AddForeachRows(const ExecuteContext& context, const pb::PythonUDF& udf, StreamStart* start) {
  SessionHolder& holder = context.holder;
  ForeachFunction function;
  function.workers = holder.session().server().python;
  function.request = WorkerRequestOf(holder, udf.python_ver());
  function.command = udf.command();
  function.files_directory = holder.artifacts().FilesDirectory();
  function.memory = holder.session().memory().account();
  start->open_callback_sink = [function = std::move(function)]() -> Result<streaming::SinkFactory> {
    // Whatever is wrong with the interpreter is told at start.
    TW_RETURN_NOT_OK(function.workers->Runtime(function.request, {}).status());
    return streaming::SinkFactory([function](const sql::StreamWriteRequest& request) -> Result<MadeSink> {
      TW_ASSIGN_OR_RETURN(std::unique_ptr<sql::StreamingWrite> sink, MakePythonForeach(function, request.schema));
      return MadeSink(std::move(sink));
    });
  };
}

}  // namespace

engine::WorkerRequest WorkerRequestOf(SessionHolder& holder, const std::string& python_version) {
  engine::WorkerRequest request;
  request.owner = holder.session().python_owner();
  request.python_version = python_version;
  request.settings = holder.session().SettingsSnapshot();
  request.python_path = holder.artifacts().PythonPath();
  return request;
}

Result<std::string> AddForeach(const ExecuteContext& context, const pb::WriteStreamOperationStart& command, StreamStart* start) {
  const bool batches = command.has_foreach_batch();
  if (!batches && !command.has_foreach_writer()) return std::string();
  const pb::StreamingForeachFunction& foreach = batches ? command.foreach_batch() : command.foreach_writer();
  const char* name = batches ? "foreachBatch" : "foreach";
  if (batches && foreach.has_scala_function()) {
    std::optional<sql::BatchCallback> callback = sql::TakeBatchCallback(foreach.scala_function().payload());
    if (callback) return AddNativeForeachBatch(context, std::move(*callback), start);
  }
  if (!foreach.has_python_function()) return Unsupported(std::string(name) + " with a function that is not Python's");
  ServerContext& server = context.holder.session().server();
  if (server.python == nullptr || (batches && server.worker_url.empty())) {
    return Unsupported(std::string(name) + " with a Python function in this program");
  }
  start->format = name;
  if (batches) return AddForeachBatch(context, foreach.python_function(), start);
  AddForeachRows(context, foreach.python_function(), start);
  return std::string();
}

}  // namespace thalweg::front
