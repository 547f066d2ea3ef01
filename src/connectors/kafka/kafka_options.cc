#include "connectors/kafka/kafka_options.h"

#include <charconv>

#include "base/log.h"
#include "base/string_case.h"

namespace thalweg::connectors {
namespace {

constexpr std::string_view kPropertyPrefix = "kafka.";

constexpr std::string_view kGroupIdWarning =
    "Kafka option 'kafka.group.id' has been set on this query, it is not recommended: queries that "
    "use one group id "
    "interfere with each other. Offsets are kept in the checkpoint, never by the group.";

Status NotANumber(std::string_view text) {
  return IllegalOption("For input string: \"" + std::string(text) + "\"");
}

std::string_view Trim(std::string_view text) {
  const auto blank = [](char c) { return static_cast<unsigned char>(c) <= ' '; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

std::optional<int64_t> ParseLong(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size())
    return std::nullopt;
  return value;
}

Result<std::optional<int64_t>> LongOption(const sql::OptionMap& options, std::string_view key) {
  const std::optional<std::string> text = options.Get(key);
  if (!text) return std::optional<int64_t>{};
  const std::optional<int64_t> value = ParseLong(*text);
  if (!value) return NotANumber(*text);
  return value;
}

Result<std::optional<int64_t>> PositiveOption(const sql::OptionMap& options, std::string_view key) {
  TW_ASSIGN_OR_RETURN(const std::optional<int64_t> value, LongOption(options, key));
  if (value && *value <= 0) return IllegalOption(std::string(key) + " must be positive");
  return value;
}

Result<bool> BooleanOption(const sql::OptionMap& options, std::string_view key, bool otherwise) {
  const std::optional<std::string> text = options.Get(key);
  if (!text) return otherwise;
  if (EqualsIgnoreCase(*text, "true")) return true;
  if (EqualsIgnoreCase(*text, "false")) return false;
  return NotANumber(*text);
}

/// "15m", "100ms", "30s", "2min", "1h", "1d"; a bare number is milliseconds. Spark's
/// Utils.timeStringAsMs.
Result<std::chrono::milliseconds> DurationOption(const sql::OptionMap& options,
                                                 std::string_view key,
                                                 std::chrono::milliseconds otherwise) {
  const std::optional<std::string> given = options.Get(key);
  if (!given) return otherwise;
  const std::string text = ToAsciiLower(Trim(*given));
  int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  const std::string_view unit(parsed.ptr, text.data() + text.size() - parsed.ptr);
  constexpr std::pair<std::string_view, int64_t> kUnits[] = {
      {"", 1},         {"ms", 1},        {"s", 1000},      {"m", 60'000},
      {"min", 60'000}, {"h", 3'600'000}, {"d", 86'400'000}};
  if (parsed.ec == std::errc{}) {
    if (unit == "us") return std::chrono::milliseconds(value / 1000);
    for (const auto& [name, millis] : kUnits) {
      int64_t product = 0;
      if (unit == name && !__builtin_mul_overflow(value, millis, &product))
        return std::chrono::milliseconds(product);
    }
  }
  return IllegalOption(
      "Time must be specified as seconds (s), milliseconds (ms), microseconds (us), minutes (m or "
      "min), "
      "hour (h), or day (d). E.g. 50s, 100ms, or 250us. Got " +
      *given);
}

JavaProperties PropertiesOf(const sql::OptionMap& options) {
  JavaProperties properties;
  for (const auto& [key, value] : options.entries()) {
    std::string lower = ToAsciiLower(key);
    if (lower.starts_with(kPropertyPrefix))
      properties[lower.substr(kPropertyPrefix.size())] = value;
  }
  return properties;
}

Result<Subscription> ParseSubscription(const sql::OptionMap& options) {
  constexpr std::string_view kStrategies = "subscribe, subscribepattern, assign";
  const std::optional<std::string> assign = options.Get("assign"),
                                   subscribe = options.Get("subscribe"),
                                   pattern = options.Get("subscribePattern");
  const int given = assign.has_value() + subscribe.has_value() + pattern.has_value();
  if (given != 1) {
    return IllegalOption(std::string(given == 0 ? "One" : "Only one") +
                         " of the following options " + (given == 0 ? "must" : "can") +
                         " be specified for Kafka source: " + std::string(kStrategies) +
                         ". See the docs for more details.");
  }
  if (assign) {
    if (!Trim(*assign).starts_with('{'))
      return IllegalOption(
          "No topicpartitions to assign as specified value for option 'assign' is '" + *assign +
          "'");
    TW_ASSIGN_OR_RETURN(std::vector<TopicPartition> partitions, ParsePartitions(*assign));
    return Subscription(AssignPartitions{std::move(partitions)});
  }
  if (subscribe) {
    SubscribeTopics topics;
    std::string_view rest = *subscribe;
    while (!rest.empty()) {
      const size_t comma = rest.find(',');
      const std::string_view topic = Trim(rest.substr(0, comma));
      if (!topic.empty()) topics.topics.emplace_back(topic);
      rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
    }
    if (topics.topics.empty())
      return IllegalOption(
          "No topics to subscribe to as specified value for option 'subscribe' is '" + *subscribe +
          "'");
    return Subscription(std::move(topics));
  }
  const std::string_view trimmed = Trim(*pattern);
  if (trimmed.empty())
    return IllegalOption(
        "Pattern to subscribe is empty as specified value for option 'subscribePattern' is '" +
        *pattern + "'");
  return Subscription(SubscribePattern{std::string(trimmed)});
}

Result<OffsetLimit> ParseLimit(const sql::OptionMap& options, std::string_view timestamp_key,
                               std::string_view by_timestamp_key, std::string_view offsets_key,
                               OffsetLimit otherwise) {
  if (const std::optional<std::string> text = options.Get(timestamp_key)) {
    const std::optional<int64_t> timestamp_ms = ParseLong(Trim(*text));
    if (!timestamp_ms) return IllegalOption("Expected a single long value, got " + *text);
    return OffsetLimit(GlobalTimestamp{*timestamp_ms});
  }
  if (const std::optional<std::string> text = options.Get(by_timestamp_key)) {
    TW_ASSIGN_OR_RETURN(PartitionOffsets timestamps, ParseTimestamps(Trim(*text)));
    return OffsetLimit(SpecificTimestamps{std::move(timestamps)});
  }
  if (const std::optional<std::string> text = options.Get(offsets_key)) {
    if (EqualsIgnoreCase(Trim(*text), "latest")) return OffsetLimit(LatestOffsets{});
    if (EqualsIgnoreCase(Trim(*text), "earliest")) return OffsetLimit(EarliestOffsets{});
    TW_ASSIGN_OR_RETURN(PartitionOffsets offsets, ParseOffsets(Trim(*text)));
    return OffsetLimit(SpecificOffsets{std::move(offsets)});
  }
  return otherwise;
}

/// What the source itself decides, so that a user's value would have no effect or a wrong one.
Status RefuseConsumerProperties(const JavaProperties& properties) {
  if (properties.contains("group.id")) TW_LOG(kWarn, kGroupIdWarning);
  if (properties.contains("auto.offset.reset")) {
    return IllegalOption(
        "\nKafka option 'auto.offset.reset' is not supported.\n"
        "Instead set the source option 'startingoffsets' to 'earliest' or 'latest'\n"
        "to specify where to start. Structured Streaming manages which offsets are consumed\n"
        "internally, rather than relying on the kafkaConsumer to do it. This will ensure that no\n"
        "data is missed when new topics/partitions are dynamically subscribed. Note that\n"
        "'startingoffsets' only applies when a new Streaming query is started, and\n"
        "that resuming will always pick up from where the query left off. See the docs for more\n"
        "details.\n");
  }
  if (properties.contains("key.deserializer"))
    return IllegalOption(
        "Kafka option 'key.deserializer' is not supported as keys are deserialized as byte arrays "
        "with "
        "ByteArrayDeserializer. Use DataFrame operations to explicitly deserialize the keys.");
  if (properties.contains("value.deserializer"))
    return IllegalOption(
        "Kafka option 'value.deserializer' is not supported as values are deserialized as byte "
        "arrays with "
        "ByteArrayDeserializer. Use DataFrame operations to explicitly deserialize the values.");
  for (const char* name : {"enable.auto.commit", "interceptor.classes"}) {
    if (properties.contains(name))
      return IllegalOption("Kafka option '" + std::string(name) + "' is not supported");
  }
  if (!properties.contains("bootstrap.servers"))
    return IllegalOption(
        "Option 'kafka.bootstrap.servers' must be specified for configuring Kafka consumer");
  return Status::OK();
}

/// What Spark's validateGeneralOptions checks, in its order.
Status ParseGeneral(const sql::OptionMap& options, KafkaReadOptions* read) {
  TW_ASSIGN_OR_RETURN(read->subscription, ParseSubscription(options));
  TW_ASSIGN_OR_RETURN(read->min_partitions, PositiveOption(options, "minPartitions"));
  TW_ASSIGN_OR_RETURN(read->max_records_per_partition,
                      PositiveOption(options, "maxRecordsPerPartition"));
  read->properties = PropertiesOf(options);
  TW_RETURN_NOT_OK(RefuseConsumerProperties(read->properties));
  read->has_group_id = read->properties.contains("group.id");
  TW_ASSIGN_OR_RETURN(read->fail_on_data_loss, BooleanOption(options, "failOnDataLoss", true));
  TW_ASSIGN_OR_RETURN(read->include_headers, BooleanOption(options, "includeHeaders", false));
  TW_ASSIGN_OR_RETURN(const std::optional<int64_t> retries,
                      LongOption(options, "fetchOffset.numRetries"));
  TW_ASSIGN_OR_RETURN(const std::optional<int64_t> interval,
                      LongOption(options, "fetchOffset.retryIntervalMs"));
  TW_ASSIGN_OR_RETURN(const std::optional<int64_t> poll,
                      LongOption(options, "kafkaConsumer.pollTimeoutMs"));
  if (poll) read->poll_timeout = std::chrono::milliseconds(*poll);
  if (retries) read->fetch_retries = *retries;
  if (interval) read->fetch_retry_interval = std::chrono::milliseconds(*interval);
  const std::optional<std::string> strategy = options.Get("startingOffsetsByTimestampStrategy");
  if (strategy && !EqualsIgnoreCase(*strategy, "error") && !EqualsIgnoreCase(*strategy, "latest"))
    return IllegalOption("No value found for '" + ToAsciiUpper(*strategy) + "'");
  read->start_latest_without_match = strategy && EqualsIgnoreCase(*strategy, "latest");
  return Status::OK();
}

Status ParseStreaming(const sql::OptionMap& options, KafkaReadOptions* read) {
  if (options.Has("endingOffsets"))
    return IllegalOption("ending offset not valid in streaming queries");
  if (options.Has("endingOffsetsByTimestamp"))
    return IllegalOption("ending timestamp not valid in streaming queries");
  TW_RETURN_NOT_OK(ParseGeneral(options, read));
  TW_ASSIGN_OR_RETURN(read->starting,
                      ParseLimit(options, "startingTimestamp", "startingOffsetsByTimestamp",
                                 "startingOffsets", LatestOffsets{}));
  TW_ASSIGN_OR_RETURN(read->max_offsets_per_trigger, LongOption(options, "maxOffsetsPerTrigger"));
  TW_ASSIGN_OR_RETURN(read->min_offsets_per_trigger, LongOption(options, "minOffsetsPerTrigger"));
  TW_ASSIGN_OR_RETURN(read->max_trigger_delay,
                      DurationOption(options, "maxTriggerDelay", read->max_trigger_delay));
  if (read->min_offsets_per_trigger && read->max_offsets_per_trigger &&
      *read->min_offsets_per_trigger > *read->max_offsets_per_trigger) {
    return IllegalOption("The value of minOffsetPerTrigger(" +
                         std::to_string(*read->min_offsets_per_trigger) +
                         ") is higher than the maxOffsetsPerTrigger(" +
                         std::to_string(*read->max_offsets_per_trigger) + ").");
  }
  return Status::OK();
}

Status RefuseReversed(const PartitionOffsets& start, const PartitionOffsets& end,
                      std::string_view offset_type) {
  for (const auto& [partition, from] : start) {
    const auto to = end.find(partition);
    if (to == end.end() || from < 0 || to->second < 0 || from <= to->second) continue;
    return Error("UNRESOLVED_START_OFFSET_GREATER_THAN_END_OFFSET")
        .With("offsetType", offset_type)
        .With("startOffset", static_cast<long long>(from))
        .With("endOffset", static_cast<long long>(to->second))
        .With("topic", partition.topic)
        .With("partition", partition.partition);
  }
  return Status::OK();
}

Status ParseBatch(const sql::OptionMap& options, KafkaReadOptions* read) {
  TW_ASSIGN_OR_RETURN(read->starting,
                      ParseLimit(options, "startingTimestamp", "startingOffsetsByTimestamp",
                                 "startingOffsets", EarliestOffsets{}));
  if (std::holds_alternative<LatestOffsets>(read->starting))
    return IllegalOption("starting offset can't be latest for batch queries on Kafka");
  if (const auto* specific = std::get_if<SpecificOffsets>(&read->starting)) {
    for (const auto& [partition, offset] : specific->offsets) {
      if (offset == kLatestOffset)
        return IllegalOption("startingOffsets for " + partition.ToString() +
                             " can't be latest for batch queries on Kafka");
    }
  }
  TW_ASSIGN_OR_RETURN(read->ending,
                      ParseLimit(options, "endingTimestamp", "endingOffsetsByTimestamp",
                                 "endingOffsets", LatestOffsets{}));
  if (std::holds_alternative<EarliestOffsets>(read->ending))
    return IllegalOption("ending offset can't be earliest for batch queries on Kafka");
  if (const auto* specific = std::get_if<SpecificOffsets>(&read->ending)) {
    for (const auto& [partition, offset] : specific->offsets) {
      if (offset == kEarliestOffset)
        return IllegalOption("ending offset for " + partition.ToString() +
                             " can't be earliest for batch queries on Kafka");
    }
  }
  TW_RETURN_NOT_OK(ParseGeneral(options, read));
  for (const char* name : {"maxOffsetsPerTrigger", "minOffsetsPerTrigger", "maxTriggerDelay"}) {
    if (options.Has(name))
      TW_LOG(kWarn, "kafka option is ignored in batch queries", {"option", name});
  }
  if (const auto* start = std::get_if<SpecificOffsets>(&read->starting)) {
    if (const auto* end = std::get_if<SpecificOffsets>(&read->ending))
      return RefuseReversed(start->offsets, end->offsets, "offset");
  }
  if (const auto* start = std::get_if<SpecificTimestamps>(&read->starting)) {
    if (const auto* end = std::get_if<SpecificTimestamps>(&read->ending))
      return RefuseReversed(start->timestamps, end->timestamps, "timestamp");
  }
  return Status::OK();
}

}  // namespace

Status IllegalOption(const std::string& message) {
  return Error("ILLEGAL_ARGUMENT").With("message", message);
}

std::string DescribeSubscription(const Subscription& subscription) {
  std::string inside;
  const auto add = [&](const std::string& item) { inside += (inside.empty() ? "" : ", ") + item; };
  if (const auto* assign = std::get_if<AssignPartitions>(&subscription)) {
    for (const TopicPartition& partition : assign->partitions) add(partition.ToString());
    return "Assign[" + inside + "]";
  }
  if (const auto* topics = std::get_if<SubscribeTopics>(&subscription)) {
    for (const std::string& topic : topics->topics) add(topic);
    return "Subscribe[" + inside + "]";
  }
  return "SubscribePattern[" + std::get<SubscribePattern>(subscription).pattern + "]";
}

Result<KafkaReadOptions> ParseReadOptions(const sql::OptionMap& options, bool streaming) {
  KafkaReadOptions read;
  read.streaming = streaming;
  TW_RETURN_NOT_OK(streaming ? ParseStreaming(options, &read) : ParseBatch(options, &read));
  return read;
}

Result<KafkaWriteOptions> ParseWriteOptions(const sql::OptionMap& options) {
  KafkaWriteOptions write;
  write.topic = options.Get("topic");
  if (write.topic) write.topic = std::string(Trim(*write.topic));
  write.properties = PropertiesOf(options);
  if (write.properties.contains("key.serializer"))
    return IllegalOption(
        "Kafka option 'key.serializer' is not supported as keys are serialized with "
        "ByteArraySerializer.");
  if (write.properties.contains("value.serializer"))
    return IllegalOption(
        "Kafka option 'value.serializer' is not supported as value are serialized with "
        "ByteArraySerializer.");
  if (!write.properties.contains("bootstrap.servers"))
    return IllegalOption(
        "Missing required configuration \"bootstrap.servers\" which has no default value.");
  return write;
}

}  // namespace thalweg::connectors
