#pragma once

// Which Python runs the user's functions, and what its pyspark speaks.

#include <chrono>
#include <map>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "base/settings.h"
#include "base/status.h"

namespace thalweg::engine {

/// An interpreter with pyspark. The worker protocol depends on this pyspark, not on the client's. Thread: immutable.
struct PythonRuntime {
  std::string executable;
  std::string python_version;               ///< "3.11": what workers compare with theirs
  std::string pyspark_version;              ///< "4.2.0"
  int pyspark_major = 0, pyspark_minor = 0;
  std::optional<int> start_of_init_message; ///< 4.3 and later: the tag before a framed init section

  bool AtLeast(int major, int minor) const {
    return pyspark_major > major || (pyspark_major == major && pyspark_minor >= minor);
  }
};

/// Programs to try, in order: spark.pyspark.python, PYSPARK_PYTHON, PYSPARK_DRIVER_PYTHON (the first that is set, alone); otherwise
/// VIRTUAL_ENV's, python3 and, when the client has said its version, python3.x.
std::vector<std::string> PythonCandidates(const SettingsMap& settings, const std::string& wanted_version);

/// Asks an interpreter. Blocks (some 50 ms, at most the timeout). Errors: PYTHON_WORKER_UNAVAILABLE with what it printed.
Result<PythonRuntime> ProbePython(const std::string& executable, const std::map<std::string, std::string>& environment,
                                  std::chrono::milliseconds timeout, std::stop_token stop);

}  // namespace thalweg::engine
