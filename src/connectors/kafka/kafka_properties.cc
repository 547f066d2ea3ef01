#include "connectors/kafka/kafka_properties.h"

#include <algorithm>
#include <charconv>

#include "base/log.h"
#include "base/mutex.h"
#include "base/string_case.h"
#include "connectors/kafka/kafka_jaas.h"
#include "connectors/kafka/kafka_stores.h"

namespace thalweg::connectors {
namespace {

/// Says once in the life of the process that a property does nothing.
void LogNoEffect(LogLevel level, std::string_view name, std::string_view why) {
  static Mutex mutex;
  static std::set<std::string, std::less<>>* const said = new std::set<std::string, std::less<>>();
  {
    const MutexLock lock(mutex);
    if (!said->emplace(name).second) return;
  }
  if (level == LogLevel::kWarn) TW_LOG(kWarn, "kafka property has no effect", {"property", name}, {"reason", why});
  else TW_LOG(kInfo, "kafka property has no effect", {"property", name}, {"reason", why});
}

/// host:port, host:port, ... with or without a protocol in front: what Java's clients take.
Status CheckServers(std::string_view servers) {
  while (!servers.empty()) {
    const size_t comma = std::min(servers.find(','), servers.size());
    std::string_view server = servers.substr(0, comma);
    servers.remove_prefix(std::min(comma + 1, servers.size()));
    while (!server.empty() && server.front() == ' ') server.remove_prefix(1);
    while (!server.empty() && server.back() == ' ') server.remove_suffix(1);
    if (server.empty()) continue;
    const size_t colon = server.rfind(':');
    const std::string_view port = colon == std::string_view::npos ? std::string_view() : server.substr(colon + 1);
    if (colon == 0 || port.empty() || port.find_first_not_of("0123456789") != std::string_view::npos)
      return IllegalOption("Invalid url in bootstrap.servers: " + std::string(server) + ", host:port is expected");
  }
  return Status::OK();
}

Result<int64_t> Number(const std::string& name, const std::string& text) {
  int64_t value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  if (parsed.ec != std::errc{} || parsed.ptr != text.data() + text.size())
    return IllegalOption("Kafka option '" + name + "' must be a number, got '" + text + "'");
  return value;
}

/// Properties that need more than another name. Each takes the Java value and writes librdkafka's.
class Translator {
 public:
  Translator(const JavaProperties& java, KafkaRole role, data::FileSystem& files)
      : java_(java), role_(role), files_(files) {}

  Result<KafkaClientSettings> Run() {
    SetDefaults();
    for (const auto& [name, value] : java_) TW_RETURN_NOT_OK(TranslateOne(name, value));
    TW_RETURN_NOT_OK(TranslateSasl());
    TW_RETURN_NOT_OK(TranslateStores(java_, files_, &settings_));
    AdaptIdempotence();
    return std::move(settings_);
  }

 private:
  bool consumer() const { return role_ == KafkaRole::kConsumer; }

  /// Where Java's and librdkafka's defaults differ, Java's.
  void SetDefaults() {
    settings_.Set("client.id", "thalweg");
    settings_.Set("log.connection.close", "false");
    settings_.Set("socket.keepalive.enable", "true");
    settings_.Set("socket.nagle.disable", "true");
    if (consumer()) {
      settings_.Set("isolation.level", "read_uncommitted");
      settings_.Set("enable.auto.commit", "false");
      settings_.Set("enable.auto.offset.store", "false");
      settings_.Set("auto.offset.reset", "error");
      settings_.Set("enable.partition.eof", "true");
      settings_.Set("allow.auto.create.topics", "false");
    } else {
      settings_.Set("acks", "all");
      settings_.Set("enable.idempotence", "true");
      settings_.Set("partitioner", "murmur2_random");
      settings_.Set("linger.ms", "0");
      settings_.Set("delivery.timeout.ms", "120000");
      settings_.Set("message.max.bytes", "1048576");
      settings_.Set("queue.buffering.max.messages", "1000000");
      settings_.Set("queue.buffering.max.kbytes", "32768");
    }
  }

