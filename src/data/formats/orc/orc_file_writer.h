#pragma once

// Writes ORC files as Spark does. Contract for connectors.

#include <memory>
#include <string>

#include "data/formats/file_writer.h"
#include "data/io/file_system.h"
#include "data/types/data_type.h"

namespace thalweg::data {

/// What file names say of a codec, as Spark writes it: "snappy" in `part-0.snappy.orc`, empty for none. Any case. Errors:
/// CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION; UNSUPPORTED_FEATURE.THALWEG for lzo and brotli.
Result<std::string> OrcCodecSuffix(std::string_view compression);

/// Errors: UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE.
Status CheckOrcTypes(const Schema& schema);

/// Replaces an existing file; the directory must exist. Dates and timestamps before 1582-10-15 are written in the hybrid calendar, TIMESTAMP
/// as the time on the wall in UTC, as a Spark that runs in UTC writes them. Errors: those of OrcCodecSuffix and CheckOrcTypes, IO_ERROR;
/// of Write: UNSUPPORTED_FEATURE.THALWEG for a TIMESTAMP before 1970 that is not a whole second (Arrow would write one that Spark cannot read).
Result<std::unique_ptr<FileWriter>> MakeOrcFileWriter(FileSystem& file_system, const std::string& path, const Schema& schema,
                                                      std::string_view compression);

}  // namespace thalweg::data
