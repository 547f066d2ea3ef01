#include <gtest/gtest.h>

#include <limits>
#include <thread>

#include "base/bounded_queue.h"
#include "base/clock.h"
#include "base/signal.h"
#include "base/thread.h"

namespace thalweg {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;

TEST(SignalTest, CallbacksRunOnceAndAtOnceWhenSet) {
  Signal signal;
  int runs = 0;
  signal.OnSet([&] { ++runs; });
  EXPECT_EQ(runs, 0);
  signal.Set();
  signal.Set();
  EXPECT_EQ(runs, 1);
  signal.OnSet([&] { ++runs; });
  EXPECT_EQ(runs, 2);
  signal.Reset();
  EXPECT_FALSE(signal.IsSet());
  signal.OnSet([&] { ++runs; });
  signal.Set();
  EXPECT_EQ(runs, 3);
}

TEST(SignalTest, ACallbackMaySetItAgainAfterReset) {
  Signal signal;
  signal.OnSet([&] { signal.Reset(); });
  signal.Set();
  EXPECT_FALSE(signal.IsSet());
}

TEST(SignalTest, WaitersWake) {
  Signal signal;
  std::jthread setter([&] { signal.Set(); });
  EXPECT_TRUE(signal.Wait({}));
}

TEST(SignalTest, StopEndsAWait) {
  Signal signal;
  std::stop_source stop;
  std::jthread stopper([&] { stop.request_stop(); });
  EXPECT_FALSE(signal.Wait(stop.get_token()));
}

TEST(SignalTest, TimeEndsAWait) {
  Signal signal;
  EXPECT_FALSE(signal.WaitFor({}, microseconds(100)));
}

TEST(BoundedQueueTest, FirstInFirstOutAndBounded) {
  BoundedQueue<int> queue(2);
  int three = 3;
  EXPECT_TRUE(queue.Push(1));
  EXPECT_TRUE(queue.Push(2));
  EXPECT_FALSE(queue.TryPush(three));
  EXPECT_EQ(queue.Pop(), 1);
  EXPECT_TRUE(queue.TryPush(three));
  EXPECT_EQ(queue.Pop(), 2);
  EXPECT_EQ(queue.Pop(), 3);
  EXPECT_EQ(queue.TryPop(), std::nullopt);
}

TEST(BoundedQueueTest, AFullQueueBlocksUntilItemsLeave) {
  BoundedQueue<int> queue(1);
  constexpr int kItems = 1000;
  std::jthread producer([&] {
    for (int i = 0; i < kItems; ++i) queue.Push(i);
    queue.Close();
  });
  int expected = 0;
  while (const std::optional<int> item = queue.Pop()) EXPECT_EQ(*item, expected++);
  EXPECT_EQ(expected, kItems);
}

TEST(BoundedQueueTest, CloseRefusesAndDrains) {
  BoundedQueue<int> queue(2);
  queue.Push(1);
  queue.Close();
  EXPECT_FALSE(queue.Push(2));
  EXPECT_EQ(queue.Pop(), 1);
  EXPECT_EQ(queue.Pop(), std::nullopt);
}

TEST(BoundedQueueTest, StopEndsBothWaits) {
  BoundedQueue<int> queue(1);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(queue.Pop(stop.get_token()), std::nullopt);
  queue.Push(1);
  EXPECT_FALSE(queue.Push(2, stop.get_token()));
}

TEST(ManualClockTest, StandsStillUntilMoved) {
  ManualClock clock(5'000'001);
  EXPECT_EQ(clock.NowMicros(), 5'000'001);
  EXPECT_EQ(clock.NowMillis(), 5'000);
  const auto before = clock.NowMonotonic();
  clock.Advance(milliseconds(3));
  EXPECT_EQ(clock.NowMicros(), 5'003'001);
  EXPECT_EQ(clock.NowMonotonic() - before, milliseconds(3));
  clock.SetMicros(-1);
  EXPECT_EQ(clock.NowMillis(), -1);
  EXPECT_EQ(clock.NowMonotonic() - before, milliseconds(3));
}

TEST(ManualClockTest, AdvancingWakesWhomItConcerns) {
  ManualClock clock(0);
  Clock::Wake wake = Clock::Wake::kStop;
  std::jthread waiter([&] { wake = clock.WaitUntil(1000, nullptr, {}); });
  clock.AwaitWaiters(1);
  clock.Advance(microseconds(999));
  clock.Advance(microseconds(1));
  waiter.join();
  EXPECT_EQ(wake, Clock::Wake::kTime);
}

// Somebody sets the machine's clock back by an hour: a wait of ten seconds must not become one of an hour.
TEST(ManualClockTest, AClockThatIsSetBackLengthensNoWait) {
  ManualClock clock(7'200'000'000);
  Clock::Wake woken = Clock::Wake::kStop;
  {
    std::jthread waiter([&] { woken = clock.WaitFor(std::chrono::seconds(10), nullptr, {}); });
    clock.AwaitWaiters(1);
    clock.SetMicros(3'600'000'000);
    clock.Advance(std::chrono::seconds(10));
  }
  EXPECT_EQ(woken, Clock::Wake::kTime);
}

TEST(ManualClockTest, SignalAndStopWakeToo) {
  ManualClock clock(0);
  Signal signal;
  signal.Set();
  EXPECT_EQ(clock.WaitUntil(1000, &signal, {}), Clock::Wake::kSignal);
  signal.Reset();
  Clock::Wake wake = Clock::Wake::kTime;
  std::jthread waiter([&] { wake = clock.WaitFor(milliseconds(1), &signal, {}); });
  clock.AwaitWaiters(1);
  signal.Set();
  waiter.join();
  EXPECT_EQ(wake, Clock::Wake::kSignal);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(clock.WaitUntil(1000, nullptr, stop.get_token()), Clock::Wake::kStop);
}

TEST(SystemClockTest, WaitsForTimeSignalAndStop) {
  SystemClock& clock = SystemClock::Get();
  const int64_t start = clock.NowMicros();
  EXPECT_EQ(clock.WaitFor(milliseconds(1), nullptr, {}), Clock::Wake::kTime);
  EXPECT_GE(clock.NowMicros(), start + 1000);
  Signal signal;
  std::jthread setter([&] { signal.Set(); });
  EXPECT_EQ(clock.WaitUntil(std::numeric_limits<int64_t>::max(), &signal, {}), Clock::Wake::kSignal);
  std::stop_source stop;
  stop.request_stop();
  EXPECT_EQ(clock.WaitUntil(std::numeric_limits<int64_t>::max(), nullptr, stop.get_token()), Clock::Wake::kStop);
}

TEST(ThreadTest, RunsNamedUntilStopped) {
  Signal stopped;
  {
    std::jthread thread = StartThread("tw-test-thread-long", [&](std::stop_token stop) {
      Signal never;
      never.Wait(stop);
      stopped.Set();
    });
  }
  EXPECT_TRUE(stopped.IsSet());
}

}  // namespace
}  // namespace thalweg