  Status TranslateOne(const std::string& name, const std::string& value) {
    const JavaProperty* property = FindJavaProperty(name);
    if (property == nullptr) {
      LogNoEffect(LogLevel::kWarn, name, "no Kafka client knows it");
      return Status::OK();
    }
    switch (property->verdict) {
      case PropertyVerdict::kSame:
        if (name == "bootstrap.servers") TW_RETURN_NOT_OK(CheckServers(value));
        if (Belongs(name)) settings_.Set(name, value);
        return Status::OK();
      case PropertyVerdict::kRenamed:
        if (name == "fetch.max.wait.ms") settings_.fetch_wait_given = true;
        if (Belongs(property->text)) settings_.Set(property->text, value);
        return Status::OK();
      case PropertyVerdict::kNoEffect:
        LogNoEffect(LogLevel::kInfo, name, property->text);
        return Status::OK();
      case PropertyVerdict::kRefused:
        return IllegalOption("Kafka option '" + name +
                             "' is not supported: " + std::string(property->text));
      case PropertyVerdict::kHandled:
        break;
    }
    if (name.starts_with("ssl.")) return TranslateSsl(name, value);
    return TranslateNumber(name, value);
  }

  /// librdkafka warns about a consumer's property in a producer and the other way round; Java's
  /// clients just take it.
  bool Belongs(std::string_view name) const {
    constexpr std::string_view kConsumerOnly[] = {"check.crcs",        "fetch.max.bytes",
                                                  "fetch.wait.max.ms", "fetch.min.bytes",
                                                  "isolation.level",   "max.partition.fetch.bytes"};
    constexpr std::string_view kProducerOnly[] = {"acks", "compression.type", "delivery.timeout.ms",
                                                  "enable.idempotence", "linger.ms"};
    const auto in = [&](const auto& list) {
      return std::find(std::begin(list), std::end(list), name) != std::end(list);
    };
    return consumer() ? !in(kProducerOnly) : !in(kConsumerOnly);
  }

