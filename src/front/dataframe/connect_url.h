#pragma once

#include <map>
#include <string>
#include <string_view>

#include "base/status.h"

namespace thalweg::internal {

/// "sc://host:port/;token=...;use_ssl=true" taken apart. Source: Spark's "Client connection string".
struct ConnectUrl {
  std::string target;  ///< host:port
  std::string token;
  std::string user;
  std::string session_id;  ///< empty: a new one
  bool tls = false;        ///< asked for, or needed: a token travels in plain text to this machine only
  std::map<std::string, std::string> headers;

  /// Errors: INVALID_CONNECT_URL.
  static Result<ConnectUrl> Parse(std::string_view url);
};

}  // namespace thalweg::internal
