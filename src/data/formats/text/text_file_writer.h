#pragma once

#include <memory>
#include <string>

#include "data/formats/file_writer.h"
#include "data/formats/text/text_options.h"
#include "data/io/file_system.h"

namespace thalweg::data {

/// A line per row of one text column; null is an empty line. Errors: those of ByteSink::Create.
Result<std::unique_ptr<FileWriter>> MakeTextFileWriter(FileSystem& file_system, const std::string& path,
                                                       const TextOptions& options);

}  // namespace thalweg::data
