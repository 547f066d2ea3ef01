#include "connectors/file/file_write.h"

#include <algorithm>
#include <set>

#include "base/fault_point.h"
#include "base/log.h"
#include "base/string_case.h"
#include "base/uuid.h"
#include "connectors/file/file_settings.h"
#include "connectors/file/file_write_plan.h"
#include "data/io/own_tree.h"
#include "data/io/path.h"

namespace thalweg::connectors {
namespace {

constexpr const char* kTemporary = "_temporary";
constexpr const char* kSuccess = "_SUCCESS";

/// Thread: NewWriter from tasks; the rest from whoever runs the write.
class FileBatchWrite final : public sql::BatchWrite {
 public:
  enum class Old : uint8_t { kKeep, kRemoveAll, kRemoveBelow, kRemoveOfPartitions };

  /// `below`: with kRemoveBelow, the directory whose files go.
  FileBatchWrite(FileWritePlanPtr plan, Old old, std::string below, bool target_existed)
      : plan_(std::move(plan)), old_(old), below_(std::move(below)), target_existed_(target_existed) {}
  ~FileBatchWrite() override { RemoveStaging(); }

  Result<std::unique_ptr<sql::DataWriter>> NewWriter(PartitionId partition) override {
    return NewFilesWriter(plan_, partition.value());
  }
  Status Commit(const std::vector<sql::CommitMessagePtr>& messages) override;
  void Abort(const std::vector<sql::CommitMessagePtr>&) override { RemoveStaging(); }

 private:
  Result<std::vector<std::string>> OldFiles(const std::vector<std::string>& written) const;
  Status RemoveLinksInTheWay(const std::vector<std::string>& old, const std::vector<std::string>& written) const;
  Status RemoveOld(const std::vector<std::string>& files, const std::vector<std::string>& written) const;
  void RemoveStaging();

  FileWritePlanPtr plan_;
  const Old old_;
  const std::string below_;
  const bool target_existed_;
  bool staging_removed_ = false;
  bool committed_ = false;
  std::vector<std::string> renamed_;  // files at their final place
};

/// What the new files replace: files, and links as links.
Result<std::vector<std::string>> FileBatchWrite::OldFiles(const std::vector<std::string>& written) const {
  std::set<std::string> roots;
  switch (old_) {
    case Old::kKeep: break;
    case Old::kRemoveAll: roots.insert(plan_->target); break;
    case Old::kRemoveBelow: roots.insert(below_); break;
    case Old::kRemoveOfPartitions:
      for (const std::string& path : written) roots.insert(data::ParentPath(path));
  }
  const std::string temporary = data::JoinPath(plan_->target, kTemporary) + "/";
  std::vector<std::string> old;
  for (const std::string& root : roots) {
    TW_ASSIGN_OR_RETURN(const std::string link, data::FirstLink(*plan_->file_system, plan_->target, root));
    if (!link.empty() && link != root) {  // other partitions lie behind it, too
      return Unsupported("overwriting a part of what lies behind a symbolic link in a table (" + link + ")");
    }
    if (!link.empty()) {
      old.push_back(root);
      continue;
    }
    TW_ASSIGN_OR_RETURN(const std::vector<data::FileInfo> all, data::ListOwnTree(*plan_->file_system, root));
    for (const data::FileInfo& file : all) {
      if (file.path.starts_with(temporary)) continue;
      if (old_ == Old::kRemoveOfPartitions && data::ParentPath(file.path) != root) continue;
      old.push_back(file.path);
    }
  }
  return old;
}

/// Links that lead away where new files come to stand: they go first, or the files would be on the other side.
Status FileBatchWrite::RemoveLinksInTheWay(const std::vector<std::string>& old, const std::vector<std::string>& written) const {
  const std::vector<std::string> directories = DirectoriesOf(written, plan_->target);
  for (const std::string& path : old) {
    if (std::binary_search(directories.begin(), directories.end(), path)) TW_RETURN_NOT_OK(plan_->file_system->Remove(path));
  }
  return Status::OK();
}

/// Files, then the directories that are empty without them.
Status FileBatchWrite::RemoveOld(const std::vector<std::string>& files, const std::vector<std::string>& written) const {
  const std::vector<std::string> in_use = DirectoriesOf(written, plan_->target);
  const auto used = [&](const std::string& path) { return std::binary_search(in_use.begin(), in_use.end(), path); };
  for (const std::string& file : files) {
    if (used(file)) continue;  // was a link in the way
    const Status removed = plan_->file_system->Remove(file);
    if (!removed.ok() && !data::IsNotFound(removed)) return removed;
  }
  std::vector<std::string> directories = DirectoriesOf(files, plan_->target);
  std::sort(directories.rbegin(), directories.rend());
  for (const std::string& directory : directories) {
    if (directory == plan_->target || used(directory)) continue;
    TW_ASSIGN_OR_RETURN(const bool link, data::IsSymbolicLink(*plan_->file_system, directory));
    if (!link) Ignore(plan_->file_system->Remove(directory), "it holds other files");
  }
  return Status::OK();
}

Status FileBatchWrite::Commit(const std::vector<sql::CommitMessagePtr>& messages) {
  data::FileSystem& files = *plan_->file_system;
  const std::vector<std::string> staged = PathsOf(messages, plan_->staging);
  const std::vector<std::string> written = PathsOf(messages, plan_->target);
  TW_RETURN_NOT_OK(files.MakeDirectories(plan_->target));
  TW_RETURN_NOT_OK(files.SyncMany(staged, {}));
  TW_ASSIGN_OR_RETURN(const std::vector<std::string> old, OldFiles(written));
  TW_FAULT_POINT("file write: files durable");
  TW_RETURN_NOT_OK(RemoveLinksInTheWay(old, written));
  for (size_t i = 0; i < written.size(); ++i) {
    TW_RETURN_NOT_OK(files.MakeDirectories(data::ParentPath(written[i])));
    TW_RETURN_NOT_OK(files.Rename(staged[i], written[i], data::RenameMode::kNoReplace));
    renamed_.push_back(written[i]);
  }
  TW_RETURN_NOT_OK(files.SyncMany({}, DirectoriesOf(written, plan_->target)));
  TW_FAULT_POINT("file write: files renamed");
  committed_ = true;  // what is new stays, whatever comes
  TW_RETURN_NOT_OK(RemoveOld(old, written));
  RemoveStaging();
  const std::string success = data::JoinPath(plan_->target, kSuccess);
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<data::WritableFile> file, files.Create(success, data::CreateMode::kReplace));
  TW_RETURN_NOT_OK(file->Close());
  return files.SyncMany({}, std::vector<std::string>{plan_->target});
}

void FileBatchWrite::RemoveStaging() {
  if (std::exchange(staging_removed_, true)) return;
  const Status removed = plan_->file_system->RemoveTree(plan_->staging);
  if (!removed.ok()) TW_LOG(kWarn, "directory of a write not removed", {"path", plan_->staging}, {"error", removed});
  Ignore(plan_->file_system->Remove(data::ParentPath(plan_->staging)), "another write uses it, or it was never made");
  if (committed_) return;
  for (const std::string& path : renamed_) Ignore(plan_->file_system->Remove(path), "the error of the write counts");
  if (!target_existed_) Ignore(plan_->file_system->Remove(plan_->target), "another write uses it, or it was never made");
}

bool IsDynamic(const FormatContext& context) {
  const std::string mode = data::TextOption(context.options, "partitionOverwriteMode", context.settings->Get(kPartitionOverwriteMode));
  return EqualsIgnoreCase(mode, "dynamic");
}

}  // namespace

