#include "apps/submit_files.h"

#include <glob.h>

#include <cstdlib>
#include <filesystem>

#include "data/io/path.h"

namespace thalweg::apps {

namespace {

namespace fs = std::filesystem;

std::string_view Trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// "file:///a/b.zip#b" as "/a/b.zip".
Result<std::string> LocalPath(std::string_view text) {
  text = text.substr(0, text.find('#'));
  for (const std::string_view scheme : {"file://", "file:", "local://", "local:"}) {
    if (!text.starts_with(scheme)) continue;
    return std::string(text.substr(scheme.size()));
  }
  if (text.find("://") != std::string_view::npos) return Unsupported("files of a program from " + std::string(text) + ": fetch them first");
  return std::string(text);
}

Status AppendMatches(const std::string& pattern, std::vector<std::string>* paths) {
  glob_t found{};
  const int outcome = glob(pattern.c_str(), GLOB_ERR, nullptr, &found);
  for (size_t i = 0; outcome == 0 && i < found.gl_pathc; ++i) paths->push_back(data::AbsolutePath(found.gl_pathv[i]));
  globfree(&found);
  return outcome == 0 ? Status::OK() : Status(Error("PATH_NOT_FOUND").With("path", data::AbsolutePath(pattern)));
}

}  // namespace

Result<std::vector<std::string>> ResolveFileList(std::string_view list) {
  std::vector<std::string> paths;
  while (!list.empty()) {
    const size_t comma = list.find(',');
    const std::string_view one = Trim(list.substr(0, comma));
    list = comma == std::string_view::npos ? std::string_view() : list.substr(comma + 1);
    if (one.empty()) continue;
    TW_ASSIGN_OR_RETURN(const std::string path, LocalPath(one));
    std::error_code error;
    if (fs::exists(path, error)) {
      paths.push_back(data::AbsolutePath(path));
    } else {
      TW_RETURN_NOT_OK(AppendMatches(path, &paths));
    }
  }
  return paths;
}

PythonPath::~PythonPath() {
  std::error_code ignored;
  if (!modules_.empty()) fs::remove_all(modules_, ignored);
}

Status PythonPath::Add(const std::vector<std::string>& paths) {
  for (const std::string& path : paths) {
    if (path.ends_with(".py")) {
      TW_RETURN_NOT_OK(AddModule(path));
    } else {
      entries_.push_back(path);
    }
  }
  return Status::OK();
}

Status PythonPath::AddModule(const std::string& path) {
  std::error_code error;
  if (modules_.empty()) {
    std::string name = (fs::temp_directory_path(error) / "thalweg-py-files-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) return IoError("make the folder " + name, errno);
    modules_ = name;
    entries_.push_back(modules_);
  }
  fs::copy_file(path, fs::path(modules_) / fs::path(path).filename(), fs::copy_options::overwrite_existing, error);
  return error ? IoError("copy " + path + " to " + modules_, error.value()) : Status::OK();
}

std::string PythonPath::Value() const {
  std::string value;
  for (const std::string& entry : entries_) value += (value.empty() ? "" : ":") + entry;
  if (const char* old = std::getenv("PYTHONPATH"); old != nullptr && *old != '\0') value += (value.empty() ? "" : ":") + std::string(old);
  return value;
}

}  // namespace thalweg::apps
