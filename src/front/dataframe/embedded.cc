#include "front/dataframe/embedded.h"

#include "base/mutex.h"

namespace thalweg::front {
namespace {

// The mutex is held while an engine starts: a session that comes then waits for the same engine.
struct Embedded {
  Mutex mutex;
  std::weak_ptr<EmbeddedServer> running TW_GUARDED_BY(mutex);
};

Embedded& TheEmbedded() {
  static auto* embedded = new Embedded;  // sessions may end after static objects have gone
  return *embedded;
}

}  // namespace

Result<EmbeddedUse> UseEmbeddedServer(const std::map<std::string, std::string>& settings) {
  const MutexLock lock(TheEmbedded().mutex);
  if (std::shared_ptr<EmbeddedServer> running = TheEmbedded().running.lock()) return EmbeddedUse{std::move(running), false};
  TW_ASSIGN_OR_RETURN(std::shared_ptr<EmbeddedServer> started, StartEmbeddedServer(settings));
  TheEmbedded().running = started;
  return EmbeddedUse{std::move(started), true};
}

void StopEmbeddedServer() {
  std::shared_ptr<EmbeddedServer> running;
  {
    const MutexLock lock(TheEmbedded().mutex);
    running = TheEmbedded().running.lock();
    TheEmbedded().running.reset();
  }
  if (running != nullptr) running->Stop();
}

}  // namespace thalweg::front
