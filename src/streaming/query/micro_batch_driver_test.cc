#include "streaming/query/micro_batch_driver.h"

#include <gtest/gtest.h>

#include <new>

#include "base/clock.h"
#include "base/signal.h"
#include "data/io/memory_file_system.h"
#include "sql/plan/logical_plan.h"
#include "streaming/query/query_events.h"
#include "streaming/query/query_manager.h"
#include "streaming/query/query_settings.h"

namespace thalweg::streaming {
namespace {

/// Hears of the end, and has no memory for it.
class ListenerOfNoMemory final : public StreamingListener {
 public:
  void OnStarted(const std::string&) override {}
  void OnProgress(const std::string&) override {}
  void OnIdle(const std::string&) override {}
  void OnTerminated(const std::string&) override { throw std::bad_alloc(); }
};

class MicroBatchDriverTest : public testing::Test {
 protected:
  /// A query whose sink cannot be made.
  StreamingQuerySpec Spec() {
    StreamingQuerySpec spec;
    spec.plan = std::make_shared<sql::LocalRelation>(sql::AttributeList{}, std::vector<data::Chunk>{});
    spec.make_sink = [](const sql::StreamWriteRequest&) { return InternalError("no sink"); };
    spec.checkpoint_location = "/checkpoint";
    spec.config = std::make_shared<const sql::EvalConfig>();
    spec.settings.Set(kStopTimeoutMs, int64_t{10'000});
    spec.file_system = &files_;
    spec.clock = &SystemClock::Get();
    return spec;
  }
  void ExpectAnEnd(StreamingQuerySpec spec, std::function<void(const StreamingQuery&)> on_end) {
    const auto query = MicroBatchDriver::Make(std::move(spec), events_, std::move(on_end)).ValueOrDie();
    const auto told = std::make_shared<Signal>();
    query->OnTermination([] { throw std::bad_alloc(); });
    query->OnTermination([told] { told->Set(); });
    query->Start();
    const Result<bool> ended = query->AwaitTermination(std::chrono::seconds(10));
    EXPECT_EQ(ended.status().condition(), "STREAM_FAILED") << "or it is not over";
    EXPECT_TRUE(told->WaitFor({}, std::chrono::seconds(10)));
    EXPECT_FALSE(query->is_active());
    EXPECT_TRUE(query->Stop().ok());
  }

  data::MemoryFileSystem files_;
  const std::shared_ptr<QueryEvents> events_ = std::make_shared<QueryEvents>();
};

TEST_F(MicroBatchDriverTest, ARunIsOverWhateverItsEndMeets) {
  ExpectAnEnd(Spec(), [](const StreamingQuery&) {});
  ExpectAnEnd(Spec(), [](const StreamingQuery&) { throw std::bad_alloc(); });
  StreamingQuerySpec spec = Spec();
  spec.exception_text = [](const Status&) -> std::string { throw std::bad_alloc(); };
  ExpectAnEnd(std::move(spec), [](const StreamingQuery&) {});
  events_->Add(std::make_shared<ListenerOfNoMemory>());
  // The lock of the checkpoint is free: the same one again.
  ExpectAnEnd(Spec(), [](const StreamingQuery&) {});
}

}  // namespace
}  // namespace thalweg::streaming
