#include "front/dataframe/embedded.h"

#include "base/mutex.h"

namespace thalweg::front {
namespace {

struct Embedded {
  Mutex mutex;
  EmbeddedServerFactory factory TW_GUARDED_BY(mutex);
  std::weak_ptr<EmbeddedServer> running TW_GUARDED_BY(mutex);
};

Embedded& Process() {
  static Embedded embedded;
  return embedded;
}

}  // namespace

void SetEmbeddedServerFactory(EmbeddedServerFactory factory) {
  const MutexLock lock(Process().mutex);
  Process().factory = std::move(factory);
}

Result<std::shared_ptr<EmbeddedServer>> GetEmbeddedServer(const std::map<std::string, std::string>& settings) {
  const MutexLock lock(Process().mutex);
  if (std::shared_ptr<EmbeddedServer> running = Process().running.lock()) return running;
  if (!Process().factory) return Unsupported("an embedded session: this program links the client alone");
  TW_ASSIGN_OR_RETURN(std::shared_ptr<EmbeddedServer> started, Process().factory(settings));
  Process().running = started;
  return started;
}

}  // namespace thalweg::front
