#pragma once

// Options of the Kafka source and sink, with the checks and texts of Spark's KafkaSourceProvider.

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "connectors/kafka/kafka_offsets.h"
#include "sql/datasource/data_source.h"

namespace thalweg::connectors {

/// ILLEGAL_ARGUMENT with a text of Spark's or of ours.
Status IllegalOption(const std::string& message);

// --- which partitions ---
struct AssignPartitions {
  std::vector<TopicPartition> partitions;
};
struct SubscribeTopics {
  std::vector<std::string> topics;
};
struct SubscribePattern {
  std::string pattern;
};
using Subscription = std::variant<AssignPartitions, SubscribeTopics, SubscribePattern>;

/// "Subscribe[a, b]", "SubscribePattern[a.*]", "Assign[a-0]": inside KafkaV2[...] of progress.
std::string DescribeSubscription(const Subscription& subscription);

// --- where to start or end ---
struct EarliestOffsets {};
struct LatestOffsets {};
struct SpecificOffsets {
  PartitionOffsets offsets;
};  ///< -1 latest, -2 earliest
struct SpecificTimestamps {
  PartitionOffsets timestamps;
};  ///< ms per partition
struct GlobalTimestamp {
  int64_t timestamp_ms = 0;
};
using OffsetLimit = std::variant<EarliestOffsets, LatestOffsets, SpecificOffsets,
                                 SpecificTimestamps, GlobalTimestamp>;

/// Properties of the Kafka client as the user gave them: keys in lower case, without "kafka.".
using JavaProperties = std::map<std::string, std::string>;

struct KafkaReadOptions {
  Subscription subscription;
  bool streaming = true;
  OffsetLimit starting;
  OffsetLimit ending = LatestOffsets{};  ///< batch only
  /// No record at or after a starting timestamp: true starts at the end, false is an error.
  bool start_latest_without_match = false;
  bool fail_on_data_loss = true;
  bool include_headers = false;
  std::optional<int64_t> max_offsets_per_trigger;
  std::optional<int64_t> min_offsets_per_trigger;
  std::chrono::milliseconds max_trigger_delay{15 * 60 * 1000};
  std::optional<int64_t> min_partitions;
  std::optional<int64_t> max_records_per_partition;
  int64_t fetch_retries = 3;
  std::chrono::milliseconds fetch_retry_interval{1000};
  std::chrono::milliseconds poll_timeout{120'000};  ///< kafkaConsumer.pollTimeoutMs
  bool has_group_id = false;
  JavaProperties properties;
};

/// Options of a streaming or batch read, checked as Spark checks them at load.
/// Errors: ILLEGAL_ARGUMENT with Spark's texts.
Result<KafkaReadOptions> ParseReadOptions(const sql::OptionMap& options, bool streaming);

struct KafkaWriteOptions {
  std::optional<std::string> topic;
  JavaProperties properties;
};

/// Errors: ILLEGAL_ARGUMENT.
Result<KafkaWriteOptions> ParseWriteOptions(const sql::OptionMap& options);

}  // namespace thalweg::connectors
