#pragma once

#include <memory>
#include <string>

#include "base/status.h"

struct rd_kafka_mock_cluster_s;

namespace thalweg::connectors {

class KafkaHandle;

/// A Kafka broker inside this process: librdkafka's mock cluster, real protocol on a loopback port.
/// For demos and tests. Not there: offsets by timestamp, admin requests, aborted transactions. It
/// keeps about 5 MB per partition and drops older records. A waiting fetch is not woken by new
/// data: consumers want fetch.max.wait.ms=5, which the Kafka source chooses by itself for a broker
/// of its own process. Owner: who makes it; clients should be gone before it is. Thread: any.
/// Blocks: Make and the destructor.
class EmbeddedBroker {
 public:
  /// `brokers`: more than one for tests in which leaders change.
  static Result<std::unique_ptr<EmbeddedBroker>> Make(int brokers = 1);
  ~EmbeddedBroker();

  /// "127.0.0.1:port", for kafka.bootstrap.servers.
  const std::string& bootstrap_servers() const { return bootstrap_servers_; }
  Status CreateTopic(const std::string& topic, int partitions);
  /// Another broker (1, 2, ...) leads the partition from now on; the records go with it.
  Status MoveLeader(const std::string& topic, int partition, int broker);
  /// For tests that make a broker misbehave.
  rd_kafka_mock_cluster_s* cluster() const { return cluster_; }

 private:
  EmbeddedBroker() = default;
  std::shared_ptr<KafkaHandle> handle_;  // the cluster lives inside a client
  rd_kafka_mock_cluster_s* cluster_ = nullptr;
  std::string bootstrap_servers_;
};

/// Whether one of the brokers of a list is an EmbeddedBroker of this process.
bool IsEmbeddedBroker(const std::string& bootstrap_servers);

}  // namespace thalweg::connectors
