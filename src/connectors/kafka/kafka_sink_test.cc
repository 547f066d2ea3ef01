#include "connectors/kafka/kafka_sink.h"

#include <gtest/gtest.h>

#include "connectors/kafka/embedded_broker.h"
#include "connectors/kafka/kafka_fixture_test.h"
#include "connectors/kafka/kafka_rows.h"

namespace thalweg::connectors {
namespace {

using data::DataType;
using data::Value;
using Texts = std::vector<std::string>;

Value Text(const char* text) { return Value(std::string(text)); }

class KafkaSinkTest : public ::testing::Test {
 protected:
  void SetUp() override {
    broker_ = EmbeddedBroker::Make().ValueOrDie();
    tester_ = std::make_unique<KafkaTester>(broker_->bootstrap_servers());
    TW_CHECK(broker_->CreateTopic("t1", 1).ok());
    TW_CHECK(broker_->CreateTopic("t2", 3).ok());
  }
  Texts Values(const std::string& topic) {
    return FirstTexts(tester_->ReadBatch({{"subscribe", topic}}).ValueOrDie());
  }

  std::unique_ptr<EmbeddedBroker> broker_;
  std::unique_ptr<KafkaTester> tester_;
};

// Case P38 of Spark 4.2.0.
TEST_F(KafkaSinkTest, RefusesColumnsThatDoNotFit) {
  const auto refusal = [&](const data::Schema& schema, const Row& row,
                           const KafkaTester::OptionList& options) {
    return tester_->Write(schema, {row}, options);
  };
  Status status = refusal({{"txt", DataType::String()}}, {Text("x")}, {{"topic", "t1"}});
  EXPECT_EQ(status.message(), "Required attribute 'value' not found");
  EXPECT_EQ(status.condition(), "_LEGACY_ERROR_TEMP_3080");
  status = refusal({{"value", DataType::Integer()}}, {Value(int32_t{1})}, {{"topic", "t1"}});
  EXPECT_EQ(status.message(),
            "value attribute unsupported type int. value must be a(n) string or binary");
  status = refusal({{"value", DataType::String()}}, {Text("x")}, {});
  EXPECT_EQ(status.message(),
            "topic option required when no 'topic' attribute is present. Use the topic option for "
            "setting a topic.");
  status = refusal({{"Value", DataType::String()}}, {Text("x")}, {{"topic", "t1"}});
  EXPECT_EQ(status.message(), "Required attribute 'value' not found");
  status = refusal({{"value", DataType::String()}, {"headers", DataType::String()}},
                   {Text("x"), Text("h")}, {{"topic", "t1"}});
  EXPECT_EQ(status.message(),
            "headers attribute unsupported type string. headers must be a(n) "
            "array<struct<key:string,value:binary>>");
  status = refusal({{"value", DataType::String()}, {"topic", DataType::String()}},
                   {Text("x"), Value()}, {});
  EXPECT_EQ(status.condition(), "KAFKA_NULL_TOPIC_IN_DATA");
  status = refusal({{"value", DataType::String()}, {"partition", DataType::Integer()}},
                   {Text("x"), Value(int32_t{7})}, {{"topic", "t1"}});
  EXPECT_EQ(status.condition(), "KAFKA_REQUEST_FAILED");
  EXPECT_NE(status.message().find("TimeoutException: Partition 7 of topic t1 with partition count "
                                  "1 is not present in metadata"),
            std::string::npos);
  EXPECT_TRUE(Values("t1").empty());
}

TEST_F(KafkaSinkTest, TheTopicOptionWins) {
  const data::Schema schema{{"value", DataType::String()}, {"topic", DataType::String()}};
  ASSERT_TRUE(tester_->Write(schema, {{Text("a"), Text("t2")}}, {{"topic", "t1"}}).ok());
  ASSERT_TRUE(tester_->Write(schema, {{Text("b"), Text("t2")}, {Text("c"), Text("t1")}}, {}).ok());
  EXPECT_EQ(Values("t1"), (Texts{"a", "c"}));
  EXPECT_EQ(Values("t2"), (Texts{"b"}));
}

TEST_F(KafkaSinkTest, WritesPartitionsAndHeaders) {
  const data::Schema schema{{"value", DataType::Binary()},
                            {"partition", DataType::Integer()},
                            {"headers", HeadersType()}};
  const Value headers(data::ValueList{Value(data::ValueList{Text("h"), Text("1")}),
                                      Value(data::ValueList{Text("h"), Text("2")}),
                                      Value(data::ValueList{Text("n"), Value()})});
  ASSERT_TRUE(tester_
                  ->Write(schema,
                          {{Text("a"), Value(int32_t{2}), headers},
                           {Text("b"), Value(int32_t{2}), Value()}},
                          {{"topic", "t2"}})
                  .ok());
  const std::vector<Row> rows = tester_
                                    ->ReadBatch({{"subscribe", "t2"}, {"includeHeaders", "true"}},
                                                {"value", "partition", "headers"})
                                    .ValueOrDie();
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0][1].get<int32_t>(), 2);
  EXPECT_EQ(rows[0][2], headers);
  EXPECT_TRUE(rows[1][2].is_null());
}

