#include "base/thread.h"

#include <gtest/gtest.h>

#include <new>

#include "base/signal.h"
#include "base/status.h"

namespace thalweg {
namespace {

TEST(Thread, WhoeverWaitsHearsOfAnException) {
  Signal told;
  Status status;
  const std::jthread thread = StartThread(
      "test", [](const std::stop_token&) { throw std::bad_alloc(); },
      [&](const Status& exception) {
        status = exception;
        told.Set();
      });
  told.Wait({});
  EXPECT_EQ(status.condition(), "OUT_OF_MEMORY") << status.message();
}

TEST(Thread, ALoopOutlivesItsExceptions) {
  Signal done;
  int turns = 0;
  std::jthread thread = StartLoop("test", [&](const std::stop_token&) -> bool {
    if (++turns < 3) throw std::bad_alloc();
    done.Set();
    return false;
  });
  done.Wait({});
  thread.join();
  EXPECT_EQ(turns, 3);
}

TEST(Thread, ALoopThatOnlyFailsCanBeStopped) {
  Signal begun;
  std::jthread thread = StartLoop("test", [&](const std::stop_token&) -> bool {
    begun.Set();
    throw std::bad_alloc();
  });
  begun.Wait({});
  thread.request_stop();
  thread.join();
}

}  // namespace
}  // namespace thalweg
