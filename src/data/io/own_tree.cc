#include "data/io/own_tree.h"

#include <algorithm>
#include <utility>

namespace thalweg::data {

Result<bool> IsSymbolicLink(FileSystem& file_system, const std::string& path) {
  auto* links = dynamic_cast<HasSymbolicLinks*>(&file_system);
  return links != nullptr ? links->IsSymbolicLink(path) : false;
}

Result<std::string> FirstLink(FileSystem& file_system, std::string_view root, std::string_view path) {
  while (root.ends_with('/')) root.remove_suffix(1);
  if (!path.starts_with(root) || path.size() == root.size() || path[root.size()] != '/') return std::string();
  for (size_t end = root.size(); end < path.size();) {
    end = std::min(path.find('/', end + 1), path.size());
    std::string part(path.substr(0, end));
    TW_ASSIGN_OR_RETURN(const bool link, IsSymbolicLink(file_system, part));
    if (link) return part;
  }
  return std::string();
}

Result<std::vector<FileInfo>> ListOwnTree(FileSystem& file_system, const std::string& directory) {
  std::vector<FileInfo> files;
  std::vector<std::string> pending = {directory};
  while (!pending.empty()) {
    const std::string at = std::move(pending.back());
    pending.pop_back();
    Result<std::vector<FileInfo>> entries = file_system.List(at);
    if (!entries.ok()) {
      // A directory may go while its parent is walked.
      if (IsNotFound(entries.status())) continue;
      return std::move(entries).status();
    }
    for (FileInfo& entry : *entries) {
      if (entry.is_directory) {
        TW_ASSIGN_OR_RETURN(const bool link, IsSymbolicLink(file_system, entry.path));
        if (!link) {
          pending.push_back(std::move(entry.path));
          continue;
        }
        entry.is_directory = false;
      }
      files.push_back(std::move(entry));
    }
  }
  std::sort(files.begin(), files.end(), [](const FileInfo& a, const FileInfo& b) { return a.path < b.path; });
  return files;
}

}  // namespace thalweg::data
