#pragma once

#include <functional>
#include <stop_token>
#include <string>
#include <thread>

namespace thalweg {

/// Starts a thread named `name` (15 bytes are kept) running `body`; the returned owner asks it to stop and joins it.
/// An exception that leaves `body` is logged as an error and ends the thread, not the process.
std::jthread StartThread(std::string name, std::function<void(std::stop_token)> body);

/// Names the calling thread for debuggers and `top`.
void SetThreadName(const std::string& name);

}  // namespace thalweg
