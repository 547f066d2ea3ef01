#pragma once

// How text files are packed; data/formats/text only.

#include <memory>

#include "base/status.h"
#include "data/formats/text/byte_stream.h"

namespace arrow::util {
class Codec;
}

namespace thalweg::data {

/// Not for kNone. Errors: UNSUPPORTED_FEATURE.THALWEG for Hadoop's lz4 and snappy framing.
Result<std::unique_ptr<arrow::util::Codec>> MakeStreamCodec(Compression compression);

}  // namespace thalweg::data
