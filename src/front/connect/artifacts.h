#pragma once

// The files that a client gave to its session. Source: spark/connect/base.proto.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"

namespace thalweg::front {

/// Blobs below `cache/` are kept in memory, everything else as files of the session's own temporary directory (made with the
/// first one, removed with the session). Thread: synchronised.
class Artifacts {
 public:
  Artifacts() = default;
  ~Artifacts();

  /// Errors: INVALID_ARTIFACT_PATH, ARTIFACT_ALREADY_EXISTS, UNSUPPORTED_FEATURE.THALWEG (forward_to_fs).
  Status Add(const std::string& name, std::string bytes);
  /// Only names below `cache/` are looked up.
  bool Exists(const std::string& name) const;
  /// The blob cache/<hash>, or nothing.
  std::optional<std::string> Blob(const std::string& hash) const;
  void CopyFrom(const Artifacts& other);
  /// What Python workers of the session get in front of PYTHONPATH: the folders of modules and files, every archive.
  std::vector<std::string> PythonPath() const;
  /// The folder of plain files (SparkFiles) that exists; "/" when there is none.
  std::string FilesDirectory() const;

  /// A relative name that stays inside. Errors: INVALID_ARTIFACT_PATH.
  static Status CheckName(const std::string& name);

 private:
  mutable Mutex mutex_;
  std::map<std::string, std::string> blobs_ TW_GUARDED_BY(mutex_);
  std::string directory_ TW_GUARDED_BY(mutex_);
};

}  // namespace thalweg::front