Result<std::unique_ptr<sql::BatchWrite>> MakeFileWrite(const FileFormat& format, const FormatContext& context, Clock* clock,
                                                       const std::string& target, const sql::WriteRequest& request) {
  if (request.overwrite_condition != nullptr) return Unsupported("overwriting a part of a directory by a condition");
  TW_ASSIGN_OR_RETURN(FileWritePlan plan,
                      PlanFileWrite(format, context, clock, target, request.schema, request.partition_columns));
  TW_ASSIGN_OR_RETURN(const bool exists, context.file_system->Exists(target));
  if (exists && request.mode == sql::SaveMode::kIgnore) return std::unique_ptr<sql::BatchWrite>();
  if (exists && request.mode == sql::SaveMode::kErrorIfExists) {
    return Error("PATH_ALREADY_EXISTS").With("outputPath", data::QualifiedPathText(target));
  }
  if (exists && request.mode == sql::SaveMode::kOverwrite) {
    TW_ASSIGN_OR_RETURN(const data::FileInfo info, context.file_system->Stat(target));
    if (!info.is_directory) TW_RETURN_NOT_OK(context.file_system->Remove(target));
  }
  plan.job_id = Uuid::MakeRandom().ToString();
  plan.staging = data::JoinPath(data::JoinPath(target, kTemporary), plan.job_id);
  auto old = FileBatchWrite::Old::kKeep;
  if (request.mode == sql::SaveMode::kOverwrite) {
    const bool dynamic = !plan.partition_at.empty() && IsDynamic(context);
    const bool part = !request.overwrite_partition.empty();
    old = dynamic ? FileBatchWrite::Old::kRemoveOfPartitions : part ? FileBatchWrite::Old::kRemoveBelow : FileBatchWrite::Old::kRemoveAll;
  }
  TW_ASSIGN_OR_RETURN(const std::string below, PartitionDirectory(plan, request.schema, request.overwrite_partition));
  return std::unique_ptr<sql::BatchWrite>(
      std::make_unique<FileBatchWrite>(std::make_shared<const FileWritePlan>(std::move(plan)), old,
                                       data::JoinPath(target, below), exists));
}

}  // namespace thalweg::connectors
