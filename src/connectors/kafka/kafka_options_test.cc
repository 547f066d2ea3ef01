#include "connectors/kafka/kafka_options.h"

#include <gtest/gtest.h>

namespace thalweg::connectors {
namespace {

sql::OptionMap Options(std::initializer_list<std::pair<const char*, const char*>> more,
                       bool with_base = true) {
  sql::OptionMap options;
  if (with_base) {
    options.Set("kafka.bootstrap.servers", "b:1");
    options.Set("subscribe", "t");
  }
  for (const auto& [key, value] : more) options.Set(key, value);
  return options;
}

std::string StreamError(std::initializer_list<std::pair<const char*, const char*>> more,
                        bool with_base = true) {
  const Result<KafkaReadOptions> read =
      ParseReadOptions(Options(more, with_base), /*streaming=*/true);
  if (read.ok()) return "";
  EXPECT_EQ(read.status().condition(), "ILLEGAL_ARGUMENT");
  return read.status().message_text();
}

std::string BatchError(std::initializer_list<std::pair<const char*, const char*>> more) {
  const Result<KafkaReadOptions> read = ParseReadOptions(Options(more), /*streaming=*/false);
  return read.ok() ? "" : read.status().message_text();
}

// Case P39 of Spark 4.2.0.
TEST(KafkaOptionsTest, RefusesWhatSparkRefuses) {
  EXPECT_TRUE(
      StreamError({{"kafka.auto.offset.reset", "earliest"}})
          .starts_with(
              "\nKafka option 'auto.offset.reset' is not supported.\nInstead set the source option "
              "'startingoffsets' to 'earliest' or 'latest'\n"));
  EXPECT_EQ(StreamError({{"kafka.enable.auto.commit", "true"}}),
            "Kafka option 'enable.auto.commit' is not supported");
  EXPECT_EQ(StreamError({{"Kafka.Interceptor.Classes", "x"}}),
            "Kafka option 'interceptor.classes' is not supported");
  EXPECT_EQ(StreamError({{"kafka.key.deserializer", "x"}}),
            "Kafka option 'key.deserializer' is not supported as keys are deserialized as byte "
            "arrays with "
            "ByteArrayDeserializer. Use DataFrame operations to explicitly deserialize the keys.");
  EXPECT_EQ(
      StreamError({{"kafka.value.deserializer", "x"}}),
      "Kafka option 'value.deserializer' is not supported as values are deserialized as byte "
      "arrays with "
      "ByteArrayDeserializer. Use DataFrame operations to explicitly deserialize the values.");
  EXPECT_EQ(StreamError({{"assign", R"({"t":[0]})"}}),
            "Only one of the following options can be specified for Kafka source: subscribe, "
            "subscribepattern, assign. See "
            "the docs for more details.");
  EXPECT_EQ(StreamError({{"kafka.bootstrap.servers", "b:1"}}, false),
            "One of the following options must be specified for Kafka source: subscribe, "
            "subscribepattern, assign. See the "
            "docs for more details.");
  EXPECT_EQ(StreamError({{"subscribe", "t"}}, false),
            "Option 'kafka.bootstrap.servers' must be specified for configuring Kafka consumer");
  EXPECT_EQ(StreamError({{"endingOffsets", "latest"}}),
            "ending offset not valid in streaming queries");
  EXPECT_EQ(StreamError({{"endingOffsetsByTimestamp", "{}"}}),
            "ending timestamp not valid in streaming queries");
  EXPECT_EQ(StreamError({{"endingTimestamp", "5"}}), "");
}

TEST(KafkaOptionsTest, RefusesBadValues) {
  EXPECT_EQ(StreamError({{"assign", "t"}, {"kafka.bootstrap.servers", "b"}}, false),
            "No topicpartitions to assign as specified value for option 'assign' is 't'");
  EXPECT_EQ(StreamError({{"subscribe", " , "}}),
            "No topics to subscribe to as specified value for option 'subscribe' is ' , '");
  EXPECT_EQ(
      StreamError({{"subscribePattern", " "}}, false),
      "Pattern to subscribe is empty as specified value for option 'subscribePattern' is ' '");
  EXPECT_EQ(StreamError({{"startingTimestamp", "soon"}}), "Expected a single long value, got soon");
  EXPECT_EQ(StreamError({{"minPartitions", "0"}}), "minPartitions must be positive");
  EXPECT_EQ(StreamError({{"maxRecordsPerPartition", "-1"}}),
            "maxRecordsPerPartition must be positive");
  EXPECT_EQ(StreamError({{"maxOffsetsPerTrigger", "many"}}), "For input string: \"many\"");
  EXPECT_EQ(StreamError({{"minOffsetsPerTrigger", "5"}, {"maxOffsetsPerTrigger", "4"}}),
            "The value of minOffsetPerTrigger(5) is higher than the maxOffsetsPerTrigger(4).");
  EXPECT_EQ(StreamError({{"failOnDataLoss", "perhaps"}}), "For input string: \"perhaps\"");
}

TEST(KafkaOptionsTest, RefusesBatchesThatCannotBe) {
  EXPECT_EQ(BatchError({{"startingOffsets", "latest"}}),
            "starting offset can't be latest for batch queries on Kafka");
  EXPECT_EQ(BatchError({{"startingOffsets", R"({"t":{"0":-1}})"}}),
            "startingOffsets for t-0 can't be latest for batch queries on Kafka");
  EXPECT_EQ(BatchError({{"endingOffsets", "earliest"}}),
            "ending offset can't be earliest for batch queries on Kafka");
  EXPECT_EQ(BatchError({{"endingOffsets", R"({"t":{"0":-2}})"}}),
            "ending offset for t-0 can't be earliest for batch queries on Kafka");
  EXPECT_EQ(
      BatchError({{"startingOffsets", R"({"t":{"0":9}})"}, {"endingOffsets", R"({"t":{"0":3}})"}}),
      "The specified start offset 9 is greater than the end offset 3 for topic t partition 0.");
  EXPECT_EQ(BatchError({{"maxOffsetsPerTrigger", "4"}}), "");
}

TEST(KafkaOptionsTest, ReadsEveryForm) {
  const KafkaReadOptions read = ParseReadOptions(Options({{"subscribe", " b , a,,"},
                                                          {"STARTINGOFFSETS", " Earliest "},
                                                          {"includeHeaders", "TRUE"},
                                                          {"failOnDataLoss", "false"},
                                                          {"maxTriggerDelay", "5m"},
                                                          {"minOffsetsPerTrigger", "3"},
                                                          {"kafka.Client.Id", "x"},
                                                          {"fetchOffset.numRetries", "7"}}),
                                                 true)
                                    .ValueOrDie();
  EXPECT_EQ(DescribeSubscription(read.subscription), "Subscribe[b, a]");
  EXPECT_TRUE(std::holds_alternative<EarliestOffsets>(read.starting));
  EXPECT_TRUE(read.include_headers);
  EXPECT_FALSE(read.fail_on_data_loss);
  EXPECT_EQ(read.max_trigger_delay, std::chrono::minutes(5));
  EXPECT_EQ(read.min_offsets_per_trigger, 3);
  EXPECT_EQ(read.fetch_retries, 7);
  EXPECT_EQ(read.properties, (JavaProperties{{"bootstrap.servers", "b:1"}, {"client.id", "x"}}));

  // The timestamp of all wins over timestamps by partition, these over offsets.
  sql::OptionMap options = Options(
      {{"startingOffsets", "earliest"}, {"startingOffsetsByTimestamp", R"({"t":{"0":5}})"}});
  EXPECT_TRUE(std::holds_alternative<SpecificTimestamps>(
      ParseReadOptions(options, true).ValueOrDie().starting));
  options.Set("startingTimestamp", "77");
  EXPECT_EQ(
      std::get<GlobalTimestamp>(ParseReadOptions(options, true).ValueOrDie().starting).timestamp_ms,
      77);
  EXPECT_TRUE(std::holds_alternative<LatestOffsets>(
      ParseReadOptions(Options({}), true).ValueOrDie().starting));
  EXPECT_TRUE(std::holds_alternative<EarliestOffsets>(
      ParseReadOptions(Options({}), false).ValueOrDie().starting));
}

TEST(KafkaOptionsTest, RefusesSerializersOfTheSink) {
  sql::OptionMap options = Options({{"kafka.value.serializer", "x"}});
  EXPECT_EQ(ParseWriteOptions(options).status().message_text(),
            "Kafka option 'value.serializer' is not supported as value are serialized with "
            "ByteArraySerializer.");
  EXPECT_EQ(ParseWriteOptions(Options({}, false)).status().message_text(),
            "Missing required configuration \"bootstrap.servers\" which has no default value.");
  EXPECT_EQ(ParseWriteOptions(Options({{"topic", " t "}})).ValueOrDie().topic, "t");
}

}  // namespace
}  // namespace thalweg::connectors
