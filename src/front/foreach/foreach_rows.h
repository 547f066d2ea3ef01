#pragma once

// foreach with a Python function or writer object. Source: PySpark's worker_util.py, serializers.py.

#include <memory>
#include <string>

#include "engine/pyworker/python_workers.h"
#include "sql/datasource/data_source.h"

namespace thalweg::front {

struct ForeachFunction {
  engine::PythonWorkers* workers = nullptr;
  engine::WorkerRequest request;
  std::string command;                      ///< the client's, passed on as it is
  std::string files_directory = "/";        ///< the session's files; exists
};

/// Gives every partition's rows of an epoch to a Python worker, which calls the function per row, or open, process and close of the
/// object. Rows wait as columns; threads of the sink's own, one per core, pickle and send them, so neither an engine worker nor the
/// I/O pool waits for Python. At least once. A partition without rows calls nothing, not even open.
/// Errors of the calls: PYTHON_EXCEPTION with the user's traceback, PYTHON_WORKER_CRASHED, PYTHON_WORKER_TIMEOUT.
Result<std::unique_ptr<sql::StreamingWrite>> MakePythonForeach(ForeachFunction function, const data::Schema& schema);

}  // namespace thalweg::front