// As Java's default partitioner: keys decide, by murmur2.
TEST_F(KafkaSinkTest, EqualKeysStayTogether) {
  const data::Schema schema{{"key", DataType::String()}, {"value", DataType::String()}};
  std::vector<Row> rows;
  for (int i = 0; i < 60; ++i)
    rows.push_back({Text(("key" + std::to_string(i % 6)).c_str()), Text("v")});
  ASSERT_TRUE(tester_->Write(schema, rows, {{"topic", "t2"}}).ok());
  std::map<std::string, std::set<int32_t>> partitions;
  for (const Row& row :
       tester_->ReadBatch({{"subscribe", "t2"}}, {"key", "partition"}).ValueOrDie())
    partitions[row[0].get<std::string>()].insert(row[1].get<int32_t>());
  ASSERT_EQ(partitions.size(), 6u);
  for (const auto& [key, own] : partitions) EXPECT_EQ(own.size(), 1u) << key;
}

TEST_F(KafkaSinkTest, RefusesModesThatMakeNoSense) {
  sql::WriteRequest request;
  request.schema = {{"value", DataType::String()}};
  request.mode = sql::SaveMode::kOverwrite;
  EXPECT_EQ(MakeKafkaBatchWrite(request, tester_->files()).status().message(),
            "Save mode Overwrite not allowed for Kafka. Allowed save modes are Append and "
            "ErrorIfExists (default).");
}

TEST_F(KafkaSinkTest, CountsTheRowsOfAnEpoch) {
  sql::StreamWriteRequest request;
  request.schema = {{"value", DataType::String()}};
  request.options = tester_->Options({{"topic", "t1"}});
  const auto write = MakeKafkaStreamingWrite(request, tester_->files()).ValueOrDie();
  EXPECT_EQ(write->guarantee(), sql::DeliveryGuarantee::kAtLeastOnce);
  const auto writer = write->NewWriter(PartitionId(0), BatchId(0)).ValueOrDie();
  ASSERT_TRUE(
      writer->Write(data::ChunkFromRows({DataType::String()}, {{Text("a")}, {Text("b")}})).ok());
  std::shared_ptr<Signal> blocked;
  sql::CommitMessagePtr message = writer->Finish(&blocked).ValueOrDie();
  if (blocked != nullptr) {
    ASSERT_TRUE(blocked->WaitFor({}, std::chrono::seconds(20)));
    message = writer->Finish(&blocked).ValueOrDie();
  }
  ASSERT_TRUE(write->Commit(BatchId(0), {message}).ok());
  EXPECT_EQ(write->LastEpochRows(), 2);
  EXPECT_EQ(Values("t1"), (Texts{"a", "b"}));
}

// A full queue makes the writer wait, not fail.
TEST_F(KafkaSinkTest, WaitsWhileTheProducerIsFull) {
  const std::string text(2000, 'x');
  std::vector<Row> rows(500, Row{Value(text)});
  ASSERT_TRUE(tester_
                  ->Write({{"value", DataType::String()}}, rows,
                          {{"topic", "t1"}, {"kafka.buffer.memory", "65536"}})
                  .ok());
  EXPECT_EQ(Values("t1").size(), 500u);
}

TEST_F(KafkaSinkTest, FollowsALeaderThatChanges) {
  broker_ = EmbeddedBroker::Make(2).ValueOrDie();
  tester_ = std::make_unique<KafkaTester>(broker_->bootstrap_servers());
  ASSERT_TRUE(broker_->CreateTopic("t1", 1).ok());
  Texts wanted;
  for (int turn = 0; turn < 4; ++turn) {
    ASSERT_TRUE(broker_->MoveLeader("t1", 0, 1 + turn % 2).ok());
    const std::string text = "r" + std::to_string(turn);
    ASSERT_TRUE(tester_->Write({{"value", DataType::String()}}, {{Value(text)}}, {{"topic", "t1"}}).ok());
    wanted.push_back(text);
  }
  EXPECT_EQ(Values("t1"), wanted);
}

TEST_F(KafkaSinkTest, RefusedPropertiesLeaveNoProducer) {
  const Status status = tester_->Write({{"value", DataType::String()}}, {{Text("x")}},
                                       {{"topic", "t1"},
                                        {"kafka.security.protocol", "SASL_PLAINTEXT"},
                                        {"kafka.sasl.mechanism", "PLAIN"},
                                        {"kafka.sasl.jaas.config", "hunter2"}});
  EXPECT_EQ(status.condition(), "ILLEGAL_ARGUMENT");
  EXPECT_EQ(status.message().find("hunter2"), std::string::npos);
}

TEST_F(KafkaSinkTest, TellsWhatTheBrokerRefuses) {
  const std::string large(200'000, 'x');
  const Status status = tester_->Write({{"value", DataType::String()}}, {{Value(large)}},
                                       {{"topic", "t1"}, {"kafka.max.request.size", "100000"}});
  EXPECT_EQ(status.condition(), "KAFKA_REQUEST_FAILED");
}

}  // namespace
}  // namespace thalweg::connectors
