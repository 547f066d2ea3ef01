#pragma once

#include <string>
#include <string_view>

#include "base/status.h"

namespace thalweg::connectors {

/// The client's side of SCRAM-SHA-256 and SCRAM-SHA-512 (RFC 5802, RFC 7677), without channel
/// binding. Thread: confined. Errors: KAFKA_REQUEST_FAILED, never with the password.
class ScramClient {
 public:
  /// `mechanism` is "SCRAM-SHA-256" or "SCRAM-SHA-512".
  ScramClient(std::string_view mechanism, std::string user, std::string password,
              std::string nonce);

  /// n,,n=user,r=nonce
  std::string FirstMessage() const;
  /// Answers the server's r=...,s=...,i=...
  Result<std::string> FinalMessage(std::string_view server_first);
  /// Checks that the server, too, knows the password: v=... Errors: also the server's own e=...
  Status CheckServer(std::string_view server_final) const;

 private:
  std::string Hmac(std::string_view key, std::string_view text) const;
  std::string Hash(std::string_view text) const;

  const bool is_512_;
  const std::string user_, password_, nonce_;
  std::string server_signature_;
};

/// 24 random bytes in letters that SCRAM allows.
std::string MakeScramNonce();

}  // namespace thalweg::connectors
