#pragma once

// Scalar functions over the rows of one partition: one task of one pooled worker. Source: PySpark's worker.py, serializers.py.

#include <deque>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>
#include <vector>

#include "base/memory.h"
#include "base/mutex.h"
#include "base/signal.h"
#include "data/columnar/chunk.h"
#include "engine/pyworker/python_workers.h"
#include "engine/pyworker/task_protocol.h"

namespace thalweg::engine {

/// What is the same for every task of a plan's node. Thread: immutable.
struct UdfParams {
  PythonWorkers* workers = nullptr;         ///< the server's
  WorkerRequest request;
  int32_t eval_type = kPickledUdf;
  std::vector<UdfCall> calls;
  std::vector<data::DataType> arguments;    ///< of the columns that are sent, to which the calls' offsets refer
  std::vector<data::DataType> results;      ///< one per call
  std::string files_directory = "/";
  std::string time_zone = "UTC";
  ConfPairs runner_conf;                    ///< beside the time zone
  bool large_var_types = false;
  int64_t pickled_rows = 100;               ///< per pickle
  int64_t arrow_rows = 10000;               ///< per record batch, at most
};

/// Sends argument columns to a worker and takes results, on a thread of its own; who feeds it never waits for Python.
/// Memory: kMaxQueuedChunks that are not sent yet and the results not taken, which are charged; what the sockets and the worker's
/// buffers hold is not.
/// Thread: the calls are one caller's at a time; the conversation runs on the task's own.
class UdfTask {
 public:
  UdfTask(std::shared_ptr<const UdfParams> params, int32_t partition, std::optional<int64_t> batch_id, MemoryReservation memory = {});
  ~UdfTask();                               ///< before the end: the worker is killed. Does not wait for the function

  /// Rows of arguments, dense. Only while HasRoom(). Errors: OUT_OF_MEMORY.
  Status Add(data::Chunk arguments);
  void CloseInput();
  bool HasRoom() const;
  struct Output {
    std::vector<data::Chunk> results;       ///< in the order of the rows, cut anywhere
    bool ended = false;                     ///< nothing more comes; the worker is back in its pool
  };
  /// What has come since the last call.
  /// What is taken is the caller's to charge.
  /// Errors: PYTHON_EXCEPTION with the user's traceback, PYTHON_WORKER_CRASHED, PYTHON_WORKER_TIMEOUT, OUT_OF_MEMORY, those of
  /// conversions.
  Result<Output> Take();
  /// A signal for the next change of what Take or HasRoom answers. Ask both after this, before waiting.
  std::shared_ptr<Signal> NextChange();

 private:
  class Conversation;
  static constexpr size_t kMaxQueuedChunks = 4;

  Status Run(std::stop_token stop);
  /// The next rows to send; nothing at the end of the input. Blocks.
  Result<std::optional<data::Chunk>> NextInput(std::stop_token stop);
  Status Deliver(data::Chunk results);
  void Changed();

  const std::shared_ptr<const UdfParams> params_;
  const int32_t partition_;
  const std::optional<int64_t> batch_id_;
  mutable Mutex mutex_;
  CondVar more_input_;
  std::deque<data::Chunk> input_ TW_GUARDED_BY(mutex_);
  bool closed_ TW_GUARDED_BY(mutex_) = false;
  std::vector<data::Chunk> results_ TW_GUARDED_BY(mutex_);
  MemoryReservation memory_ TW_GUARDED_BY(mutex_);  // of input_ and results_
  bool ended_ TW_GUARDED_BY(mutex_) = false;
  Status status_ TW_GUARDED_BY(mutex_);
  std::shared_ptr<Signal> change_ TW_GUARDED_BY(mutex_);
  std::jthread thread_;                     // last; starts with the first rows
};

}  // namespace thalweg::engine
