#include "connectors/kafka/kafka_producer.h"

#include <librdkafka/rdkafka.h>

#include <new>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/log.h"
#include "base/process_memory.h"
#include "base/thread.h"

namespace thalweg::connectors {
namespace {

constexpr std::chrono::milliseconds kPollTime{500};
constexpr std::chrono::minutes kIdleTime{10};  // Spark's producer.cache.timeout
constexpr int kWarmTimeoutMs = 5000;

/// Made while there is memory for it.
const Status& NoMemoryForTheError() {
  static const Status status = OutOfMemoryStatus(std::bad_alloc());
  return status;
}

Status DeliveryError(rd_kafka_t* client, const rd_kafka_message_t* message) {
  const char* topic = message->rkt == nullptr ? "?" : rd_kafka_topic_name(message->rkt);
  char text[512] = "";
  const bool fatal = rd_kafka_fatal_error(client, text, sizeof(text)) != RD_KAFKA_RESP_ERR_NO_ERROR;
  return KafkaError("send to " + std::string(topic), message->err, fatal ? text : "");
}

// Every record must be reported, or its query waits for ever; nothing may be thrown through the client.
void OnDelivery(rd_kafka_t* client, const rd_kafka_message_t* message, void*) {
  auto* records = static_cast<SentRecords*>(message->_private);
  if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
    records->Delivered(Status::OK());
    return;
  }
  Status error = NoMemoryForTheError();
  try {
    error = DeliveryError(client, message);
  } catch (const std::bad_alloc&) {
    // that is the error then
  }
  records->Delivered(error);
}

/// Idle producers by their properties. Never destroyed: threads of producers may outlive static
/// objects.
struct ProducerCache {
  struct Entry {
    std::shared_ptr<KafkaProducer> producer;
    std::chrono::nanoseconds used_at{};
  };
  Mutex mutex;
  std::map<JavaProperties, Entry> entries TW_GUARDED_BY(mutex);

  static ProducerCache& Get() {
    static ProducerCache* const cache = new ProducerCache();
    return *cache;
  }

  /// Takes out what nobody has used for long and what is broken; the caller lets go of it outside
  /// the lock.
  std::vector<std::shared_ptr<KafkaProducer>> TakeOld(std::chrono::nanoseconds now)
      TW_REQUIRES(mutex) {
    std::vector<std::shared_ptr<KafkaProducer>> old;
    for (auto entry = entries.begin(); entry != entries.end();) {
      if (entry->second.producer.use_count() > 1) entry->second.used_at = now;
      if (now - entry->second.used_at > kIdleTime || !entry->second.producer->failure().ok()) {
        old.push_back(std::move(entry->second.producer));
        entry = entries.erase(entry);
      } else {
        ++entry;
      }
    }
    return old;
  }
};

}  // namespace

// --- SentRecords ---

void SentRecords::Sent(int64_t records) {
  const MutexLock lock(mutex_);
  outstanding_ += records;
}

void SentRecords::Delivered(const Status& error) {
  std::shared_ptr<SentRecords> self;
  std::shared_ptr<Signal> done;
  {
    const MutexLock lock(mutex_);
    if (!error.ok() && error_.ok()) error_ = error;
    if (waiting_ > 0) some_delivered_.NotifyAll();
    if (--outstanding_ > 0) return;
    self = std::move(self_);
    if (resting_) done = done_;
  }
  if (done != nullptr) done->Set();
}

Status SentRecords::error() const {
  const MutexLock lock(mutex_);
  return error_;
}

std::shared_ptr<Signal> SentRecords::Rest() {
  const MutexLock lock(mutex_);
  if (outstanding_ == 0) return nullptr;
  resting_ = true;
  return done_;
}

void SentRecords::AwaitSome(std::chrono::milliseconds timeout) {
  const MutexLock lock(mutex_);
  const int64_t before = outstanding_;
  ++waiting_;
  some_delivered_.WaitFor(mutex_, {}, timeout, [&] { return outstanding_ < before; });
  --waiting_;
}

void SentRecords::LeaveToReports(std::shared_ptr<SentRecords> records) {
  SentRecords& own = *records;
  const MutexLock lock(own.mutex_);
  if (own.outstanding_ > 0) own.self_ = std::move(records);
}

// --- KafkaProducer ---

