#pragma once

// Topic partitions and their offsets; the JSON that Spark writes for them.

#include <compare>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace thalweg::connectors {

struct TopicPartition {
  std::string topic;
  int32_t partition = 0;
  auto operator<=>(const TopicPartition&) const = default;
  /// "topic-0", as Java prints it.
  std::string ToString() const { return topic + "-" + std::to_string(partition); }
};

/// By topic and partition; values are the next offset to read, or a timestamp in ms where that is
/// said.
using PartitionOffsets = std::map<TopicPartition, int64_t>;
using PartitionSet = std::set<TopicPartition>;

/// Special values that options may hold, as in Kafka's ListOffsets request.
inline constexpr int64_t kLatestOffset = -1;
inline constexpr int64_t kEarliestOffset = -2;

/// {"topicA":{"0":23,"1":345},"topicB":{"0":7}}: bytes as Spark's offset log has them. Topics and
/// partitions stand in the order of the hash maps in which Spark gathers them.
std::string FormatOffsets(const PartitionOffsets& offsets);
/// The reverse. Errors: ILLEGAL_ARGUMENT with Spark's text for anything that is not such an object.
Result<PartitionOffsets> ParseOffsets(std::string_view json);
/// The same form with timestamps in ms for values.
Result<PartitionOffsets> ParseTimestamps(std::string_view json);
/// {"topicA":[0,1],"topicB":[2]}, in the order given. Errors: ILLEGAL_ARGUMENT.
Result<std::vector<TopicPartition>> ParsePartitions(std::string_view json);

PartitionSet KeysOf(const PartitionOffsets& offsets);
/// "Set(t-0, t-1)", for messages.
std::string DescribeSet(const PartitionSet& partitions);
/// "Map(t-0 -> 5)", for messages.
std::string DescribeOffsets(const PartitionOffsets& offsets);

}  // namespace thalweg::connectors
