#pragma once

#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/status.h"

namespace grpc {
class Channel;
}

namespace thalweg::front {

/// An engine inside this process. Destroyed when the last session that uses it has ended.
class EmbeddedServer {
 public:
  virtual ~EmbeddedServer() = default;
  /// A channel that uses no socket.
  virtual std::shared_ptr<grpc::Channel> channel() = 0;
};

/// Starts an engine; `settings` are its static settings and the defaults of sessions.
using EmbeddedServerFactory = std::function<Result<std::shared_ptr<EmbeddedServer>>(const std::map<std::string, std::string>& settings)>;

/// Told once by whoever links the engine (apps/), before the first session.
void SetEmbeddedServerFactory(EmbeddedServerFactory factory);
/// The engine of the process, started when it is not running. Errors: UNSUPPORTED_FEATURE.THALWEG without a factory.
Result<std::shared_ptr<EmbeddedServer>> GetEmbeddedServer(const std::map<std::string, std::string>& settings);

}  // namespace thalweg::front
