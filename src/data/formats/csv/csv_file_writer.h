#pragma once

#include <memory>
#include <string>

#include "data/formats/csv/csv_options.h"
#include "data/formats/file_writer.h"
#include "data/io/file_system.h"
#include "data/types/data_type.h"

namespace thalweg::data {

/// A line per row, with a header when the options ask for one. A row of nothing but one null has no line, as in Spark.
/// Errors: UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE, those of ByteSink::Create.
Result<std::unique_ptr<FileWriter>> MakeCsvFileWriter(FileSystem& file_system, const std::string& path,
                                                      const Schema& schema, const CsvOptions& options);

}  // namespace thalweg::data
