#pragma once

// Kafka records as columns. Keys, values and headers are never copied: columns point into
// librdkafka's buffers.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/status.h"
#include "connectors/kafka/kafka_client.h"
#include "connectors/kafka/kafka_offsets.h"
#include "data/columnar/chunk.h"
#include "data/types/data_type.h"

struct rd_kafka_message_s;

namespace thalweg::connectors {

/// key, value, topic, partition, offset, timestamp, timestampType [, headers]
data::Schema KafkaSchema(bool include_headers);
/// array<struct<key string, value binary>>
data::DataType HeadersType();

/// Records that go away together; they keep their client alive. Thread: confined until shared, then
/// immutable.
class MessageBlock {
 public:
  explicit MessageBlock(std::shared_ptr<KafkaHandle> client) : client_(std::move(client)) {}
  ~MessageBlock();
  MessageBlock(const MessageBlock&) = delete;
  MessageBlock& operator=(const MessageBlock&) = delete;
  std::vector<rd_kafka_message_s*>& messages() { return messages_; }
  const std::vector<rd_kafka_message_s*>& messages() const { return messages_; }

 private:
  std::shared_ptr<KafkaHandle> client_;
  std::vector<rd_kafka_message_s*> messages_;
};

/// The `columns` (names of KafkaSchema) of records of one partition, one row each, in order.
/// `*payload_bytes` grows by the sizes of keys and values. Errors:
/// KAFKA_MALFORMED_RECORD_TIMESTAMP.
Result<data::Chunk> BuildRows(std::shared_ptr<MessageBlock> block, const TopicPartition& partition,
                              std::span<const std::string> columns, int64_t* payload_bytes);

}  // namespace thalweg::connectors
