#include <gtest/gtest.h>

#include <new>

#include "engine/exec/testing.h"

namespace thalweg::engine {
namespace {

using testing::Collector;
using testing::FixedScan;
using testing::LeafNode;
using testing::LongOutput;
using testing::Plan;

/// Memory runs out when the splits are dealt, which the caller's thread does while the execution is shown.
class SplitOfNoMemory final : public sql::InputSplit {
 public:
  Result<std::unique_ptr<sql::PartitionReader>> Open(const sql::EvalConfig&) const override { return InternalError("never"); }
  int64_t estimated_bytes() const override { throw std::bad_alloc(); }
  std::string Describe() const override { return "no memory"; }
};

TEST(ExecutionViewTest, AnExecutionThatThrewIsShownNoLonger) {
  Scheduler scheduler(Scheduler::Options{2, 2});
  MemoryAccount account{"test", nullptr};
  MemoryReservation memory{account};
  const SplitList splits{std::make_shared<SplitOfNoMemory>()};
  const auto plan = Plan(LeafNode(0, 1, LongOutput()), {LeafSlot{.scan = FixedScan(splits), .request = {}, .output = LongOutput(), .description = {}}});
  Collector collector;
  ExecutionView view;
  EXPECT_THROW(Ignore(RunBatch(scheduler, plan, std::make_shared<const sql::EvalConfig>(), &memory, collector.consumer(), {}, nullptr, &view).status(),
                      "it throws"),
               std::bad_alloc);
  EXPECT_TRUE(view.Stages().empty());
}

}  // namespace
}  // namespace thalweg::engine
