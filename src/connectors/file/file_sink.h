#pragma once

#include <memory>
#include <string>

#include "connectors/file/file_format.h"
#include "sql/datasource/data_source.h"

namespace thalweg::connectors {

/// The sink of a stream: files written in place, which count once `_spark_metadata/<epoch>` names them. Exactly once: an epoch
/// that the log holds is not added again; what a failed attempt leaves is in no log, and readers look at the log alone.
/// Errors: those of CheckFileSinkMode and PlanFileWrite, INVALID_OPTION_VALUE (`retention`).
/// Source: Spark's FileStreamSink, ManifestFileCommitProtocol.
Result<std::unique_ptr<sql::StreamingWrite>> MakeFileSink(const FileFormat& format, const FormatContext& context, Clock* clock,
                                                          const std::string& target, const sql::StreamWriteRequest& request);
/// Files that were written are not taken back: append mode alone. Errors: STREAMING_OUTPUT_MODE.UNSUPPORTED_DATASOURCE.
Status CheckFileSinkMode(const FileFormat& format, sql::OutputMode mode);

}  // namespace thalweg::connectors
