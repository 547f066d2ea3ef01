#include "connectors/delta/delta_streaming_source.h"

namespace thalweg::connectors {

Status RefuseDeltaStreamingSource() { return Unsupported("readStream of a Delta table"); }

}  // namespace thalweg::connectors
