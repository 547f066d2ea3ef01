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
#include "base/string_case.h"
#include "base/uuid.h"
#include "engine/exec/operators/show_string.h"
#include "sql/parser/parser.h"
#include "sql/plan/commands.h"

namespace thalweg::apps {
namespace {

constexpr int kShownRows = 1000;

struct SqlArguments {
  std::string text, file;
  std::vector<std::string> conf;
};

bool IsExplain(const sql::LogicalPlan& plan) {
  const auto* command = plan.As<sql::Command>();
  return command != nullptr && std::holds_alternative<sql::ExplainCommand>(command->body);
}

std::string WithNewline(std::string text) { return text.ends_with('\n') ? text : text + "\n"; }

/// A plan is read as lines, not as a cell of a table.
Status PrintText(const std::vector<data::Chunk>& rows) {
  for (const data::Chunk& chunk : rows) {
    for (int64_t row = 0; row < chunk.num_rows(); ++row) std::cout << chunk.column(0)->GetValue(row).get<std::string>() << std::flush;
  }
  return Status::OK();
}

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
  if (IsExplain(*plan)) return PrintText(rows);
  if (!format.names.empty()) std::cout << WithNewline(engine::FormatRows(format, rows, session.eval_config()->time_zone)) << std::flush;
  return Status::OK();
}

/// Statements end with a semicolon; the last one of a text needs none. Stops at the first error.
Status RunScript(front::Session& session, const std::string& script) {
  for (const std::string& statement : sql::SplitStatements(script)) {
    TW_RETURN_NOT_OK(NoThrow([&] { return RunStatement(session, statement); }));
  }
  return Status::OK();
}

/// "exit", "quit", with or without a semicolon.
bool Leaves(std::string_view line) {
  const size_t begin = line.find_first_not_of(" \t");
  const size_t end = line.find_last_not_of("; \t\r");
  if (begin == std::string_view::npos || end == std::string_view::npos) return false;
  const std::string_view word = line.substr(begin, end + 1 - begin);
  return EqualsIgnoreCase(word, "exit") || EqualsIgnoreCase(word, "quit");
}

/// Lines from the terminal: a statement runs when its semicolon comes; errors are told and the session goes on.
void Converse(front::Session& session) {
  std::string pending, line;
  std::cout << VersionText() << ". Statements end with a semicolon; exit leaves.\nthalweg> " << std::flush;
  while (std::getline(std::cin, line)) {
    if (pending.empty() && Leaves(line)) return;
    pending += line + "\n";
    if (sql::EndsStatement(pending)) {
      const Status status = RunScript(session, pending);
      if (!status.ok()) std::cout << WithNewline(status.message());
      pending.clear();
    } else if (pending.find_first_not_of(" \t\r\n") == std::string::npos) {
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
  CLI::App* command = app.add_subcommand("sql", "Run SQL statements: from -e, from -f, or as they are typed (1,000 rows of an answer are shown)");
  CLI::Option* text = command->add_option("-e", arguments->text, "Statements, separated by semicolons; the first error ends the run");
  command->add_option("-f", arguments->file, "A file of statements")->excludes(text);
  command->add_option("--conf,-c", arguments->conf, "A setting, key=value")->take_all()->expected(1)->allow_extra_args(false);
  command->callback([arguments, exit_code] {
    const Status status = RunSql(*arguments);
    if (status.ok()) return;
    std::cerr << "thalweg sql: " << status.message() << "\n";
    *exit_code = 1;
  });
}

}  // namespace thalweg::apps
