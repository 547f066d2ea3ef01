#include "streaming/query/active_queries.h"

#include <gtest/gtest.h>

namespace thalweg::streaming {
namespace {

/// A query that no micro-batch driver runs.
class OtherDriver final : public StreamingQuery {
 public:
  explicit OtherDriver(QueryId id) : id_(id) {}
  bool active = true;
  const QueryId& id() const override { return id_; }
  const RunId& run_id() const override { return run_id_; }
  const std::string& name() const override { return name_; }
  bool is_active() const override { return active; }
  QueryStatus status() const override { return {}; }
  std::vector<std::string> recent_progress() const override { return {}; }
  std::optional<std::string> last_progress() const override { return std::nullopt; }
  Status exception() const override { return Status::OK(); }
  Status Stop() override { return Status::OK(); }
  void StopAfterBatch() override {}
  Result<bool> AwaitTermination(std::optional<std::chrono::milliseconds>) override { return true; }
  Status ProcessAllAvailable() override { return Status::OK(); }
  int64_t OnTermination(std::function<void()>) override { return 0; }
  void RemoveWaiter(int64_t) override {}
  std::string Explain(bool) const override { return ""; }

 private:
  const QueryId id_;
  const RunId run_id_{Uuid::MakeRandom()};
  const std::string name_;
};

TEST(ActiveQueriesTest, OneRunOfAQueryAtATimeWhateverDrivesIt) {
  ActiveQueries queries;
  const QueryId id(Uuid::MakeRandom());
  const auto first = std::make_shared<OtherDriver>(id);
  const auto second = std::make_shared<OtherDriver>(id);
  EXPECT_EQ(queries.Enter(first), nullptr);
  EXPECT_EQ(queries.Enter(second), first);
  EXPECT_EQ(queries.Enter(std::make_shared<OtherDriver>(QueryId(Uuid::MakeRandom()))), nullptr);
  queries.Leave(*second);  // it never held the id
  EXPECT_EQ(queries.Enter(second), first);
  first->active = false;
  EXPECT_EQ(queries.Enter(second), nullptr);
  queries.Leave(*first);
  EXPECT_EQ(queries.Enter(first), second);
  queries.Leave(*second);
  first->active = true;
  EXPECT_EQ(queries.Enter(first), nullptr);
}

}  // namespace
}  // namespace thalweg::streaming