Result<std::shared_ptr<KafkaProducer>> KafkaProducer::Get(const JavaProperties& properties,
                                                          const std::string& topic,
                                                          data::FileSystem& files) {
  ProducerCache& cache = ProducerCache::Get();
  const std::chrono::nanoseconds now = SystemClock::Get().NowMonotonic();
  std::vector<std::shared_ptr<KafkaProducer>> old;
  {
    const MutexLock lock(cache.mutex);
    old = cache.TakeOld(now);
    const auto found = cache.entries.find(properties);
    if (found != cache.entries.end()) {
      found->second.used_at = now;
      return found->second.producer;
    }
  }
  NoMemoryForTheError();
  std::shared_ptr<KafkaProducer> producer(new KafkaProducer());
  TW_ASSIGN_OR_RETURN(producer->settings_,
                      TranslateProperties(properties, KafkaRole::kProducer, files));
  TW_ASSIGN_OR_RETURN(producer->handle_,
                      KafkaHandle::Make(KafkaRole::kProducer, producer->settings_, &OnDelivery));
  producer->thread_ = StartLoop(
      "kafka producer",
      [raw = producer.get(), warm = topic](const std::stop_token& stop) mutable {
        raw->Warm(std::exchange(warm, {}));
        if (stop.stop_requested()) return false;
        raw->Poll();
        return true;
      });
  const MutexLock lock(cache.mutex);
  cache.entries[properties] = {producer, now};
  return producer;
}

KafkaProducer::~KafkaProducer() {
  if (handle_ == nullptr) return;  // its settings were refused
  thread_.request_stop();
  if (thread_.joinable()) thread_.join();
  for (const auto& [name, topic] : topics_) rd_kafka_topic_destroy(topic);
  // What nobody waits for any more is given up, so that the end comes soon.
  rd_kafka_purge(handle_->get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  Ignore(handle_->Serve(), "the reports of purged records have been taken");
}

void KafkaProducer::Warm(const std::string& topic) {
  if (topic.empty()) return;
  const Result<rd_kafka_topic_t*> known = Topic(topic);
  const struct rd_kafka_metadata* answer = nullptr;
  if (known.ok() && rd_kafka_metadata(handle_->get(), 0, *known, &answer, kWarmTimeoutMs) ==
                        RD_KAFKA_RESP_ERR_NO_ERROR)
    rd_kafka_metadata_destroy(answer);
}

void KafkaProducer::Poll() {
  Status served = handle_->Serve(kPollTime);
  if (served.ok()) return;
  // Records that can never arrive are reported at once, not after delivery.timeout.ms.
  rd_kafka_purge(handle_->get(), RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
  const MutexLock lock(mutex_);
  if (failure_.ok()) TW_LOG(kWarn, "kafka producer failed", {"error", served});
  failure_ = std::move(served);
}

Result<rd_kafka_topic_t*> KafkaProducer::Topic(const std::string& name) {
  const MutexLock lock(mutex_);
  const auto found = topics_.find(name);
  if (found != topics_.end()) return found->second;
  rd_kafka_topic_t* topic = rd_kafka_topic_new(handle_->get(), name.c_str(), nullptr);
  if (topic == nullptr) return KafkaError("name topic " + name, rd_kafka_last_error());
  topics_.emplace(name, topic);
  return topic;
}

Status KafkaProducer::failure() const {
  const MutexLock lock(mutex_);
  return failure_;
}

Result<int32_t> KafkaProducer::CountPartitions(const std::string& topic) {
  TW_ASSIGN_OR_RETURN(rd_kafka_topic_t* const known, Topic(topic));
  int32_t count = 0;
  bool there = true;
  Status asked = AskBroker(
      *handle_, "ask for the partitions of " + topic, settings_.max_block, {}, [&](int timeout_ms) -> int {
        const struct rd_kafka_metadata* answer = nullptr;
        const int code = rd_kafka_metadata(handle_->get(), 0, known, &answer, timeout_ms);
        if (code != RD_KAFKA_RESP_ERR_NO_ERROR) return code;
        for (int i = 0; i < answer->topic_cnt; ++i) {
          if (topic == answer->topics[i].topic) count = answer->topics[i].partition_cnt;
        }
        rd_kafka_metadata_destroy(answer);
        // A broker that makes topics when they are first named has it a moment later.
        there = count > 0;
        return there ? RD_KAFKA_RESP_ERR_NO_ERROR : RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE;
      });
  if (there) TW_RETURN_NOT_OK(std::move(asked));
  return count;
}

}  // namespace thalweg::connectors
