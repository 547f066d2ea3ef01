// AnalyzePlan requests as they come from the wire: no crash, an answer or a named condition. Bytes of spark.connect.AnalyzePlanRequest.

#include <spark/connect/base.pb.h>

#include <cstdint>
#include <cstdlib>

#include "base/clock.h"
#include "base/log.h"
#include "data/io/memory_file_system.h"
#include "engine/exec/execution.h"
#include "front/connect/session_holder.h"
#include "front/connect/unary_calls.h"
#include "front/session/session.h"
#include "sql/catalog/catalog.h"
#include "sql/functions/registry.h"
#include "sql/protocol/plan_proto.h"

namespace {

using namespace thalweg;  // NOLINT

/// A server without data sources that runs no commands.
struct Server {
  static engine::Scheduler::Options OneWorker() {
    engine::Scheduler::Options options;
    options.workers = options.io_threads = 1;
    return options;
  }
  Server() {
    ConfigureLog(LogLevel::kOff, LogFormat::kText);
    context.scheduler = &scheduler;
    context.catalog = &catalog;
    context.data_sources = &data_sources;
    context.functions = &sql::BuiltinFunctions();
    context.connectors = {&disk, &SystemClock::Get(), [](std::string_view) {}};
    context.memory = &memory;
    holder = std::make_shared<front::SessionHolder>(front::Session::Make(context, "user", "session"), "server");
  }

  data::MemoryFileSystem disk;
  MemoryAccount account{"fuzz", nullptr, 256 << 20};
  MemoryReservation memory{account};
  sql::DataSourceRegistry data_sources;
  sql::Catalog catalog{disk, "/proc/no/warehouse"};
  engine::Scheduler scheduler{OneWorker()};
  front::ServerContext context;
  std::shared_ptr<front::SessionHolder> holder;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  static Server* const server = new Server();  // lives to the end of the process
  spark::connect::AnalyzePlanRequest request;
  if (!sql::ParseDeepMessage({reinterpret_cast<const char*>(bytes), size}, &request)) return 0;
  spark::connect::AnalyzePlanResponse response;
  const Status status = front::AnswerAnalyze(*server->holder, request, &response);
  if (!status.ok() && status.condition().empty()) std::abort();
  return 0;
}
