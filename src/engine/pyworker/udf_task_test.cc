#include "engine/pyworker/udf_task.h"

#include <gtest/gtest.h>

#include <new>

namespace thalweg::engine {
namespace {

/// Where memory ends at the first request.
class NoMemory final : public PythonWorkers {
 public:
  Result<PythonRuntime> Runtime(const WorkerRequest&, std::stop_token) override { return Cancelled(); }
  Result<std::unique_ptr<PooledWorker>> Acquire(const WorkerRequest&, std::stop_token) override { throw std::bad_alloc(); }
  void Release(std::unique_ptr<PooledWorker>) override {}
  Result<std::unique_ptr<StandAloneWorker>> Launch(const WorkerRequest&, const std::string&, std::chrono::milliseconds, std::stop_token) override {
    return Cancelled();
  }
  void OwnerGone(const std::string&) override {}
  void Close() override {}
  Census Count() const override { return {}; }
};

TEST(UdfTask, WhatIsThrownIsItsError) {
  NoMemory workers;
  auto params = std::make_shared<UdfParams>();
  params->workers = &workers;
  UdfTask task(params, 0, std::nullopt);
  ASSERT_TRUE(task.Add(data::Chunk({}, 1)).ok());
  while (true) {
    const std::shared_ptr<Signal> change = task.NextChange();
    const Result<UdfTask::Output> output = task.Take();
    if (!output.ok()) {
      EXPECT_EQ(output.status().condition(), "OUT_OF_MEMORY");
      return;
    }
    ASSERT_FALSE(output->ended);
    ASSERT_TRUE(change->WaitFor({}, std::chrono::seconds(20))) << "nothing says that the task has ended";
  }
}

// Rows that wait are the query's to pay for.
TEST(UdfTask, RowsThatDoNotFitAreRefused) {
  NoMemory workers;
  auto params = std::make_shared<UdfParams>();
  params->workers = &workers;
  MemoryAccount account("query", nullptr, 1000);
  {
    UdfTask task(params, 0, std::nullopt, MemoryReservation(account));
    const data::ColumnPtr column = data::Column::Constant(data::DataType::Long(), data::Value(int64_t{1}), 1000);
    const Status refused = task.Add(data::Chunk({data::Flatten(column)}, 1000));
    EXPECT_EQ(refused.condition(), "OUT_OF_MEMORY") << refused.message();
  }
  EXPECT_EQ(account.used_bytes(), 0);
}

}  // namespace
}  // namespace thalweg::engine
