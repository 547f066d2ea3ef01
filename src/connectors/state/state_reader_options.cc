#include "connectors/state/state_reader_options.h"

#include <charconv>

#include "base/string_case.h"
#include "data/io/path.h"
#include "engine/state/stored_state.h"

namespace thalweg::connectors {
namespace {

// Spark's spelling, for messages.
constexpr std::string_view kPath = "path", kBatchId = "batchId", kOperatorId = "operatorId", kStoreName = "storeName", kJoinSide = "joinSide",
                           kSnapshotStart = "snapshotStartBatchId", kSnapshotPartition = "snapshotPartitionId", kReadChangeFeed = "readChangeFeed",
                           kChangeStart = "changeStartBatchId", kChangeEnd = "changeEndBatchId", kStateVariable = "stateVarName",
                           kTimers = "readRegisteredTimers", kFlatten = "flattenCollectionTypes";

Status Invalid(std::string_view option, std::string message) {
  return Error("STDS_INVALID_OPTION_VALUE.WITH_MESSAGE").With("optionName", std::string(option)).With("message", std::move(message));
}
Status Missing(std::string_view option) { return Error("STDS_REQUIRED_OPTION_UNSPECIFIED").With("optionName", std::string(option)); }
Status Conflict(std::string_view first, std::string_view second) {
  return Error("STDS_CONFLICT_OPTIONS").With("options", "['" + std::string(first) + "', '" + std::string(second) + "']");
}

Status NothingCommitted(const engine::CheckpointLayout& layout) {
  return Error("STDS_COMMITTED_BATCH_UNAVAILABLE").With("checkpointLocation", data::QualifiedPathText(layout.root()));
}

std::string Trimmed(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(" \t\r\n") - begin + 1);
}

Result<std::optional<int64_t>> NotNegative(const sql::OptionMap& options, std::string_view name) {
  TW_ASSIGN_OR_RETURN(const std::optional<int64_t> value, WholeNumber(options, name));
  if (value && *value < 0) return Error("STDS_INVALID_OPTION_VALUE.IS_NEGATIVE").With("optionName", std::string(name));
  return value;
}

Result<bool> Flag(const sql::OptionMap& options, std::string_view name, bool otherwise) {
  const std::optional<std::string> text = options.Get(name);
  if (!text) return otherwise;
  if (EqualsIgnoreCase(*text, "true")) return true;
  if (EqualsIgnoreCase(*text, "false")) return false;
  return Invalid(name, "Boolean value is expected");
}

Result<JoinSide> SideOf(const sql::OptionMap& options) {
  const std::optional<std::string> text = options.Get(kJoinSide);
  if (!text || *text == "none") return JoinSide::kNone;
  if (*text == "left") return JoinSide::kLeft;
  if (*text == "right") return JoinSide::kRight;
  return Invalid(kJoinSide, "Valid values are left,right,none");
}

Status ReadChangeFeedOptions(const sql::OptionMap& options, const engine::CheckpointLayout& layout, data::FileSystem& file_system,
                             StateReaderOptions* out) {
  if (out->join_side != JoinSide::kNone) return Conflict(kJoinSide, kReadChangeFeed);
  for (const std::string_view other : {kBatchId, kSnapshotStart, kSnapshotPartition}) {
    if (options.Has(other)) return Conflict(other, kReadChangeFeed);
  }
  TW_ASSIGN_OR_RETURN(const std::optional<int64_t> start, NotNegative(options, kChangeStart));
  if (!start) return Missing(kChangeStart);
  TW_ASSIGN_OR_RETURN(std::optional<int64_t> end, WholeNumber(options, kChangeEnd));
  if (!end) {
    TW_ASSIGN_OR_RETURN(const BatchId last, LastCommittedBatch(file_system, layout));
    end = last.value();
  }
  if (*end < *start) {
    const std::string end_name(kChangeEnd), start_name(kChangeStart);
    return Invalid(kChangeEnd, end_name + " cannot be smaller than " + start_name + ". Please check the input to " + end_name +
                                   ", or if you are using its default value, make sure that " + start_name + " is less than " +
                                   std::to_string(*end) + ".");
  }
  out->change_start = BatchId(*start);
  out->batch_id = BatchId(*end);
  return Status::OK();
}

Status ReadBatchOptions(const sql::OptionMap& options, const engine::CheckpointLayout& layout, data::FileSystem& file_system,
                        StateReaderOptions* out) {
  for (const std::string_view other : {kChangeStart, kChangeEnd}) {
    if (options.Has(other)) return Invalid(other, "Only specify this option when " + std::string(kReadChangeFeed) + " is set to true.");
  }
  TW_ASSIGN_OR_RETURN(std::optional<int64_t> batch, NotNegative(options, kBatchId));
  TW_ASSIGN_OR_RETURN(const BatchId last, LastCommittedBatch(file_system, layout));
  if (batch.value_or(0) > last.value()) return NothingCommitted(layout);
  batch = batch.value_or(last.value());
  out->batch_id = BatchId(*batch);
  TW_ASSIGN_OR_RETURN(const std::optional<int64_t> start, NotNegative(options, kSnapshotStart));
  if (start && *start > *batch) return Invalid(kSnapshotStart, "value should be less than or equal to " + std::to_string(*batch));
  TW_ASSIGN_OR_RETURN(const std::optional<int64_t> partition, NotNegative(options, kSnapshotPartition));
  if (start.has_value() != partition.has_value()) return Missing(start ? kSnapshotPartition : kSnapshotStart);
  if (start) {
    if (*partition > INT32_MAX) return Invalid(kSnapshotPartition, "value should be less than or equal to " + std::to_string(INT32_MAX));
    out->snapshot_start = BatchId(*start);
    out->snapshot_partition = PartitionId(static_cast<int32_t>(*partition));
  }
  return Status::OK();
}

}  // namespace

