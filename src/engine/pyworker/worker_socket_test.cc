#include "engine/pyworker/worker_socket.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <thread>

namespace thalweg::engine {
namespace {

std::array<int, 2> Pair() {
  std::array<int, 2> ends{};
  EXPECT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  return ends;
}

TEST(WorkerSocket, ALimitOfMonthsIsNotCutToMilliseconds) {
  const std::array<int, 2> ends = Pair();
  const std::array<int, 2> quiet = Pair();
  WorkerSocket socket(ends[0], nullptr);
  socket.set_silence_limit(std::chrono::milliseconds((int64_t{1} << 32) + 1));
  std::jthread other([&] {
    WorkerSocket silent(quiet[0], nullptr);
    silent.set_silence_limit(std::chrono::milliseconds(50));
    EXPECT_FALSE(silent.ReadInt({}).ok());
    const std::string seven = JavaData().Int(7).Take();
    EXPECT_EQ(write(ends[1], seven.data(), seven.size()), 4);
  });
  const Result<int32_t> read = socket.ReadInt({});
  ASSERT_TRUE(read.ok()) << read.status().message();
  EXPECT_EQ(*read, 7);
  other.join();
  close(ends[1]);
  close(quiet[1]);
}

TEST(WorkerSocket, ATracebackThatNeverComesIsNotAwaitedForEver) {
  const std::array<int, 2> ends = Pair();
  WorkerSocket socket(ends[0], nullptr);
  socket.set_silence_limit(std::chrono::milliseconds(50));
  const std::string thrown = JavaData().Int(kPythonExceptionThrown).Take();
  ASSERT_EQ(write(ends[1], thrown.data(), thrown.size()), 4);
  EXPECT_EQ(socket.ReadTag({}).status().condition(), "PYTHON_WORKER_CRASHED");
  close(ends[1]);
}

}  // namespace
}  // namespace thalweg::engine
