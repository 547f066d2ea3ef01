#include "engine/checkpoint/offset_log.h"

#include "data/logs/log_text.h"
#include "engine/checkpoint/log_json.h"

namespace thalweg::engine {
namespace {

constexpr int kOffsetLogNewestVersion = 2;
constexpr std::string_view kNoOffset = "-";

std::string_view Trim(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t") - first + 1);
}

Result<OffsetMetadata> ParseMetadata(std::string_view line) {
  constexpr std::string_view kOffsetLogPlace = "the metadata line of an offset log entry";
  TW_ASSIGN_OR_RETURN(const OrderedJson object, ParseLogObject(kOffsetLogPlace, line));
  OffsetMetadata metadata;
  TW_ASSIGN_OR_RETURN(metadata.batch_watermark_ms, IntegerMember(kOffsetLogPlace, object, "batchWatermarkMs", 0));
  TW_ASSIGN_OR_RETURN(metadata.batch_timestamp_ms, IntegerMember(kOffsetLogPlace, object, "batchTimestampMs", 0));
  for (const auto& [name, value] : object.items()) {
    if (name == "batchWatermarkMs" || name == "batchTimestampMs") continue;
    if (name != "conf") {
      metadata.others.emplace_back(name, DumpLine(value));
      continue;
    }
    if (!value.is_object()) return data::MalformedLogEntry(kOffsetLogPlace, "conf is no object");
    for (const auto& [key, text] : value.items()) {
      if (!text.is_string()) return data::MalformedLogEntry(kOffsetLogPlace, "the setting " + key + " is no text");
      metadata.conf.emplace_back(key, text.get<std::string>());
    }
  }
  return metadata;
}

std::string FormatMetadata(const OffsetMetadata& metadata) {
  std::string out = "{\"batchWatermarkMs\":" + std::to_string(metadata.batch_watermark_ms) +
                    ",\"batchTimestampMs\":" + std::to_string(metadata.batch_timestamp_ms) + ",\"conf\":{";
  for (size_t i = 0; i < metadata.conf.size(); ++i) {
    if (i > 0) out += ',';
    out += data::JsonQuoted(metadata.conf[i].first) + ":" + data::JsonQuoted(metadata.conf[i].second);
  }
  out += '}';
  for (const auto& [name, json] : metadata.others) out += "," + data::JsonQuoted(name) + ":" + json;
  return out + "}";
}

Result<SourceOffset> ParseOffset(int version, size_t index, std::string_view line) {
  SourceOffset offset;
  if (version == 1) {
    offset.source_id = std::to_string(index);
  } else {
    const size_t colon = line.find(':');
    if (colon == std::string_view::npos) {
      return data::MalformedLogEntry("an offset log entry", "no source id in the line " + std::string(line));
    }
    offset.source_id = line.substr(0, colon);
    line.remove_prefix(colon + 1);
  }
  if (line != kNoOffset) offset.json = std::string(line);
  return offset;
}

}  // namespace

const std::string* OffsetMetadata::FindConf(std::string_view key) const {
  for (const auto& [name, text] : conf) {
    if (name == key) return &text;
  }
  return nullptr;
}

Status OffsetLogEntry::CheckSourceCount(size_t sources) const {
  if (offsets.size() == sources) return Status::OK();
  return Error("_LEGACY_ERROR_THALWEG_SOURCE_COUNT")
      .With("recorded", static_cast<long long>(offsets.size()))
      .With("requested", static_cast<long long>(sources));
}

Result<OffsetLogEntry> ParseOffsetLogEntry(std::string_view text) {
  const std::vector<std::string_view> lines = data::SplitLogLines(text);
  OffsetLogEntry entry;
  TW_ASSIGN_OR_RETURN(entry.version,
                      data::ParseLogVersion(lines.empty() ? std::string_view() : lines[0], kOffsetLogNewestVersion));
  const std::string_view metadata_line = lines.size() > 1 ? Trim(lines[1]) : std::string_view();
  if (!metadata_line.empty()) {
    TW_ASSIGN_OR_RETURN(entry.metadata, ParseMetadata(metadata_line));
  } else if (lines.size() < 2 || entry.version > 1) {
    return data::MalformedLogEntry("an offset log entry", "there is no metadata line");
  }
  for (size_t i = 2; i < lines.size(); ++i) {
    TW_ASSIGN_OR_RETURN(SourceOffset offset, ParseOffset(entry.version, i - 2, lines[i]));
    entry.offsets.push_back(std::move(offset));
  }
  return entry;
}

Result<std::string> FormatOffsetLogEntry(const OffsetLogEntry& entry) {
  if (entry.version > 1 && !entry.metadata.has_value()) return InternalError("an offset log entry without metadata");
  std::string out = data::LogVersionLine(entry.version) + "\n";
  if (entry.metadata.has_value()) out += FormatMetadata(*entry.metadata);
  for (const SourceOffset& offset : entry.offsets) {
    const std::string_view json = offset.json.has_value() ? std::string_view(*offset.json) : kNoOffset;
    if (json.find_first_of("\r\n") != std::string_view::npos) {
      return InternalError("the offset of source " + offset.source_id + " has a line end: " + std::string(json));
    }
    out += '\n';
    if (entry.version > 1) out += offset.source_id + ":";
    out += json;
  }
  return out;
}

}  // namespace thalweg::engine
