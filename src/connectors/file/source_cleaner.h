#pragma once

#include <memory>
#include <string>
#include <thread>

#include "base/bounded_queue.h"
#include "connectors/file/file_stream_options.h"
#include "data/io/file_system.h"

namespace thalweg::connectors {

/// Archives or deletes files that a stream has done with, as well as it can: what fails is logged and left.
/// Owner: a stream. Thread: Clean from the driver; the work is done on an own thread unless `threads` is 0.
/// Source: Spark's FileStreamSource.FileStreamSourceCleaner.
class SourceCleaner {
 public:
  /// Null when nothing is to be cleaned. Errors: ILLEGAL_ARGUMENT when the archive could be read by the stream again.
  static Result<std::unique_ptr<SourceCleaner>> Make(data::FileSystem& file_system, const FileStreamOptions& options,
                                                     const std::string& source_pattern, int64_t threads);
  ~SourceCleaner();
  /// Blocks when very many files wait.
  void Clean(std::string path);

 private:
  SourceCleaner(data::FileSystem& file_system, const FileStreamOptions& options)
      : file_system_(file_system), mode_(options.clean_source), archive_(options.archive_directory) {}
  void CleanNow(const std::string& path);

  data::FileSystem& file_system_;
  CleanSource mode_;
  std::string archive_;
  BoundedQueue<std::string> waiting_{100'000};
  std::jthread thread_;  // absent when files are cleaned at once; last member: joins first
};

}  // namespace thalweg::connectors
