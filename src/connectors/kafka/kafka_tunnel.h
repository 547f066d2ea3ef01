#pragma once

// Connections that are secured and authenticated by us before librdkafka speaks: for SCRAM, where
// librdkafka before 2.6.1 sends a final message that Kafka 4 refuses.
//
// librdkafka gets one end of a socket pair and speaks plaintext; a thread connects to the broker,
// makes TLS, authenticates by SASL and then carries bytes both ways.

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "base/status.h"
#include "connectors/kafka/kafka_properties.h"

struct sockaddr;
struct ssl_ctx_st;

namespace thalweg::connectors {

/// The tunnels of one client. Thread: any. Destroy it after the client: its threads end when their
/// sockets are closed.
class KafkaTunnels {
 public:
  /// Whether a client of these settings needs tunnels: SCRAM, and a librdkafka that does it
  /// wrongly.
  static bool Wanted(const KafkaClientSettings& settings);
  /// Takes what is about TLS and SASL out of the settings, which then describe the plaintext side.
  /// `on_error` is told, from any thread, why a tunnel ended: true for what no retry mends. Errors:
  /// ILLEGAL_ARGUMENT for unusable certificates.
  static Result<std::unique_ptr<KafkaTunnels>> Make(
      KafkaClientSettings* settings, std::function<void(bool fatal, const std::string&)> on_error);
  ~KafkaTunnels();

  /// librdkafka's socket and connect callbacks. `broker` is its name: "sasl_ssl://host:port/id" or
  /// "host:port/id".
  int OpenSocket() TW_EXCLUDES(mutex_);
  int Connect(int socket, const sockaddr* address, int address_size, const std::string& broker)
      TW_EXCLUDES(mutex_);

 private:
  struct Credentials {
    std::string mechanism, user, password;
  };
  struct Tunnel;
  KafkaTunnels() = default;
  void Reap() TW_REQUIRES(mutex_);

  Credentials credentials_;
  bool check_host_ = true;
  std::shared_ptr<ssl_ctx_st> tls_;  // null: SASL_PLAINTEXT
  std::function<void(bool, const std::string&)> on_error_;
  Mutex mutex_;
  std::map<int, int> peers_ TW_GUARDED_BY(mutex_);  // librdkafka's end to ours, until it connects
  std::list<std::unique_ptr<Tunnel>> tunnels_ TW_GUARDED_BY(mutex_);
};

}  // namespace thalweg::connectors
