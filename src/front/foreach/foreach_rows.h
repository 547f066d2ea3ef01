#pragma once

// foreach with a Python function or writer object. Source: PySpark's worker.py; engine/pyworker/task_protocol.h.

#include <memory>
#include <string>

#include "base/memory.h"
#include "engine/pyworker/python_workers.h"
#include "sql/datasource/data_source.h"

namespace thalweg::front {

struct ForeachFunction {
  engine::PythonWorkers* workers = nullptr;
  engine::WorkerRequest request;
  std::string command;                      ///< the client's, passed on as it is
  std::string files_directory = "/";        ///< the session's files; exists
  MemoryAccount* memory = nullptr;          ///< pays for rows that wait; null: nobody. Outlives the sink
};

/// Gives every partition's rows of an epoch to a Python worker, which calls the function per row, or open, process and close of the
/// object. Rows wait as columns, at the session's expense; threads of the sink's own, one per core, pickle and send them, so neither an engine worker nor the
/// I/O pool waits for Python. At least once. A partition without rows calls nothing, not even open.
/// Errors: OUT_OF_MEMORY when more rows wait than the session may hold. Of the calls: PYTHON_EXCEPTION with the user's traceback, PYTHON_WORKER_CRASHED, PYTHON_WORKER_TIMEOUT.
Result<std::unique_ptr<sql::StreamingWrite>> MakePythonForeach(ForeachFunction function, const data::Schema& schema);

}  // namespace thalweg::front
