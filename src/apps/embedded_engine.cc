// The engine inside a C++ program: what libthalweg.so has beside the client of front/dataframe.
#include <grpcpp/channel.h>

#include <cstdlib>

#include "apps/server_process.h"
#include "base/fault_point.h"
#include "base/log.h"
#include "front/connect/connect_server.h"
#include "front/dataframe/embedded.h"

namespace thalweg::apps {

namespace {

class EmbeddedEngine final : public front::EmbeddedServer {
 public:
  Status Start(const std::map<std::string, std::string>& settings) {
    SettingsMap values;
    for (const auto& [key, value] : settings) values.Set(key, value);
    TW_ASSIGN_OR_RETURN(process_, ServerProcess::Make(std::move(values)));
    server_ = std::make_unique<front::ConnectServer>(process_->context());
    return server_->StartEmbedded();
  }
  std::shared_ptr<grpc::Channel> channel() override { return server_->InProcessChannel(); }
  void Stop() override { server_->Stop(); }

 private:
  std::unique_ptr<ServerProcess> process_;
  std::unique_ptr<front::ConnectServer> server_;  // stops before the process goes
};

// A program's standard error is its own: warnings alone, unless THALWEG_LOG names another level.
Status ConfigureLogFromEnvironment() {
  const char* wanted = std::getenv("THALWEG_LOG");
  TW_ASSIGN_OR_RETURN(const LogLevel level, ParseLogLevel(wanted == nullptr ? "warn" : wanted));
  ConfigureLog(level, LogFormat::kText);
  return Status::OK();
}

}  // namespace

}  // namespace thalweg::apps

namespace thalweg::front {

Result<std::shared_ptr<EmbeddedServer>> StartEmbeddedServer(const std::map<std::string, std::string>& settings) {
  TW_RETURN_NOT_OK(apps::ConfigureLogFromEnvironment());
  TW_RETURN_NOT_OK(ArmFaultPointsFromEnvironment());
  auto engine = std::make_shared<apps::EmbeddedEngine>();
  TW_RETURN_NOT_OK(engine->Start(settings));
  return std::shared_ptr<EmbeddedServer>(std::move(engine));
}

}  // namespace thalweg::front
