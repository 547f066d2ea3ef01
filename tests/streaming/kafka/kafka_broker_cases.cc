// The Kafka connector against a real broker. Started by kafka_broker_test.py with its addresses in
// the environment; run by hand without them, every case fails.

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>

#include "broker_admin.h"
#include "connectors/kafka/kafka_fixture_test.h"
#include "connectors/kafka/kafka_metadata.h"
#include "connectors/kafka/kafka_rows.h"
#include "data/io/local_file_system.h"

namespace thalweg::connectors {
namespace {

using data::DataType;
using data::Value;
using Texts = std::vector<std::string>;
using OptionList = KafkaTester::OptionList;

std::string Environment(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr)
    ADD_FAILURE() << name << " is not set: start this program by kafka_broker_test.py";
  return value == nullptr ? "127.0.0.1:1" : value;
}

/// A topic of its own for every case and run.
std::string TopicOfCase() {
  return std::string(::testing::UnitTest::GetInstance()->current_test_info()->name()) + "-" +
         std::to_string(getpid());
}

Value Text(const std::string& text) { return Value(text); }

class KafkaBrokerTest : public ::testing::Test {
 protected:
  KafkaBrokerTest()
      : bootstrap_(Environment("TW_TEST_BOOTSTRAP")), admin_(bootstrap_), tester_(bootstrap_) {
    topic_ = TopicOfCase();
  }
  std::unique_ptr<sql::MicroBatchStream> Open(OptionList options,
                                              const std::string& checkpoint = "c") {
    options.insert(options.begin(), {"subscribe", topic_});
    return tester_.Open(options, checkpoint).ValueOrDie();
  }
  static sql::Offset Latest(sql::MicroBatchStream& stream, const sql::Offset& start) {
    return *stream.LatestOffset(start, stream.DefaultReadLimits()).ValueOrDie();
  }
  Texts Read(sql::MicroBatchStream& stream, const sql::Offset& start, const sql::Offset& end) {
    return FirstTexts(tester_.Read(stream, start, end).ValueOrDie());
  }
  /// Waits for the stream's word until there is something after `start`.
  sql::Offset AwaitMore(sql::MicroBatchStream& stream, const sql::Offset& start) {
    sql::Offset end = Latest(stream, start);
    while (end == start) {
      if (!tester_.more().WaitFor({}, std::chrono::seconds(30)))
        ADD_FAILURE() << "no word of new records";
      tester_.more().Reset();
      end = Latest(stream, start);
    }
    return end;
  }
  sql::Offset At(int64_t offset) const {
    return {"{\"" + topic_ + "\":{\"0\":" + std::to_string(offset) + "}}"};
  }

