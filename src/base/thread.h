#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <thread>

namespace thalweg {

class Status;

/// Starts a thread named `name` (15 bytes are kept) running `body`; the returned owner asks it to stop and joins it.
/// An exception that leaves `body` is logged as an error and ends the thread, not the process. For bodies whose end somebody waits
/// for, `on_exception` (may be null) is told in that thread: OUT_OF_MEMORY or INTERNAL_ERROR.
std::jthread StartThread(std::string name, std::function<void(std::stop_token)> body,
                         std::function<void(const Status&)> on_exception = nullptr);

/// Starts a thread that others rely on until it is asked to stop: `turn` again and again, until it answers false. An exception that
/// leaves it (memory that ran out, as a rule) ends that turn only: it is logged, and after a rest comes the next one. What one turn
/// owes to others must not depend on its coming to the end.
std::jthread StartLoop(std::string name, std::function<bool(std::stop_token)> turn);

/// Names the calling thread for debuggers and `top`.
void SetThreadName(const std::string& name);

}  // namespace thalweg
