#pragma once

// What deletes looks at directories through here: a symbolic link below the directory that is meant is a name of its own, and what it
// leads to belongs to somebody else. FileSystem::List and ListTree go through links, as a reader opens them. FileSystem::Remove and
// RemoveTree remove a link that stands last in a path, but go through those before: ask FirstLink first.

#include <string>
#include <string_view>
#include <vector>

#include "data/io/file_system.h"

namespace thalweg::data {

/// A file system that has symbolic links, to ask for by dynamic_cast. Thread: any. Blocks: on the disk.
class HasSymbolicLinks {
 public:
  virtual ~HasSymbolicLinks() = default;
  /// Whether `path` itself is a link; what is not there is none. Errors: IO_ERROR.
  virtual Result<bool> IsSymbolicLink(const std::string& path) = 0;
};

/// Whether `path` itself is a symbolic link: false where the file system has none. Errors: IO_ERROR.
Result<bool> IsSymbolicLink(FileSystem& file_system, const std::string& path);

/// The first symbolic link on the way from `root` down to `path`, `path` itself included; `root` is not: who names it means what it
/// leads to. As `path` spells it; empty when there is none, or `path` is not below `root`. Errors: IO_ERROR.
Result<std::string> FirstLink(FileSystem& file_system, std::string_view root, std::string_view path);

/// As ListTree, but no link below `directory` is followed: it stands in the list itself, as a file. `directory` may be a link: who names
/// it means what it leads to. Sorted by path; a missing directory has nothing. Links that lead nowhere are not seen. Errors: IO_ERROR.
Result<std::vector<FileInfo>> ListOwnTree(FileSystem& file_system, const std::string& directory);

}  // namespace thalweg::data
