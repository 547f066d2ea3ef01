#pragma once

#include <memory>
#include <string>

#include "data/formats/file_writer.h"
#include "data/formats/json/json_options.h"
#include "data/io/file_system.h"
#include "data/types/data_type.h"

namespace thalweg::data {

/// An object per row. Errors: those of JsonWriter::Make and ByteSink::Create.
Result<std::unique_ptr<FileWriter>> MakeJsonFileWriter(FileSystem& file_system, const std::string& path,
                                                       const Schema& schema, const JsonOptions& options);

}  // namespace thalweg::data
