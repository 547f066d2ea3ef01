#include "apps/server_process.h"

#include <cstdio>

#include "apps/builtin_connectors.h"
#include "apps/known_settings.h"
#include "base/mutex.h"
#include "base/process_memory.h"
#include "data/io/local_file_system.h"
#include "data/io/path.h"
#include "engine/exec/execution.h"
#include "engine/pyworker/python_workers.h"
#include "engine/state/state_services.h"
#include "front/commands/run_command.h"
#include "front/session/session_conf.h"
#include "sql/catalog/catalog.h"
#include "sql/functions/registry.h"

namespace thalweg::apps {

namespace {

// Lines of the console sink, whole even when several queries print.
void PrintToConsole(std::string_view text) {
  static Mutex mutex;
  const MutexLock lock(mutex);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

// What the user's functions print stands where the console sink's rows stand, and on standard error. The lines that pyspark's own
// workers print about their batches are left out.
void PrintOfWorkers(std::string_view line, bool is_stderr) {
  if (line.starts_with("Streaming ForeachBatch worker ")) return;
  std::string text(line);
  text.push_back('\n');
  if (is_stderr) std::fwrite(text.data(), 1, text.size(), stderr);
  else PrintToConsole(text);
}

}  // namespace

struct ServerProcess::Impl {
  MemoryAccount account{"server", nullptr};
  MemoryReservation memory{account};
  sql::DataSourceRegistry data_sources;
  std::unique_ptr<sql::Catalog> catalog;
  std::unique_ptr<engine::StateServices> state;
  std::unique_ptr<engine::Scheduler> scheduler;
  std::unique_ptr<engine::PythonWorkers> python;
  front::ServerContext context;
};

ServerProcess::ServerProcess() : impl_(std::make_unique<Impl>()) {}
ServerProcess::~ServerProcess() = default;
front::ServerContext& ServerProcess::context() { return impl_->context; }

Result<std::unique_ptr<ServerProcess>> ServerProcess::Make(SettingsMap settings) {
  std::unique_ptr<ServerProcess> process(new ServerProcess);
  Impl& impl = *process->impl_;
  for (const auto& [key, text] : settings.values()) TW_RETURN_NOT_OK(front::CheckSetting(&KnownSettings(), key, text));
  SetProcessMemoryLimit(settings.Get(kMemoryLimit));
  impl.account.set_limit_bytes(ProcessMemoryLimit());
  data::FileSystem& files = data::LocalFileSystem::Get();
  const std::string* warehouse = settings.Find("spark.sql.warehouse.dir");
  TW_ASSIGN_OR_RETURN(const std::string path, data::PathFromText(warehouse == nullptr ? "spark-warehouse" : *warehouse));
  impl.catalog = std::make_unique<sql::Catalog>(files, data::AbsolutePath(path));
  impl.state = std::make_unique<engine::StateServices>(files, SystemClock::Get(), &impl.account);
  impl.scheduler = std::make_unique<engine::Scheduler>(engine::Scheduler::Options{});
  impl.python = engine::PythonWorkers::Make(PrintOfWorkers);
  front::ServerContext& context = impl.context;
  context.python = impl.python.get();
  context.scheduler = impl.scheduler.get();
  context.state = impl.state.get();
  context.catalog = impl.catalog.get();
  context.data_sources = &impl.data_sources;
  context.functions = &sql::BuiltinFunctions();
  context.connectors = {&files, &SystemClock::Get(), PrintToConsole};
  context.memory = &impl.memory;
  context.known_settings = &KnownSettings();
  context.server_settings = std::move(settings);
  context.run_command = front::RunCommand;
  TW_RETURN_NOT_OK(RegisterBuiltinConnectors(context.connectors, &impl.data_sources));
  return process;
}

}  // namespace thalweg::apps