Result<std::string> CheckpointPath(const sql::LoadRequest& request) {
  const std::optional<std::string> option = request.options.Get(kPath);
  if (request.paths.empty() && !option) return Missing(kPath);
  return data::PathFromText(request.paths.empty() ? *option : request.paths.back());
}

Result<std::optional<int64_t>> WholeNumber(const sql::OptionMap& options, std::string_view name) {
  const std::optional<std::string> text = options.Get(name);
  if (!text) return std::optional<int64_t>();
  int64_t value = 0;
  const char* const begin = text->data() + (text->starts_with('+') ? 1 : 0);
  const char* const last = text->data() + text->size();
  const auto [end, error] = std::from_chars(begin, last, value);
  if (begin == last || error != std::errc{} || end != last) return Invalid(name, "For input string: \"" + *text + "\"");
  return std::optional<int64_t>(value);
}

Result<BatchId> LastCommittedBatch(data::FileSystem& file_system, const engine::CheckpointLayout& layout) {
  TW_ASSIGN_OR_RETURN(const std::optional<BatchId> last, engine::NewestCommit(file_system, layout));
  if (!last) return NothingCommitted(layout);
  return *last;
}

Result<StateReaderOptions> ReadStateReaderOptions(data::FileSystem& file_system, const sql::LoadRequest& request) {
  const sql::OptionMap& options = request.options;
  StateReaderOptions out;
  TW_ASSIGN_OR_RETURN(out.root, CheckpointPath(request));
  const engine::CheckpointLayout layout(out.root);
  TW_ASSIGN_OR_RETURN(const std::optional<int64_t> operator_id, NotNegative(options, kOperatorId));
  out.operator_id = OperatorId(operator_id.value_or(0));
  if (const auto name = options.Get(kStoreName)) out.store_name = Trimmed(*name);
  if (out.store_name.empty()) return Error("STDS_INVALID_OPTION_VALUE.IS_EMPTY").With("optionName", std::string(kStoreName));
  if (const auto name = options.Get(kStateVariable)) out.state_variable = Trimmed(*name);
  TW_ASSIGN_OR_RETURN(out.registered_timers, Flag(options, kTimers, false));
  if (out.registered_timers && out.state_variable) return Conflict(kTimers, kStateVariable);
  TW_RETURN_NOT_OK(Flag(options, kFlatten, true).status());
  TW_ASSIGN_OR_RETURN(out.join_side, SideOf(options));
  if (out.join_side != JoinSide::kNone && out.store_name != "default") return Conflict(kJoinSide, kStoreName);
  TW_ASSIGN_OR_RETURN(const bool change_feed, Flag(options, kReadChangeFeed, false));
  TW_RETURN_NOT_OK((change_feed ? &ReadChangeFeedOptions : &ReadBatchOptions)(options, layout, file_system, &out));
  return out;
}

std::string StateReaderOptions::ToString() const {
  constexpr const char* kSides[] = {"none", "left", "right"};
  return "StateSourceOptions(checkpointLocation=" + data::QualifiedPathText(root) + ", batchId=" + std::to_string(batch_id.value()) +
         ", operatorId=" + std::to_string(operator_id.value()) + ", storeName=" + store_name + ", joinSide=" +
         kSides[static_cast<int>(join_side)] + ")";
}

}  // namespace thalweg::connectors
