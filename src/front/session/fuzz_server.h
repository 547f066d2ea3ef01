#pragma once

// For fuzz programs: a server without data sources, on files in memory.

#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "data/io/memory_file_system.h"
#include "engine/exec/execution.h"
#include "front/session/session.h"
#include "sql/catalog/catalog.h"
#include "sql/functions/registry.h"

namespace thalweg::front {

struct FuzzServer {
  static engine::Scheduler::Options OneWorker() {
    engine::Scheduler::Options options;
    options.workers = options.io_threads = 1;
    return options;
  }
  FuzzServer() {
    ConfigureLog(LogLevel::kOff, LogFormat::kText);
    context.scheduler = &scheduler;
    context.catalog = &catalog;
    context.data_sources = &data_sources;
    context.functions = &sql::BuiltinFunctions();
    context.connectors = {&disk, &SystemClock::Get(), [](std::string_view) {}};
    context.memory = &memory;
    session = Session::Make(context, "user", "session");
  }

  data::MemoryFileSystem disk;
  MemoryAccount account{"fuzz", nullptr, 256 << 20};
  MemoryReservation memory{account};
  sql::DataSourceRegistry data_sources;
  sql::Catalog catalog{disk, "/proc/no/warehouse"};
  engine::Scheduler scheduler{OneWorker()};
  ServerContext context;
  std::shared_ptr<Session> session;
};

}  // namespace thalweg::front
