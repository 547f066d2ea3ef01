#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>

#include "apps/commands.h"
#include "apps/server_process.h"
#include "apps/spark_defaults.h"
#include "apps/wait_for_signals.h"
#include "base/log.h"
#include "front/connect/connect_server.h"

namespace thalweg::apps {

namespace {

struct ServerArguments {
  front::ConnectServerOptions listen;
  std::vector<std::string> conf;
  std::string properties_file;
  std::string log_level = "info";
  bool json_log = false;
};

Status Serve(const ServerArguments& arguments, int* exit_code) {
  TW_ASSIGN_OR_RETURN(const LogLevel level, ParseLogLevel(arguments.log_level));
  ConfigureLog(level, arguments.json_log ? LogFormat::kJson : LogFormat::kText);
  SettingsMap settings;
  const std::string file = arguments.properties_file.empty() ? DefaultPropertiesFile() : arguments.properties_file;
  if (!file.empty()) TW_RETURN_NOT_OK(ReadPropertiesFile(file, &settings));
  for (const std::string& pair : arguments.conf) TW_RETURN_NOT_OK(AddConf(pair, &settings));
  front::ConnectServerOptions listen = arguments.listen;
  if (listen.token.empty()) {
    if (const std::string* token = settings.Find("spark.connect.authenticate.token")) listen.token = *token;
  }
  if (listen.token.empty()) {
    if (const char* token = std::getenv("SPARK_CONNECT_AUTHENTICATE_TOKEN")) listen.token = token;
  }
  settings.Unset("spark.connect.authenticate.token");  // sessions may read settings
  BlockSignals();
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<ServerProcess> process, ServerProcess::Make(std::move(settings)));
  front::ConnectServer server(process->context());
  TW_RETURN_NOT_OK(server.Start(listen));
  std::cout << server.url() << std::endl;
  *exit_code = ServeUntilSignal([&server] { server.Stop(); });
  return Status::OK();
}

}  // namespace

void AddServerCommand(CLI::App& app, int* exit_code) {
  auto arguments = std::make_shared<ServerArguments>();
  CLI::App* command = app.add_subcommand("server", "Listen for Spark Connect clients");
  command->add_option("--host", arguments->listen.host, "Address to listen on")->capture_default_str();
  command->add_option("--port", arguments->listen.port, "Port to listen on; 0 takes a free one")
      ->capture_default_str()
      ->check(CLI::Range(0, 65535));
  command->add_option("--token", arguments->listen.token, "Token that every call must carry (else: SPARK_CONNECT_AUTHENTICATE_TOKEN)");
  CLI::Option* certificate =
      command->add_option("--tls-cert", arguments->listen.tls_certificate_path, "Certificate chain (PEM)")->check(CLI::ExistingFile);
  CLI::Option* key = command->add_option("--tls-key", arguments->listen.tls_key_path, "Private key (PEM)")->check(CLI::ExistingFile);
  certificate->needs(key);
  key->needs(certificate);
  command->add_flag("--allow-plaintext", arguments->listen.allow_plaintext, "Listen beyond this machine without TLS");
  command->add_option("--conf,-c", arguments->conf, "A setting, key=value")->take_all()->expected(1)->allow_extra_args(false);
  command->add_option("--properties-file", arguments->properties_file, kPropertiesFileHelp);
  command->add_option("--log-level", arguments->log_level, "trace, debug, info, warn, error or off")->capture_default_str();
  command->add_flag("--log-json", arguments->json_log, "One JSON object per log line");
  command->callback([arguments, exit_code] {
    const Status status = Serve(*arguments, exit_code);
    if (status.ok()) return;
    std::cerr << "thalweg server: " << status.message() << "\n";
    *exit_code = 1;
  });
}

}  // namespace thalweg::apps
