#pragma once

// librdkafka's handles as values with an owner. Its header stays in the .cc files of this room.

#include <chrono>
#include <functional>
#include <memory>
#include <stop_token>
#include <string>
#include <string_view>

#include "base/mutex.h"
#include "base/status.h"
#include "connectors/kafka/kafka_properties.h"

struct rd_kafka_s;
struct rd_kafka_message_s;

namespace thalweg::connectors {

/// Gets a delivery report of a producer, on the thread that polls.
using DeliveryReport = void (*)(rd_kafka_s*, const rd_kafka_message_s*, void*);

/// One client: its threads and connections. Thread: any. Destroying it blocks until its threads
/// have ended.
class KafkaTunnels;

/// One client: its threads and connections. Thread: any. Destroying it blocks until its threads
/// have ended.
class KafkaHandle {
 public:
  /// Errors: ILLEGAL_ARGUMENT when librdkafka refuses a property (the value of a secret is not
  /// shown).
  static Result<std::shared_ptr<KafkaHandle>> Make(KafkaRole role,
                                                   const KafkaClientSettings& settings,
                                                   DeliveryReport delivery_report = nullptr);
  ~KafkaHandle();
  KafkaHandle(const KafkaHandle&) = delete;
  KafkaHandle& operator=(const KafkaHandle&) = delete;

  rd_kafka_s* get() const { return client_; }
  /// Runs waiting callbacks, for at most `timeout`. Returns what no retry mends: refused
  /// credentials or certificates, or a fatal error of a producer.
  Status Serve(std::chrono::milliseconds timeout = {}) TW_EXCLUDES(mutex_);
  /// The last error that the client told of by itself ("Connection refused"); empty when there was
  /// none.
  std::string last_error() const TW_EXCLUDES(mutex_);
  KafkaTunnels* tunnels() const { return tunnels_.get(); }
  void NoteError(int code, std::string_view reason) TW_EXCLUDES(mutex_);

 private:
  KafkaHandle();

  rd_kafka_s* client_ = nullptr;
  std::unique_ptr<KafkaTunnels>
      tunnels_;  // outlive the client; null when it secures its own connections
  mutable Mutex mutex_;
  std::string last_error_ TW_GUARDED_BY(mutex_);
  Status fatal_ TW_GUARDED_BY(mutex_);
};

/// KAFKA_REQUEST_FAILED (kind kEnvironment): "cannot <attempted>: <text of the code>".
Status KafkaError(std::string_view attempted, int code, std::string_view detail = {});
/// The same for a topic that the broker does not know, with the text of Java's exception.
Status UnknownTopic(std::string_view topic);

/// Calls `request` with growing time-outs until it answers with something else than "try again",
/// the deadline is over or a stop is requested. `request` gets a time-out in ms and returns
/// librdkafka's error code. Errors: KAFKA_REQUEST_FAILED with the client's own last error;
/// OPERATION_CANCELED.
Status AskBroker(KafkaHandle& handle, std::string_view attempted,
                 std::chrono::milliseconds deadline, std::stop_token stop,
                 const std::function<int(int timeout_ms)>& request);

}  // namespace thalweg::connectors
