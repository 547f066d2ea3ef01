#pragma once

// Properties of Kafka's Java clients in terms of librdkafka's. PySpark programs carry the Java
// names.

#include <chrono>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "connectors/kafka/kafka_options.h"
#include "data/io/file_system.h"

namespace thalweg::connectors {

enum class KafkaRole : uint8_t { kConsumer = 1, kProducer = 2 };

enum class PropertyVerdict : uint8_t {
  kSame,      ///< librdkafka has it under this name, with this meaning
  kRenamed,   ///< under another name
  kHandled,   ///< code decides: several properties together, other units, other values
  kNoEffect,  ///< accepted; said once in the log
  kRefused,   ///< by name, with what to do instead
};

/// One property of a Java client.
struct JavaProperty {
  std::string_view name;
  PropertyVerdict verdict;
  std::string_view text;  ///< kRenamed: the other name; kNoEffect: why; kRefused: what to do
};

/// Every property of Kafka's consumer, producer and admin clients (3.9 and 4.4), sorted by name.
std::span<const JavaProperty> AllJavaProperties();
/// Null for names that no Java client knows.
const JavaProperty* FindJavaProperty(std::string_view name);

/// What a client is made of.
struct KafkaClientSettings {
  std::vector<std::pair<std::string, std::string>> properties;  ///< librdkafka's, may hold secrets
  bool oauth = false;             ///< tokens are fetched in the background
  bool fetch_wait_given = false;  ///< the user chose fetch.max.wait.ms
  std::chrono::milliseconds api_timeout{
      60'000};  ///< default.api.timeout.ms: for a request with its retries
  std::chrono::milliseconds max_block{
      60'000};  ///< max.block.ms: a full producer queue, missing metadata
  std::optional<std::chrono::milliseconds> metadata_max_age;

  /// Adds or replaces.
  void Set(std::string_view name, std::string value);
  std::optional<std::string> Get(std::string_view name) const;
};

/// Translates; names that no Java client knows are accepted without effect, as Java's clients do.
/// Reads key and trust stores through `files`. Thread: any. Blocks: on the disk. Errors:
/// ILLEGAL_ARGUMENT naming the property and what to do; never with the value of a secret.
Result<KafkaClientSettings> TranslateProperties(const JavaProperties& properties, KafkaRole role,
                                                data::FileSystem& files);

}  // namespace thalweg::connectors
