#pragma once

// Runs a scenario in every way that must not change its answer.

#include <string>
#include <vector>

#include "scenario/world.h"

namespace thalweg::scenario {

struct RunnerOptions {
  int points = 12;           ///< crash points per scenario, spread over all durable steps; 0: all
  int fault_points = 0;      ///< disk faults per kind of operation; 0: none
  uint64_t seed = 1;
};

struct Report {
  int runs = 0;
  int durable_steps = 0;                ///< of the straight run
  std::vector<std::string> failures;    ///< what differed and in which run
};

Report RunScenario(const Scenario& scenario, const RunnerOptions& options);

}  // namespace thalweg::scenario
