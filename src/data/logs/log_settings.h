#pragma once

#include "base/settings.h"

namespace thalweg::data {

/// For everything that a checkpoint keeps per micro-batch: entries of its logs, logs of file sources and sinks, state.
inline const Setting<int64_t> kMinBatchesToRetain{
    .key = "spark.sql.streaming.minBatchesToRetain",
    .default_value = 100,
    .min = 1,
    .doc = "State versions and log entries of so many batches stay, so that a query can go back to them."};

}  // namespace thalweg::data