  const std::string bootstrap_;
  BrokerAdmin admin_;
  KafkaTester tester_;
  std::string topic_;
};

// Case P35.
TEST_F(KafkaBrokerTest, FindsNewPartitionsWhileItRuns) {
  admin_.CreateTopic(topic_, 1);
  TW_CHECK(tester_.Send(topic_, {"o0", "o1"}).ok());
  auto stream = Open({{"kafka.metadata.max.age.ms", "500"}});
  const sql::Offset start = stream->InitialOffset().ValueOrDie();
  EXPECT_EQ(start, At(2));
  TW_CHECK(tester_.Send(topic_, {"a0"}).ok());
  const sql::Offset first = AwaitMore(*stream, start);
  EXPECT_EQ(Read(*stream, start, first), Texts{"a0"});
  EXPECT_EQ(Latest(*stream, first), first);
  admin_.AddPartitions(topic_, 2);
  TW_CHECK(tester_.Send(topic_, {"b0", "b1", "b2"}, 1).ok());
  sql::Offset end = AwaitMore(*stream, first);  // an idle query looks by itself
  while (end.json.find("\"1\":3") == std::string::npos) end = Latest(*stream, first);
  EXPECT_EQ(end.json, "{\"" + topic_ + "\":{\"0\":3,\"1\":3}}");
  EXPECT_EQ(Read(*stream, first, end), (Texts{"b0", "b1", "b2"}));
}

// Case P36.
TEST_F(KafkaBrokerTest, ATopicMadeAnewAndShorter) {
  admin_.CreateTopic(topic_, 1);
  TW_CHECK(tester_.Send(topic_, Numbered("m", 20)).ok());
  auto strict = Open({{"startingOffsets", "earliest"}, {"fetchOffset.retryIntervalMs", "10"}});
  EXPECT_EQ(Read(*strict, At(0), Latest(*strict, At(0))).size(), 20u);
  admin_.DeleteTopic(topic_);
  admin_.CreateTopic(topic_, 1);
  TW_CHECK(tester_.Send(topic_, Numbered("n", 5)).ok());
  const sql::Offset end = Latest(*strict, At(20));
  EXPECT_EQ(end, At(5));
  const Status lost = tester_.Read(*strict, At(20), end).status();
  EXPECT_EQ(lost.condition(), "KAFKA_DATA_LOSS.PARTITION_OFFSET_CHANGED");
  EXPECT_NE(lost.message().find(topic_ + "-0 offset was changed from 20 to 5"), std::string::npos);
  EXPECT_NE(lost.message().find("failOnDataLoss"), std::string::npos);
  auto lenient = Open({{"failOnDataLoss", "false"}, {"fetchOffset.retryIntervalMs", "10"}});
  EXPECT_EQ(Latest(*lenient, At(20)), At(5));
  EXPECT_TRUE(Read(*lenient, At(20), At(5)).empty());
  TW_CHECK(tester_.Send(topic_, {"n5"}).ok());
  EXPECT_EQ(Read(*lenient, At(5), AwaitMore(*lenient, At(5))), Texts{"n5"});
}

TEST_F(KafkaBrokerTest, ADeletedTopic) {
  EXPECT_NE(Open({})->InitialOffset().status().message().find("UnknownTopicOrPartitionException"),
            std::string::npos);
  admin_.CreateTopic(topic_, 1);
  TW_CHECK(tester_.Send(topic_, {"x"}).ok());
  auto stream = Open({{"startingOffsets", "earliest"}});
  EXPECT_EQ(Read(*stream, At(0), Latest(*stream, At(0))), Texts{"x"});
  admin_.DeleteTopic(topic_);
  auto again = Open({});
  const sql::Offset end = Latest(*again, At(1));
  EXPECT_EQ(end.json, "{}");
  EXPECT_EQ(tester_.Read(*again, At(1), end).status().condition(),
            "KAFKA_DATA_LOSS.PARTITIONS_DELETED");
  auto lenient = Open({{"failOnDataLoss", "false"}});
  EXPECT_TRUE(Read(*lenient, At(1), Latest(*lenient, At(1))).empty());
}

TEST_F(KafkaBrokerTest, RecordsThatAgedOut) {
  admin_.CreateTopic(topic_, 1);
  TW_CHECK(tester_.Send(topic_, Numbered("x", 10)).ok());
  admin_.DeleteRecords(topic_, 6);
  auto strict = Open({});
  const sql::Offset end = Latest(*strict, At(2));
  EXPECT_EQ(end, At(10));
  EXPECT_EQ(tester_.Read(*strict, At(2), end).status().condition(),
            "KAFKA_DATA_LOSS.COULD_NOT_READ_OFFSET_RANGE");
  auto lenient = Open({{"failOnDataLoss", "false"}});
  EXPECT_EQ(Read(*lenient, At(2), Latest(*lenient, At(2))), (Texts{"x6", "x7", "x8", "x9"}));
  EXPECT_TRUE(Read(*lenient, At(2), At(5)).empty());
  EXPECT_EQ(FirstTexts(tester_.ReadBatch({{"subscribe", topic_}}).ValueOrDie()).size(), 4u);
}

// Case P37.
TEST_F(KafkaBrokerTest, NullsAndHeaders) {
  admin_.CreateTopic(topic_, 1);
  const data::Schema schema{
      {"key", DataType::Binary()}, {"value", DataType::Binary()}, {"headers", HeadersType()}};
  const Value headers(data::ValueList{Value(data::ValueList{Text("h"), Text("1")}),
                                      Value(data::ValueList{Text("h"), Text("2")}),
                                      Value(data::ValueList{Text("n"), Value()})});
  ASSERT_TRUE(tester_
                  .Write(schema,
                         {{Value(), Text("{\"id\":1}"), Value()},
                          {Text("k1"), Value(), Value()},
                          {Text("k2"), Text(""), Value()},
                          {Text("k3"), Text("{\"id\":3}"), headers}},
                         {{"topic", topic_}})
                  .ok());
  const std::vector<Row> rows = tester_
                                    .ReadBatch({{"subscribe", topic_}, {"includeHeaders", "true"}},
                                               {"key", "value", "headers", "offset"})
                                    .ValueOrDie();
  ASSERT_EQ(rows.size(), 4u);
  EXPECT_EQ(FirstTexts(rows), (Texts{"NULL", "k1", "k2", "k3"}));
  EXPECT_TRUE(rows[1][1].is_null());
  EXPECT_EQ(rows[2][1], Text(""));
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(rows[i][2].is_null()) << i;
  EXPECT_EQ(rows[3][2], headers);
}

// Ranges end in markers of transactions and in records that were taken back.
TEST_F(KafkaBrokerTest, GapsAtTheEndOfARange) {
  admin_.CreateTopic(topic_, 1);
  auto committed =
      Open({{"startingOffsets", "earliest"}, {"kafka.isolation.level", "read_committed"}}, "c1");
  auto all = Open({{"startingOffsets", "earliest"}}, "c2");
  sql::Offset position = committed->InitialOffset().ValueOrDie();
  ASSERT_EQ(all->InitialOffset().ValueOrDie(), position);
  for (int turn = 0; turn < 3; ++turn) {
    admin_.SendTransaction(topic_, {"c" + std::to_string(turn)}, /*commit=*/true);
    admin_.SendTransaction(topic_, {"a" + std::to_string(turn)}, /*commit=*/false);
    sql::Offset end = AwaitMore(*committed, position);
    while (end != At(4 * (turn + 1)))
      end = Latest(*committed, position);  // markers come a moment after the answer
    EXPECT_EQ(Read(*committed, position, end), Texts{"c" + std::to_string(turn)});
    EXPECT_EQ(Read(*all, position, end),
              (Texts{"c" + std::to_string(turn), "a" + std::to_string(turn)}));
    position = end;
  }
  // Ranges of gaps alone.
  EXPECT_TRUE(Read(*committed, At(10), At(12)).empty());
  EXPECT_TRUE(Read(*all, At(11), At(12)).empty());
  EXPECT_EQ(
      FirstTexts(
          tester_.ReadBatch({{"subscribe", topic_}, {"kafka.isolation.level", "read_committed"}})
              .ValueOrDie()),
      (Texts{"c0", "c1", "c2"}));
}

TEST_F(KafkaBrokerTest, StartsByTimestamp) {
  admin_.CreateTopic(topic_, 1);
  for (int i = 0; i < 5; ++i)
    admin_.SendAt(topic_, "x" + std::to_string(i), 1'700'000'000'000 + i * 1000);
  EXPECT_EQ(Open({{"startingTimestamp", "1700000001500"}}, "c1")->InitialOffset().ValueOrDie(),
            At(2));
  EXPECT_EQ(
      Open({{"startingOffsetsByTimestamp", "{\"" + topic_ + "\":{\"0\":1700000003000}}"}}, "c2")
          ->InitialOffset()
          .ValueOrDie(),
      At(3));
  const Status none =
      Open({{"startingTimestamp", "1800000000000"}}, "c3")->InitialOffset().status();
  EXPECT_EQ(none.message(), "No offset matched from request of topic-partition " + topic_ +
                                "-0 and timestamp 1800000000000.");
  EXPECT_EQ(Open({{"startingTimestamp", "1800000000000"},
                  {"startingOffsetsByTimestampStrategy", "latest"}},
                 "c4")
                ->InitialOffset()
                .ValueOrDie(),
            At(5));
  EXPECT_EQ(Open({{"startingOffsetsByTimestamp", "{\"" + topic_ + "\":{\"1\":5}}"}}, "c5")
                ->InitialOffset()
                .status()
                .condition(),
            "KAFKA_TIMESTAMP_OFFSET_DOES_NOT_MATCH_ASSIGNED");
  EXPECT_EQ(FirstTexts(tester_
                           .ReadBatch({{"subscribe", topic_},
                                       {"startingTimestamp", "1700000001000"},
                                       {"endingTimestamp", "1700000003000"}})
                           .ValueOrDie()),
            (Texts{"x1", "x2"}));
}

// Case P40: nothing is committed for any consumer group, and none is joined.
TEST_F(KafkaBrokerTest, JoinsNoGroup) {
  admin_.CreateTopic(topic_, 1);
  TW_CHECK(tester_.Send(topic_, {"x"}).ok());
  const int before = admin_.CountGroups();
  auto stream = Open({{"startingOffsets", "earliest"}, {"kafka.group.id", "mine"}});
  EXPECT_EQ(Read(*stream, At(0), Latest(*stream, At(0))), Texts{"x"});
  TW_CHECK(stream->Commit(At(1)).ok());
  EXPECT_EQ(admin_.CountGroups(), before);
}

// As Java's producer: it waits for the topic that its question has made.
TEST_F(KafkaBrokerTest, APartitionOfATopicThatIsNotThereYet) {
  const data::Schema schema{{"value", DataType::String()}, {"partition", DataType::Integer()}};
  const Status sent = tester_.Write(schema, {{Text("first"), Value(int32_t{0})}}, {{"topic", topic_}});
  ASSERT_TRUE(sent.ok()) << sent.message();
  EXPECT_EQ(FirstTexts(tester_.ReadBatch({{"subscribe", topic_}}).ValueOrDie()), Texts{"first"});
}

TEST_F(KafkaBrokerTest, ManyRecordsManyPartitions) {
  admin_.CreateTopic(topic_, 20);
  std::vector<Row> rows;
  for (int i = 0; i < 200'000; ++i)
    rows.push_back({Text("value of some length, number " + std::to_string(i))});
  ASSERT_TRUE(tester_.Write({{"value", DataType::String()}}, rows, {{"topic", topic_}}).ok());
  auto stream = Open({{"startingOffsets", "earliest"}});
  const sql::Offset start = stream->InitialOffset().ValueOrDie();
  Texts read = Read(*stream, start, Latest(*stream, start));
  std::sort(read.begin(), read.end());
  EXPECT_EQ(read.size(), 200'000u);
  EXPECT_EQ(std::unique(read.begin(), read.end()), read.end());
}

// More than a partition may hold ahead: the fetcher stops and starts again, without the client's
// pause of a second.
TEST_F(KafkaBrokerTest, GoesOnWhenAFullBufferIsEmptied) {
  admin_.CreateTopic(topic_, 1);
  std::vector<Row> rows(90'000, Row{Text(std::string(1000, 'x'))});
  ASSERT_TRUE(tester_.Write({{"value", DataType::String()}}, rows, {{"topic", topic_}}).ok());
  auto stream = Open({{"startingOffsets", "earliest"}});
  const sql::Offset start = stream->InitialOffset().ValueOrDie();
  const sql::Offset end = Latest(*stream, start);
  EXPECT_EQ(end, At(90'000));
  EXPECT_EQ(tester_.Read(*stream, start, end, {}).ValueOrDie().size(), 90'000u);
}

struct Secure {
  const char* name;
  OptionList options;
  std::string bootstrap;
};

std::string Jaas(const std::string& module, const std::string& password = "alice-secret") {
  return "org.apache.kafka.common.security." + module + " required username=\"alice\" password=\"" +
         password + "\";";
}

class KafkaSecurityTest : public ::testing::Test {
 protected:
  KafkaSecurityTest() : admin_(Environment("TW_TEST_BOOTSTRAP")) {
    topic_ = TopicOfCase();
    admin_.CreateTopic(topic_, 1);
  }
  /// Writes and reads back with these properties.
  void RoundTrip(const std::string& bootstrap, OptionList properties) {
    KafkaTester tester(bootstrap);
    CopyStores(&tester);
    OptionList write = properties, read = std::move(properties);
    write.emplace_back("topic", topic_);
    read.emplace_back("subscribe", topic_);
    const Status written = tester.Write({{"value", DataType::String()}}, {{Text("x")}}, write);
    ASSERT_TRUE(written.ok()) << written.message();
    const Result<std::vector<Row>> rows = tester.ReadBatch(read);
    ASSERT_TRUE(rows.ok()) << rows.status().message();
    EXPECT_EQ(FirstTexts(*rows).back(), "x");
  }
  Status Fail(const std::string& bootstrap, OptionList properties) {
    KafkaTester tester(bootstrap);
    CopyStores(&tester);
    properties.emplace_back("subscribe", topic_);
    const auto begin = SystemClock::Get().NowMonotonic();
    const Status status = tester.ReadBatch(properties).status();
    EXPECT_LT(SystemClock::Get().NowMonotonic() - begin, std::chrono::seconds(20))
        << "refused credentials fail at once";
    return status;
  }
  /// The tester's own file system gets the stores that the source itself opens.
  static void CopyStores(KafkaTester* tester) {
    for (const char* name : {"TW_TEST_CA", "TW_TEST_CLIENT_BUNDLE", "TW_TEST_CLIENT_P12",
                             "TW_TEST_STRANGER_CA", "TW_TEST_TRUST_P12"}) {
      const std::string path = Environment(name);
      const std::string bytes = data::LocalFileSystem::Get().ReadWhole(path).ValueOrDie();
      TW_CHECK(tester->files().MakeDirectories(path.substr(0, path.rfind('/'))).ok());
      const auto file = tester->files().Create(path, data::CreateMode::kReplace).ValueOrDie();
      TW_CHECK(file->Append(bytes).ok() && file->Close().ok());
    }
  }
  static OptionList With(OptionList base, const OptionList& more) {
    base.insert(base.end(), more.begin(), more.end());
    return base;
  }

  BrokerAdmin admin_;
  std::string topic_;
  const OptionList trust_{{"kafka.ssl.truststore.type", "PEM"},
                          {"kafka.ssl.truststore.location", Environment("TW_TEST_CA")}};
};

TEST_F(KafkaSecurityTest, ScramOverTls) {
  for (const char* mechanism : {"SCRAM-SHA-256", "SCRAM-SHA-512"}) {
    RoundTrip(Environment("TW_TEST_SASL_SSL"),
              With(trust_, {{"kafka.security.protocol", "SASL_SSL"},
                            {"kafka.sasl.mechanism", mechanism},
                            {"kafka.sasl.jaas.config", Jaas("scram.ScramLoginModule")}}));
  }
  RoundTrip(Environment("TW_TEST_SASL_PLAINTEXT"),
            {{"kafka.security.protocol", "SASL_PLAINTEXT"},
             {"kafka.sasl.mechanism", "SCRAM-SHA-512"},
             {"kafka.sasl.jaas.config", Jaas("scram.ScramLoginModule")}});
  const Status stranger =
      Fail(Environment("TW_TEST_SASL_SSL"),
           {{"kafka.security.protocol", "SASL_SSL"},
            {"kafka.sasl.mechanism", "SCRAM-SHA-512"},
            {"kafka.sasl.jaas.config", Jaas("scram.ScramLoginModule")},
            {"kafka.ssl.truststore.location", Environment("TW_TEST_STRANGER_CA")}});
  EXPECT_NE(stranger.message().find("certificate verify failed"), std::string::npos)
      << stranger.message();
}

TEST_F(KafkaSecurityTest, PlainOverTls) {
  RoundTrip(Environment("TW_TEST_SASL_SSL"),
            With(trust_, {{"kafka.security.protocol", "SASL_SSL"},
                          {"kafka.sasl.mechanism", "PLAIN"},
                          {"kafka.sasl.jaas.config", Jaas("plain.PlainLoginModule")}}));
}

TEST_F(KafkaSecurityTest, MutualTls) {
  const std::string bootstrap = Environment("TW_TEST_SSL");
  const OptionList pem{{"kafka.security.protocol", "SSL"},
                       {"kafka.ssl.keystore.type", "PEM"},
                       {"kafka.ssl.keystore.location", Environment("TW_TEST_CLIENT_BUNDLE")}};
  RoundTrip(bootstrap, With(trust_, pem));
  const OptionList p12{{"kafka.security.protocol", "SSL"},
                       {"kafka.ssl.keystore.location", Environment("TW_TEST_CLIENT_P12")},
                       {"kafka.ssl.keystore.password", Environment("TW_TEST_STORE_PASSWORD")},
                       {"kafka.ssl.truststore.location", Environment("TW_TEST_TRUST_P12")},
                       {"kafka.ssl.truststore.password", Environment("TW_TEST_STORE_PASSWORD")}};
  RoundTrip(bootstrap, p12);  // both told by their first bytes
  EXPECT_FALSE(Fail(bootstrap, With(trust_, {{"kafka.security.protocol", "SSL"},
                                             {"kafka.default.api.timeout.ms", "5000"}}))
                   .ok());
}

TEST_F(KafkaSecurityTest, RefusedCredentialsFailAtOnce) {
  const Status password = Fail(
      Environment("TW_TEST_SASL_SSL"),
      With(trust_, {{"kafka.security.protocol", "SASL_SSL"},
                    {"kafka.sasl.mechanism", "SCRAM-SHA-512"},
                    {"kafka.sasl.jaas.config", Jaas("scram.ScramLoginModule", "wrong-secret")}}));
  EXPECT_EQ(password.condition(), "KAFKA_REQUEST_FAILED");
  EXPECT_EQ(password.message().find("wrong-secret"), std::string::npos);
  const Status authority =
      Fail(Environment("TW_TEST_SASL_SSL"),
           {{"kafka.security.protocol", "SASL_SSL"},
            {"kafka.sasl.mechanism", "PLAIN"},
            {"kafka.sasl.jaas.config", Jaas("plain.PlainLoginModule")},
            {"kafka.ssl.truststore.location", Environment("TW_TEST_STRANGER_CA")}});
  EXPECT_EQ(authority.condition(), "KAFKA_REQUEST_FAILED");
  EXPECT_NE(authority.message().find("ertificate"), std::string::npos) << authority.message();
}

TEST_F(KafkaSecurityTest, ASinkWithRefusedCredentialsFailsAtOnce) {
  KafkaTester tester(Environment("TW_TEST_SASL_SSL"));
  CopyStores(&tester);
  const auto begin = SystemClock::Get().NowMonotonic();
  const Status status = tester.Write(
      {{"value", DataType::String()}}, {{Text("x")}},
      With(trust_, {{"topic", topic_},
                    {"kafka.security.protocol", "SASL_SSL"},
                    {"kafka.sasl.mechanism", "PLAIN"},
                    {"kafka.sasl.jaas.config", Jaas("plain.PlainLoginModule", "wrong-secret")}}));
  EXPECT_EQ(status.condition(), "KAFKA_REQUEST_FAILED");
  EXPECT_LT(SystemClock::Get().NowMonotonic() - begin, std::chrono::seconds(20));
}

}  // namespace
}  // namespace thalweg::connectors
