#include "connectors/file/file_sink.h"

#include <atomic>

#include "base/fault_point.h"
#include "connectors/file/file_settings.h"
#include "connectors/file/file_write_plan.h"
#include "data/io/path.h"
#include "data/logs/file_logs.h"
#include "data/logs/log_settings.h"

namespace thalweg::connectors {
namespace {

constexpr const char* kLogDirectory = "_spark_metadata";

/// Thread: NewWriter from tasks; the rest from the query's driver.
class FileSink final : public sql::StreamingWrite {
 public:
  FileSink(FileWritePlanPtr plan, data::FileSinkLog log) : plan_(std::move(plan)), log_(std::move(log)) {}

  sql::DeliveryGuarantee guarantee() const override { return sql::DeliveryGuarantee::kExactlyOnce; }
  std::string Description() const override { return "FileSink[" + plan_->target + "]"; }
  Result<std::unique_ptr<sql::DataWriter>> NewWriter(PartitionId partition, BatchId) override {
    return NewFilesWriter(plan_, partition.value());
  }
  Result<std::optional<BatchId>> LastCommitted() override {
    TW_ASSIGN_OR_RETURN(const std::optional<int64_t> latest, log_.LatestId());
    return latest ? std::optional(BatchId(*latest)) : std::nullopt;
  }
  Status Commit(BatchId epoch, const std::vector<sql::CommitMessagePtr>& messages) override;
  void Abort(BatchId, const std::vector<sql::CommitMessagePtr>& messages) override {
    // Once the log may name the files, they are not ours to remove.
    if (!commit_tried_.load()) RemoveFiles(*plan_, messages);
  }

 private:
  Result<std::vector<data::FileSinkEntry>> EntriesOf(const std::vector<std::string>& paths) const;

  FileWritePlanPtr plan_;
  data::FileSinkLog log_;
  std::atomic<bool> commit_tried_{false};  // in the current epoch
};

Result<std::vector<data::FileSinkEntry>> FileSink::EntriesOf(const std::vector<std::string>& paths) const {
  std::vector<data::FileSinkEntry> entries;
  for (const std::string& path : paths) {
    TW_ASSIGN_OR_RETURN(const data::FileInfo info, plan_->file_system->Stat(path));
    data::FileSinkEntry entry;
    entry.uri = data::UriFromPath(path);
    entry.size_bytes = info.size_bytes;
    entry.modification_time_ms = info.modification_time_ms;
    entries.push_back(std::move(entry));
  }
  return entries;
}

Status FileSink::Commit(BatchId epoch, const std::vector<sql::CommitMessagePtr>& messages) {
  TW_ASSIGN_OR_RETURN(const std::optional<BatchId> last, LastCommitted());
  if (last && *last >= epoch) {
    RemoveFiles(*plan_, messages);
    return Status::OK();
  }
  std::vector<sql::CommitMessagePtr> all = messages;
  if (all.empty()) {  // no task had rows: the first one still leaves its file
    const std::unique_ptr<sql::DataWriter> writer = NewFilesWriter(plan_, 0);
    std::shared_ptr<Signal> blocked;
    TW_ASSIGN_OR_RETURN(sql::CommitMessagePtr message, writer->Finish(&blocked));
    all.push_back(std::move(message));
  }
  const std::vector<std::string> paths = PathsOf(all, plan_->target);
  TW_RETURN_NOT_OK(plan_->file_system->SyncMany(paths, DirectoriesOf(paths, plan_->target)));
  TW_FAULT_POINT("file sink: files durable");
  TW_ASSIGN_OR_RETURN(const std::vector<data::FileSinkEntry> entries, EntriesOf(paths));
  commit_tried_ = true;
  TW_ASSIGN_OR_RETURN(const bool added, log_.Add(epoch.value(), entries));
  if (!added) return Error("CONCURRENT_STREAM_LOG_UPDATE").With("batchId", epoch.value());
  commit_tried_ = false;
  TW_FAULT_POINT("file sink: committed");
  return Status::OK();
}

/// Hours and days as users write them: "12h", "2d". Absent: files are kept for ever.
Result<std::optional<int64_t>> RetentionOf(const FormatContext& context) {
  const std::string* text = data::FindOption(context.options, "retention");
  if (text == nullptr) return std::optional<int64_t>();
  const Setting<int64_t> as_setting{.key = "retention", .default_value = 0, .min = 0, .unit = SettingUnit::kMillis, .doc = ""};
  const Result<int64_t> millis = ParseSetting(as_setting, *text);
  if (!millis.ok()) return Error("INVALID_OPTION_VALUE").With("option", "retention").With("value", *text).With("expected", "a duration");
  return std::optional(*millis);
}

}  // namespace

Status CheckFileSinkMode(const FileFormat& format, sql::OutputMode mode) {
  if (mode == sql::OutputMode::kAppend) return Status::OK();
  return Error("STREAMING_OUTPUT_MODE.UNSUPPORTED_DATASOURCE")
      .With("className", format.short_name())
      .With("outputMode", mode == sql::OutputMode::kUpdate ? "update" : "complete");
}

Result<std::unique_ptr<sql::StreamingWrite>> MakeFileSink(const FileFormat& format, const FormatContext& context, Clock* clock,
                                                          const std::string& target, const sql::StreamWriteRequest& request) {
  TW_RETURN_NOT_OK(CheckFileSinkMode(format, request.mode));
  TW_ASSIGN_OR_RETURN(FileWritePlan plan,
                      PlanFileWrite(format, context, clock, target, request.schema, request.partition_columns));
  TW_RETURN_NOT_OK(context.file_system->MakeDirectories(target));
  data::CompactibleLogOptions options;
  options.compact_interval = context.settings->Get(kSinkLogCompactInterval);
  options.cleanup_delay_ms = context.settings->Get(kSinkLogCleanupDelayMs);
  options.deletion = context.settings->Get(kSinkLogDeletion);
  options.min_batches_to_retain = context.settings->Get(data::kMinBatchesToRetain);
  TW_ASSIGN_OR_RETURN(const std::optional<int64_t> retention_ms, RetentionOf(context));
  TW_ASSIGN_OR_RETURN(data::FileSinkLog log, data::FileSinkLog::Open(*context.file_system, data::JoinPath(target, kLogDirectory),
                                                                     options, *clock, retention_ms));
  return std::unique_ptr<sql::StreamingWrite>(
      std::make_unique<FileSink>(std::make_shared<const FileWritePlan>(std::move(plan)), std::move(log)));
}

}  // namespace thalweg::connectors
