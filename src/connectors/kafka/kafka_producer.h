#pragma once

// Producers, shared by all writers with the same brokers and settings. Spark's
// InternalKafkaProducerPool.

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "base/signal.h"
#include "connectors/kafka/kafka_client.h"

struct rd_kafka_topic_s;

namespace thalweg::connectors {

/// The records that one writer has sent and what became of them. Thread: any.
class SentRecords {
 public:
  SentRecords() : done_(std::make_shared<Signal>()) {}

  void Sent(int64_t records) TW_EXCLUDES(mutex_);
  /// One record less to wait for; `error` ok when the brokers have it.
  void Delivered(const Status& error) TW_EXCLUDES(mutex_);
  Status error() const TW_EXCLUDES(mutex_);
  /// Null when nothing is on its way; else set when that is so.
  std::shared_ptr<Signal> Rest() TW_EXCLUDES(mutex_);
  /// Blocks for a moment, until some records have been delivered.
  void AwaitSome(std::chrono::milliseconds timeout) TW_EXCLUDES(mutex_);
  /// The writer is gone: reports that still come must find this object.
  static void LeaveToReports(std::shared_ptr<SentRecords> records);

 private:
  mutable Mutex mutex_;
  CondVar some_delivered_;
  int64_t outstanding_ TW_GUARDED_BY(mutex_) = 0;
  int waiting_ TW_GUARDED_BY(mutex_) = 0;
  bool resting_ TW_GUARDED_BY(mutex_) = false;
  Status error_ TW_GUARDED_BY(mutex_);
  std::shared_ptr<SentRecords> self_ TW_GUARDED_BY(mutex_);
  const std::shared_ptr<Signal> done_;
};

/// A producer with the thread that takes its delivery reports. Thread: any.
class KafkaProducer {
 public:
  /// The producer of these properties: an old one that is still good, or a new one, which connects
  /// in the background so that the first record finds it warm (`topic` may be empty). Errors:
  /// ILLEGAL_ARGUMENT.
  static Result<std::shared_ptr<KafkaProducer>> Get(const JavaProperties& properties,
                                                    const std::string& topic,
                                                    data::FileSystem& files);
  ~KafkaProducer();

  KafkaHandle& handle() { return *handle_; }
  const KafkaClientSettings& settings() const { return settings_; }
  /// librdkafka's object of a topic, made at the first call; lives as long as the producer.
  Result<rd_kafka_topic_s*> Topic(const std::string& name) TW_EXCLUDES(mutex_);
  /// What no retry mends: credentials, certificates, a fatal error.
  Status failure() const TW_EXCLUDES(mutex_);
  /// The partitions of a topic as its brokers say now; waits max.block.ms for one that is not there yet, 0 if it never comes.
  /// Blocks.
  Result<int32_t> CountPartitions(const std::string& topic);

 private:
  KafkaProducer() = default;
  /// Asks for a topic's leaders before the first record needs them.
  void Warm(const std::string& topic);
  /// One turn of the thread.
  void Poll();

  KafkaClientSettings settings_;
  std::shared_ptr<KafkaHandle> handle_;
  mutable Mutex mutex_;
  std::map<std::string, rd_kafka_topic_s*, std::less<>> topics_ TW_GUARDED_BY(mutex_);
  Status failure_ TW_GUARDED_BY(mutex_);
  std::jthread thread_;  // last: joins first
};

}  // namespace thalweg::connectors
