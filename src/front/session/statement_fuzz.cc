// SQL statements from text to the printed physical plan: parser, analyzer, optimizer and planner on what nobody means well. No crash, and
// an analysed query keeps the schema that it was analysed to. There are no data sources, and no command is run.

#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/clock.h"
#include "base/log.h"
#include "data/io/memory_file_system.h"
#include "engine/exec/execution.h"
#include "front/session/session.h"
#include "sql/catalog/catalog.h"
#include "sql/functions/registry.h"

namespace {

using namespace thalweg;  // NOLINT

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
    session = front::Session::Make(context, "user", "session");
    const auto view = session->ParseSql("SELECT * FROM VALUES (1, 'a', 1.5D, array(1)), (2, null, 0D, null) AS t(i, s, d, l)", {}, {});
    if (!view.ok() || !session->Analyze(*view).ok() || !session->CreateTempView("t", *session->Analyze(*view), true, false).ok()) std::abort();
  }

  data::MemoryFileSystem disk;
  MemoryAccount account{"fuzz", nullptr, 256 << 20};
  MemoryReservation memory{account};
  sql::DataSourceRegistry data_sources;
  sql::Catalog catalog{disk, "/proc/no/warehouse"};
  engine::Scheduler scheduler{OneWorker()};
  front::ServerContext context;
  std::shared_ptr<front::Session> session;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  static Server* const server = new Server();  // lives to the end of the process
  front::Session& session = *server->session;
  const Result<sql::PlanPtr> parsed = session.ParseSql(std::string(reinterpret_cast<const char*>(bytes), size), {}, {});
  if (!parsed.ok() || (*parsed)->kind() == sql::PlanKind::kCommand) return 0;
  const Result<sql::PlanPtr> analyzed = session.Analyze(*parsed);
  if (!analyzed.ok()) return 0;
  const data::Schema schema = (*analyzed)->schema();
  Ignore(session.Explain(*parsed, "extended").status(), "it may be refused");
  if (const Result<sql::PlanPtr> again = session.Analyze(*parsed); !again.ok() || !((*again)->schema() == schema)) std::abort();
  return 0;
}
