#pragma once

#include "connectors/kafka/kafka_properties.h"

namespace thalweg::connectors {

/// Translates `ssl.keystore.*`, `ssl.truststore.*` and `ssl.key.password`: PEM (files or text) and
/// PKCS12. Stores are told by their first bytes where the type is not given, as Java's loader does.
/// Blocks: on the disk. Errors: ILLEGAL_ARGUMENT; for a JKS store with the `keytool` line that
/// converts it.
Status TranslateStores(const JavaProperties& java, data::FileSystem& files,
                       KafkaClientSettings* settings);

/// OpenSSL's names for `ssl.cipher.suites`, which Java names as IANA does. Errors: ILLEGAL_ARGUMENT
/// for unknown ones.
Result<std::string> TranslateCipherSuites(std::string_view suites);

}  // namespace thalweg::connectors
