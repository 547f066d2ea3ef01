// thalweg sql: statements from the command line, a file or the terminal, on an engine inside this program.

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <sstream>

#include "apps/commands.h"
#include "apps/server_process.h"
#include "apps/spark_defaults.h"
#include "base/log.h"
#include "base/no_throw.h"
#include "base/uuid.h"
#include "engine/exec/operators/show_string.h"
#include "sql/parser/parser.h"

namespace thalweg::apps {
namespace {

constexpr int kShownRows = 1000;

struct SqlArguments {
  std::string text, file;
  std::vector<std::string> conf;
};

/// Runs one statement and prints what it answers.
Status RunStatement(front::Session& session, const std::string& text) {
  TW_ASSIGN_OR_RETURN(const sql::PlanPtr plan, session.ParseSql(text, {}, {}));
  engine::ShowStringParams format;
  format.num_rows = kShownRows;
  format.truncate = 0;
  std::vector<data::Chunk> rows;
  front::ResultConsumer consumer;
  consumer.on_schema = [&](const data::Schema& schema) {
    for (const data::StructField& field : schema) {
      format.names.push_back(field.name);
      format.types.push_back(field.type);
    }
    return Status::OK();
  };
  consumer.on_chunk = [&](const data::Chunk& chunk) -> Result<bool> {
    rows.push_back(chunk.Compacted());
    return true;
  };
  TW_RETURN_NOT_OK(session.Execute(plan, consumer, {}));
  if (!format.names.empty()) std::cout << engine::FormatRows(format, rows, session.eval_config()->time_zone) << std::flush;
  return Status::OK();
}

/// Statements end with a semicolon; the last one of a text needs none. Stops at the first error.
Status RunScript(front::Session& session, const std::string& script) {
  for (const std::string& statement : sql::SplitStatements(script)) {
    TW_RETURN_NOT_OK(NoThrow([&] { return RunStatement(session, statement); }));
  }
  return Status::OK();
}

/// Lines from the terminal: a statement runs when its semicolon comes; errors are told and the session goes on.
void Converse(front::Session& session) {
  std::string pending, line;
  std::cout << "thalweg> " << std::flush;
  while (std::getline(std::cin, line)) {
    pending += line + "\n";
    const size_t last = pending.find_last_not_of(" \t\n");
    if (last != std::string::npos && pending[last] == ';') {
      const Status status = RunScript(session, pending);
      if (!status.ok()) std::cout << status.message() << "\n";
      pending.clear();
    }
    std::cout << (pending.empty() ? "thalweg> " : "       > ") << std::flush;
  }
  std::cout << "\n";
}

Result<std::string> ScriptOf(const SqlArguments& arguments) {
  if (!arguments.text.empty()) return arguments.text;
  std::ostringstream script;
  if (arguments.file.empty()) {
    script << std::cin.rdbuf();
    return script.str();
  }
  std::ifstream input(arguments.file);
  if (!input) return IoError("open " + arguments.file, errno);
  script << input.rdbuf();
  return script.str();
}

Status RunSql(const SqlArguments& arguments) {
  ConfigureLog(LogLevel::kOff, LogFormat::kText);
  SettingsMap settings;
  const std::string file = DefaultPropertiesFile();
  if (!file.empty()) TW_RETURN_NOT_OK(ReadPropertiesFile(file, &settings));
  for (const std::string& pair : arguments.conf) TW_RETURN_NOT_OK(AddConf(pair, &settings));
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<ServerProcess> process, ServerProcess::Make(std::move(settings)));
  const std::shared_ptr<front::Session> session = front::Session::Make(process->context(), "shell", Uuid::MakeRandom().ToString());
  Status status;
  if (arguments.text.empty() && arguments.file.empty() && isatty(STDIN_FILENO) != 0) {
    Converse(*session);
  } else {
    Result<std::string> script = ScriptOf(arguments);
    status = script.ok() ? RunScript(*session, *script) : std::move(script).status();
  }
  session->Close();
  return status;
}

}  // namespace

void AddSqlCommand(CLI::App& app, int* exit_code) {
  auto arguments = std::make_shared<SqlArguments>();
  CLI::App* command = app.add_subcommand("sql", "Run SQL statements: from -e, from -f, or as they are typed");
  command->add_option("-e", arguments->text, "Statements, separated by semicolons");
  command->add_option("-f", arguments->file, "A file of statements");
  command->add_option("--conf,-c", arguments->conf, "A setting, key=value")->take_all()->expected(1)->allow_extra_args(false);
  command->callback([arguments, exit_code] {
    const Status status = RunSql(*arguments);
    if (status.ok()) return;
    std::cerr << "thalweg sql: " << status.message() << "\n";
    *exit_code = 1;
  });
}

}  // namespace thalweg::apps
