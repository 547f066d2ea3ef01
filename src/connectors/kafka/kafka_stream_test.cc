// The source and the sink against the embedded broker; what that cannot do is tested with a real
// one (tests/connectors).

#include "connectors/kafka/kafka_stream.h"

#include <gtest/gtest.h>

#include "connectors/kafka/embedded_broker.h"
#include "connectors/kafka/kafka_fixture_test.h"

namespace thalweg::connectors {
namespace {

using Texts = std::vector<std::string>;

class KafkaStreamTest : public ::testing::Test {
 protected:
  void SetUp() override {
    broker_ = EmbeddedBroker::Make().ValueOrDie();
    tester_ = std::make_unique<KafkaTester>(broker_->bootstrap_servers());
  }
  std::string Topic(int partitions) {
    const std::string name = "t" + std::to_string(++topics_);
    TW_CHECK(broker_->CreateTopic(name, partitions).ok());
    return name;
  }
  std::unique_ptr<sql::MicroBatchStream> Open(const KafkaTester::OptionList& options,
                                              const std::string& checkpoint = "c") {
    return tester_->Open(options, checkpoint).ValueOrDie();
  }
  static sql::Offset Latest(sql::MicroBatchStream& stream, const sql::Offset& start) {
    return *stream.LatestOffset(start, stream.DefaultReadLimits()).ValueOrDie();
  }
  Texts Read(sql::MicroBatchStream& stream, const sql::Offset& start, const sql::Offset& end) {
    return FirstTexts(tester_->Read(stream, start, end).ValueOrDie());
  }

