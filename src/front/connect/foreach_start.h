#pragma once

#include <string>
#include <string_view>

#include "base/status.h"
#include "engine/pyworker/python_workers.h"
#include "front/connect/execute_plan.h"
#include "front/session/session.h"

namespace thalweg::front {

/// How the clients of functions call themselves, before an id per run.
inline constexpr std::string_view kForeachAgent = "thalweg_foreach_batch_";

/// Gives a start its sink when the client has said foreachBatch or foreach; nothing otherwise. Answers what the function's own client
/// calls itself in its requests (the beginning of their client_type), so that calls out of the function are known; empty for foreach.
Result<std::string> AddForeach(const ExecuteContext& context, const ::spark::connect::WriteStreamOperationStart& command,
                               StreamStart* start);

/// Settings, artifacts and Python version of a session's functions.
engine::WorkerRequest WorkerRequestOf(SessionHolder& holder, const std::string& python_version);

}  // namespace thalweg::front
