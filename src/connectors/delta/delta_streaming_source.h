#pragma once

#include "base/status.h"

namespace thalweg::connectors {

/// A Delta table as a streaming source is not there yet: UNSUPPORTED_FEATURE.THALWEG.
Status RefuseDeltaStreamingSource();

}  // namespace thalweg::connectors
