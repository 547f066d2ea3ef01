#define PCRE2_CODE_UNIT_WIDTH 8
#include "connectors/kafka/kafka_metadata.h"

#include <librdkafka/rdkafka.h>
#include <pcre2.h>

#include <algorithm>

#include "base/clock.h"
#include "base/log.h"
#include "base/probe.h"

namespace thalweg::connectors {
namespace {

constexpr int kUnknownTries =
    3;  // a topic that was just made may be unknown to its leader for a moment
constexpr std::chrono::milliseconds kUnknownPause{100};

struct ListFree {
  void operator()(rd_kafka_topic_partition_list_t* list) const {
    rd_kafka_topic_partition_list_destroy(list);
  }
};
using ListPtr = std::unique_ptr<rd_kafka_topic_partition_list_t, ListFree>;

bool IsInternalTopic(std::string_view topic) {
  return topic == "__consumer_offsets" || topic == "__transaction_state" ||
         topic == "__share_group_state";
}

bool IsUnknown(int code) {
  return code == RD_KAFKA_RESP_ERR_UNKNOWN_TOPIC_OR_PART ||
         code == RD_KAFKA_RESP_ERR__UNKNOWN_PARTITION || code == RD_KAFKA_RESP_ERR__UNKNOWN_TOPIC;
}

PartitionOffsets AllAt(const PartitionSet& partitions, int64_t value) {
  PartitionOffsets offsets;
  for (const TopicPartition& partition : partitions) offsets[partition] = value;
  return offsets;
}

Status AssertionFailed(std::string message) {
  return Error("_LEGACY_ERROR_THALWEG_ASSERTION").With("message", message);
}

Status TimestampsDoNotMatch(bool starting, const PartitionSet& specified,
                            const PartitionSet& assigned) {
  return Error("KAFKA_TIMESTAMP_OFFSET_DOES_NOT_MATCH_ASSIGNED")
      .With("position", starting ? "start" : "end")
      .With("specifiedPartitions", DescribeSet(specified))
      .With("assignedPartitions", DescribeSet(assigned));
}

}  // namespace

/// A topic pattern: found anywhere in a name, as Spark does since it asks the brokers' admin API.
struct KafkaMetadata::Pattern {
  pcre2_code* code = nullptr;
  ~Pattern() { pcre2_code_free(code); }

