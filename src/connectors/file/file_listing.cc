#include "connectors/file/file_listing.h"

#include <algorithm>

#include "base/string_case.h"
#include "data/io/path.h"
#include "data/logs/file_logs.h"
#include "data/text/datetime.h"

namespace thalweg::connectors {
namespace {

constexpr std::string_view kSinkLogName = "_spark_metadata";

Result<std::optional<int64_t>> TimeOption(const sql::OptionMap& options, const char* name,
                                          const std::string& time_zone) {
  const std::optional<std::string> text = options.Get(name);
  if (!text) return std::optional<int64_t>();
  TW_ASSIGN_OR_RETURN(const data::TimeZone zone, data::TimeZone::Parse(options.Get("timeZone").value_or(time_zone)));
  int64_t micros = 0;
  if (!data::ParseTimestamp(*text, zone, 0, &micros)) {
    return Error("ILLEGAL_ARGUMENT")
        .With("message", "The timestamp provided for the '" + ToAsciiLower(name) +
                             "' option is invalid. The expected format is 'YYYY-MM-DDTHH:mm:ss', but the provided " +
                             "timestamp: " + *text);
  }
  return std::optional<int64_t>(micros);
}

class Lister {
 public:
  Lister(data::FileSystem& file_system, const ListingOptions& options, FileListing* out)
      : file_system_(file_system), options_(options), out_(*out) {}

  void AddFile(const data::FileInfo& info) {
    const std::string_view name = data::PathName(info.path);
    if (IsHiddenName(name) || name.starts_with("_metadata") || name.starts_with("_common_metadata")) return;
    if (options_.name_filter && !options_.name_filter->Matches(name)) return;
    const int64_t modified_us = info.modification_time_ms * 1000;
    if (options_.modified_before_us && modified_us >= *options_.modified_before_us) return;
    if (options_.modified_after_us && modified_us <= *options_.modified_after_us) return;
    out_.files.push_back({info.path, info.size_bytes, info.modification_time_ms});
  }

  /// A directory that is gone by now is empty.
  Status Walk(const std::string& directory) {
    out_.directories.push_back(directory);
    Result<std::vector<data::FileInfo>> found = file_system_.List(directory);
    if (!found.ok()) return data::IsNotFound(found.status()) ? Status::OK() : found.status();
    std::vector<std::string> deeper;
    for (const data::FileInfo& info : *found) {
      if (!info.is_directory)
        AddFile(info);
      else if (!IsHiddenName(info.name()))
        deeper.push_back(info.path);
    }
    for (const std::string& path : deeper) TW_RETURN_NOT_OK(Walk(path));
    return Status::OK();
  }

  /// The paths a pattern names, in order.
  Status Resolve(const std::string& pattern, std::vector<std::string>* found) {
    for (const std::string& one : ExpandBraces(pattern)) {
      std::vector<std::string> level{one.starts_with('/') ? "/" : ""};
      size_t at = 0;
      while (at < one.size() && !level.empty()) {
        const size_t end = std::min(one.find('/', at), one.size());
        const std::string part = one.substr(at, end - at);
        at = end + 1;
        if (part.empty()) continue;
        std::vector<std::string> next;
        for (const std::string& base : level) TW_RETURN_NOT_OK(ResolvePart(base, part, &next));
        level = std::move(next);
      }
      found->insert(found->end(), level.begin(), level.end());
    }
    return Status::OK();
  }

 private:
  Status ResolvePart(const std::string& base, const std::string& part, std::vector<std::string>* next) {
    if (!IsGlob(part)) {
      std::string path = base.empty() ? part : data::JoinPath(base, part);
      TW_ASSIGN_OR_RETURN(const bool exists, file_system_.Exists(path));
      if (exists) next->push_back(std::move(path));
      return Status::OK();
    }
    const std::string directory = base.empty() ? "." : base;
    out_.directories.push_back(directory);
    Result<std::vector<data::FileInfo>> infos = file_system_.List(directory);
    if (!infos.ok()) return Status::OK();  // not a directory, or gone
    for (const data::FileInfo& info : *infos) {
      if (GlobMatches(part, info.name())) next->push_back(data::JoinPath(directory, info.name()));
    }
    return Status::OK();
  }

