// DESCRIBE HISTORY and DESCRIBE DETAIL.

#include <simdjson.h>

#include <algorithm>
#include <limits>

#include "connectors/delta/delta_command.h"
#include "connectors/delta/delta_protocol.h"
#include "data/io/path.h"
#include "data/text/numbers.h"

namespace thalweg::connectors {

using data::DataType;
using data::Value;
using data::ValueList;
using simdjson::dom::element;
using simdjson::dom::object;

namespace {

constexpr std::string_view kHistoryColumns =
    "version BIGINT, timestamp TIMESTAMP, userId STRING, userName STRING, operation STRING, operationParameters MAP<STRING, STRING>, "
    "job STRUCT<jobId: STRING, jobName: STRING, jobRunId: STRING, runId: STRING, jobOwnerId: STRING, triggerType: STRING>, "
    "notebook STRUCT<notebookId: STRING>, clusterId STRING, readVersion BIGINT, isolationLevel STRING, isBlindAppend BOOLEAN, "
    "operationMetrics MAP<STRING, STRING>, userMetadata STRING, engineInfo STRING";

Value TextAt(const object& from, const char* key) {
  std::string_view text;
  if (from.at_key(key).get(text) != simdjson::SUCCESS) return {};
  return Value(std::string(text));
}

Value NumberAt(const object& from, const char* key) {
  int64_t number = 0;
  if (from.at_key(key).get(number) != simdjson::SUCCESS) return {};
  return Value(number);
}

Value FlagAt(const object& from, const char* key) {
  bool flag = false;
  if (from.at_key(key).get(flag) != simdjson::SUCCESS) return {};
  return Value(flag);
}

// Strings as they are, other values as their JSON.
Value MapAt(const object& from, const char* key) {
  object map;
  if (from.at_key(key).get(map) != simdjson::SUCCESS) return {};
  ValueList out;
  for (const auto& [name, value] : map) {
    out.emplace_back(std::string(name));
    std::string_view text;
    if (value.is_null()) {
      out.emplace_back();
    } else if (value.get(text) == simdjson::SUCCESS) {
      out.emplace_back(std::string(text));
    } else {
      out.emplace_back(std::string(simdjson::minify(value)));
    }
  }
  return Value(std::move(out));
}

Value StructAt(const object& from, const char* key, std::initializer_list<const char*> fields) {
  object inner;
  if (from.at_key(key).get(inner) != simdjson::SUCCESS) return {};
  ValueList out;
  for (const char* field : fields) out.push_back(TextAt(inner, field));
  return Value(std::move(out));
}

ValueList HistoryRow(int64_t version, int64_t timestamp_ms, const object& info) {
  return {Value(version),
          Value(timestamp_ms * 1000),
          TextAt(info, "userId"),
          TextAt(info, "userName"),
          TextAt(info, "operation"),
          MapAt(info, "operationParameters"),
          StructAt(info, "job", {"jobId", "jobName", "jobRunId", "runId", "jobOwnerId", "triggerType"}),
          StructAt(info, "notebook", {"notebookId"}),
          TextAt(info, "clusterId"),
          NumberAt(info, "readVersion"),
          TextAt(info, "isolationLevel"),
          FlagAt(info, "isBlindAppend"),
          MapAt(info, "operationMetrics"),
          TextAt(info, "userMetadata"),
          TextAt(info, "engineInfo")};
}

// The row of one commit; all but version and time are null without a commitInfo.
Result<ValueList> ReadHistoryRow(DeltaLog& log, const DeltaCommitTime& commit) {
  TW_ASSIGN_OR_RETURN(const std::string text, log.file_system().ReadWhole(log.CommitPath(commit.version)));
  simdjson::dom::parser parser;
  for (size_t at = 0; at < text.size();) {
    const size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = std::string_view(text).substr(at, end - at);
    at = end + 1;
    if (line.find("commitInfo") == std::string_view::npos) continue;
    object action;
    object info;
    if (parser.parse(line.data(), line.size()).get(action) != simdjson::SUCCESS) continue;
    if (action.at_key("commitInfo").get(info) != simdjson::SUCCESS) continue;
    return HistoryRow(commit.version, commit.timestamp_ms, info);
  }
  ValueList row(15);
  row[0] = Value(commit.version);
  row[1] = Value(commit.timestamp_ms * 1000);
  return row;
}

// What a protocol of legacy versions stands for, too.
ValueList TableFeatures(const DeltaProtocol& protocol) {
  std::vector<std::string> names = protocol.writer_features.value_or(std::vector<std::string>{});
  if (!protocol.writer_features) names = ImpliedWriterFeatures(protocol.min_writer_version);
  for (const std::string& name : protocol.reader_features.value_or(std::vector<std::string>{})) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  std::sort(names.begin(), names.end());
  ValueList out;
  for (std::string& name : names) out.emplace_back(std::move(name));
  return out;
}

// Of the domain's {"clusteringColumns":[["a"],["b","c"]]}, dotted.
ValueList ClusteringColumns(const DeltaSnapshot& snapshot) {
  ValueList out;
  const auto found = snapshot.domains().find("delta.clustering");
  if (found == snapshot.domains().end()) return out;
  simdjson::dom::parser parser;
  object domain;
  simdjson::dom::array columns;
  const simdjson::padded_string text(found->second.configuration);
  if (parser.parse(text).get(domain) != simdjson::SUCCESS || domain.at_key("clusteringColumns").get(columns) != simdjson::SUCCESS) return out;
  for (const element column : columns) {
    simdjson::dom::array parts;
    if (column.get(parts) != simdjson::SUCCESS) continue;
    std::string name;
    for (const element part : parts) {
      std::string_view piece;
      if (part.get(piece) == simdjson::SUCCESS) name += (name.empty() ? "" : ".") + std::string(piece);
    }
    out.emplace_back(std::move(name));
  }
  return out;
}

Value Optional(const std::optional<std::string>& text) { return text ? Value(*text) : Value(); }

}  // namespace

Result<sql::TableCommandAnswer> DescribeDeltaHistory(const DeltaCommandRun& run) {
  int64_t limit = std::numeric_limits<int64_t>::max();
  if (const auto text = run.request.arguments.Get("limit"); text && !data::ParseJavaLong(*text, &limit)) {
    return InternalError("a limit that is no number");
  }
  sql::TableCommandAnswer answer;
  TW_ASSIGN_OR_RETURN(answer.schema, data::ParseSchemaDdl(kHistoryColumns));
  TW_ASSIGN_OR_RETURN(std::vector<DeltaCommitTime> commits, run.log->CommitTimes());
  std::reverse(commits.begin(), commits.end());
  if (static_cast<int64_t>(commits.size()) > limit) commits.resize(static_cast<size_t>(limit));
  for (const DeltaCommitTime& commit : commits) {
    TW_ASSIGN_OR_RETURN(ValueList row, ReadHistoryRow(*run.log, commit));
    answer.rows.push_back(std::move(row));
  }
  return answer;
}

Result<sql::TableCommandAnswer> DescribeDeltaDetail(const DeltaCommandRun& run) {
  const DeltaMetadata& metadata = run.snapshot->metadata();
  sql::TableCommandAnswer answer;
  TW_ASSIGN_OR_RETURN(answer.schema,
                      data::ParseSchemaDdl("format STRING, id STRING, name STRING, description STRING, location STRING, "
                                           "createdAt TIMESTAMP, lastModified TIMESTAMP, partitionColumns ARRAY<STRING>, "
                                           "clusteringColumns ARRAY<STRING>, numFiles BIGINT, sizeInBytes BIGINT, "
                                           "properties MAP<STRING, STRING>, minReaderVersion INT, minWriterVersion INT, "
                                           "tableFeatures ARRAY<STRING>"));
  TW_ASSIGN_OR_RETURN(const std::vector<DeltaCommitTime> commits, run.log->CommitTimes());
  ValueList partitions;
  for (const std::string& name : metadata.partition_columns) partitions.emplace_back(name);
  StringPairs sorted = metadata.configuration;
  std::sort(sorted.begin(), sorted.end());
  ValueList properties;
  for (const auto& [key, value] : sorted) {
    properties.emplace_back(key);
    properties.emplace_back(value);
  }
  const auto files = run.snapshot->files();
  const std::optional<std::string> name = run.request.arguments.Get("tableName");
  answer.rows.push_back({Value(std::string("delta")),
                         Value(metadata.id),
                         Optional(name ? name : metadata.name),
                         Optional(metadata.description),
                         Value(data::QualifiedPathText(run.log->table_path())),
                         metadata.created_time ? Value(*metadata.created_time * 1000) : Value(),
                         commits.empty() ? Value() : Value(commits.back().timestamp_ms * 1000),
                         Value(std::move(partitions)),
                         Value(ClusteringColumns(*run.snapshot)),
                         Value(files->num_live()),
                         Value(files->live_bytes()),
                         Value(std::move(properties)),
                         Value(static_cast<int32_t>(run.snapshot->protocol().min_reader_version)),
                         Value(static_cast<int32_t>(run.snapshot->protocol().min_writer_version)),
                         Value(TableFeatures(run.snapshot->protocol()))});
  return answer;
}

}  // namespace thalweg::connectors
