#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <cstdlib>
#include <iostream>

#include "apps/commands.h"
#include "apps/server_process.h"
#include "apps/spark_defaults.h"
#include "apps/submit_files.h"
#include "apps/wait_for_signals.h"
#include "base/log.h"
#include "base/random.h"
#include "base/uuid.h"
#include "front/connect/connect_server.h"

extern char** environ;  // NOLINT(readability-redundant-declaration): POSIX asks for it

namespace thalweg::apps {

namespace {

struct SubmitArguments {
  std::vector<std::string> conf;
  std::string properties_file, name, py_files, files, remote;
  bool verbose = false;
  std::vector<std::string> program;  ///< the script and its arguments
};

// The program and its arguments are what options leave over: the usage line names them.
struct SubmitFormatter final : CLI::Formatter {
  std::string make_usage(const CLI::App*, std::string) const override { return "Usage: thalweg submit [OPTIONS] FILE.py [ARGUMENTS]\n"; }
};

// Flags of spark-submit that have no part in one process; each is taken with a line that says so.
struct IgnoredFlag {
  const char* name;
  const char* meaning;
};
constexpr IgnoredFlag kIgnored[] = {
    {"--master", "everything runs in this process; use --remote to send the program to a Spark cluster"},
    {"--deploy-mode", "the program always runs here"},
    {"--packages", "Kafka, Delta and the file formats are built in; nothing is downloaded"},
    {"--exclude-packages", "nothing is downloaded"},
    {"--repositories", "nothing is downloaded"},
    {"--jars", "there is no JVM to load them"},
    {"--class", "only Python programs are run"},
    {"--driver-class-path", "there is no JVM"},
    {"--driver-java-options", "there is no JVM"},
    {"--driver-library-path", "there is no JVM"},
    {"--driver-memory", "memory is taken as needed"},
    {"--driver-cores", "all cores of the machine are used"},
    {"--executor-memory", "there are no executors"},
    {"--executor-cores", "there are no executors"},
    {"--num-executors", "there are no executors"},
    {"--total-executor-cores", "there are no executors"},
    {"--archives", "give the unpacked folder with --py-files instead"},
    {"--queue", "there is no cluster"},
    {"--proxy-user", "the program runs as you"},
};

int RunAndWait(const std::vector<std::string>& command) {
  std::vector<char*> argv;
  for (const std::string& part : command) argv.push_back(const_cast<char*>(part.c_str()));
  argv.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0);
  pid_t child = 0;
  const int error = posix_spawnp(&child, argv[0], &actions, nullptr, argv.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) return -1;
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

// The first Python that has pyspark.
std::string FindPython() {
  for (const char* variable : {"PYSPARK_DRIVER_PYTHON", "PYSPARK_PYTHON"}) {
    if (const char* chosen = std::getenv(variable); chosen != nullptr && *chosen != '\0') return chosen;
  }
  std::vector<std::string> candidates;
  if (const char* venv = std::getenv("VIRTUAL_ENV"); venv != nullptr && *venv != '\0') {
    candidates.push_back(std::string(venv) + "/bin/python");
  }
  candidates.insert(candidates.end(), {"python3", "python"});
  constexpr const char* kProbe = "import importlib.util, sys; sys.exit(importlib.util.find_spec('pyspark') is None)";
  for (const std::string& candidate : candidates) {
    if (RunAndWait({candidate, "-c", kProbe}) == 0) return candidate;
  }
  return {};
}

// In the forked child: becomes the program, which gets SIGTERM when this process ends in any way, kill -9 included. Tells through
// `failure` why it could not.
[[noreturn]] void BecomeProgram(char* const* argv, pid_t parent, int failure) {
  sigset_t none;
  sigemptyset(&none);
  if (prctl(PR_SET_PDEATHSIG, SIGTERM) == 0 && getppid() == parent && sigprocmask(SIG_SETMASK, &none, nullptr) == 0) execvp(argv[0], argv);
  const int error = errno;
  [[maybe_unused]] const ssize_t told = write(failure, &error, sizeof(error));
  _exit(127);
}

Status Spawn(const std::string& python, const SubmitArguments& arguments, const PythonPath& modules, const std::string& remote, pid_t* child) {
  setenv("SPARK_REMOTE", remote.c_str(), 1);
  setenv("PYTHONUNBUFFERED", "1", 0);
  if (const std::string path = modules.Value(); !path.empty()) setenv("PYTHONPATH", path.c_str(), 1);
  std::vector<char*> argv{const_cast<char*>(python.c_str())};
  for (const std::string& part : arguments.program) argv.push_back(const_cast<char*>(part.c_str()));
  argv.push_back(nullptr);
  int failure[2];
  if (pipe2(failure, O_CLOEXEC) != 0) return IoError("start " + python, errno);
  const pid_t parent = getpid();
  *child = fork();
  int error = *child < 0 ? errno : 0;
  if (*child == 0) BecomeProgram(argv.data(), parent, failure[1]);
  close(failure[1]);
  // Ends without a byte once the program has begun.
  while (read(failure[0], &error, sizeof(error)) < 0 && errno == EINTR) {
  }
  close(failure[0]);
  return error == 0 ? Status::OK() : IoError("start " + python, error);
}

// What a mistyped command line would make Python say, or nothing at all.
Status CheckProgram(const std::vector<std::string>& program) {
  const auto refuse = [](const std::string& message) { return Error("ILLEGAL_ARGUMENT").With("message", message); };
  if (program.empty()) return refuse("give the program to run: thalweg submit FILE.py [ARGUMENTS]");
  const std::string& file = program.front();
  if (file == "-") return Status::OK();
  if (file.starts_with("-")) return refuse("there is no option " + file + "; options of the program stand behind its name");
  if (access(file.c_str(), R_OK) != 0) return IoError("open " + file, errno);
  return Status::OK();
}

Result<SettingsMap> ReadSettings(const SubmitArguments& arguments) {
  SettingsMap settings;
  const std::string file = arguments.properties_file.empty() ? DefaultPropertiesFile() : arguments.properties_file;
  if (!file.empty()) TW_RETURN_NOT_OK(ReadPropertiesFile(file, &settings));
  for (const std::string& pair : arguments.conf) TW_RETURN_NOT_OK(AddConf(pair, &settings));
  if (!arguments.name.empty()) settings.Set("spark.app.name", arguments.name);
  if (!arguments.py_files.empty()) settings.Set("spark.submit.pyFiles", arguments.py_files);
  if (!arguments.files.empty()) settings.Set("spark.files", arguments.files);
  return settings;
}

// The list of files that a setting holds; the setting then holds their absolute paths.
Result<std::vector<std::string>> ResolveSetting(const char* key, SettingsMap* settings) {
  const std::string* list = settings->Find(key);
  if (list == nullptr) return std::vector<std::string>();
  TW_ASSIGN_OR_RETURN(std::vector<std::string> paths, ResolveFileList(*list));
  std::string joined;
  for (const std::string& path : paths) joined += (joined.empty() ? "" : ",") + path;
  settings->Set(key, joined);
  return paths;
}

Status Submit(const SubmitArguments& arguments, int* exit_code) {
  TW_ASSIGN_OR_RETURN(SettingsMap settings, ReadSettings(arguments));
  TW_RETURN_NOT_OK(CheckProgram(arguments.program));
  const char* level = std::getenv("THALWEG_LOG");
  TW_ASSIGN_OR_RETURN(const LogLevel log_level, ParseLogLevel(level == nullptr ? (arguments.verbose ? "info" : "warn") : level));
  ConfigureLog(log_level, LogFormat::kText);
  const std::string python = FindPython();
  if (python.empty()) {
    return Error("ILLEGAL_ARGUMENT")
        .With("message", "no Python with pyspark was found: pip install pyspark-client, or set PYSPARK_PYTHON");
  }
  TW_RETURN_NOT_OK(ResolveSetting("spark.files", &settings).status());
  // The program's own interpreter runs its functions, unless something else is said.
  const char* worker_python = std::getenv("PYSPARK_PYTHON");
  if (!settings.Contains("spark.pyspark.python") && (worker_python == nullptr || *worker_python == '\0')) {
    settings.Set("spark.pyspark.python", python);
  }
  PythonPath modules;
  TW_ASSIGN_OR_RETURN(const std::vector<std::string> python_files, ResolveSetting("spark.submit.pyFiles", &settings));
  TW_RETURN_NOT_OK(modules.Add(python_files));
  BlockSignals();
  pid_t child = 0;
  if (!arguments.remote.empty()) {
    TW_RETURN_NOT_OK(Spawn(python, arguments, modules, arguments.remote, &child));
    *exit_code = ServeUntilChildEnds(child, [] {});
    return Status::OK();
  }
  TW_ASSIGN_OR_RETURN(const std::unique_ptr<ServerProcess> process, ServerProcess::Make(std::move(settings)));
  front::ConnectServerOptions listen;
  listen.port = 0;
  listen.token = Uuid::MakeRandom().ToString() + Uuid::MakeRandom().ToString();
  front::ConnectServer server(process->context());
  TW_RETURN_NOT_OK(server.Start(listen));
  // Clients send a token over plain text to "localhost" only.
  const std::string remote = "sc://localhost:" + std::to_string(server.port()) + "/;token=" + listen.token;
  TW_RETURN_NOT_OK(Spawn(python, arguments, modules, remote, &child));
  *exit_code = ServeUntilChildEnds(child, [&server] { server.Stop(); });
  server.Stop();
  return Status::OK();
}

}  // namespace

void AddSubmitCommand(CLI::App& app, int* exit_code) {
  auto arguments = std::make_shared<SubmitArguments>();
  CLI::App* command = app.add_subcommand("submit", "Run a PySpark program on an engine of its own");
  command->formatter(std::make_shared<SubmitFormatter>());
  command->add_option("--conf,-c", arguments->conf, "A setting, key=value")->take_all()->expected(1)->allow_extra_args(false);
  command->add_option("--properties-file", arguments->properties_file, kPropertiesFileHelp);
  command->add_option("--name", arguments->name, "Name of the application");
  command->add_option("--py-files", arguments->py_files, "Modules (.py), folders and archives (.zip, .egg) for the program, separated by commas");
  command->add_option("--files", arguments->files, "Files for Python workers (spark.files), separated by commas; the program reads them where they are");
  command->add_option("--remote", arguments->remote, "Run on this Spark Connect server instead (sc://...)");
  command->add_flag("--verbose,-v", arguments->verbose, "Show all of the engine's log, not its warnings only");
  for (const IgnoredFlag& flag : kIgnored) {
    command->add_option_function<std::string>(
        flag.name,
        [flag](const std::string&) { std::cerr << "thalweg submit: " << flag.name << " has no effect: " << flag.meaning << "\n"; },
        flag.meaning)
        ->group("Taken as spark-submit takes them, without effect");
  }
  command->prefix_command();
  command->callback([arguments, command, exit_code] {
    arguments->program = command->remaining();
    const Status status = Submit(*arguments, exit_code);
    if (status.ok()) return;
    std::cerr << "thalweg submit: " << status.message() << "\n";
    *exit_code = 1;
  });
}

}  // namespace thalweg::apps
