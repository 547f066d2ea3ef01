#include "engine/checkpoint/commit_log.h"

#include <charconv>

#include "data/logs/log_text.h"
#include "engine/checkpoint/log_json.h"

namespace thalweg::engine {
namespace {

constexpr int kCommitLogNewestVersion = 3;
constexpr std::string_view kCommitLogPlace = "a commit log entry";

Result<OperatorStateIds> ParseStateIds(const std::string& operator_text, const OrderedJson& partitions) {
  OperatorStateIds operator_ids;
  int64_t id = 0;
  const char* last = operator_text.data() + operator_text.size();
  const auto [end, error] = std::from_chars(operator_text.data(), last, id);
  if (error != std::errc{} || end != last || !partitions.is_array()) {
    return data::MalformedLogEntry(kCommitLogPlace, "stateUniqueIds of operator " + operator_text);
  }
  operator_ids.operator_id = OperatorId(id);
  for (const OrderedJson& stores : partitions) {
    std::vector<std::string>& ids = operator_ids.ids.emplace_back();
    if (!stores.is_array()) return data::MalformedLogEntry(kCommitLogPlace, "stateUniqueIds of operator " + operator_text);
    for (const OrderedJson& store : stores) {
      if (!store.is_string()) return data::MalformedLogEntry(kCommitLogPlace, "stateUniqueIds of operator " + operator_text);
      ids.push_back(store.get<std::string>());
    }
  }
  return operator_ids;
}

std::string FormatStateIds(const std::vector<OperatorStateIds>& operators) {
  std::string out = "{";
  for (const OperatorStateIds& one : operators) {
    if (out.size() > 1) out += ',';
    out += "\"" + std::to_string(one.operator_id.value()) + "\":[";
    for (size_t partition = 0; partition < one.ids.size(); ++partition) {
      out += partition > 0 ? ",[" : "[";
      for (size_t store = 0; store < one.ids[partition].size(); ++store) {
        if (store > 0) out += ',';
        out += data::JsonQuoted(one.ids[partition][store]);
      }
      out += ']';
    }
    out += ']';
  }
  return out + "}";
}

}  // namespace

const OperatorStateIds* CommitLogEntry::FindStateIds(OperatorId operator_id) const {
  for (const OperatorStateIds& one : state_ids) {
    if (one.operator_id == operator_id) return &one;
  }
  return nullptr;
}

Result<CommitLogEntry> ParseCommitLogEntry(std::string_view text) {
  const std::vector<std::string_view> lines = data::SplitLogLines(text);
  CommitLogEntry entry;
  TW_ASSIGN_OR_RETURN(entry.version,
                      data::ParseLogVersion(lines.empty() ? std::string_view() : lines[0], kCommitLogNewestVersion));
  if (lines.size() < 2 || lines[1].empty()) return entry;  // the version line alone: everything as by default
  TW_ASSIGN_OR_RETURN(const OrderedJson object, ParseLogObject(kCommitLogPlace, lines[1]));
  TW_ASSIGN_OR_RETURN(entry.next_batch_watermark_ms, IntegerMember(kCommitLogPlace, object, "nextBatchWatermarkMs", 0));
  for (const auto& [name, value] : object.items()) {
    if (name == "nextBatchWatermarkMs") continue;
    if (name != "stateUniqueIds") {
      entry.others.emplace_back(name, DumpLine(value));
      continue;
    }
    entry.has_state_ids = true;
    if (!value.is_object()) return data::MalformedLogEntry(kCommitLogPlace, "stateUniqueIds is no object");
    for (const auto& [operator_text, partitions] : value.items()) {
      TW_ASSIGN_OR_RETURN(OperatorStateIds one, ParseStateIds(operator_text, partitions));
      entry.state_ids.push_back(std::move(one));
    }
  }
  return entry;
}

std::string FormatCommitLogEntry(const CommitLogEntry& entry) {
  std::string out = data::LogVersionLine(entry.version) +
                    "\n{\"nextBatchWatermarkMs\":" + std::to_string(entry.next_batch_watermark_ms);
  if (entry.has_state_ids || !entry.state_ids.empty()) out += ",\"stateUniqueIds\":" + FormatStateIds(entry.state_ids);
  for (const auto& [name, json] : entry.others) out += "," + data::JsonQuoted(name) + ":" + json;
  return out + "}";
}

}  // namespace thalweg::engine
