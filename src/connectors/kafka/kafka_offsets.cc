#include "connectors/kafka/kafka_offsets.h"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/text.h"
#include "data/logs/log_text.h"

namespace thalweg::connectors {
namespace {

// java.lang.String.hashCode of a topic name; those are ASCII.
uint32_t JavaHash(std::string_view text) {
  uint32_t hash = 0;
  for (const char c : text) hash = hash * 31 + static_cast<unsigned char>(c);
  return hash;
}

/// Where `keys`, inserted in this order, stand when a mutable hash map of Scala 2.13 is iterated:
/// by bucket, within a bucket by hash. The table has 16 buckets and doubles when it would be three
/// quarters full.
template <typename Key, typename Hash>
void SortAsHashMap(std::vector<Key>* keys, Hash hash_of) {
  size_t buckets = 16;
  for (size_t size = 0; size < keys->size(); ++size) {
    if (size + 1 >= buckets * 3 / 4) buckets *= 2;
  }
  const auto improved = [&](const Key& key) {
    const uint32_t hash = hash_of(key);
    return hash ^ (hash >> 16);
  };
  std::stable_sort(keys->begin(), keys->end(), [&](const Key& a, const Key& b) {
    const uint32_t left = improved(a), right = improved(b);
    const uint32_t left_bucket = left & (buckets - 1), right_bucket = right & (buckets - 1);
    if (left_bucket != right_bucket) return left_bucket < right_bucket;
    return static_cast<int32_t>(left) < static_cast<int32_t>(right);
  });
}

constexpr std::string_view kOffsetsExample = R"({"topicA":{"0":23,"1":-1},"topicB":{"0":-2}})";
constexpr std::string_view kTimestampsExample =
    "{\"topicA\": {\"0\": 123456789, \"1\": 123456789},\n\"topicB\": {\"0\": 123456789, \"1\": "
    "123456789}}";
constexpr std::string_view kPartitionsExample = R"({"topicA":[0,1],"topicB":[0,1]})";

Status Malformed(std::string_view example, std::string_view text) {
  return Error("ILLEGAL_ARGUMENT")
      .With("message", "Expected e.g. " + std::string(example) + ", got " + std::string(text));
}

std::optional<int32_t> ParsePartition(std::string_view text) {
  int32_t partition = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), partition);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size() || partition < 0)
    return std::nullopt;
  return partition;
}

Result<PartitionOffsets> ParseValues(std::string_view json, std::string_view example) {
  const auto parsed = nlohmann::ordered_json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) return Malformed(example, json);
  PartitionOffsets offsets;
  for (const auto& [topic, partitions] : parsed.items()) {
    if (!partitions.is_object()) return Malformed(example, json);
    for (const auto& [partition, value] : partitions.items()) {
      const std::optional<int32_t> number = ParsePartition(partition);
      const bool fits = value.is_number_integer() &&
                        !(value.is_number_unsigned() && value.get<uint64_t>() > INT64_MAX);
      if (!number || !fits) return Malformed(example, json);
      offsets[{topic, *number}] = value.get<int64_t>();
    }
  }
  return offsets;
}

}  // namespace

std::string FormatOffsets(const PartitionOffsets& offsets) {
  std::map<std::string, std::vector<std::pair<int32_t, int64_t>>> by_topic;
  for (const auto& [partition, offset] : offsets)
    by_topic[partition.topic].emplace_back(partition.partition, offset);
  std::vector<std::string> topics;
  for (const auto& [topic, partitions] : by_topic) topics.push_back(topic);
  SortAsHashMap(&topics, [](const std::string& topic) { return JavaHash(topic); });
  std::string out = "{";
  for (const std::string& topic : topics) {
    auto& partitions = by_topic[topic];
    SortAsHashMap(&partitions,
                  [](const auto& entry) { return static_cast<uint32_t>(entry.first); });
    if (out.size() > 1) out += ',';
    out += data::JsonQuoted(topic) + ":{";
    for (size_t i = 0; i < partitions.size(); ++i) {
      if (i > 0) out += ',';
      out +=
          '"' + std::to_string(partitions[i].first) + "\":" + std::to_string(partitions[i].second);
    }
    out += '}';
  }
  return out + "}";
}

Result<PartitionOffsets> ParseOffsets(std::string_view json) {
  return ParseValues(json, kOffsetsExample);
}

Result<PartitionOffsets> ParseTimestamps(std::string_view json) {
  return ParseValues(json, kTimestampsExample);
}

Result<std::vector<TopicPartition>> ParsePartitions(std::string_view json) {
  const auto parsed = nlohmann::ordered_json::parse(json, nullptr, /*allow_exceptions=*/false);
  if (!parsed.is_object()) return Malformed(kPartitionsExample, json);
  std::vector<TopicPartition> result;
  for (const auto& [topic, partitions] : parsed.items()) {
    if (!partitions.is_array()) return Malformed(kPartitionsExample, json);
    for (const auto& partition : partitions) {
      if (!partition.is_number_unsigned() || partition.get<uint64_t>() > INT32_MAX)
        return Malformed(kPartitionsExample, json);
      result.push_back({topic, partition.get<int32_t>()});
    }
  }
  return result;
}

PartitionSet KeysOf(const PartitionOffsets& offsets) {
  PartitionSet keys;
  for (const auto& [partition, offset] : offsets) keys.insert(partition);
  return keys;
}

std::string DescribeSet(const PartitionSet& partitions) {
  return "Set(" + Joined(partitions, &TopicPartition::ToString) + ")";
}

std::string DescribeOffsets(const PartitionOffsets& offsets) {
  const auto text = [](const auto& entry) {
    return entry.first.ToString() + " -> " + std::to_string(entry.second);
  };
  return "Map(" + Joined(offsets, text) + ")";
}

}  // namespace thalweg::connectors
