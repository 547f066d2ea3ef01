#pragma once

#include <memory>

#include "data/formats/file_reader.h"
#include "data/formats/json/json_options.h"

namespace thalweg::data {

/// JSON files: a text per line, or one per file with `multiLine`. `columns` are what is asked for, the corrupt-record
/// column among them or not; other members are skipped. Source: Spark's JsonDataSource.
Result<std::unique_ptr<FileReader>> MakeJsonFileReader(const Schema& columns, const JsonOptions& options);

/// Whether pieces of a file may be read apart from each other.
bool CanSplitJsonFile(const JsonOptions& options, const std::string& path);

}  // namespace thalweg::data
