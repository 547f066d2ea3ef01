#pragma once

// What the brokers know: partitions and their offsets. Spark's KafkaOffsetReaderAdmin.

#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "connectors/kafka/kafka_client.h"
#include "connectors/kafka/kafka_options.h"

namespace thalweg::connectors {

/// The partitions of a subscription at one moment.
struct KnownPartitions {
  PartitionSet partitions;
  std::vector<std::string> missing_topics;  ///< subscribed by name, unknown to the brokers
};

/// Asks over a connection of its own, where no waiting fetch delays an answer. Thread: any. Blocks:
/// for the brokers' answers, until the stop. Errors: KAFKA_REQUEST_FAILED, OPERATION_CANCELED.
class KafkaMetadata {
 public:
  /// Errors: ILLEGAL_ARGUMENT for bad properties or a bad pattern.
  static Result<std::unique_ptr<KafkaMetadata>> Make(const KafkaReadOptions& options,
                                                     const KafkaClientSettings& settings,
                                                     std::stop_token stop);
  ~KafkaMetadata();

  /// One request.
  Result<KnownPartitions> Partitions();
  /// The same; a missing topic is an error.
  Result<PartitionSet> ExistingPartitions();
  /// One request per broker. Partitions that do not exist any more are left out.
  Result<PartitionOffsets> Earliest(const PartitionSet& partitions);
  Result<PartitionOffsets> Latest(const PartitionSet& partitions);
  /// Latest, asked again while an answer lies below what is `known` (Spark's guard against brokers
  /// that lag behind).
  Result<PartitionOffsets> LatestAfter(const PartitionSet& partitions,
                                       const PartitionOffsets& known);
  /// The first offset at or after each timestamp, in ms; -1 where there is none.
  Result<PartitionOffsets> ForTimestamps(const PartitionOffsets& timestamps_ms);

  /// Where a read starts or ends, resolved to offsets: for `starting`, Spark's rules of a start.
  /// `error` and `latest` of the strategy as in the options. Errors: partitions that do not match
  /// the assigned ones.
  Result<PartitionOffsets> Resolve(const OffsetLimit& limit, bool starting);

 private:
  struct Pattern;
  KafkaMetadata(const KafkaReadOptions& options, std::stop_token stop);
  Result<PartitionOffsets> ListOffsets(const PartitionOffsets& wanted);
  Result<PartitionOffsets> ResolveSpecific(const PartitionOffsets& given,
                                           const PartitionSet& assigned);
  Result<PartitionOffsets> ResolveTimestamps(const PartitionOffsets& timestamps,
                                             const PartitionSet& assigned, bool starting);
  bool Takes(const std::string& topic) const;

  const KafkaReadOptions& options_;  // borrowed from the stream or scan
  const std::stop_token stop_;
  std::chrono::milliseconds api_timeout_{60'000};
  std::shared_ptr<KafkaHandle> handle_;
  std::vector<void*>
      topics_;  // rd_kafka_topic_t: makes them known, so that one request asks for all
  std::unique_ptr<Pattern> pattern_;
};

}  // namespace thalweg::connectors
