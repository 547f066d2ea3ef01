#pragma once

// What --py-files and --files of `thalweg submit` name.

#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace thalweg::apps {

/// A comma-separated list of files and folders as absolute paths, in order. "file:" URIs and patterns (*, ?, [...]) are read, a
/// "#name" behind a path is left out. Errors: PATH_NOT_FOUND for one that is not there, UNSUPPORTED_FEATURE.THALWEG for another scheme.
Result<std::vector<std::string>> ResolveFileList(std::string_view list);

/// What goes onto PYTHONPATH for these: folders and archives as they are; single modules, which Python does not look for there, in
/// a folder of their own. Owner: removes that folder.
class PythonPath {
 public:
  PythonPath() = default;
  ~PythonPath();
  PythonPath(const PythonPath&) = delete;
  PythonPath& operator=(const PythonPath&) = delete;

  /// Errors: IO_ERROR.
  Status Add(const std::vector<std::string>& paths);
  /// The entries, in front of what the variable holds now.
  std::string Value() const;

 private:
  Status AddModule(const std::string& path);
  std::vector<std::string> entries_;
  std::string modules_;  ///< the folder; empty until one is needed
};

}  // namespace thalweg::apps
