#pragma once

#include <stop_token>

#include "base/status.h"
#include "front/session/session.h"

namespace thalweg::front {

/// Runs a Command and delivers its rows. Blocks. What ServerContext::run_command is set to.
Status RunCommand(Session& session, const sql::PlanPtr& command, const ResultConsumer& consumer, std::stop_token stop);

}  // namespace thalweg::front
