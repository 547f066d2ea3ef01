#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/status.h"

namespace thalweg::connectors {

/// The text of `sasl.jaas.config`: one login module and its options.
struct JaasConfig {
  std::string module;  ///< class name without its package: "PlainLoginModule"
  std::map<std::string, std::string> options;
  /// Empty when absent.
  std::string Option(const std::string& name) const;
};

/// Reads `package.Module required key="value" other='v' third=v;`. Errors: ILLEGAL_ARGUMENT,
/// without the text (it holds secrets).
Result<JaasConfig> ParseJaasConfig(std::string_view text);

}  // namespace thalweg::connectors
