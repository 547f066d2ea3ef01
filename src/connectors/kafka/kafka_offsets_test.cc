#include "connectors/kafka/kafka_offsets.h"

#include <gtest/gtest.h>

#include <fstream>

namespace thalweg::connectors {
namespace {

// Written by Spark 4.2.0's own JsonUtils for topics and partitions in many orders.
TEST(KafkaOffsetsTest, StandInTheOrderOfSpark) {
  std::ifstream file(TW_SOURCE_DIR "/src/connectors/kafka/testdata/spark_offsets.txt");
  ASSERT_TRUE(file.is_open());
  int lines = 0;
  for (std::string line; std::getline(file, line); ++lines) {
    const Result<PartitionOffsets> offsets = ParseOffsets(line);
    ASSERT_TRUE(offsets.ok()) << line;
    EXPECT_EQ(FormatOffsets(*offsets), line);
  }
  EXPECT_EQ(lines, 12);
}

TEST(KafkaOffsetsTest, ReadsWhatOptionsHold) {
  const PartitionOffsets offsets =
      ParseOffsets(R"({"topicA":{"0":23,"1":-1},"topicB":{"0":-2}})").ValueOrDie();
  EXPECT_EQ(offsets, (PartitionOffsets{{{"topicA", 0}, 23},
                                       {{"topicA", 1}, kLatestOffset},
                                       {{"topicB", 0}, kEarliestOffset}}));
  EXPECT_EQ(ParsePartitions(R"({"b":[1,0],"a":[7]})").ValueOrDie(),
            (std::vector<TopicPartition>{{"b", 1}, {"b", 0}, {"a", 7}}));
}

TEST(KafkaOffsetsTest, RefusesOtherTexts) {
  for (const char* text :
       {"", "x", "[]", "1", R"({"t":1})", R"({"t":{"a":1}})", R"({"t":{"0":1.5}})",
        R"({"t":{"-1":1}})", R"({"t":{"0":"1"}})", R"({"t":{"0":1})",
        R"({"t":{"0":18446744073709551615}})"}) {
    const Result<PartitionOffsets> offsets = ParseOffsets(text);
    ASSERT_FALSE(offsets.ok()) << text;
    EXPECT_EQ(offsets.status().condition(), "ILLEGAL_ARGUMENT");
    EXPECT_EQ(
        offsets.status().message_text(),
        R"(Expected e.g. {"topicA":{"0":23,"1":-1},"topicB":{"0":-2}}, got )" + std::string(text));
  }
  EXPECT_FALSE(ParsePartitions(R"({"t":["0"]})").ok());
  EXPECT_FALSE(ParsePartitions(R"({"t":[4294967296]})").ok());
}

}  // namespace
}  // namespace thalweg::connectors
