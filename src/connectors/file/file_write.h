#pragma once

#include <memory>
#include <string>

#include "connectors/file/file_format.h"
#include "sql/datasource/data_source.h"

namespace thalweg::connectors {

/// A batch write into a directory. Files are written below `<target>/_temporary/<id>` and renamed when all tasks are done, then
/// `_SUCCESS` is written: a failed job leaves nothing that a reader sees. Overwriting removes the old files after the new
/// ones stand, so that a crash in between loses nothing. Null: SaveMode.Ignore, and something is there.
/// Errors: PATH_ALREADY_EXISTS, those of PlanFileWrite. Source: Spark's InsertIntoHadoopFsRelationCommand, Hadoop's FileOutputCommitter.
Result<std::unique_ptr<sql::BatchWrite>> MakeFileWrite(const FileFormat& format, const FormatContext& context, Clock* clock,
                                                       const std::string& target, const sql::WriteRequest& request);

}  // namespace thalweg::connectors
