#include "engine/pyworker/python_runtime.h"

#include <cstdlib>
#include <nlohmann/json.hpp>

#include "engine/pyworker/child_process.h"
#include "engine/pyworker/pyworker_settings.h"

namespace thalweg::engine {

namespace {

// Looks without importing pyspark, which would take four times as long.
constexpr const char* kProbe = R"(
import importlib.util, json, os, re, sys
spec = importlib.util.find_spec('pyspark')
answer = {'python': '%d.%d' % sys.version_info[:2], 'pyspark': None, 'init': None}
if spec is not None and spec.origin:
    folder = os.path.dirname(spec.origin)
    names = {}
    with open(os.path.join(folder, 'version.py')) as file:
        exec(file.read(), names)
    answer['pyspark'] = names['__version__']
    for name in ('serializers.py', 'util.py', 'messages.py'):
        path = os.path.join(folder, name)
        if os.path.exists(path):
            with open(path, encoding='utf-8') as file:
                found = re.search(r'START_OF_INIT_MESSAGE\s*=\s*(-?\d+)', file.read())
            if found:
                answer['init'] = int(found.group(1))
print('\n' + json.dumps(answer))
)";

Status Unavailable(const std::string& executable, const std::string& detail) {
  return Error("PYTHON_WORKER_UNAVAILABLE").With("executable", executable).With("detail", detail);
}

}  // namespace

std::vector<std::string> PythonCandidates(const SettingsMap& settings, const std::string& wanted_version) {
  if (std::string program = settings.Get(kPythonProgram); !program.empty()) return {std::move(program)};
  for (const char* variable : {"PYSPARK_PYTHON", "PYSPARK_DRIVER_PYTHON"}) {
    if (const char* program = std::getenv(variable); program != nullptr && *program != '\0') return {program};
  }
  std::vector<std::string> candidates;
  if (const char* venv = std::getenv("VIRTUAL_ENV"); venv != nullptr && *venv != '\0') {
    candidates.push_back(std::string(venv) + "/bin/python");
  }
  candidates.push_back("python3");
  if (!wanted_version.empty()) candidates.push_back("python" + wanted_version);
  return candidates;
}

Result<PythonRuntime> ProbePython(const std::string& executable, const std::map<std::string, std::string>& environment,
                                  std::chrono::milliseconds timeout, std::stop_token stop) {
  Mutex mutex;
  std::string last_line;
  ChildSpec spec;
  spec.arguments = {executable, "-c", kProbe};
  spec.environment = environment;
  spec.on_line = [&](std::string_view line, bool is_stderr) {
    const MutexLock lock(mutex);
    if (!is_stderr && !line.empty()) last_line = line;
  };
  Result<std::unique_ptr<ChildProcess>> launched = ChildProcess::Launch(std::move(spec));
  if (!launched.ok()) return Unavailable(executable, launched.status().message_text());
  ChildProcess& child = **launched;
  if (!child.ended()->WaitFor(stop, timeout)) {
    if (stop.stop_requested()) return Cancelled();
    return Unavailable(executable, "it does not answer");
  }
  if (child.exit_status() != 0) return Unavailable(executable, child.HowItEnded() + "\n" + child.StderrTail());
  const MutexLock lock(mutex);
  const nlohmann::json answer = nlohmann::json::parse(last_line, nullptr, false);
  // Whatever the program is that was named as an interpreter.
  const auto text = [&](const char* key) {
    const auto found = answer.is_object() ? answer.find(key) : answer.end();
    return found != answer.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  PythonRuntime runtime;
  runtime.executable = executable;
  runtime.python_version = text("python");
  runtime.pyspark_version = text("pyspark");
  if (runtime.python_version.empty()) return Unavailable(executable, "it answered " + last_line);
  if (runtime.pyspark_version.empty()) return Unavailable(executable, "it has no pyspark (pip install pyspark-client)");
  if (std::sscanf(runtime.pyspark_version.c_str(), "%d.%d", &runtime.pyspark_major, &runtime.pyspark_minor) != 2) {
    return Unavailable(executable, "its pyspark has the version " + runtime.pyspark_version);
  }
  if (!runtime.AtLeast(4, 0)) return Unavailable(executable, "its pyspark is " + runtime.pyspark_version + "; 4.0 or later is needed");
  if (const auto init = answer.find("init"); init != answer.end() && init->is_number_integer()) {
    runtime.start_of_init_message = init->get<int>();
  }
  return runtime;
}

}  // namespace thalweg::engine
