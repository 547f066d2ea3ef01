#include "base/thread.h"

#include <pthread.h>

#include <exception>
#include <utility>

#include "base/log.h"

namespace thalweg {

void SetThreadName(const std::string& name) {
#if defined(__APPLE__)
  pthread_setname_np(name.substr(0, 15).c_str());
#else
  pthread_setname_np(pthread_self(), name.substr(0, 15).c_str());
#endif
}

std::jthread StartThread(std::string name, std::function<void(std::stop_token)> body) {
  return std::jthread([name = std::move(name), body = std::move(body)](std::stop_token stop) {
    SetThreadName(name);
    try {
      body(std::move(stop));
    } catch (const std::exception& error) {
      TW_LOG(kError, "thread ended by an exception", {"thread", name}, {"what", error.what()});
    }
  });
}

}  // namespace thalweg