  std::unique_ptr<EmbeddedBroker> broker_;
  std::unique_ptr<KafkaTester> tester_;
  int topics_ = 0;
};

TEST_F(KafkaStreamTest, ReadsRangeAfterRange) {
  const std::string topic = Topic(1);
  TW_CHECK(tester_->Send(topic, Numbered("a", 5)).ok());
  auto stream = Open({{"subscribe", topic}, {"startingOffsets", "earliest"}});
  EXPECT_EQ(stream->Description(), "KafkaV2[Subscribe[" + topic + "]]");
  const sql::Offset start = stream->InitialOffset().ValueOrDie();
  EXPECT_EQ(start.json, "{\"" + topic + "\":{\"0\":0}}");
  sql::Offset end = Latest(*stream, start);
  EXPECT_EQ(end.json, "{\"" + topic + "\":{\"0\":5}}");
  EXPECT_EQ(Read(*stream, start, end), Numbered("a", 5));
  EXPECT_EQ(Latest(*stream, end), end);
  TW_CHECK(tester_->Send(topic, {"b0", "b1"}).ok());
  const sql::Offset next = Latest(*stream, end);
  EXPECT_EQ(Read(*stream, end, next), (Texts{"b0", "b1"}));
  // A range may be read again: a replay, or a plan that reads the source twice.
  EXPECT_EQ(Read(*stream, start, next).size(), 7u);
  EXPECT_EQ(stream->Metrics(end),
            (std::map<std::string, std::string>{{"minOffsetsBehindLatest", "2"},
                                                {"maxOffsetsBehindLatest", "2"},
                                                {"avgOffsetsBehindLatest", "2.0"}}));
}

TEST_F(KafkaStreamTest, TellsWhenRecordsCome) {
  const std::string topic = Topic(2);
  auto stream = Open({{"subscribe", topic}, {"startingOffsets", "earliest"}});
  EXPECT_EQ(stream->poll_interval().count(), 0);
  sql::Offset position = stream->InitialOffset().ValueOrDie();
  for (int turn = 0; turn < 5; ++turn) {
    tester_->more().Reset();
    EXPECT_EQ(Latest(*stream, position), position);
    TW_CHECK(tester_->Send(topic, {"x" + std::to_string(turn)}, turn % 2).ok());
    sql::Offset end = position;
    while (end == position) {  // a signal may also tell of an end that was reached
      ASSERT_TRUE(tester_->more().WaitFor({}, std::chrono::seconds(20)));
      tester_->more().Reset();
      end = Latest(*stream, position);
    }
    EXPECT_EQ(Read(*stream, position, end), (Texts{"x" + std::to_string(turn)}));
    position = end;
  }
}

TEST_F(KafkaStreamTest, KeepsTheInitialOffsets) {
  const std::string topic = Topic(1);
  TW_CHECK(tester_->Send(topic, {"old"}).ok());
  {
    auto stream = Open({{"subscribe", topic}});
    EXPECT_EQ(stream->InitialOffset().ValueOrDie().json, "{\"" + topic + "\":{\"0\":1}}");
  }
  const std::string stored = tester_->files().ReadWhole("/c/sources/0/0").ValueOrDie();
  EXPECT_EQ(stored, std::string(1, '\0') + "v1\n{\"" + topic + "\":{\"0\":1}}");
  TW_CHECK(tester_->Send(topic, {"new"}).ok());
  auto again = Open({{"subscribe", topic}, {"startingOffsets", "earliest"}});
  const sql::Offset start = again->InitialOffset().ValueOrDie();
  EXPECT_EQ(start.json, "{\"" + topic + "\":{\"0\":1}}");
  EXPECT_EQ(Read(*again, start, Latest(*again, start)), Texts{"new"});
}

TEST_F(KafkaStreamTest, TakesAssignedAndMatchingTopicsOnly) {
  const std::string a = Topic(2), b = Topic(1);
  TW_CHECK(broker_->CreateTopic("other", 1).ok());
  auto assigned = Open({{"assign", "{\"" + a + "\":[1]}"}, {"startingOffsets", "earliest"}}, "c1");
  EXPECT_EQ(assigned->InitialOffset().ValueOrDie().json, "{\"" + a + "\":{\"1\":0}}");
  EXPECT_EQ(assigned->Description(), "KafkaV2[Assign[" + a + "-1]]");
  auto matching = Open({{"subscribePattern", "t\\d+"}, {"startingOffsets", "earliest"}}, "c2");
  EXPECT_EQ(ParseOffsets(matching->InitialOffset().ValueOrDie().json).ValueOrDie().size(), 3u);
  EXPECT_EQ(tester_->Open({{"subscribePattern", "t("}}, "c3").status().condition(),
            "ILLEGAL_ARGUMENT");
}

TEST_F(KafkaStreamTest, WantsOffsetsForAllPartitions) {
  const std::string topic = Topic(2);
  auto stream = Open({{"subscribe", topic}, {"startingOffsets", "{\"" + topic + "\":{\"0\":0}}"}});
  const Result<sql::Offset> start = stream->InitialOffset();
  ASSERT_FALSE(start.ok());
  EXPECT_EQ(
      start.status().message(),
      "assertion failed: If startingOffsets contains specific offsets, you must specify all "
      "TopicPartitions.\nUse -1 for latest, -2 for earliest, if you don't care.\nSpecified: Set(" +
          topic + "-0) Assigned: Set(" + topic + "-0, " + topic + "-1)");
}

TEST_F(KafkaStreamTest, ResolvesSymbolicOffsets) {
  const std::string topic = Topic(3);
  for (int p = 0; p < 3; ++p) TW_CHECK(tester_->Send(topic, Numbered("x", 4), p).ok());
  auto stream = Open({{"subscribe", topic},
                      {"startingOffsets", "{\"" + topic + "\":{\"0\":-2,\"1\":-1,\"2\":3}}"}});
  EXPECT_EQ(stream->InitialOffset().ValueOrDie().json,
            "{\"" + topic + "\":{\"0\":0,\"1\":4,\"2\":3}}");
}

TEST_F(KafkaStreamTest, LimitsWhatATriggerTakes) {
  const std::string topic = Topic(2);
  TW_CHECK(tester_->Send(topic, Numbered("x", 10)).ok());
  auto stream =
      Open({{"subscribe", topic}, {"startingOffsets", "earliest"}, {"maxOffsetsPerTrigger", "4"}});
  const sql::Offset start = stream->InitialOffset().ValueOrDie();
  const sql::Offset first = Latest(*stream, start);
  EXPECT_EQ(first.json, "{\"" + topic + "\":{\"0\":4,\"1\":0}}");
  EXPECT_EQ(Read(*stream, start, first), Numbered("x", 4));
  EXPECT_EQ(stream->ReportLatestOffset().ValueOrDie()->json,
            "{\"" + topic + "\":{\"0\":10,\"1\":0}}");
}

TEST_F(KafkaStreamTest, WaitsForEnoughRecords) {
  const std::string topic = Topic(1);
  auto stream =
      Open({{"subscribe", topic}, {"startingOffsets", "earliest"}, {"minOffsetsPerTrigger", "3"}});
  const sql::Offset start = stream->InitialOffset().ValueOrDie();
  TW_CHECK(tester_->Send(topic, {"a"}).ok());
  const sql::Offset first = Latest(*stream, start);  // the first trigger always passes
  EXPECT_EQ(first.json, "{\"" + topic + "\":{\"0\":1}}");
  TW_CHECK(tester_->Send(topic, {"b", "c"}).ok());
  EXPECT_EQ(Latest(*stream, first), first);
  TW_CHECK(tester_->Send(topic, {"d"}).ok());
  EXPECT_EQ(Latest(*stream, first).json, "{\"" + topic + "\":{\"0\":4}}");
}

TEST_F(KafkaStreamTest, AvailableNowStopsAtItsStart) {
  const std::string topic = Topic(1);
  TW_CHECK(tester_->Send(topic, Numbered("x", 3)).ok());
  auto stream = Open({{"subscribe", topic}, {"startingOffsets", "earliest"}});
  ASSERT_TRUE(stream->PrepareForTriggerAvailableNow().ok());
  TW_CHECK(tester_->Send(topic, {"late"}).ok());
  const sql::Offset start = stream->InitialOffset().ValueOrDie();
  const sql::Offset end = Latest(*stream, start);
  EXPECT_EQ(end.json, "{\"" + topic + "\":{\"0\":3}}");
  EXPECT_EQ(Read(*stream, start, end), Numbered("x", 3));
  EXPECT_EQ(Latest(*stream, end), end);
  EXPECT_EQ(tester_->Read(*stream, start, {"{\"" + topic + "\":{\"0\":4}}"}).status().condition(),
            "END_OFFSET_HAS_GREATER_OFFSET_FOR_TOPIC_PARTITION_THAN_PREFETCHED");
}

TEST_F(KafkaStreamTest, ReportsLostData) {
  const std::string topic = Topic(1);
  TW_CHECK(tester_->Send(topic, Numbered("x", 5)).ok());
  const auto at = [&](int64_t offset) {
    return sql::Offset{"{\"" + topic + "\":{\"0\":" + std::to_string(offset) + "}}"};
  };
  auto strict = Open(
      {{"subscribe", topic}, {"startingOffsets", "earliest"}, {"fetchOffset.retryIntervalMs", "1"}},
      "c1");
  const Result<std::vector<Row>> changed = tester_->Read(*strict, at(20), Latest(*strict, at(20)));
  EXPECT_EQ(changed.status().condition(), "KAFKA_DATA_LOSS.PARTITION_OFFSET_CHANGED");
  EXPECT_NE(
      changed.status().message().find("Partition " + topic + "-0 offset was changed from 20 to 5."),
      std::string::npos);
  EXPECT_EQ(tester_->Read(*strict, sql::Offset{"{\"" + topic + "\":{\"0\":0,\"7\":3}}"}, at(5))
                .status()
                .condition(),
            "KAFKA_DATA_LOSS.PARTITIONS_DELETED");
  auto lenient = Open(
      {{"subscribe", topic}, {"failOnDataLoss", "false"}, {"fetchOffset.retryIntervalMs", "1"}},
      "c2");
  const sql::Offset end = Latest(*lenient, at(20));
  EXPECT_EQ(end, at(5));
  EXPECT_TRUE(Read(*lenient, at(20), end).empty());
  TW_CHECK(tester_->Send(topic, {"n5"}).ok());
  EXPECT_EQ(Read(*lenient, end, Latest(*lenient, end)), Texts{"n5"});
}

TEST_F(KafkaStreamTest, SplitsLargePartitions) {
  const std::string topic = Topic(1);
  TW_CHECK(tester_->Send(topic, Numbered("x", 100)).ok());
  auto stream =
      Open({{"subscribe", topic}, {"startingOffsets", "earliest"}, {"minPartitions", "4"}});
  const sql::Offset start = stream->InitialOffset().ValueOrDie();
  sql::ScanRequest scan;
  scan.columns = {"value"};
  const auto splits = stream->PlanSplits(start, Latest(*stream, start), scan).ValueOrDie();
  ASSERT_EQ(splits.size(), 4u);
  EXPECT_EQ(splits[3]->Describe(), topic + "-0 [75, 100)");
  EXPECT_EQ(FirstTexts(tester_->Read(splits).ValueOrDie()), Numbered("x", 100));
  // Readers of one partition take turns, in whatever order they come.
  EXPECT_EQ(FirstTexts(tester_->Read({splits[2], splits[0]}).ValueOrDie()).front(), "x50");
}

TEST_F(KafkaStreamTest, ReadsColumnsAndBatches) {
  const std::string topic = Topic(1);
  const data::Schema schema{{"key", data::DataType::Binary()}, {"value", data::DataType::String()}};
  ASSERT_TRUE(tester_
                  ->Write(schema,
                          {{data::Value(), data::Value(std::string("v0"))},
                           {data::Value(std::string("k1")), data::Value()},
                           {data::Value(std::string("k2")), data::Value(std::string(""))},
                           {data::Value(std::string("key longer than twelve")),
                            data::Value(std::string("v3"))}},
                          {{"topic", topic}})
                  .ok());
  const std::vector<Row> rows =
      tester_
          ->ReadBatch({{"subscribe", topic}}, {"value", "key", "topic", "partition", "offset",
                                               "timestampType", "timestamp"})
          .ValueOrDie();
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(FirstTexts(rows), (Texts{"v0", "NULL", "", "v3"}));
  EXPECT_TRUE(rows[0][1].is_null());
  EXPECT_EQ(rows[3][1].get<std::string>(), "key longer than twelve");
  EXPECT_EQ(rows[3][2].get<std::string>(), topic);
  EXPECT_EQ(rows[3][3].get<int32_t>(), 0);
  EXPECT_EQ(rows[3][4].get<int64_t>(), 3);
  EXPECT_EQ(rows[3][5].get<int32_t>(), 0);
  EXPECT_GT(rows[3][6].get<int64_t>(), int64_t{1'000'000'000'000'000});
  EXPECT_EQ(tester_->ReadBatch({{"subscribe", topic}}, {}).ValueOrDie().size(), 4u);
  EXPECT_EQ(FirstTexts(tester_
                           ->ReadBatch({{"subscribe", topic},
                                        {"startingOffsets", "{\"" + topic + "\":{\"0\":1}}"},
                                        {"endingOffsets", "{\"" + topic + "\":{\"0\":3}}"}})
                           .ValueOrDie()),
            (Texts{"NULL", ""}));
  EXPECT_EQ(
      tester_
          ->ReadBatch({{"subscribe", topic}, {"startingOffsets", "{\"" + topic + "\":{\"0\":9}}"}})
          .status()
          .condition(),
      "RESOLVED_START_OFFSET_GREATER_THAN_END_OFFSET");
}

TEST_F(KafkaStreamTest, RowsOutliveTheStream) {
  const std::string topic = Topic(1);
  const std::string text = "a value that does not lie inside of its view";
  TW_CHECK(tester_->Send(topic, {text}).ok());
  data::Chunk kept;
  {
    auto stream = Open({{"subscribe", topic}, {"startingOffsets", "earliest"}});
    const sql::Offset start = stream->InitialOffset().ValueOrDie();
    sql::ScanRequest scan;
    scan.columns = {"value"};
    const auto splits = stream->PlanSplits(start, Latest(*stream, start), scan).ValueOrDie();
    const auto reader = splits[0]->Open({}).ValueOrDie();
    while (kept.num_rows() == 0) {
      const sql::ReadStep step = reader->Next().ValueOrDie();
      if (const auto* blocked = std::get_if<sql::ReadBlocked>(&step)) {
        ASSERT_TRUE(blocked->signal->WaitFor({}, std::chrono::seconds(20)));
      }
      if (const auto* chunk = std::get_if<sql::ReadChunk>(&step)) kept = chunk->chunk;
    }
    stream->Stop();
  }
  EXPECT_EQ(kept.column(0)->GetValue(0).get<std::string>(), text);
  // Whoever keeps rows gets a copy and lets the client go.
  const data::Chunk copy = kept.Compacted();
  EXPECT_NE(copy.column(0)->parts().text, kept.column(0)->parts().text);
  EXPECT_EQ(copy.column(0)->GetValue(0).get<std::string>(), text);
}

TEST_F(KafkaStreamTest, StopsWaitingForABroker) {
  KafkaTester nobody("127.0.0.1:1");
  auto stream = nobody.Open({{"subscribe", "t"}}, "c").ValueOrDie();
  std::jthread stopper([&] {
    Signal never;
    never.WaitFor({}, std::chrono::milliseconds(300));
    nobody.stop().request_stop();
  });
  EXPECT_EQ(stream->InitialOffset().status().condition(), "OPERATION_CANCELED");
  KafkaTester impatient("127.0.0.1:1");
  auto other = impatient.Open({{"subscribe", "t"}, {"kafka.default.api.timeout.ms", "500"}}, "c")
                   .ValueOrDie();
  EXPECT_EQ(other->InitialOffset().status().condition(), "KAFKA_REQUEST_FAILED");
}

TEST_F(KafkaStreamTest, FollowsALeaderThatChanges) {
  broker_ = EmbeddedBroker::Make(2).ValueOrDie();
  tester_ = std::make_unique<KafkaTester>(broker_->bootstrap_servers());
  const std::string topic = Topic(2);
  for (int partition : {0, 1}) TW_CHECK(broker_->MoveLeader(topic, partition, 1).ok());
  TW_CHECK(tester_->Send(topic, Numbered("a", 5)).ok());
  auto stream = Open({{"subscribe", topic}, {"startingOffsets", "earliest"}});
  const sql::Offset start = stream->InitialOffset().ValueOrDie();
  const sql::Offset middle = Latest(*stream, start);
  EXPECT_EQ(Read(*stream, start, middle), Numbered("a", 5));
  for (int partition : {0, 1}) TW_CHECK(broker_->MoveLeader(topic, partition, 2).ok());
  TW_CHECK(tester_->Send(topic, Numbered("b", 5)).ok());
  const sql::Offset end = Latest(*stream, middle);
  EXPECT_EQ(Read(*stream, middle, end), Numbered("b", 5));
  // The leader changes between the plan and the reading of it, while records wait in queues.
  TW_CHECK(tester_->Send(topic, Numbered("c", 5)).ok());
  const sql::Offset last = Latest(*stream, end);
  for (int partition : {0, 1}) TW_CHECK(broker_->MoveLeader(topic, partition, 1).ok());
  EXPECT_EQ(Read(*stream, end, last), Numbered("c", 5));
}

TEST_F(KafkaStreamTest, ReadsManyThroughASmallBuffer) {
  const std::string topic = Topic(1);
  const std::string padding(80, 'p');
  std::vector<std::string> values = Numbered(padding, 20000);
  TW_CHECK(tester_->Send(topic, values).ok());
  auto stream = Open({{"subscribe", topic},
                      {"startingOffsets", "earliest"},
                      {"kafka.max.partition.fetch.bytes", "20000"}});
  const sql::Offset start = stream->InitialOffset().ValueOrDie();
  EXPECT_EQ(Read(*stream, start, Latest(*stream, start)), values);
}

// Examples of the semantics, section 6.2.1 and 6.2.2.
TEST(KafkaLimitsTest, SharesOutByWhatIsThere) {
  const PartitionOffsets start{{{"a", 0}, 100}, {{"a", 1}, 0}, {{"b", 0}, 7}};
  const PartitionOffsets latest{{{"a", 0}, 105}, {{"a", 1}, 45}, {{"b", 0}, 157}};
  EXPECT_EQ(LimitOffsets(10, start, latest),
            (PartitionOffsets{{{"a", 0}, 101}, {{"a", 1}, 2}, {{"b", 0}, 14}}));
  EXPECT_EQ(LimitOffsets(INT64_MAX, start, latest), latest);
  EXPECT_EQ(LimitOffsets(10, latest, latest), latest);
}

TEST(KafkaLimitsTest, DividesRanges) {
  KafkaReadOptions options;
  options.min_partitions = 5;
  const std::vector<OffsetRange> ranges{{{"a", 0}, 0, 100}, {{"b", 0}, 5, 15}, {{"c", 0}, 4, 4}};
  const std::vector<OffsetRange> divided = DivideRanges(ranges, options);
  ASSERT_EQ(divided.size(), 5u);
  EXPECT_EQ(divided[0].size(), 25);
  EXPECT_EQ(divided[3].until, 100);
  EXPECT_EQ(divided[4].partition.topic, "b");
  KafkaReadOptions most;
  most.max_records_per_partition = 30;
  EXPECT_EQ(DivideRanges(ranges, most).size(), 5u);
  EXPECT_EQ(DivideRanges(ranges, {}).size(), 2u);
}

TEST(KafkaInitialOffsetsTest, AreReadInEverySparkForm) {
  const std::string json = R"({"t":{"0":5}})";
  EXPECT_EQ(FormatInitialOffsets({{{"t", 0}, 5}}), std::string("\0v1\n", 4) + json);
  EXPECT_EQ(ParseInitialOffsets(std::string("\0v1\n", 4) + json).ValueOrDie().at({"t", 0}), 5);
  EXPECT_EQ(ParseInitialOffsets(std::string(1, '\0') + json).ValueOrDie().at({"t", 0}), 5);
  EXPECT_FALSE(ParseInitialOffsets(std::string("\0v2\n", 4) + json).ok());
  EXPECT_FALSE(ParseInitialOffsets(std::string("\0v1", 3)).ok());
  EXPECT_FALSE(ParseInitialOffsets("").ok());
}

}  // namespace
}  // namespace thalweg::connectors
