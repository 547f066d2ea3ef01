#include "front/foreach/foreach_rows.h"

#include <gtest/gtest.h>

#include "base/signal.h"
#include "data/columnar/builder.h"

namespace thalweg::front {
namespace {

/// No worker ever becomes free.
class BusyWorkers final : public engine::PythonWorkers {
 public:
  Result<engine::PythonRuntime> Runtime(const engine::WorkerRequest&, std::stop_token) override { return Cancelled(); }
  Result<std::unique_ptr<engine::PooledWorker>> Acquire(const engine::WorkerRequest&, std::stop_token stop) override {
    Signal never;
    never.Wait(stop);
    return Cancelled();
  }
  void Release(std::unique_ptr<engine::PooledWorker>) override {}
  Result<std::unique_ptr<engine::StandAloneWorker>> Launch(const engine::WorkerRequest&, const std::string&, std::chrono::milliseconds,
                                                           std::stop_token) override {
    return Cancelled();
  }
  void OwnerGone(const std::string&) override {}
  void Close() override {}
  Census Count() const override { return {}; }
};

// Rows wait for Python at the session's expense: the query fails when they are too many, not the process.
TEST(PythonForeach, RowsThatWaitAreCharged) {
  BusyWorkers workers;
  MemoryAccount session("session", nullptr, 1 << 20);
  ForeachFunction function;
  function.workers = &workers;
  function.memory = &session;
  {
    const auto sink = MakePythonForeach(function, {{.name = "id", .type = data::DataType::Long()}}).ValueOrDie();
    const auto writer = sink->NewWriter(PartitionId(0), BatchId(0)).ValueOrDie();
    data::FixedBuilder<int64_t> ids(data::DataType::Long());
    for (int64_t id = 0; id < 10000; ++id) ids.Append(id);
    const data::Chunk chunk({ids.Finish()}, 10000);
    Status written;
    int chunks = 0;
    for (; written.ok() && chunks < 1000; ++chunks) written = writer->Write(chunk);
    EXPECT_EQ(written.condition(), "OUT_OF_MEMORY") << written.message();
    EXPECT_GT(chunks, 5);
    EXPECT_GT(session.used_bytes(), 0);
    writer->Abort();
  }
  EXPECT_EQ(session.used_bytes(), 0);
}

}  // namespace
}  // namespace thalweg::front
