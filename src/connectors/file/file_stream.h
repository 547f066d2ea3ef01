#pragma once

#include <memory>

#include "connectors/file/file_relation.h"

namespace thalweg::connectors {

/// Files as a stream: each is read once, in the micro-batch after it was found. Positions are ids of the source's log,
/// `{"logOffset":n}`; the batch (a, b] reads the files logged under a+1 to b, whatever lies in the folder by then.
/// Errors: ILLEGAL_ARGUMENT for options, _LEGACY_ERROR_TEMP_2261.
/// Source: Spark's FileStreamSource; /docs/internals has the formats.
Result<std::unique_ptr<sql::MicroBatchStream>> MakeFileStream(FileRelationPtr relation,
                                                              const sql::StreamContext& context);

}  // namespace thalweg::connectors
