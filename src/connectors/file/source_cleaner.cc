#include "connectors/file/source_cleaner.h"

#include <vector>

#include "base/log.h"
#include "base/thread.h"
#include "connectors/file/glob.h"
#include "data/io/path.h"

namespace thalweg::connectors {
namespace {

/// "/a/b" as its components.
std::vector<std::string> Components(const std::string& path) {
  std::vector<std::string> parts;
  for (std::string rest = path; rest != "/" && rest != "."; rest = data::ParentPath(rest))
    parts.emplace(parts.begin(), data::PathName(rest));
  return parts;
}

/// Whether archived files could match the source: the first levels of both agree.
bool MayMeet(const std::string& archive, const std::string& source_pattern) {
  const std::vector<std::string> places = Components(archive);
  for (const std::string& pattern : ExpandBraces(source_pattern)) {
    const std::vector<std::string> parts = Components(pattern);
    bool all = true;
    for (size_t i = 0; all && i < std::min(parts.size(), places.size()); ++i) all = GlobMatches(parts[i], places[i]);
    if (all) return true;
  }
  return false;
}

}  // namespace

Result<std::unique_ptr<SourceCleaner>> SourceCleaner::Make(data::FileSystem& file_system,
                                                           const FileStreamOptions& options,
                                                           const std::string& source_pattern, int64_t threads) {
  if (options.clean_source == CleanSource::kOff) return std::unique_ptr<SourceCleaner>();
  if (options.clean_source == CleanSource::kArchive && MayMeet(options.archive_directory, source_pattern)) {
    return Error("ILLEGAL_ARGUMENT")
        .With("message", "requirement failed: Base archive path cannot be set to the path where archived path can " +
                             std::string("possibly match with source pattern. Ensure the base archive path doesn't ") +
                             "match with source pattern in depth, where the depth is minimum of depth on both paths.");
  }
  std::unique_ptr<SourceCleaner> cleaner(new SourceCleaner(file_system, options));
  if (threads > 0) {
    cleaner->thread_ = StartLoop("source cleaner", [own = cleaner.get()](std::stop_token) {
      while (const auto path = own->waiting_.Pop()) own->CleanNow(*path);
      return false;
    });
  }
  return cleaner;
}

SourceCleaner::~SourceCleaner() { waiting_.Close(); }

void SourceCleaner::Clean(std::string path) {
  if (thread_.joinable())
    waiting_.Push(std::move(path));
  else
    CleanNow(path);
}

void SourceCleaner::CleanNow(const std::string& path) {
  Status status;
  if (mode_ == CleanSource::kDelete) {
    status = file_system_.Remove(path);
  } else {
    const std::string target = data::JoinPath(archive_, path.substr(1));
    status = file_system_.MakeDirectories(data::ParentPath(target));
    if (status.ok()) status = file_system_.Rename(path, target, data::RenameMode::kReplace);
  }
  if (!status.ok()) TW_LOG(kWarn, "could not clean a source file", {"path", path}, {"reason", status.message()});
}

}  // namespace thalweg::connectors
