#include "engine/checkpoint/entry_log.h"

#include "base/fault_point.h"
#include "data/logs/log_text.h"
#include "engine/checkpoint/commit_log.h"
#include "engine/checkpoint/offset_log.h"

namespace thalweg::engine {
namespace {

/// How an entry lies in its file, and the names of the steps of writing it.
template <typename Entry>
struct Form;

template <>
struct Form<OffsetLogEntry> {
  static Status BeforeWrite() {
    TW_FAULT_POINT("offset log: to be written");
    return Status::OK();
  }
  static Status AfterWrite() {
    TW_FAULT_POINT("offset log: written");
    return Status::OK();
  }
  static Result<OffsetLogEntry> Parse(std::string_view text) { return ParseOffsetLogEntry(text); }
  static Result<std::string> Format(const OffsetLogEntry& entry) { return FormatOffsetLogEntry(entry); }
};

template <>
struct Form<CommitLogEntry> {
  static Status BeforeWrite() {
    TW_FAULT_POINT("commit log: to be written");
    return Status::OK();
  }
  static Status AfterWrite() {
    TW_FAULT_POINT("commit log: written");
    return Status::OK();
  }
  static Result<CommitLogEntry> Parse(std::string_view text) { return ParseCommitLogEntry(text); }
  static Result<std::string> Format(const CommitLogEntry& entry) { return FormatCommitLogEntry(entry); }
};

}  // namespace

template <typename Entry>
Status EntryLog<Entry>::Add(BatchId batch_id, const Entry& entry) {
  if (poison_ != nullptr) TW_RETURN_NOT_OK(poison_->Check());
  TW_ASSIGN_OR_RETURN(const std::string text, Form<Entry>::Format(entry));
  TW_RETURN_NOT_OK(Form<Entry>::BeforeWrite());
  TW_ASSIGN_OR_RETURN(const bool added, log_.Add(batch_id.value(), text));
  if (!added) return Error("CONCURRENT_STREAM_LOG_UPDATE").With("batchId", batch_id.value());
  return Form<Entry>::AfterWrite();
}

template <typename Entry>
Result<std::optional<Entry>> EntryLog<Entry>::Get(BatchId batch_id) const {
  TW_ASSIGN_OR_RETURN(const std::optional<std::string> text, log_.Get(batch_id.value()));
  if (!text.has_value()) return std::optional<Entry>();
  Result<Entry> entry = Form<Entry>::Parse(*text);
  if (!entry.ok()) return data::InLogFile(entry.status(), PathOf(batch_id));
  return std::optional<Entry>(std::move(*entry));
}

template <typename Entry>
Result<std::optional<BatchId>> EntryLog<Entry>::LatestId() const {
  TW_ASSIGN_OR_RETURN(const std::optional<int64_t> id, log_.LatestId());
  return id.has_value() ? std::optional<BatchId>(BatchId(*id)) : std::nullopt;
}

template class EntryLog<OffsetLogEntry>;
template class EntryLog<CommitLogEntry>;

}  // namespace thalweg::engine
