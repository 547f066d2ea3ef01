#include "base/fault_point.h"

#include <csignal>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <map>
#include <optional>

#include "base/mutex.h"

namespace thalweg {

namespace internal {
std::atomic<bool> g_fault_points_active{false};
}  // namespace internal

namespace {

struct Armed {
  int passages_left = 1;
  FaultAction action = FaultAction::kKill;
};

struct FaultPoints {
  Mutex mutex;
  std::map<std::string, Armed, std::less<>> armed TW_GUARDED_BY(mutex);
  std::vector<std::string> passed TW_GUARDED_BY(mutex);
  bool recording TW_GUARDED_BY(mutex) = false;
};

FaultPoints& Points() {
  static FaultPoints& points = *new FaultPoints;  // threads may pass points while the process ends
  return points;
}

void UpdateActive(const FaultPoints& points) TW_REQUIRES(points.mutex) {
  internal::g_fault_points_active = points.recording || !points.armed.empty();
}

struct FaultSpec {
  std::string name;
  int nth = 1;
  FaultAction action = FaultAction::kKill;
};

// name[:nth]:action; the name itself may hold colons ("offset log: written").
std::optional<FaultSpec> ParseSpec(std::string_view text) {
  const size_t action_colon = text.rfind(':');
  if (action_colon == std::string_view::npos) return std::nullopt;
  const std::string_view action = text.substr(action_colon + 1);
  FaultSpec spec;
  if (action == "error") {
    spec.action = FaultAction::kError;
  } else if (action != "kill") {
    return std::nullopt;
  }
  std::string_view name = text.substr(0, action_colon);
  const size_t nth_colon = name.rfind(':');
  if (nth_colon != std::string_view::npos) {
    const std::string_view digits = name.substr(nth_colon + 1);
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), spec.nth);
    if (error == std::errc{} && end == digits.data() + digits.size()) {
      if (spec.nth < 1) return std::nullopt;
      name = name.substr(0, nth_colon);
    } else {
      spec.nth = 1;
    }
  }
  if (name.empty()) return std::nullopt;
  spec.name = name;
  return spec;
}

}  // namespace

void ArmFaultPoint(std::string_view name, int nth, FaultAction action) {
  FaultPoints& points = Points();
  MutexLock lock(points.mutex);
  points.armed[std::string(name)] = Armed{nth, action};
  UpdateActive(points);
}

void DisarmFaultPoints() {
  FaultPoints& points = Points();
  MutexLock lock(points.mutex);
  points.armed.clear();
  points.passed.clear();
  points.recording = false;
  UpdateActive(points);
}

Status ArmFaultPoints(std::string_view text) {
  std::vector<FaultSpec> specs;
  while (!text.empty()) {
    const size_t end = std::min(text.find(';'), text.size());
    const std::string_view one = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    std::optional<FaultSpec> spec = ParseSpec(one);
    if (!spec.has_value()) {
      return InternalError("cannot read the fault point '" + std::string(one) + "': expected name[:nth]:kill|error");
    }
    specs.push_back(std::move(*spec));
  }
  for (const FaultSpec& spec : specs) ArmFaultPoint(spec.name, spec.nth, spec.action);
  return Status::OK();
}

Status ArmFaultPointsFromEnvironment() {
  const char* text = std::getenv("THALWEG_FAULT");
  return text == nullptr ? Status::OK() : ArmFaultPoints(text);
}

void RecordFaultPoints(bool on) {
  FaultPoints& points = Points();
  MutexLock lock(points.mutex);
  points.recording = on;
  if (on) points.passed.clear();
  UpdateActive(points);
}

std::vector<std::string> PassedFaultPoints() {
  FaultPoints& points = Points();
  MutexLock lock(points.mutex);
  return points.passed;
}

Status internal::PassFaultPoint(std::string_view name) {
  FaultPoints& points = Points();
  MutexLock lock(points.mutex);
  if (points.recording && std::find(points.passed.begin(), points.passed.end(), name) == points.passed.end()) {
    points.passed.emplace_back(name);
  }
  const auto armed = points.armed.find(name);
  if (armed == points.armed.end() || --armed->second.passages_left > 0) return Status::OK();
  if (armed->second.action == FaultAction::kKill) {
    kill(getpid(), SIGKILL);
    pause();
  }
  points.armed.erase(armed);
  UpdateActive(points);
  return IoError("pass the fault point '" + std::string(name) + "'", EIO);
}

}  // namespace thalweg
