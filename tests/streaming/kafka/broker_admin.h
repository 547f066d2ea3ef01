#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "connectors/kafka/kafka_client.h"

struct rd_kafka_queue_s;

namespace thalweg::connectors {

/// What a test does to a real broker beside reading and writing. Aborts when the broker refuses.
/// Blocks: until it is done.
class BrokerAdmin {
 public:
  explicit BrokerAdmin(std::string bootstrap);

  void CreateTopic(const std::string& topic, int partitions);
  void DeleteTopic(const std::string& topic);
  void AddPartitions(const std::string& topic, int total);
  /// Removes the records below `offset` of partition 0.
  void DeleteRecords(const std::string& topic, int64_t offset);
  /// One transaction with these values in partition 0.
  void SendTransaction(const std::string& topic, const std::vector<std::string>& values,
                       bool commit);
  /// One record with a timestamp, in partition 0.
  void SendAt(const std::string& topic, const std::string& value, int64_t timestamp_ms);
  /// Consumer groups that the broker knows.
  int CountGroups();

 private:
  void Ask(const std::function<void(rd_kafka_queue_s*)>& request);
  void AwaitPartitions(const std::string& topic, int count);
  std::shared_ptr<KafkaHandle> Producer(const std::string& transactional_id = "");

  const std::string bootstrap_;
  std::shared_ptr<KafkaHandle> handle_;
  int transactions_ = 0;
};

}  // namespace thalweg::connectors
