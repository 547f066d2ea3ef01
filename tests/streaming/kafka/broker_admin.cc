#include "broker_admin.h"

#include <librdkafka/rdkafka.h>

#include "base/clock.h"

namespace thalweg::connectors {
namespace {

constexpr int kTimeoutMs = 30'000;

void Require(rd_kafka_error_t* error) {
  if (error == nullptr) return;
  std::fprintf(stderr, "%s\n", rd_kafka_error_string(error));
  TW_CHECK(error == nullptr);
}

void Require(rd_kafka_resp_err_t code) {
  if (code == RD_KAFKA_RESP_ERR_NO_ERROR) return;
  std::fprintf(stderr, "%s\n", rd_kafka_err2str(code));
  TW_CHECK(code == RD_KAFKA_RESP_ERR_NO_ERROR);
}

}  // namespace

BrokerAdmin::BrokerAdmin(std::string bootstrap)
    : bootstrap_(std::move(bootstrap)), handle_(Producer()) {}

std::shared_ptr<KafkaHandle> BrokerAdmin::Producer(const std::string& transactional_id) {
  KafkaClientSettings settings;
  settings.Set("bootstrap.servers", bootstrap_);
  settings.Set("linger.ms", "0");
  if (!transactional_id.empty()) settings.Set("transactional.id", transactional_id);
  return KafkaHandle::Make(KafkaRole::kProducer, settings).ValueOrDie();
}

void BrokerAdmin::Ask(const std::function<void(rd_kafka_queue_s*)>& request) {
  rd_kafka_queue_t* queue = rd_kafka_queue_new(handle_->get());
  request(queue);
  rd_kafka_event_t* event = rd_kafka_queue_poll(queue, kTimeoutMs);
  TW_CHECK(event != nullptr);
  Require(rd_kafka_event_error(event));
  if (const auto* topics = rd_kafka_event_CreateTopics_result(event)) {
    size_t count = 0;
    const auto** results = rd_kafka_CreateTopics_result_topics(topics, &count);
    for (size_t i = 0; i < count; ++i) Require(rd_kafka_topic_result_error(results[i]));
  }
  if (const auto* topics = rd_kafka_event_DeleteTopics_result(event)) {
    size_t count = 0;
    const auto** results = rd_kafka_DeleteTopics_result_topics(topics, &count);
    for (size_t i = 0; i < count; ++i) Require(rd_kafka_topic_result_error(results[i]));
  }
  rd_kafka_event_destroy(event);
  rd_kafka_queue_destroy(queue);
}

void BrokerAdmin::AwaitPartitions(const std::string& topic, int count) {
  Clock& clock = SystemClock::Get();
  for (int tries = 0; tries < 200; ++tries) {
    const struct rd_kafka_metadata* answer = nullptr;
    Require(rd_kafka_metadata(handle_->get(), 1, nullptr, &answer, kTimeoutMs));
    int found = 0;
    for (int i = 0; i < answer->topic_cnt; ++i) {
      if (topic == answer->topics[i].topic && answer->topics[i].err == RD_KAFKA_RESP_ERR_NO_ERROR)
        found = answer->topics[i].partition_cnt;
    }
    rd_kafka_metadata_destroy(answer);
    if (found == count) return;
    clock.WaitFor(std::chrono::milliseconds(50), nullptr, {});
  }
  TW_CHECK(false && "the topic did not get its partitions");
}

void BrokerAdmin::CreateTopic(const std::string& topic, int partitions) {
  char text[256];
  rd_kafka_NewTopic_t* wanted =
      rd_kafka_NewTopic_new(topic.c_str(), partitions, 1, text, sizeof(text));
  Ask([&](rd_kafka_queue_t* queue) {
    rd_kafka_CreateTopics(handle_->get(), &wanted, 1, nullptr, queue);
  });
  rd_kafka_NewTopic_destroy(wanted);
  AwaitPartitions(topic, partitions);
}

void BrokerAdmin::DeleteTopic(const std::string& topic) {
  rd_kafka_DeleteTopic_t* wanted = rd_kafka_DeleteTopic_new(topic.c_str());
  Ask([&](rd_kafka_queue_t* queue) {
    rd_kafka_DeleteTopics(handle_->get(), &wanted, 1, nullptr, queue);
  });
  rd_kafka_DeleteTopic_destroy(wanted);
  AwaitPartitions(topic, 0);
}

void BrokerAdmin::AddPartitions(const std::string& topic, int total) {
  char text[256];
  rd_kafka_NewPartitions_t* wanted =
      rd_kafka_NewPartitions_new(topic.c_str(), static_cast<size_t>(total), text, sizeof(text));
  Ask([&](rd_kafka_queue_t* queue) {
    rd_kafka_CreatePartitions(handle_->get(), &wanted, 1, nullptr, queue);
  });
  rd_kafka_NewPartitions_destroy(wanted);
  AwaitPartitions(topic, total);
}

void BrokerAdmin::DeleteRecords(const std::string& topic, int64_t offset) {
  rd_kafka_topic_partition_list_t* list = rd_kafka_topic_partition_list_new(1);
  rd_kafka_topic_partition_list_add(list, topic.c_str(), 0)->offset = offset;
  rd_kafka_DeleteRecords_t* wanted = rd_kafka_DeleteRecords_new(list);
  Ask([&](rd_kafka_queue_t* queue) {
    rd_kafka_DeleteRecords(handle_->get(), &wanted, 1, nullptr, queue);
  });
  rd_kafka_DeleteRecords_destroy(wanted);
  rd_kafka_topic_partition_list_destroy(list);
}

void BrokerAdmin::SendTransaction(const std::string& topic, const std::vector<std::string>& values,
                                  bool commit) {
  const auto producer = Producer("test-" + topic + std::to_string(++transactions_));
  Require(rd_kafka_init_transactions(producer->get(), kTimeoutMs));
  Require(rd_kafka_begin_transaction(producer->get()));
  for (const std::string& value : values) {
    Require(rd_kafka_producev(producer->get(), RD_KAFKA_V_TOPIC(topic.c_str()),
                              RD_KAFKA_V_PARTITION(0), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                              RD_KAFKA_V_VALUE(const_cast<char*>(value.data()), value.size()),
                              RD_KAFKA_V_END));
  }
  Require(rd_kafka_flush(producer->get(), kTimeoutMs));
  Require(commit ? rd_kafka_commit_transaction(producer->get(), kTimeoutMs)
                 : rd_kafka_abort_transaction(producer->get(), kTimeoutMs));
}

void BrokerAdmin::SendAt(const std::string& topic, const std::string& value, int64_t timestamp_ms) {
  Require(rd_kafka_producev(handle_->get(), RD_KAFKA_V_TOPIC(topic.c_str()),
                            RD_KAFKA_V_PARTITION(0), RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
                            RD_KAFKA_V_VALUE(const_cast<char*>(value.data()), value.size()),
                            RD_KAFKA_V_TIMESTAMP(timestamp_ms), RD_KAFKA_V_END));
  Require(rd_kafka_flush(handle_->get(), kTimeoutMs));
}

int BrokerAdmin::CountGroups() {
  const struct rd_kafka_group_list* groups = nullptr;
  Require(rd_kafka_list_groups(handle_->get(), nullptr, &groups, kTimeoutMs));
  const int count = groups->group_cnt;
  rd_kafka_group_list_destroy(groups);
  return count;
}

}  // namespace thalweg::connectors