  Status TranslateNumber(const std::string& name, const std::string& value) {
    if (name == "partitioner.class") return TranslatePartitioner(value);
    if (name == "partitioner.ignore.keys") {
      if (EqualsIgnoreCase(value, "true") && !consumer()) settings_.Set("partitioner", "random");
      return Status::OK();
    }
    if (name.starts_with("sasl.") || name == "security.protocol")
      return Status::OK();  // together, later
    TW_ASSIGN_OR_RETURN(const int64_t number, Number(name, value));
    if (name == "default.api.timeout.ms") settings_.api_timeout = std::chrono::milliseconds(number);
    if (name == "max.block.ms") settings_.max_block = std::chrono::milliseconds(number);
    if (name == "metadata.max.age.ms")
      settings_.metadata_max_age = std::chrono::milliseconds(std::max<int64_t>(number, 1));
    if (name == "receive.buffer.bytes" ||
        name == "send.buffer.bytes")  // Java's -1: the system decides
      settings_.Set("socket." + name, std::to_string(std::max<int64_t>(number, 0)));
    if (name == "request.timeout.ms") {
      if (consumer())
        settings_.Set("socket.timeout.ms",
                      std::to_string(std::clamp<int64_t>(number, 10, 300'000)));
      if (!consumer()) settings_.Set(name, value);
    }
    if (consumer()) return Status::OK();
    if (name == "batch.size") settings_.Set(name, std::to_string(std::max<int64_t>(number, 1)));
    if (name == "buffer.memory")
      settings_.Set("queue.buffering.max.kbytes",
                    std::to_string(std::max<int64_t>(number / 1024, 1)));
    if (name == "retries" || name == "retry.backoff.ms") settings_.Set(name, value);
    const auto compression = java_.find("compression.type");
    if (name.starts_with("compression.") && compression != java_.end() &&
        name == "compression." + compression->second + ".level")
      settings_.Set("compression.level", value);
    return Status::OK();
  }

  Status TranslatePartitioner(const std::string& value) {
    if (consumer()) return Status::OK();
    const std::string name =
        value.substr(value.rfind('.') == std::string::npos ? 0 : value.rfind('.') + 1);
    if (name == "DefaultPartitioner" || name.empty()) return Status::OK();
    if (name == "UniformStickyPartitioner" || name == "RoundRobinPartitioner") {
      settings_.Set("partitioner", "random");
      return Status::OK();
    }
    return IllegalOption(
        "Kafka option 'partitioner.class' is not supported: a Java class cannot be loaded here; "
        "compute a column "
        "'partition' in the query");
  }

  Status TranslateSsl(const std::string& name, const std::string& value) {
    if (name == "ssl.endpoint.identification.algorithm") {
      settings_.Set(name, value.empty() ? "none" : ToAsciiLower(value));
    } else if (name == "ssl.cipher.suites") {
      TW_ASSIGN_OR_RETURN(std::string suites, TranslateCipherSuites(value));
      settings_.Set(name, std::move(suites));
    } else if (name == "ssl.enabled.protocols" || name == "ssl.protocol") {
      std::string_view rest = value;
      while (!rest.empty()) {
        const size_t comma = rest.find(',');
        const std::string_view protocol = rest.substr(0, comma);
        rest = comma == std::string_view::npos ? std::string_view() : rest.substr(comma + 1);
        if (protocol != "TLS" && protocol != "TLSv1.2" && protocol != "TLSv1.3")
          return IllegalOption("Kafka option '" + name + "' names " + std::string(protocol) +
                               ": only TLSv1.2 and TLSv1.3 are offered");
      }
    }
    return Status::OK();  // the stores: together, later
  }

  std::string Lookup(const char* name) const {
    const auto found = java_.find(name);
    return found == java_.end() ? std::string() : found->second;
  }

  Status TranslateSasl() {
    const std::string protocol = ToAsciiLower(Lookup("security.protocol"));
    if (!protocol.empty()) settings_.Set("security.protocol", protocol);
    if (!protocol.starts_with("sasl_")) return Status::OK();
    const std::string mechanism =
        Lookup("sasl.mechanism").empty() ? "GSSAPI" : ToAsciiUpper(Lookup("sasl.mechanism"));
    settings_.Set("sasl.mechanism", mechanism);
    const std::string text = Lookup("sasl.jaas.config");
    if (text.empty()) {
      if (mechanism == "OAUTHBEARER" && settings_.Get("sasl.oauthbearer.client.id"))
        return UseOidc();
      return IllegalOption("Kafka option 'sasl.jaas.config' is missing: security.protocol is " +
                           protocol + " with " + mechanism);
    }
    TW_ASSIGN_OR_RETURN(const JaasConfig jaas, ParseJaasConfig(text));
    if (mechanism == "PLAIN" || mechanism.starts_with("SCRAM-"))
      return UsePassword(jaas, mechanism);
    if (mechanism == "OAUTHBEARER") return UseBearer(jaas);
    if (mechanism == "GSSAPI") return UseKerberos(jaas);
    return IllegalOption(
        "Kafka option 'sasl.mechanism' is " + mechanism +
        ": PLAIN, SCRAM-SHA-256, SCRAM-SHA-512, OAUTHBEARER and GSSAPI are supported");
  }

  Status WrongModule(const std::string& mechanism, const JaasConfig& jaas,
                     std::string_view wanted) const {
    return IllegalOption("Kafka option 'sasl.jaas.config' names " + jaas.module +
                         ", but sasl.mechanism " + mechanism + " needs " + std::string(wanted));
  }

  Status UsePassword(const JaasConfig& jaas, const std::string& mechanism) {
    const std::string_view wanted = mechanism == "PLAIN" ? "PlainLoginModule" : "ScramLoginModule";
    if (jaas.module != wanted) return WrongModule(mechanism, jaas, wanted);
    if (!jaas.options.contains("username") || !jaas.options.contains("password"))
      return IllegalOption("Kafka option 'sasl.jaas.config' holds no username or no password");
    settings_.Set("sasl.username", jaas.Option("username"));
    settings_.Set("sasl.password", jaas.Option("password"));
    return Status::OK();
  }

  Status UseOidc() {
    if (!settings_.Get("sasl.oauthbearer.token.endpoint.url"))
      return IllegalOption(
          "Kafka option 'sasl.oauthbearer.token.endpoint.url' is missing: tokens are fetched from "
          "there");
    settings_.Set("sasl.oauthbearer.method", "oidc");
    settings_.oauth = true;
    return Status::OK();
  }

  Status UseBearer(const JaasConfig& jaas) {
    const std::string handler = Lookup("sasl.login.callback.handler.class");
    if (!handler.empty() && !handler.ends_with(".OAuthBearerLoginCallbackHandler"))
      return IllegalOption(
          "Kafka option 'sasl.login.callback.handler.class' is not supported: a Java class cannot "
          "be loaded here; "
          "use clientId and clientSecret in sasl.jaas.config and "
          "sasl.oauthbearer.token.endpoint.url");
    if (jaas.module != "OAuthBearerLoginModule")
      return WrongModule("OAUTHBEARER", jaas, "OAuthBearerLoginModule");
    if (jaas.options.contains("clientId")) {
      settings_.Set("sasl.oauthbearer.client.id", jaas.Option("clientId"));
      settings_.Set("sasl.oauthbearer.client.secret", jaas.Option("clientSecret"));
      if (jaas.options.contains("scope"))
        settings_.Set("sasl.oauthbearer.scope", jaas.Option("scope"));
      return UseOidc();
    }
    const std::string subject = jaas.Option("unsecuredLoginStringClaim_sub");
    if (subject.empty())
      return IllegalOption(
          "Kafka option 'sasl.jaas.config' holds neither clientId nor "
          "unsecuredLoginStringClaim_sub");
    settings_.Set("enable.sasl.oauthbearer.unsecure.jwt", "true");
    settings_.Set("sasl.oauthbearer.config", "principal=" + subject);
    settings_.oauth = true;
    return Status::OK();
  }

  Status UseKerberos(const JaasConfig& jaas) {
    if (jaas.module != "Krb5LoginModule") return WrongModule("GSSAPI", jaas, "Krb5LoginModule");
    if (jaas.options.contains("keyTab"))
      settings_.Set("sasl.kerberos.keytab", jaas.Option("keyTab"));
    if (jaas.options.contains("principal"))
      settings_.Set("sasl.kerberos.principal", jaas.Option("principal"));
    if (jaas.options.contains("serviceName"))
      settings_.Set("sasl.kerberos.service.name", jaas.Option("serviceName"));
    if (EqualsIgnoreCase(jaas.Option("useTicketCache"), "true"))
      settings_.Set("sasl.kerberos.kinit.cmd", "true");  // somebody else keeps the ticket fresh
    return Status::OK();
  }

  /// Java turns its default of idempotence off when other options contradict it; an explicit wish
  /// stays and fails.
  void AdaptIdempotence() {
    if (consumer() || java_.contains("enable.idempotence")) return;
    const std::string acks = settings_.Get("acks").value_or("all");
    const std::string in_flight = Lookup("max.in.flight.requests.per.connection");
    int64_t count = 5;
    std::from_chars(in_flight.data(), in_flight.data() + in_flight.size(), count);
    if ((acks != "all" && acks != "-1") || Lookup("retries") == "0" || count > 5)
      settings_.Set("enable.idempotence", "false");
  }

  const JavaProperties& java_;
  const KafkaRole role_;
  data::FileSystem& files_;
  KafkaClientSettings settings_;
};

}  // namespace

void KafkaClientSettings::Set(std::string_view name, std::string value) {
  for (auto& [key, old] : properties) {
    if (key == name) {
      old = std::move(value);
      return;
    }
  }
  properties.emplace_back(name, std::move(value));
}

std::optional<std::string> KafkaClientSettings::Get(std::string_view name) const {
  for (const auto& [key, value] : properties) {
    if (key == name) return value;
  }
  return std::nullopt;
}

Result<KafkaClientSettings> TranslateProperties(const JavaProperties& properties, KafkaRole role,
                                                data::FileSystem& files) {
  return Translator(properties, role, files).Run();
}

}  // namespace thalweg::connectors
