#pragma once

#include <string>

#include "base/settings.h"

namespace thalweg::engine {

class PythonWorkers;

/// What planning a query with Python functions needs of the session: the server's workers and the settings of now.
struct SessionPython {
  PythonWorkers* workers = nullptr;
  SettingsMap settings;
  std::string owner;  ///< WorkerRequest::owner
};

}  // namespace thalweg::engine