  data::FileSystem& file_system_;
  const ListingOptions& options_;
  FileListing& out_;
};

Status NotFound(const std::string& path) {
  return Error("PATH_NOT_FOUND").With("path", data::QualifiedPathText(path));
}

Status ListSinkLog(data::FileSystem& file_system, Clock& clock, const std::string& root, Lister& lister) {
  TW_ASSIGN_OR_RETURN(const data::FileSinkLog log,
                      data::FileSinkLog::Open(file_system, data::JoinPath(root, kSinkLogName), {}, clock));
  TW_ASSIGN_OR_RETURN(const std::vector<data::FileSinkEntry> entries, log.AllFiles());
  for (const data::FileSinkEntry& entry : entries) {
    TW_ASSIGN_OR_RETURN(std::string path, data::PathFromUri(entry.uri));
    lister.AddFile({std::move(path), entry.is_directory, entry.size_bytes, entry.modification_time_ms});
  }
  return Status::OK();
}

}  // namespace

Result<ListingOptions> ListingOptions::Make(const sql::OptionMap& options, const std::string& time_zone) {
  ListingOptions made;
  TW_ASSIGN_OR_RETURN(made.recursive, options.GetBool("recursiveFileLookup", false));
  if (const std::optional<std::string> pattern = options.Get("pathGlobFilter")) made.name_filter.emplace(*pattern);
  TW_ASSIGN_OR_RETURN(made.modified_before_us, TimeOption(options, "modifiedBefore", time_zone));
  TW_ASSIGN_OR_RETURN(made.modified_after_us, TimeOption(options, "modifiedAfter", time_zone));
  return made;
}

bool IsHiddenName(std::string_view name) {
  if (name.starts_with("_metadata") || name.starts_with("_common_metadata")) return false;
  return (name.starts_with('_') && name.find('=') == std::string_view::npos) || name.starts_with('.') ||
         name.ends_with("._COPYING_");
}

Result<bool> HasSinkLog(data::FileSystem& file_system, const std::string& directory) {
  return file_system.Exists(data::JoinPath(directory, kSinkLogName));
}

Result<FileListing> ListDataFiles(data::FileSystem& file_system, Clock& clock, const std::vector<std::string>& paths,
                                  const ListingOptions& options, bool missing_ok) {
  FileListing listing;
  Lister lister(file_system, options, &listing);
  for (const std::string& path : paths) {
    if (!IsGlob(path)) {
      listing.roots.push_back(path);
      continue;
    }
    const size_t before = listing.roots.size();
    TW_RETURN_NOT_OK(lister.Resolve(path, &listing.roots));
    if (!missing_ok && listing.roots.size() == before) return NotFound(path);
  }
  if (paths.size() == 1 && !IsGlob(paths[0]) && !options.ignore_sink_log) {
    TW_ASSIGN_OR_RETURN(listing.from_sink_log, HasSinkLog(file_system, paths[0]));
    if (listing.from_sink_log) {
      TW_RETURN_NOT_OK(ListSinkLog(file_system, clock, paths[0], lister));
      listing.directories.push_back(data::JoinPath(paths[0], kSinkLogName));
      return listing;
    }
  }
  for (std::string& root : listing.roots) {
    const Result<data::FileInfo> info = file_system.Stat(root);
    if (!info.ok()) {
      if (!data::IsNotFound(info.status())) return info.status();
      if (!missing_ok) return NotFound(root);
      continue;
    }
    if (info->is_directory) {
      TW_RETURN_NOT_OK(lister.Walk(root));
    } else {
      lister.AddFile(*info);
      root = data::ParentPath(root);
    }
  }
  return listing;
}

}  // namespace thalweg::connectors
