#pragma once

#include <string>
#include <string_view>

namespace thalweg {

/// What stands in place of a secret, as Spark prints it.
inline constexpr std::string_view kRedacted = "*********(redacted)";

/// Whether a setting, option or log field of this name holds a secret: its name contains secret, password, token,
/// access key, private key, credential, sasl.jaas.config or ssl.key, in any case. Thread: any.
bool IsSecretKey(std::string_view key);

/// `value`, or kRedacted when the key names a secret.
std::string RedactValue(std::string_view key, std::string_view value);

/// `text` with the values of secret `key=value` and `"key":"value"` pairs and of passwords inside URLs
/// (scheme://user:password@) replaced. Thread: any.
std::string RedactText(std::string_view text);

}  // namespace thalweg
