#pragma once

#include <string>

#include "base/status.h"

namespace thalweg::connectors {

/// DELTA_LOG_DAMAGED: bytes that no Delta writer would write.
Status DeltaDamaged(const std::string& what);

}  // namespace thalweg::connectors
