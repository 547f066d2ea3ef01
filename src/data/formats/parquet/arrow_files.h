#pragma once

// Our open files as Arrow's streams. Private to the Parquet and ORC families.

#include <arrow/io/interfaces.h>

#include <functional>
#include <memory>
#include <string>

#include "data/io/file_system.h"

namespace thalweg::data {

/// A readable file for Arrow. Owns `file`; `size` is the length of the file. Thread: any.
std::shared_ptr<arrow::io::RandomAccessFile> ArrowInput(std::unique_ptr<ReadableFile> file, int64_t size);

/// A growing file for Arrow, with a block of memory before the disk. Owns `file`. The first error of the disk is kept in
/// `*error`, which must outlive the stream, since Arrow's statuses lose the condition.
class ArrowOutput;
std::shared_ptr<arrow::io::OutputStream> MakeArrowOutput(std::unique_ptr<WritableFile> file, Status* error);

/// Runs `body`, which writes the file `path` with a library that may throw. Errors: those of `body`; OUT_OF_MEMORY where memory ran
/// out in the library; INTERNAL_ERROR with the words of whatever else was thrown.
Status GuardWriting(const std::string& path, const std::function<Status()>& body);

}  // namespace thalweg::data
