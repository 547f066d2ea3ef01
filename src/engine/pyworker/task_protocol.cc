#include "engine/pyworker/task_protocol.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace thalweg::engine {

namespace {

constexpr std::string_view kInputType = "input_type";

bool IsTableFunction(int32_t eval_type) { return eval_type >= kPickledTableFunction && eval_type <= kPickledTableFunction + 2; }

// Whose arguments carry a keyword flag before 4.2.
bool HasKeywords(int32_t eval_type) {
  switch (eval_type) {
    case 100: case 101: case 200: case 202: case 203: case 204: case 250: case 251: case 252: case 253: return true;
    default: return false;
  }
}

void PutPairs(const ConfPairs& pairs, JavaData* out) {
  out->Int(static_cast<int32_t>(pairs.size()));
  for (const auto& [key, value] : pairs) out->Bytes(key).Bytes(value);
}

// 4.0, 4.1: fields one by one.
void PutOldTaskContext(const PythonRuntime& runtime, const TaskInit& init, JavaData* out) {
  out->Bool(false);  // not a barrier task
  if (!runtime.AtLeast(4, 1)) out->Int(0).Bytes("");
  out->Int(0).Int(init.partition).Int(0).Long(init.task_attempt_id).Int(1);
  out->Int(0);  // resources
  PutPairs(init.local_properties, out);
}

std::string TaskContextJson(const PythonRuntime& runtime, const TaskInit& init) {
  nlohmann::json context{{"isBarrier", false},      {"connInfo", nullptr},
                         {"secret", nullptr},       {"stageId", 0},
                         {"partitionId", init.partition}, {"attemptNumber", 0},
                         {"taskAttemptId", init.task_attempt_id}, {"cpus", 1},
                         {"resources", nlohmann::json::object()}, {"localProperties", nlohmann::json::object()}};
  for (const auto& [key, value] : init.local_properties) context["localProperties"][key] = value;
  if (runtime.AtLeast(4, 3)) context["cpuAmount"] = "1";
  return context.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

const std::string* Find(const ConfPairs& pairs, std::string_view key) {
  for (const auto& [name, value] : pairs) {
    if (name == key) return &value;
  }
  return nullptr;
}

}  // namespace

std::string UdfSection(const PythonRuntime& runtime, const TaskInit& init, const std::vector<UdfCall>& calls) {
  JavaData out;
  const bool flat = !runtime.AtLeast(4, 2);
  if (flat) {
    if (init.eval_type != kPickledUdf) PutPairs(init.runner_conf, &out);
    const std::string* input_type = Find(init.eval_conf, kInputType);
    if (runtime.AtLeast(4, 1) && init.eval_type == kArrowUdf) out.Bytes(input_type != nullptr ? *input_type : "");
    out.Bool(false);  // profiling
  }
  out.Int(static_cast<int32_t>(calls.size()));
  for (const UdfCall& call : calls) {
    out.Int(static_cast<int32_t>(call.arguments.size()));
    for (const UdfArgument& argument : call.arguments) {
      out.Int(argument.offset);
      if (flat && !HasKeywords(init.eval_type)) continue;
      out.Bool(argument.keyword.has_value());
      if (argument.keyword) out.Bytes(*argument.keyword);
    }
    out.Int(static_cast<int32_t>(call.commands.size()));
    for (const std::string& command : call.commands) out.Bytes(command);
    if (!flat) out.Long(0);  // result id, for the profiler
  }
  return out.Take();
}

std::string TaskBegin(const PythonRuntime& runtime, const TaskInit& init, std::string_view section) {
  JavaData out;
  out.Int(init.partition).Bytes(runtime.python_version);
  const bool flat = !runtime.AtLeast(4, 2);
  if (flat) PutOldTaskContext(runtime, init, &out);
  else out.Bytes(TaskContextJson(runtime, init));
  out.Bytes(init.files_directory);
  out.Int(static_cast<int32_t>(init.includes.size()));
  for (const std::string& include : init.includes) out.Bytes(include);
  out.Bool(false).Int(0);  // broadcasts
  out.Int(init.eval_type);
  if (!flat) {
    const bool takes_conf = init.eval_type != kForeachRows && init.eval_type != kPickledUdf && init.eval_type != kPickledTableFunction;
    PutPairs(takes_conf ? init.runner_conf : ConfPairs{}, &out);
    PutPairs(takes_conf ? init.eval_conf : ConfPairs{}, &out);
  } else if (IsTableFunction(init.eval_type) && init.eval_type != kPickledTableFunction) {
    PutPairs(init.runner_conf, &out);
    const std::string* input_type = Find(init.eval_conf, kInputType);
    if (runtime.AtLeast(4, 1) && init.eval_type == kArrowTableFunction) out.Bytes(input_type != nullptr ? *input_type : "");
  }
  out.Raw(section);
  if (!runtime.start_of_init_message) return out.Take();
  JavaData framed;
  framed.Int(*runtime.start_of_init_message).Bytes(out.bytes());
  return framed.Take();
}

Result<bool> ReadTrailer(WorkerSocket& socket, const PythonRuntime& runtime, std::stop_token stop) {
  const int longs = runtime.AtLeast(4, 2) ? 6 : 5;  // boot, init, finish, [processing,] memory and disk bytes spilled
  for (int i = 0; i < longs; ++i) TW_RETURN_NOT_OK(socket.ReadLong(stop).status());
  TW_ASSIGN_OR_RETURN(const int32_t end, socket.ReadTag(stop));
  if (end != kEndOfDataSection) return InternalError("a Python worker ended its data with " + std::to_string(end));
  TW_ASSIGN_OR_RETURN(const int32_t accumulators, socket.ReadInt(stop));
  for (int32_t i = 0; i < accumulators; ++i) TW_RETURN_NOT_OK(socket.ReadBytes(stop).status());
  TW_ASSIGN_OR_RETURN(const int32_t last, socket.ReadTag(stop));
  return last == kEndOfStream && socket.IsQuiet();
}

}  // namespace thalweg::engine
