#include "connectors/kafka/kafka_fetcher.h"

#include <gtest/gtest.h>

#include <atomic>
#include <new>

#include "base/signal.h"

namespace thalweg::connectors {
namespace {

// Readers learn from this thread that a broker does not answer: no want of memory may end it.
TEST(PartitionFetcher, ItsThreadOutlivesAnException) {
  std::atomic<int> ticks{0};
  Signal again;
  PartitionFetcher::Options options;
  options.settings.Set("bootstrap.servers", "127.0.0.1:1");
  options.on_data = [] {};
  options.on_tick = [&] {
    if (ticks.fetch_add(1) == 0) throw std::bad_alloc();
    again.Set();
  };
  const auto fetcher = PartitionFetcher::Make(std::move(options)).ValueOrDie();
  EXPECT_TRUE(again.WaitFor({}, std::chrono::seconds(30)));
  fetcher->Stop();
}

}  // namespace
}  // namespace thalweg::connectors
