#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <stop_token>
#include <string>

#include "engine/pyworker/python_workers.h"

namespace thalweg::engine {

/// Launches `python -m module`, waits for its connection and its secret.
Result<std::unique_ptr<StandAloneWorker>> LaunchStandAlone(PythonRuntime runtime, std::map<std::string, std::string> environment,
                                                           const std::string& module, int64_t memory_limit_bytes,
                                                           PythonWorkers::Output output, std::chrono::milliseconds timeout,
                                                           std::stop_token stop);

}  // namespace thalweg::engine
