#include "connectors/kafka/kafka_properties.h"

#include <gtest/gtest.h>

#include <fstream>

#include "connectors/kafka/kafka_client.h"
#include "connectors/kafka/kafka_jaas.h"
#include "data/io/atomic_write.h"
#include "data/io/memory_file_system.h"

namespace thalweg::connectors {
namespace {

constexpr const char* kPlain =
    R"(org.apache.kafka.common.security.plain.PlainLoginModule required username="al\"ice" password='p;=w';)";

class KafkaPropertiesTest : public ::testing::Test {
 protected:
  Result<KafkaClientSettings> Translate(JavaProperties properties,
                                        KafkaRole role = KafkaRole::kConsumer) {
    return TranslateProperties(properties, role, files_);
  }
  KafkaClientSettings Good(JavaProperties properties, KafkaRole role = KafkaRole::kConsumer) {
    return Translate(std::move(properties), role).ValueOrDie();
  }
  std::string Refusal(JavaProperties properties, KafkaRole role = KafkaRole::kConsumer) {
    const Result<KafkaClientSettings> settings = Translate(std::move(properties), role);
    EXPECT_FALSE(settings.ok());
    return settings.ok() ? "" : settings.status().message_text();
  }
  data::MemoryFileSystem files_;
};

TEST_F(KafkaPropertiesTest, ServersHavePorts) {
  for (const char* good : {"a:9092", "a:1, b:2", "PLAINTEXT://a:9092", "[::1]:9092", "10.0.0.1:9092,"})
    EXPECT_TRUE(Translate({{"bootstrap.servers", good}}).ok()) << good;
  for (const char* bad : {"localhost", "a:1,b", "a:", ":9092", "a:kafka"})
    EXPECT_EQ(Refusal({{"bootstrap.servers", bad}}).find("Invalid url in bootstrap.servers: "), 0u) << bad;
}

// The lists come from the clients themselves (tools/KafkaPropertyNames.java).
TEST_F(KafkaPropertiesTest, EveryPropertyOfJavasClientsHasAVerdict) {
  for (const char* version : {"3.9.2", "4.4.0"}) {
    std::ifstream file(
        std::string(TW_SOURCE_DIR "/src/connectors/kafka/testdata/java_properties_") + version +
        ".txt");
    int names = 0;
    for (std::string name; std::getline(file, name);) {
      if (name.starts_with('#')) continue;
      EXPECT_NE(FindJavaProperty(name), nullptr) << version << ": " << name;
      ++names;
    }
    EXPECT_GT(names, 260) << version;
  }
}

TEST_F(KafkaPropertiesTest, VerdictsSayWhy) {
  for (const JavaProperty& property : AllJavaProperties()) {
    const bool needs_text = property.verdict == PropertyVerdict::kRenamed ||
                            property.verdict == PropertyVerdict::kNoEffect ||
                            property.verdict == PropertyVerdict::kRefused;
    EXPECT_EQ(needs_text, !property.text.empty()) << property.name;
  }
}

// What is taken as it is must be known to librdkafka; a client that is made proves it.
TEST_F(KafkaPropertiesTest, TheClientTakesWhatIsPassedOn) {
  const JavaProperties common{{"bootstrap.servers", "127.0.0.1:1"},
                              {"client.id", "x"},
                              {"client.rack", "r"},
                              {"connections.max.idle.ms", "1000"},
                              {"reconnect.backoff.ms", "5"},
                              {"reconnect.backoff.max.ms", "50"},
                              {"socket.connection.setup.timeout.ms", "1000"},
                              {"send.buffer.bytes", "-1"},
                              {"receive.buffer.bytes", "65536"},
                              {"request.timeout.ms", "30000"},
                              {"retry.backoff.ms", "7"},
                              {"metadata.max.age.ms", "5000"},
                              {"sasl.kerberos.min.time.before.relogin", "1"}};
  JavaProperties consumer = common;
  consumer.insert({{"fetch.max.bytes", "1000000"},
                   {"fetch.max.wait.ms", "10"},
                   {"fetch.min.bytes", "2"},
                   {"check.crcs", "true"},
                   {"isolation.level", "read_committed"},
                   {"max.partition.fetch.bytes", "5000"},
                   {"max.poll.records", "9"},
                   {"group.id", "g"},
                   {"acks", "1"}});
  const KafkaClientSettings consumer_settings = Good(consumer);
  EXPECT_EQ(consumer_settings.Get("fetch.wait.max.ms"), "10");
  EXPECT_TRUE(consumer_settings.fetch_wait_given);
  EXPECT_EQ(consumer_settings.Get("socket.send.buffer.bytes"), "0");
  EXPECT_EQ(consumer_settings.Get("socket.timeout.ms"), "30000");
  EXPECT_EQ(consumer_settings.Get("group.id"), std::nullopt);
  EXPECT_TRUE(KafkaHandle::Make(KafkaRole::kConsumer, consumer_settings).ok());

  JavaProperties producer = common;
  producer.insert({{"acks", "all"},
                   {"batch.size", "16384"},
                   {"buffer.memory", "33554432"},
                   {"compression.type", "zstd"},
                   {"compression.zstd.level", "3"},
                   {"delivery.timeout.ms", "30000"},
                   {"enable.idempotence", "true"},
                   {"linger.ms", "3"},
                   {"max.in.flight.requests.per.connection", "5"},
                   {"max.request.size", "2000000"},
                   {"retries", "2147483647"},
                   {"max.block.ms", "1234"},
                   {"partitioner.ignore.keys", "false"}});
  const KafkaClientSettings producer_settings = Good(producer, KafkaRole::kProducer);
  EXPECT_EQ(producer_settings.Get("queue.buffering.max.kbytes"), "32768");
  EXPECT_EQ(producer_settings.Get("compression.level"), "3");
  EXPECT_EQ(producer_settings.Get("message.max.bytes"), "2000000");
  EXPECT_EQ(producer_settings.max_block, std::chrono::milliseconds(1234));
  EXPECT_TRUE(KafkaHandle::Make(KafkaRole::kProducer, producer_settings).ok());
}

TEST_F(KafkaPropertiesTest, DefaultsAreJavas) {
  EXPECT_EQ(Good({}).Get("isolation.level"), "read_uncommitted");
  const KafkaClientSettings producer = Good({}, KafkaRole::kProducer);
  EXPECT_EQ(producer.Get("acks"), "all");
  EXPECT_EQ(producer.Get("enable.idempotence"), "true");
  EXPECT_EQ(producer.Get("partitioner"), "murmur2_random");
  EXPECT_EQ(Good({{"acks", "1"}}, KafkaRole::kProducer).Get("enable.idempotence"), "false");
  EXPECT_EQ(Good({{"retries", "0"}}, KafkaRole::kProducer).Get("enable.idempotence"), "false");
}

TEST_F(KafkaPropertiesTest, RefusesByNameWithWhatToDo) {
  EXPECT_EQ(Refusal({{"transactional.id", "x"}}, KafkaRole::kProducer),
            "Kafka option 'transactional.id' is not supported: the sink is at-least-once, as "
            "Spark's is: remove the option");
  EXPECT_NE(Refusal({{"ssl.engine.factory.class", "x"}}).find("'ssl.engine.factory.class'"),
            std::string::npos);
  EXPECT_NE(Refusal({{"partitioner.class", "com.acme.Mine"}}, KafkaRole::kProducer)
                .find("column 'partition'"),
            std::string::npos);
  EXPECT_EQ(Refusal({{"request.timeout.ms", "soon"}}),
            "Kafka option 'request.timeout.ms' must be a number, got 'soon'");
  EXPECT_NE(Refusal({{"ssl.enabled.protocols", "TLSv1.1,TLSv1.2"}}).find("TLSv1.1"),
            std::string::npos);
}

TEST_F(KafkaPropertiesTest, ReadsJaas) {
  const JaasConfig jaas = ParseJaasConfig(kPlain).ValueOrDie();
  EXPECT_EQ(jaas.module, "PlainLoginModule");
  EXPECT_EQ(jaas.Option("username"), "al\"ice");
  EXPECT_EQ(jaas.Option("password"), "p;=w");
  EXPECT_EQ(ParseJaasConfig("a.B required x=1 y = 'z' ;").ValueOrDie().Option("y"), "z");
  for (const char* text :
       {"", "a.B", "a.B required", "a.B required x;", "a.B required x=", "a.B required x=\"1;",
        "a.B maybe x=1;", "a.B required; c.D required;"}) {
    const Result<JaasConfig> bad = ParseJaasConfig(text);
    ASSERT_FALSE(bad.ok()) << text;
    EXPECT_EQ(bad.status().condition(), "ILLEGAL_ARGUMENT");
  }
}

TEST_F(KafkaPropertiesTest, TranslatesPasswords) {
  const KafkaClientSettings plain = Good({{"security.protocol", "SASL_SSL"},
                                          {"sasl.mechanism", "PLAIN"},
                                          {"sasl.jaas.config", kPlain}});
  EXPECT_EQ(plain.Get("sasl.username"), "al\"ice");
  EXPECT_EQ(plain.Get("sasl.password"), "p;=w");
  EXPECT_EQ(plain.Get("security.protocol"), "sasl_ssl");
  const std::string wrong = Refusal({{"security.protocol", "SASL_SSL"},
                                     {"sasl.mechanism", "SCRAM-SHA-512"},
                                     {"sasl.jaas.config", kPlain}});
  EXPECT_EQ(wrong,
            "Kafka option 'sasl.jaas.config' names PlainLoginModule, but sasl.mechanism "
            "SCRAM-SHA-512 needs ScramLoginModule");
  // No message ever shows the text itself.
  EXPECT_EQ(Refusal({{"security.protocol", "SASL_SSL"},
                     {"sasl.mechanism", "PLAIN"},
                     {"sasl.jaas.config", "secret stuff"}})
                .find("stuff"),
            std::string::npos);
}

TEST_F(KafkaPropertiesTest, TranslatesBearerTokens) {
  const KafkaClientSettings oidc = Good(
      {{"security.protocol", "SASL_SSL"},
       {"sasl.mechanism", "OAUTHBEARER"},
       {"sasl.login.callback.handler.class",
        "org.apache.kafka.common.security.oauthbearer.secured.OAuthBearerLoginCallbackHandler"},
       {"sasl.oauthbearer.token.endpoint.url", "https://id/token"},
       {"sasl.jaas.config",
        R"(org.apache.kafka.common.security.oauthbearer.OAuthBearerLoginModule required clientId="me" clientSecret="s" scope="w";)"}});
  EXPECT_EQ(oidc.Get("sasl.oauthbearer.method"), "oidc");
  EXPECT_EQ(oidc.Get("sasl.oauthbearer.client.secret"), "s");
  EXPECT_EQ(oidc.Get("sasl.oauthbearer.scope"), "w");
  EXPECT_TRUE(oidc.oauth);
  const KafkaClientSettings unsecured =
      Good({{"security.protocol", "SASL_PLAINTEXT"},
            {"sasl.mechanism", "OAUTHBEARER"},
            {"sasl.jaas.config",
             R"(a.OAuthBearerLoginModule required unsecuredLoginStringClaim_sub="alice";)"}});
  EXPECT_EQ(unsecured.Get("sasl.oauthbearer.config"), "principal=alice");
  EXPECT_NE(Refusal({{"security.protocol", "SASL_SSL"},
                     {"sasl.mechanism", "OAUTHBEARER"},
                     {"sasl.login.callback.handler.class", "com.acme.H"},
                     {"sasl.jaas.config", "a.OAuthBearerLoginModule required;"}})
                .find("clientSecret"),
            std::string::npos);
}

TEST_F(KafkaPropertiesTest, SaysHowToConvertJks) {
  TW_CHECK(
      data::AtomicWriteFile(files_, "/keys/client.jks", std::string("\xFE\xED\xFE\xED\0\0\0\2", 8))
          .ok());
  const std::string text = Refusal(
      {{"ssl.truststore.location", "/keys/client.jks"}, {"ssl.truststore.password", "secret1"}});
  EXPECT_NE(text.find("keytool -importkeystore -srckeystore /keys/client.jks -destkeystore "
                      "/keys/client.p12 -deststoretype PKCS12"),
            std::string::npos);
  EXPECT_NE(text.find("kafka.ssl.truststore.type=PKCS12"), std::string::npos);
  EXPECT_EQ(text.find("secret1"), std::string::npos);
  EXPECT_NE(
      Refusal({{"ssl.keystore.location", "/keys/none.p12"}}).find("cannot read /keys/none.p12"),
      std::string::npos);
  TW_CHECK(data::AtomicWriteFile(files_, "/keys/bad.p12", "\x30nonsense").ok());
  EXPECT_NE(
      Refusal({{"ssl.truststore.location", "/keys/bad.p12"}}).find("kafka.ssl.truststore.password"),
      std::string::npos);
}

TEST_F(KafkaPropertiesTest, TranslatesPemAndNames) {
  TW_CHECK(data::AtomicWriteFile(files_, "/keys/ca.pem", "-----BEGIN CERTIFICATE-----\n").ok());
  const KafkaClientSettings settings =
      Good({{"ssl.truststore.location", "/keys/ca.pem"},
            {"ssl.keystore.key", "K"},
            {"ssl.keystore.certificate.chain", "C"},
            {"ssl.key.password", "p"},
            {"ssl.endpoint.identification.algorithm", ""},
            {"ssl.cipher.suites", "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256"}});
  EXPECT_EQ(settings.Get("ssl.ca.location"), "/keys/ca.pem");
  EXPECT_EQ(settings.Get("ssl.key.pem"), "K");
  EXPECT_EQ(settings.Get("ssl.certificate.pem"), "C");
  EXPECT_EQ(settings.Get("ssl.endpoint.identification.algorithm"), "none");
  EXPECT_EQ(settings.Get("ssl.cipher.suites"), "ECDHE-RSA-AES128-GCM-SHA256");
}

}  // namespace
}  // namespace thalweg::connectors
