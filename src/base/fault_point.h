#pragma once

// Named places where a test can make the program die or an operation fail. Compiled in, off by default: then one
// relaxed load of a flag.

#include <atomic>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace thalweg {

/// What an armed fault point does.
enum class FaultAction : unsigned char {
  kKill,   ///< SIGKILL to this process: no destructor, no flush
  kError,  ///< the enclosing function returns IO_ERROR
};

/// Arms the point `name` from its `nth` passage on (1 is the next one): kill strikes once; error strikes once too, at
/// exactly the nth passage. Arming counts passages anew. Thread: any.
void ArmFaultPoint(std::string_view name, int nth, FaultAction action);
/// Disarms all points and forgets what was passed. Thread: any.
void DisarmFaultPoints();
/// Arms points from a text: `name[:nth]:kill|error`, several separated by `;`. Errors: INTERNAL_ERROR, nothing is armed.
Status ArmFaultPoints(std::string_view text);
/// Arms what the environment variable THALWEG_FAULT says; called once by every program. Errors: as ArmFaultPoints.
Status ArmFaultPointsFromEnvironment();
/// While on, every passed point is noted even when nothing is armed: a test can list the places to crash at.
void RecordFaultPoints(bool on);
/// Names passed since recording was switched on, in order of first passage. Thread: any.
std::vector<std::string> PassedFaultPoints();

namespace internal {
extern std::atomic<bool> g_fault_points_active;
Status PassFaultPoint(std::string_view name);
}  // namespace internal

}  // namespace thalweg

/// In a function that returns Status or Result: `TW_FAULT_POINT("offset log: written");`
#define TW_FAULT_POINT(name)                                                                       \
  do {                                                                                             \
    if (::thalweg::internal::g_fault_points_active.load(std::memory_order_relaxed)) [[unlikely]] { \
      TW_RETURN_NOT_OK(::thalweg::internal::PassFaultPoint(name));                                 \
    }                                                                                              \
  } while (false)
