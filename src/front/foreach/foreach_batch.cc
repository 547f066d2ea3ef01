#include "front/foreach/foreach_batch.h"

#include "engine/pyworker/pyworker_settings.h"
#include "front/foreach/batch_plan.h"

namespace thalweg::front {

namespace {

constexpr const char* kModule = "pyspark.sql.connect.streaming.worker.foreach_batch_worker";

}  // namespace

Result<std::shared_ptr<PythonForeachBatch>> PythonForeachBatch::Make(ForeachBatchFunction function, std::stop_token stop) {
  function.request.environment["SPARK_CONNECT_LOCAL_URL"] = function.connect_url;
  const std::chrono::milliseconds start_limit(function.request.settings.Get(engine::kWorkerStartMs));
  Result<std::unique_ptr<engine::StandAloneWorker>> worker = function.workers->Launch(function.request, kModule, start_limit, stop);
  if (!worker.ok()) {
    const Status& status = worker.status();
    if (status.condition() == "PYTHON_WORKER_TIMEOUT") {
      return Error("STREAMING_PYTHON_RUNNER_INITIALIZATION_TIMEOUT_FAILURE").With("msg", status.message_text()).Because(status);
    }
    if (status.condition() == "PYTHON_WORKER_CRASHED") {
      return Error("STREAMING_PYTHON_RUNNER_INITIALIZATION_COMMUNICATION_FAILURE").With("msg", status.message_text()).Because(status);
    }
    return status;
  }
  std::shared_ptr<PythonForeachBatch> sink(new PythonForeachBatch(std::move(function), std::move(*worker)));
  TW_RETURN_NOT_OK(sink->Initialise(stop));
  return sink;
}

Status PythonForeachBatch::Initialise(std::stop_token stop) {
  engine::WorkerSocket& socket = worker_->socket();
  const SettingsMap& settings = function_.request.settings;
  socket.set_silence_limit(std::chrono::milliseconds(settings.Get(engine::kFunctionInitMs)));
  engine::JavaData start;
  start.Bytes(worker_->runtime().python_version).Bytes(function_.session_id).Bytes(function_.command);
  const auto communicate = [&]() -> Result<int32_t> {
    TW_RETURN_NOT_OK(socket.Write(start.bytes(), stop));
    return socket.ReadInt(stop);
  };
  const Result<int32_t> answer = communicate();
  if (stop.stop_requested()) return Cancelled();
  const auto failure = [&](const char* condition, const std::string& text) {
    return Error(condition).With("msg", text);
  };
  if (!answer.ok() && answer.status().condition() == "PYTHON_WORKER_TIMEOUT") {
    return failure("STREAMING_PYTHON_RUNNER_INITIALIZATION_TIMEOUT_FAILURE", answer.status().message_text());
  }
  if (!answer.ok() && answer.status().condition() != "PYTHON_EXCEPTION") {
    return failure("STREAMING_PYTHON_RUNNER_INITIALIZATION_COMMUNICATION_FAILURE", answer.status().message_text());
  }
  if (!answer.ok() || *answer != 0) {
    // A version mismatch and a function that cannot be unpickled arrive like this.
    std::string traceback;
    if (answer.ok()) {
      Result<std::string> read = socket.ReadBytes(stop);
      traceback = read.ok() ? std::move(*read) : read.status().message_text();
    } else {
      traceback = answer.status().message_text();
    }
    return failure("STREAMING_PYTHON_RUNNER_INITIALIZATION_FAILURE", traceback)
        .With("resFromPython", answer.ok() ? *answer : engine::kPythonExceptionThrown);
  }
  socket.set_silence_limit(std::chrono::seconds(settings.Get(engine::kWorkerSilenceSeconds)));
  return Status::OK();
}

Status PythonForeachBatch::AddBatch(BatchId epoch, std::shared_ptr<const sql::BatchRelation> rows) {
  {
    const MutexLock lock(mutex_);
    if (stopping_) return Cancelled();
    calling_ = true;
  }
  Status result = Call(epoch, *rows);
  const MutexLock lock(mutex_);
  calling_ = false;
  returned_.NotifyAll();
  return result;
}

Status PythonForeachBatch::Call(BatchId epoch, const sql::BatchRelation& rows) {
  const std::stop_token stop = interrupted_.get_token();
  engine::WorkerSocket& socket = worker_->socket();
  const OfferedRelation offered(function_.relations, rows);
  engine::JavaData call;
  call.Bytes(offered.id()).Long(epoch.value());
  if (worker_->runtime().AtLeast(4, 3)) call.Bytes(function_.session_id);
  TW_RETURN_NOT_OK(socket.Write(call.bytes(), stop));
  TW_ASSIGN_OR_RETURN(const int32_t answer, socket.ReadInt(stop));
  if (answer == 0) return Status::OK();
  if (answer != engine::kPythonExceptionThrown) {
    return InternalError("a foreachBatch worker answered " + std::to_string(answer));
  }
  TW_ASSIGN_OR_RETURN(const std::string traceback, socket.ReadBytes(stop));
  return Error("PYTHON_EXCEPTION")
      .With("msg", "[session: " + function_.session_id + "] [userId: " + function_.user +
                       "] Found error inside foreachBatch Python process")
      .With("traceback", traceback);
}

void PythonForeachBatch::Interrupt() {
  {
    const MutexLock lock(mutex_);
    stopping_ = true;
    const std::chrono::milliseconds grace(function_.request.settings.Get(engine::kStopGraceMs));
    returned_.WaitFor(mutex_, {}, grace, [this] { return !calling_; });
    if (!calling_) return;
  }
  interrupted_.request_stop();
  worker_->Kill();
}

}  // namespace thalweg::front
