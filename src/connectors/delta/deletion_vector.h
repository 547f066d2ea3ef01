#pragma once

// Deletion vectors: which rows of a data file are gone. Source: the Delta protocol, "Deletion vector format".

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "connectors/delta/delta_actions.h"
#include "data/io/file_system.h"

namespace thalweg::connectors {

/// The row positions (0-based, ascending) of the serialised bitmap: magic, 64-bit Roaring. A few bytes may stand for
/// billions of rows: more than `most` are damage. Errors: INTERNAL_ERROR for damage.
Result<std::vector<int64_t>> ParseDeletionBitmap(std::string_view bytes, int64_t most);
/// Decodes Z85; the text's length is a multiple of 5. Errors: INTERNAL_ERROR.
Result<std::string> DecodeZ85(std::string_view text);
/// Where the file of a vector lies; not for inline ones. Errors: INTERNAL_ERROR.
Result<std::string> DeletionVectorPath(const std::string& table_path, const DeletionVector& vector);
/// Loads a vector of a table at `table_path`. Errors: DELTA_DELETION_VECTOR_CHECKSUM_MISMATCH, IO_ERROR, INTERNAL_ERROR.
Result<std::vector<int64_t>> LoadDeletionVector(data::FileSystem& file_system, const std::string& table_path,
                                                const DeletionVector& vector);

}  // namespace thalweg::connectors
