#pragma once

// Everything a process needs to run queries, built once: server, submit, shell and the embedded engine.

#include <memory>

#include "base/memory.h"
#include "base/settings.h"
#include "base/status.h"
#include "front/session/session.h"

namespace thalweg::apps {

class ServerProcess {
 public:
  /// `settings`: spark-defaults.conf and --conf; spark.sql.warehouse.dir says where tables are kept.
  static Result<std::unique_ptr<ServerProcess>> Make(SettingsMap settings);
  ~ServerProcess();  ///< sessions must be closed
  front::ServerContext& context();

 private:
  ServerProcess();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace thalweg::apps
