#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/status.h"

namespace grpc {
class Channel;
}

namespace thalweg::front {

/// An engine inside this process. Destroyed, with its queries stopped, when the last session that uses it has ended.
class EmbeddedServer {
 public:
  virtual ~EmbeddedServer() = default;
  /// A channel that uses no socket.
  virtual std::shared_ptr<grpc::Channel> channel() = 0;
  /// Ends sessions and queries; calls that come later fail. Idempotent.
  virtual void Stop() = 0;
};

/// Starts an engine; `settings` are its static settings and the defaults of sessions. Defined by who links the engine
/// (apps/embedded_engine.cc), since this room must not see connectors.
Result<std::shared_ptr<EmbeddedServer>> StartEmbeddedServer(const std::map<std::string, std::string>& settings);

struct EmbeddedUse {
  std::shared_ptr<EmbeddedServer> server;
  bool started = false;  ///< by this call: its defaults are the settings that were given
};

/// The engine of the process, started when it is not running. Thread: any; one engine at a time.
Result<EmbeddedUse> UseEmbeddedServer(const std::map<std::string, std::string>& settings);
/// Stops it, if it runs, for the end of the process.
void StopEmbeddedServer();

}  // namespace thalweg::front