  static Result<std::unique_ptr<Pattern>> Make(const std::string& text) {
    auto pattern = std::make_unique<Pattern>();
    int error = 0;
    PCRE2_SIZE at = 0;
    pattern->code = pcre2_compile(reinterpret_cast<PCRE2_SPTR>(text.data()), text.size(), PCRE2_UTF,
                                  &error, &at, nullptr);
    if (pattern->code != nullptr) return pattern;
    unsigned char reason[128] = "";
    pcre2_get_error_message(error, reason, sizeof(reason));
    return Error("ILLEGAL_ARGUMENT")
        .With("message", "Option 'subscribePattern' is not a regular expression: " +
                             std::string(reinterpret_cast<const char*>(reason)) + " near index " +
                             std::to_string(at) + ": " + text);
  }
  bool Matches(const std::string& topic) const {
    pcre2_match_data* data = pcre2_match_data_create_from_pattern(code, nullptr);
    const int found = pcre2_match(code, reinterpret_cast<PCRE2_SPTR>(topic.data()), topic.size(), 0,
                                  0, data, nullptr);
    pcre2_match_data_free(data);
    return found >= 0;
  }
};

KafkaMetadata::KafkaMetadata(const KafkaReadOptions& options, std::stop_token stop)
    : options_(options), stop_(std::move(stop)) {}

KafkaMetadata::~KafkaMetadata() {
  for (void* topic : topics_) rd_kafka_topic_destroy(static_cast<rd_kafka_topic_t*>(topic));
}

Result<std::unique_ptr<KafkaMetadata>> KafkaMetadata::Make(const KafkaReadOptions& options,
                                                           const KafkaClientSettings& settings,
                                                           std::stop_token stop) {
  std::unique_ptr<KafkaMetadata> metadata(new KafkaMetadata(options, std::move(stop)));
  metadata->api_timeout_ = settings.api_timeout;
  if (const auto* pattern = std::get_if<SubscribePattern>(&options.subscription)) {
    TW_ASSIGN_OR_RETURN(metadata->pattern_, Pattern::Make(pattern->pattern));
  }
  TW_ASSIGN_OR_RETURN(metadata->handle_, KafkaHandle::Make(KafkaRole::kConsumer, settings));
  std::set<std::string> topics;
  if (const auto* assign = std::get_if<AssignPartitions>(&options.subscription)) {
    for (const TopicPartition& partition : assign->partitions) topics.insert(partition.topic);
  }
  if (const auto* subscribe = std::get_if<SubscribeTopics>(&options.subscription))
    topics.insert(subscribe->topics.begin(), subscribe->topics.end());
  for (const std::string& topic : topics) {
    rd_kafka_topic_t* known = rd_kafka_topic_new(metadata->handle_->get(), topic.c_str(), nullptr);
    if (known == nullptr) return KafkaError("name topic " + topic, rd_kafka_last_error());
    metadata->topics_.push_back(known);
  }
  return metadata;
}

bool KafkaMetadata::Takes(const std::string& topic) const {
  return pattern_ == nullptr || (!IsInternalTopic(topic) && pattern_->Matches(topic));
}

Result<KnownPartitions> KafkaMetadata::Partitions() {
  const struct rd_kafka_metadata* answer = nullptr;
  const int all_topics = pattern_ == nullptr ? 0 : 1;
  TW_RETURN_NOT_OK(AskBroker(
      *handle_, "ask for the partitions of " + DescribeSubscription(options_.subscription),
      api_timeout_, stop_, [&](int timeout_ms) -> int {
        return rd_kafka_metadata(handle_->get(), all_topics, nullptr, &answer, timeout_ms);
      }));
  const std::unique_ptr<const struct rd_kafka_metadata, decltype(&rd_kafka_metadata_destroy)> owner(
      answer, &rd_kafka_metadata_destroy);
  KnownPartitions known;
  for (int i = 0; i < answer->topic_cnt; ++i) {
    const rd_kafka_metadata_topic_t& topic = answer->topics[i];
    if (!Takes(topic.topic)) continue;
    if (IsUnknown(topic.err)) {
      known.missing_topics.emplace_back(topic.topic);
      continue;
    }
    if (topic.err != RD_KAFKA_RESP_ERR_NO_ERROR &&
        topic.err != RD_KAFKA_RESP_ERR_LEADER_NOT_AVAILABLE)
      return KafkaError("read topic " + std::string(topic.topic), topic.err);
    if (topic.partition_cnt == 0) known.missing_topics.emplace_back(topic.topic);
    for (int j = 0; j < topic.partition_cnt; ++j)
      known.partitions.insert({topic.topic, topic.partitions[j].id});
  }
  if (const auto* assign = std::get_if<AssignPartitions>(&options_.subscription)) {
    PartitionSet wanted;
    for (const TopicPartition& partition : assign->partitions) {
      if (known.partitions.contains(partition)) wanted.insert(partition);
    }
    known.partitions = std::move(wanted);
  }
  return known;
}

Result<PartitionSet> KafkaMetadata::ExistingPartitions() {
  TW_ASSIGN_OR_RETURN(KnownPartitions known, Partitions());
  if (!known.missing_topics.empty()) return UnknownTopic(known.missing_topics.front());
  return std::move(known.partitions);
}

Result<PartitionOffsets> KafkaMetadata::ListOffsets(const PartitionOffsets& wanted) {
  PartitionOffsets answered;
  PartitionOffsets rest = wanted;
  int unknown_tries = 0;
  while (!rest.empty()) {
    ListPtr list;
    bool complete = false;  // one unknown partition leaves the whole list without answers
    TW_RETURN_NOT_OK(
        AskBroker(*handle_, "ask for offsets", api_timeout_, stop_, [&](int timeout_ms) -> int {
          list.reset(rd_kafka_topic_partition_list_new(static_cast<int>(rest.size())));
          for (const auto& [partition, value] : rest)
            rd_kafka_topic_partition_list_add(list.get(), partition.topic.c_str(),
                                              partition.partition)
                ->offset = value;
          const rd_kafka_resp_err_t code =
              rd_kafka_offsets_for_times(handle_->get(), list.get(), timeout_ms);
          complete = code == RD_KAFKA_RESP_ERR_NO_ERROR;
          if (!complete && !IsUnknown(code)) return code;
          for (int i = 0; i < list->cnt; ++i) {
            const int own = list->elems[i].err;
            if (own != RD_KAFKA_RESP_ERR_NO_ERROR && !IsUnknown(own)) return own;
          }
          return RD_KAFKA_RESP_ERR_NO_ERROR;
        }));
    PartitionSet unknown;
    for (int i = 0; i < list->cnt; ++i) {
      const rd_kafka_topic_partition_t& element = list->elems[i];
      TopicPartition partition{element.topic, element.partition};
      if (IsUnknown(element.err)) {
        unknown.insert(std::move(partition));
      } else if (complete) {
        answered[partition] = element.offset;
        rest.erase(partition);
      }
    }
    if (rest.empty()) break;
    if (unknown.empty()) unknown = KeysOf(rest);
    if (++unknown_tries < kUnknownTries) {
      SystemClock::Get().WaitFor(kUnknownPause, nullptr, stop_);
      TW_RETURN_NOT_OK(Partitions().status());  // asks the brokers anew who leads
      continue;
    }
    for (const TopicPartition& partition : unknown) rest.erase(partition);
    unknown_tries = 0;
  }
  return answered;
}

Result<PartitionOffsets> KafkaMetadata::Earliest(const PartitionSet& partitions) {
  return ListOffsets(AllAt(partitions, kEarliestOffset));
}

Result<PartitionOffsets> KafkaMetadata::Latest(const PartitionSet& partitions) {
  return ListOffsets(AllAt(partitions, kLatestOffset));
}

Result<PartitionOffsets> KafkaMetadata::LatestAfter(const PartitionSet& partitions,
                                                    const PartitionOffsets& known) {
  for (int64_t attempt = 0;; ++attempt) {
    TW_ASSIGN_OR_RETURN(PartitionOffsets latest, Latest(partitions));
    const bool behind = std::any_of(latest.begin(), latest.end(), [&](const auto& entry) {
      const auto found = known.find(entry.first);
      return found != known.end() && entry.second < found->second;
    });
    if (!behind || attempt >= options_.fetch_retries) return latest;
    TW_PROBE("kafka: latest offset below a known one");
    TW_LOG(kWarn, "kafka gave latest offsets below known ones, asking again",
           {"latest", FormatOffsets(latest)}, {"known", FormatOffsets(known)});
    SystemClock::Get().WaitFor(options_.fetch_retry_interval, nullptr, stop_);
    if (stop_.stop_requested()) return Cancelled();
  }
}

Result<PartitionOffsets> KafkaMetadata::ForTimestamps(const PartitionOffsets& timestamps_ms) {
  return ListOffsets(timestamps_ms);
}

Result<PartitionOffsets> KafkaMetadata::ResolveSpecific(const PartitionOffsets& given,
                                                        const PartitionSet& assigned) {
  if (KeysOf(given) != assigned) {
    if (!options_.streaming) {
      return Error("KAFKA_START_OFFSET_DOES_NOT_MATCH_ASSIGNED")  // for the end, too, as in Spark
          .With("specifiedPartitions", DescribeSet(KeysOf(given)))
          .With("assignedPartitions", DescribeSet(assigned));
    }
    return AssertionFailed(
        "If startingOffsets contains specific offsets, you must specify all TopicPartitions.\n"
        "Use -1 for latest, -2 for earliest, if you don't care.\nSpecified: " +
        DescribeSet(KeysOf(given)) + " Assigned: " + DescribeSet(assigned));
  }
  PartitionOffsets symbolic;
  for (const auto& [partition, offset] : given) {
    if (offset == kLatestOffset || offset == kEarliestOffset) symbolic[partition] = offset;
  }
  PartitionOffsets resolved = given;
  TW_ASSIGN_OR_RETURN(const PartitionOffsets found, ListOffsets(symbolic));
  for (const auto& [partition, offset] : found) resolved[partition] = offset;
  return resolved;
}

Result<PartitionOffsets> KafkaMetadata::ResolveTimestamps(const PartitionOffsets& timestamps,
                                                          const PartitionSet& assigned,
                                                          bool starting) {
  if (KeysOf(timestamps) != assigned)
    return TimestampsDoNotMatch(starting, KeysOf(timestamps), assigned);
  TW_ASSIGN_OR_RETURN(PartitionOffsets found, ForTimestamps(timestamps));
  PartitionSet without;
  for (const auto& [partition, timestamp_ms] : timestamps) {
    const auto at = found.find(partition);
    if (at != found.end() && at->second >= 0) continue;
    if (starting && !options_.start_latest_without_match) {
      return Error("_LEGACY_ERROR_THALWEG_KAFKA_NO_OFFSET")
          .With("topicPartition", partition.ToString())
          .With("timestamp", static_cast<long long>(timestamp_ms));
    }
    without.insert(partition);
  }
  TW_ASSIGN_OR_RETURN(const PartitionOffsets latest, Latest(without));
  for (const auto& [partition, offset] : latest) found[partition] = offset;
  return found;
}

Result<PartitionOffsets> KafkaMetadata::Resolve(const OffsetLimit& limit, bool starting) {
  TW_ASSIGN_OR_RETURN(const PartitionSet assigned, ExistingPartitions());
  if (std::holds_alternative<EarliestOffsets>(limit)) return Earliest(assigned);
  if (std::holds_alternative<LatestOffsets>(limit)) return Latest(assigned);
  if (const auto* specific = std::get_if<SpecificOffsets>(&limit))
    return ResolveSpecific(specific->offsets, assigned);
  if (const auto* timestamps = std::get_if<SpecificTimestamps>(&limit))
    return ResolveTimestamps(timestamps->timestamps, assigned, starting);
  return ResolveTimestamps(AllAt(assigned, std::get<GlobalTimestamp>(limit).timestamp_ms), assigned,
                           starting);
}

}  // namespace thalweg::connectors
