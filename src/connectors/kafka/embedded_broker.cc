#include "connectors/kafka/embedded_broker.h"

#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>

#include <set>

#include "base/mutex.h"
#include "connectors/kafka/kafka_client.h"

namespace thalweg::connectors {
namespace {

struct Addresses {
  Mutex mutex;
  std::set<std::string> known TW_GUARDED_BY(mutex);
  static Addresses& Get() {
    static Addresses* const addresses = new Addresses();
    return *addresses;
  }
};

}  // namespace

Result<std::unique_ptr<EmbeddedBroker>> EmbeddedBroker::Make(int brokers) {
  std::unique_ptr<EmbeddedBroker> broker(new EmbeddedBroker());
  KafkaClientSettings settings;
  settings.Set("client.id", "embedded-broker");
  TW_ASSIGN_OR_RETURN(broker->handle_, KafkaHandle::Make(KafkaRole::kProducer, settings));
  broker->cluster_ = rd_kafka_mock_cluster_new(broker->handle_->get(), brokers);
  if (broker->cluster_ == nullptr)
    return KafkaError("start the embedded broker", rd_kafka_last_error());
  broker->bootstrap_servers_ = rd_kafka_mock_cluster_bootstraps(broker->cluster_);
  Addresses& addresses = Addresses::Get();
  const MutexLock lock(addresses.mutex);
  addresses.known.insert(broker->bootstrap_servers_);
  return broker;
}

EmbeddedBroker::~EmbeddedBroker() {
  {
    Addresses& addresses = Addresses::Get();
    const MutexLock lock(addresses.mutex);
    addresses.known.erase(bootstrap_servers_);
  }
  if (cluster_ != nullptr) rd_kafka_mock_cluster_destroy(cluster_);
}

Status EmbeddedBroker::CreateTopic(const std::string& topic, int partitions) {
  const rd_kafka_resp_err_t code =
      rd_kafka_mock_topic_create(cluster_, topic.c_str(), partitions, 1);
  return code == RD_KAFKA_RESP_ERR_NO_ERROR ? Status::OK()
                                            : KafkaError("create topic " + topic, code);
}

Status EmbeddedBroker::MoveLeader(const std::string& topic, int partition, int broker) {
  const rd_kafka_resp_err_t code =
      rd_kafka_mock_partition_set_leader(cluster_, topic.c_str(), partition, broker);
  return code == RD_KAFKA_RESP_ERR_NO_ERROR ? Status::OK()
                                            : KafkaError("move the leader of " + topic, code);
}

bool IsEmbeddedBroker(const std::string& bootstrap_servers) {
  Addresses& addresses = Addresses::Get();
  const MutexLock lock(addresses.mutex);
  for (const std::string& known : addresses.known) {
    if (bootstrap_servers.find(known) != std::string::npos) return true;
  }
  return false;
}

}  // namespace thalweg::connectors
