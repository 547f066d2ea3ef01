#pragma once

// foreachBatch with a Python function. Source: PySpark's worker_util.py, serializers.py.

#include <memory>
#include <stop_token>
#include <string>

#include "base/mutex.h"
#include "engine/pyworker/python_workers.h"
#include "front/foreach/batch_plan.h"
#include "sql/datasource/data_source.h"

namespace thalweg::front {

struct ForeachBatchFunction {
  engine::PythonWorkers* workers = nullptr;
  engine::WorkerRequest request;
  std::string connect_url;                  ///< how the worker reaches this server as the session's user
  std::string session_id, user;
  std::string command;                      ///< the cloudpickled function
  RelationsById relations;
};

/// Runs the function once per micro-batch in a worker of its own, which lives as long as the run. The driver's thread waits; what the
/// function asks for meanwhile are ordinary calls of the session. At least once: a batch whose commit is lost comes again with the same
/// id and rows.
class PythonForeachBatch final : public sql::BatchSink {
 public:
  /// Launches the worker and gives it the function. Blocks (seconds: Python imports).
  /// Errors: PYTHON_WORKER_UNAVAILABLE, PYTHON_VERSION_MISMATCH, STREAMING_PYTHON_RUNNER_INITIALIZATION_* with the traceback.
  static Result<std::shared_ptr<PythonForeachBatch>> Make(ForeachBatchFunction function, std::stop_token stop);

  sql::DeliveryGuarantee guarantee() const override { return sql::DeliveryGuarantee::kAtLeastOnce; }
  /// Errors: PYTHON_EXCEPTION with the user's traceback, PYTHON_WORKER_CRASHED, PYTHON_WORKER_TIMEOUT, OPERATION_CANCELED.
  Status AddBatch(BatchId epoch, std::shared_ptr<const sql::BatchRelation> rows) override;
  std::string Description() const override { return "ForeachBatchSink"; }
  bool reports_rows() const override { return false; }
  /// Any thread: a call that runs may end within the grace of its setting (a batch that is done should not come again); after that the
  /// worker is killed and AddBatch answers OPERATION_CANCELED. Blocks so long.
  void Interrupt();

 private:
  PythonForeachBatch(ForeachBatchFunction function, std::unique_ptr<engine::StandAloneWorker> worker)
      : function_(std::move(function)), worker_(std::move(worker)) {}
  Status Initialise(std::stop_token stop);
  Status Call(BatchId epoch, const sql::BatchRelation& rows);

  const ForeachBatchFunction function_;
  std::unique_ptr<engine::StandAloneWorker> worker_;
  std::stop_source interrupted_;
  Mutex mutex_;
  CondVar returned_;
  bool calling_ TW_GUARDED_BY(mutex_) = false;
  bool stopping_ TW_GUARDED_BY(mutex_) = false;  ///< no further call begins
};

}  // namespace thalweg::front
