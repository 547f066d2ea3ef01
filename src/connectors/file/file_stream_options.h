#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/status.h"
#include "sql/datasource/data_source.h"

namespace thalweg::connectors {

enum class CleanSource : uint8_t { kOff, kArchive, kDelete };

/// Options of file streams, Spark's names, defaults and words. Source: FileStreamOptions.
struct FileStreamOptions {
  std::optional<int64_t> max_files_per_trigger;
  std::optional<int64_t> max_bytes_per_trigger;
  bool latest_first = false;
  int64_t max_file_age_ms = 0;
  bool file_name_only = false;
  int64_t max_cached_files = 10'000;
  double discard_cached_input_ratio = 0.2;
  CleanSource clean_source = CleanSource::kOff;
  std::string archive_directory;

  /// Errors: ILLEGAL_ARGUMENT.
  static Result<FileStreamOptions> Make(const sql::OptionMap& options);
};

}  // namespace thalweg::connectors
