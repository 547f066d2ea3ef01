#include "connectors/kafka/kafka_client.h"

#include <librdkafka/rdkafka.h>

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"
#include "base/redact.h"
#include "connectors/kafka/kafka_tunnel.h"

namespace thalweg::connectors {
namespace {

constexpr std::chrono::milliseconds kFirstTimeout{200};
constexpr std::chrono::milliseconds kLongestTimeout{5000};
constexpr std::chrono::milliseconds kPause{100};

void OnLog(const rd_kafka_t*, int level, const char* facility, const char* text) {
  constexpr int kWarning = 4;
  // Said of every broker that is not known yet, although no topic is ever made by a consumer of
  // ours.
  if (level <= kWarning && std::string_view(facility) != "AUTOCREATE") {
    TW_LOG(kWarn, "kafka client", {"facility", facility}, {"text", RedactText(text)});
  } else {
    TW_LOG(kDebug, "kafka client", {"facility", facility}, {"text", RedactText(text)});
  }
}

void OnError(rd_kafka_t*, int code, const char* reason, void* opaque) {
  static_cast<KafkaHandle*>(opaque)->NoteError(code, reason);
}

int OpenTunnelSocket(int, int, int, void* opaque) {
  return static_cast<KafkaHandle*>(opaque)->tunnels()->OpenSocket();
}

int ConnectTunnel(int socket, const sockaddr* address, int size, const char* broker, void* opaque) {
  return static_cast<KafkaHandle*>(opaque)->tunnels()->Connect(socket, address, size, broker);
}

bool WorthAnotherTry(int code) {
  switch (code) {
    case RD_KAFKA_RESP_ERR__TIMED_OUT:
    case RD_KAFKA_RESP_ERR__TRANSPORT:
    case RD_KAFKA_RESP_ERR__ALL_BROKERS_DOWN:
    case RD_KAFKA_RESP_ERR__WAIT_COORD:
    case RD_KAFKA_RESP_ERR__WAIT_CACHE:
    case RD_KAFKA_RESP_ERR__RESOLVE:
    case RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NOT_LEADER_FOR_PARTITION:
    case RD_KAFKA_RESP_ERR_REQUEST_TIMED_OUT:
    case RD_KAFKA_RESP_ERR_BROKER_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_REPLICA_NOT_AVAILABLE:
    case RD_KAFKA_RESP_ERR_NETWORK_EXCEPTION:
    case RD_KAFKA_RESP_ERR_KAFKA_STORAGE_ERROR:
      return true;
    default:
      return false;
  }
}

Status RefusedProperty(const std::string& name, const char* text) {
  return Error("ILLEGAL_ARGUMENT")
      .With("message",
            "Kafka option '" + name + "' is refused by the client" +
                (IsSecretKey(name) || name.starts_with("ssl.") ? std::string()
                                                               : ": " + std::string(text)));
}

}  // namespace

KafkaHandle::KafkaHandle() = default;

Result<std::shared_ptr<KafkaHandle>> KafkaHandle::Make(KafkaRole role,
                                                       const KafkaClientSettings& given,
                                                       DeliveryReport delivery_report) {
  std::shared_ptr<KafkaHandle> handle(new KafkaHandle());
  KafkaClientSettings settings = given;
  if (KafkaTunnels::Wanted(settings)) {
    const auto note = [raw = handle.get()](bool fatal, const std::string& why) {
      raw->NoteError(fatal ? RD_KAFKA_RESP_ERR__AUTHENTICATION : RD_KAFKA_RESP_ERR__TRANSPORT, why);
    };
    TW_ASSIGN_OR_RETURN(handle->tunnels_, KafkaTunnels::Make(&settings, note));
  }
  rd_kafka_conf_t* conf = rd_kafka_conf_new();
  char text[512] = "";
  for (const auto& [name, value] : settings.properties) {
    if (rd_kafka_conf_set(conf, name.c_str(), value.c_str(), text, sizeof(text)) !=
        RD_KAFKA_CONF_OK) {
      rd_kafka_conf_destroy(conf);
      return RefusedProperty(name, text);
    }
  }
  rd_kafka_conf_set_log_cb(conf, &OnLog);
  rd_kafka_conf_set_error_cb(conf, &OnError);
  rd_kafka_conf_set_opaque(conf, handle.get());
  if (delivery_report != nullptr) rd_kafka_conf_set_dr_msg_cb(conf, delivery_report);
  if (settings.oauth) rd_kafka_conf_enable_sasl_queue(conf, 1);
  if (handle->tunnels_ != nullptr) {
    rd_kafka_conf_set_socket_cb(conf, &OpenTunnelSocket);
    rd_kafka_conf_set_connect_cb(conf, &ConnectTunnel);
  }
  const rd_kafka_type_t type = role == KafkaRole::kConsumer ? RD_KAFKA_CONSUMER : RD_KAFKA_PRODUCER;
  handle->client_ = rd_kafka_new(type, conf, text, sizeof(text));
  if (handle->client_ == nullptr) {
    rd_kafka_conf_destroy(conf);
    return Error("ILLEGAL_ARGUMENT")
        .With("message", "The Kafka client cannot be made: " + RedactText(text));
  }
  if (settings.oauth) {
    rd_kafka_error_t* error = rd_kafka_sasl_background_callbacks_enable(handle->client_);
    if (error != nullptr) {
      Status failure = KafkaError("fetch OAuth tokens", rd_kafka_error_code(error),
                                  rd_kafka_error_string(error));
      rd_kafka_error_destroy(error);
      return failure;
    }
  }
  return handle;
}

KafkaHandle::~KafkaHandle() {
  if (client_ != nullptr) rd_kafka_destroy(client_);
  tunnels_.reset();  // their threads end now, and may still report to this object
}

void KafkaHandle::NoteError(int code, std::string_view reason) {
  const MutexLock lock(mutex_);
  last_error_ = RedactText(reason);
  if (code == RD_KAFKA_RESP_ERR__AUTHENTICATION || code == RD_KAFKA_RESP_ERR__SSL)
    fatal_ = KafkaError("connect to the Kafka broker", code, last_error_);
}

Status KafkaHandle::Serve(std::chrono::milliseconds timeout) {
  rd_kafka_poll(client_, static_cast<int>(timeout.count()));
  char text[512] = "";
  const rd_kafka_resp_err_t code = rd_kafka_fatal_error(client_, text, sizeof(text));
  if (code != RD_KAFKA_RESP_ERR_NO_ERROR)
    return KafkaError("go on with the Kafka client", code, text);
  const MutexLock lock(mutex_);
  return fatal_;
}

std::string KafkaHandle::last_error() const {
  const MutexLock lock(mutex_);
  return last_error_;
}

Status KafkaError(std::string_view attempted, int code, std::string_view detail) {
  std::string text = rd_kafka_err2str(static_cast<rd_kafka_resp_err_t>(code));
  if (!detail.empty()) text += " (" + std::string(detail) + ")";
  return Error("KAFKA_REQUEST_FAILED")
      .With("attempted", attempted)
      .With("error", text)
      .Kind(ErrorKind::kEnvironment);
}

Status UnknownTopic(std::string_view topic) {
  return Error("KAFKA_REQUEST_FAILED")
      .With("attempted", "read topic " + std::string(topic))
      .With("error",
            "org.apache.kafka.common.errors.UnknownTopicOrPartitionException: This server does not "
            "host this "
            "topic-partition.")
      .Kind(ErrorKind::kEnvironment);
}

Status AskBroker(KafkaHandle& handle, std::string_view attempted,
                 std::chrono::milliseconds deadline, std::stop_token stop,
                 const std::function<int(int)>& request) {
  Clock& clock = SystemClock::Get();  // the network's time, also where the query's is simulated
  const auto end = clock.NowMonotonic() + deadline;
  std::chrono::milliseconds timeout = kFirstTimeout;
  while (true) {
    if (stop.stop_requested()) return Cancelled();
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(end - clock.NowMonotonic());
    const auto own = std::max(std::chrono::milliseconds(1), std::min(timeout, left));
    const int code = request(static_cast<int>(own.count()));
    if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return Status::OK();
    TW_RETURN_NOT_OK(handle.Serve());
    if (!WorthAnotherTry(code) || clock.NowMonotonic() + kPause >= end)
      return KafkaError(attempted, code, handle.last_error());
    if (code != RD_KAFKA_RESP_ERR__TIMED_OUT) clock.WaitFor(kPause, nullptr, stop);
    timeout = std::min(timeout * 2, kLongestTimeout);
  }
}

}  // namespace thalweg::connectors
