#pragma once

#include <exception>
#include <new>
#include <string_view>
#include <utility>

#include "base/process_memory.h"
#include "base/status.h"

namespace thalweg {

/// Runs `body`, which answers a Status. What it throws ends here and becomes what `on_error` makes of its text. For the
/// places where exceptions must not pass: calls of a library that throws, entries of threads, handlers of requests.
template <typename Body, typename OnError>
Status NoThrow(Body&& body, OnError&& on_error) {
  try {
    return std::forward<Body>(body)();
  } catch (const std::bad_alloc&) {
    return std::forward<OnError>(on_error)(std::string_view("out of memory"));
  } catch (const std::exception& error) {
    return std::forward<OnError>(on_error)(std::string_view(error.what()));
  }
}

/// The same, with OUT_OF_MEMORY or INTERNAL_ERROR.
template <typename Body>
Status NoThrow(Body&& body) {
  try {
    return std::forward<Body>(body)();
  } catch (const std::bad_alloc& error) {
    return OutOfMemoryStatus(error);
  } catch (const std::exception& error) {
    return InternalError(error.what());
  }
}

}  // namespace thalweg
