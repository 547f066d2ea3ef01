#include "apps/embedded_engine.h"

#include <grpcpp/channel.h>

#include "apps/server_process.h"
#include "front/connect/connect_server.h"
#include "front/dataframe/embedded.h"

namespace thalweg::apps {

namespace {

class EmbeddedEngine final : public front::EmbeddedServer {
 public:
  static Result<std::shared_ptr<front::EmbeddedServer>> Make(const std::map<std::string, std::string>& settings) {
    SettingsMap values;
    for (const auto& [key, value] : settings) values.Set(key, value);
    auto engine = std::make_shared<EmbeddedEngine>();
    TW_ASSIGN_OR_RETURN(engine->process_, ServerProcess::Make(std::move(values)));
    engine->server_ = std::make_unique<front::ConnectServer>(engine->process_->context());
    TW_RETURN_NOT_OK(engine->server_->StartEmbedded());
    return std::shared_ptr<front::EmbeddedServer>(std::move(engine));
  }
  std::shared_ptr<grpc::Channel> channel() override { return server_->InProcessChannel(); }

 private:
  std::unique_ptr<ServerProcess> process_;
  std::unique_ptr<front::ConnectServer> server_;  // stops before the process goes
};

}  // namespace

void UseEmbeddedEngine() { front::SetEmbeddedServerFactory(&EmbeddedEngine::Make); }

}  // namespace thalweg::apps
