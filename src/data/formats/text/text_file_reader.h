#pragma once

#include <memory>

#include "data/formats/file_reader.h"
#include "data/formats/text/text_options.h"

namespace thalweg::data {

/// Text files: a row per line, or one per file with `wholetext`; bytes pass as they are. `columns` has one string
/// column or none (rows are counted only).
std::unique_ptr<FileReader> MakeTextFileReader(const Schema& columns, const TextOptions& options);
bool CanSplitTextFile(const TextOptions& options, const std::string& path);

}  // namespace thalweg::data
