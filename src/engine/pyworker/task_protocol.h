#pragma once

// What a task of a pooled worker begins and ends with, in the dialect of its pyspark. Source: PySpark's worker.py, serializers.py.

#include <cstdint>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "engine/pyworker/python_runtime.h"
#include "engine/pyworker/worker_socket.h"

namespace thalweg::engine {

// Eval types that are told apart here; pyspark's numbers.
inline constexpr int32_t kForeachRows = 0;
inline constexpr int32_t kPickledUdf = 100;       ///< rows pickled, one call a row
inline constexpr int32_t kArrowUdf = 101;         ///< Arrow, one call a row
inline constexpr int32_t kPickledTableFunction = 300;
inline constexpr int32_t kArrowTableFunction = 301;

using ConfPairs = std::vector<std::pair<std::string, std::string>>;

/// The init section's content. Order of the pairs is kept.
struct TaskInit {
  int32_t partition = 0;
  int64_t task_attempt_id = 0;
  ConfPairs local_properties;               ///< streaming tasks: "streaming.sql.batchId"
  std::string files_directory = "/";        ///< must exist; goes on the worker's sys.path
  std::vector<std::string> includes;        ///< archives, relative to it
  int32_t eval_type = 0;
  ConfPairs runner_conf, eval_conf;         ///< eval_conf: 4.2 and later; "input_type" is sent in its old place before
};

struct UdfArgument {
  int32_t offset = 0;                       ///< of the input's columns
  std::optional<std::string> keyword;
};
/// One function, or a chain of them: the first is applied first.
struct UdfCall {
  std::vector<UdfArgument> arguments;
  std::vector<std::string> commands;        ///< cloudpickled (function, return type) each
};

/// The section for UDFs of all eval types but 0 and the table functions.
std::string UdfSection(const PythonRuntime& runtime, const TaskInit& init, const std::vector<UdfCall>& calls);
/// Everything before the data; `section`: UdfSection(), or length and bytes of the command of eval type 0.
std::string TaskBegin(const PythonRuntime& runtime, const TaskInit& init, std::string_view section);

/// After the tag kTimingData: reads the rest of the trailer and the last tag. The end of data and kEndOfStream must have been sent.
/// True: the worker may be released to the pool. Errors: the socket's.
Result<bool> ReadTrailer(WorkerSocket& socket, const PythonRuntime& runtime, std::stop_token stop);

}  // namespace thalweg::engine
