// The one list of what Kafka's Java clients can be told, and what becomes of it here.

#include <algorithm>

#include "connectors/kafka/kafka_properties.h"

namespace thalweg::connectors {
namespace {

constexpr auto kSame = PropertyVerdict::kSame;
constexpr auto kRenamed = PropertyVerdict::kRenamed;
constexpr auto kHandled = PropertyVerdict::kHandled;
constexpr auto kNoEffect = PropertyVerdict::kNoEffect;
constexpr auto kRefused = PropertyVerdict::kRefused;

constexpr std::string_view kNoGroup =
    "partitions are assigned by the query, no consumer group is joined";
constexpr std::string_view kNoJavaMetrics = "Java's client metrics do not exist here";
constexpr std::string_view kJavaClass = "a Java class cannot be loaded here: remove the option";
constexpr std::string_view kBrokerSide = "tokens are checked by the broker";
constexpr std::string_view kAssertion =
    "tokens by signed assertion are not supported: use client id and secret with "
    "sasl.oauthbearer.token.endpoint.url";
constexpr std::string_view kOpenSsl = "OpenSSL decides";
constexpr std::string_view kOwnPace = "the client reconnects and refreshes at its own pace";
constexpr std::string_view kNoTransactions =
    "the sink is at-least-once, as Spark's is: remove the option";
constexpr std::string_view kSource = "the source decides this: see its options";

constexpr JavaProperty kTable[] = {
    {"acks", kSame, ""},
    {"allow.auto.create.topics", kNoEffect, "the source never creates a topic"},
    {"auto.commit.interval.ms", kNoEffect, "offsets are kept in the checkpoint"},
    {"auto.include.jmx.reporter", kNoEffect, kNoJavaMetrics},
    {"auto.offset.reset", kRefused, "set startingOffsets"},
    {"batch.size", kHandled, ""},
    {"bootstrap.controllers", kRefused, "set bootstrap.servers"},
    {"bootstrap.resolve.timeout.ms", kNoEffect, kOwnPace},
    {"bootstrap.servers", kSame, ""},
    {"buffer.memory", kHandled, ""},
    {"buffer.memory.allocation.strategy", kNoEffect, "Java's memory only"},
    {"check.crcs", kSame, ""},
    {"client.dns.lookup", kNoEffect, "all addresses of a name are tried"},
    {"client.id", kSame, ""},
    {"client.rack", kSame, ""},
    {"compression.gzip.level", kHandled, ""},
    {"compression.lz4.level", kHandled, ""},
    {"compression.type", kSame, ""},
    {"compression.zstd.level", kHandled, ""},
    {"config.providers", kRefused,
     "references such as ${file:...} are not resolved: give the values themselves"},
    {"connections.max.idle.ms", kSame, ""},
    {"default.api.timeout.ms", kHandled, ""},
    {"delivery.timeout.ms", kSame, ""},
    {"enable.auto.commit", kRefused, "offsets are kept in the checkpoint: remove the option"},
    {"enable.idempotence", kSame, ""},
    {"enable.metrics.push", kNoEffect, kNoJavaMetrics},
    {"exclude.internal.topics", kNoEffect, "patterns never match internal topics"},
    {"fetch.max.bytes", kSame, ""},
    {"fetch.max.wait.ms", kRenamed, "fetch.wait.max.ms"},
    {"fetch.min.bytes", kSame, ""},
    {"group.id", kNoEffect, kNoGroup},
    {"group.instance.id", kNoEffect, kNoGroup},
    {"group.protocol", kNoEffect, kNoGroup},
    {"group.remote.assignor", kNoEffect, kNoGroup},
    {"heartbeat.interval.ms", kNoEffect, kNoGroup},
    {"interceptor.classes", kRefused, kJavaClass},
    {"internal.leave.group.on.close", kNoEffect, kNoGroup},
    {"internal.throw.on.fetch.stable.offset.unsupported", kNoEffect, kNoGroup},
    {"isolation.level", kSame, ""},
    {"key.deserializer", kRefused, kSource},
    {"key.serializer", kNoEffect, "the source reads, the sink refuses it by itself"},
    {"linger.ms", kSame, ""},
    {"max.block.ms", kHandled, ""},
    {"max.in.flight.requests.per.connection", kSame, ""},
    {"max.partition.fetch.bytes", kSame, ""},
    {"max.poll.interval.ms", kNoEffect, kNoGroup},
    {"max.poll.records", kNoEffect, "records are read in chunks"},
    {"max.request.size", kRenamed, "message.max.bytes"},
    {"metadata.cluster.check.enable", kNoEffect, kOwnPace},
    {"metadata.max.age.ms", kHandled, ""},
    {"metadata.max.idle.ms", kNoEffect, kOwnPace},
    {"metadata.recovery.rebootstrap.trigger.ms", kNoEffect, kOwnPace},
    {"metadata.recovery.strategy", kNoEffect, kOwnPace},
    {"metric.reporters", kNoEffect, kNoJavaMetrics},
    {"metrics.num.samples", kNoEffect, kNoJavaMetrics},
    {"metrics.recording.level", kNoEffect, kNoJavaMetrics},
    {"metrics.sample.window.ms", kNoEffect, kNoJavaMetrics},
    {"partition.assignment.strategy", kNoEffect, kNoGroup},
    {"partitioner.adaptive.partitioning.enable", kNoEffect,
     "records without key go to random partitions"},
    {"partitioner.availability.timeout.ms", kNoEffect,
     "records without key go to random partitions"},
    {"partitioner.class", kHandled, ""},
    {"partitioner.ignore.keys", kHandled, ""},
    {"partitioner.rack.aware", kNoEffect, "records without key go to random partitions"},
    {"receive.buffer.bytes", kHandled, ""},
    {"reconnect.backoff.max.ms", kSame, ""},
    {"reconnect.backoff.ms", kSame, ""},
    {"request.timeout.ms", kHandled, ""},
    {"retries", kHandled, ""},
    {"retry.backoff.max.ms", kNoEffect, kOwnPace},
    {"retry.backoff.ms", kHandled, ""},
    {"sasl.client.callback.handler.class", kRefused, kJavaClass},
    {"sasl.jaas.config", kHandled, ""},
    {"sasl.kerberos.kinit.cmd", kNoEffect, "kinit is found on the path"},
    {"sasl.kerberos.min.time.before.relogin", kSame, ""},
    {"sasl.kerberos.service.name", kSame, ""},
    {"sasl.kerberos.ticket.renew.jitter", kNoEffect, kOwnPace},
    {"sasl.kerberos.ticket.renew.window.factor", kNoEffect, kOwnPace},
    {"sasl.login.callback.handler.class", kHandled, ""},
    {"sasl.login.class", kRefused, kJavaClass},
    {"sasl.login.connect.timeout.ms", kNoEffect, kOwnPace},
    {"sasl.login.read.timeout.ms", kNoEffect, kOwnPace},
    {"sasl.login.refresh.buffer.seconds", kNoEffect, kOwnPace},
    {"sasl.login.refresh.min.period.seconds", kNoEffect, kOwnPace},
    {"sasl.login.refresh.window.factor", kNoEffect, kOwnPace},
    {"sasl.login.refresh.window.jitter", kNoEffect, kOwnPace},
    {"sasl.login.retry.backoff.max.ms", kNoEffect, kOwnPace},
    {"sasl.login.retry.backoff.ms", kNoEffect, kOwnPace},
    {"sasl.mechanism", kHandled, ""},
    {"sasl.oauthbearer.allow.unverified.audience", kNoEffect, kBrokerSide},
    {"sasl.oauthbearer.allow.unverified.issuer", kNoEffect, kBrokerSide},
    {"sasl.oauthbearer.assertion.algorithm", kRefused, kAssertion},
    {"sasl.oauthbearer.assertion.claim.aud", kRefused, kAssertion},
    {"sasl.oauthbearer.assertion.claim.exp.seconds", kRefused, kAssertion},
    {"sasl.oauthbearer.assertion.claim.iss", kRefused, kAssertion},
    {"sasl.oauthbearer.assertion.claim.jti.include", kRefused, kAssertion},
    {"sasl.oauthbearer.assertion.claim.nbf.seconds", kRefused, kAssertion},
    {"sasl.oauthbearer.assertion.claim.sub", kRefused, kAssertion},
    {"sasl.oauthbearer.assertion.file", kRefused, kAssertion},
    {"sasl.oauthbearer.assertion.private.key.file", kRefused, kAssertion},
    {"sasl.oauthbearer.assertion.private.key.passphrase", kRefused, kAssertion},
    {"sasl.oauthbearer.assertion.template.file", kRefused, kAssertion},
    {"sasl.oauthbearer.client.credentials.client.id", kRenamed, "sasl.oauthbearer.client.id"},
    {"sasl.oauthbearer.client.credentials.client.secret", kRenamed,
     "sasl.oauthbearer.client.secret"},
    {"sasl.oauthbearer.clock.skew.seconds", kNoEffect, kBrokerSide},
    {"sasl.oauthbearer.expected.audience", kNoEffect, kBrokerSide},
    {"sasl.oauthbearer.expected.issuer", kNoEffect, kBrokerSide},
    {"sasl.oauthbearer.header.urlencode", kNoEffect, "client id and secret are sent as they are"},
    {"sasl.oauthbearer.jwks.endpoint.refresh.ms", kNoEffect, kBrokerSide},
    {"sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms", kNoEffect, kBrokerSide},
    {"sasl.oauthbearer.jwks.endpoint.retry.backoff.ms", kNoEffect, kBrokerSide},
    {"sasl.oauthbearer.jwks.endpoint.url", kNoEffect, kBrokerSide},
    {"sasl.oauthbearer.jwt.retriever.class", kRefused, kJavaClass},
    {"sasl.oauthbearer.jwt.validator.class", kNoEffect, kBrokerSide},
    {"sasl.oauthbearer.scope", kSame, ""},
    {"sasl.oauthbearer.scope.claim.name", kNoEffect, kBrokerSide},
    {"sasl.oauthbearer.sub.claim.name", kNoEffect, kBrokerSide},
    {"sasl.oauthbearer.token.endpoint.url", kSame, ""},
    {"security.protocol", kHandled, ""},
    {"security.providers", kRefused, kJavaClass},
    {"send.buffer.bytes", kHandled, ""},
    {"session.timeout.ms", kNoEffect, kNoGroup},
    {"share.acknowledgement.mode", kNoEffect, kNoGroup},
    {"share.acquire.mode", kNoEffect, kNoGroup},
    {"socket.connection.setup.timeout.max.ms", kNoEffect, kOwnPace},
    {"socket.connection.setup.timeout.ms", kSame, ""},
    {"ssl.cipher.suites", kHandled, ""},
    {"ssl.enabled.protocols", kHandled, ""},
    {"ssl.endpoint.identification.algorithm", kHandled, ""},
    {"ssl.engine.factory.class", kRefused, kJavaClass},
    {"ssl.key.password", kHandled, ""},
    {"ssl.keymanager.algorithm", kNoEffect, kOpenSsl},
    {"ssl.keystore.certificate.chain", kHandled, ""},
    {"ssl.keystore.key", kHandled, ""},
    {"ssl.keystore.location", kHandled, ""},
    {"ssl.keystore.password", kHandled, ""},
    {"ssl.keystore.type", kHandled, ""},
    {"ssl.protocol", kHandled, ""},
    {"ssl.provider", kNoEffect, kOpenSsl},
    {"ssl.secure.random.implementation", kNoEffect, kOpenSsl},
    {"ssl.trustmanager.algorithm", kNoEffect, kOpenSsl},
    {"ssl.truststore.certificates", kHandled, ""},
    {"ssl.truststore.location", kHandled, ""},
    {"ssl.truststore.password", kHandled, ""},
    {"ssl.truststore.type", kHandled, ""},
    {"transaction.timeout.ms", kNoEffect, "the sink has no transactions"},
    {"transaction.two.phase.commit.enable", kRefused, kNoTransactions},
    {"transactional.id", kRefused, kNoTransactions},
    {"value.deserializer", kRefused, kSource},
    {"value.serializer", kRefused, "values are written as bytes: convert them in the query"},
};

static_assert(std::is_sorted(std::begin(kTable), std::end(kTable),
                             [](const JavaProperty& a, const JavaProperty& b) {
                               return a.name < b.name;
                             }));

}  // namespace

std::span<const JavaProperty> AllJavaProperties() { return kTable; }

const JavaProperty* FindJavaProperty(std::string_view name) {
  const auto* found = std::lower_bound(
      std::begin(kTable), std::end(kTable), name,
      [](const JavaProperty& entry, std::string_view wanted) { return entry.name < wanted; });
  return found != std::end(kTable) && found->name == name ? found : nullptr;
}

}  // namespace thalweg::connectors
