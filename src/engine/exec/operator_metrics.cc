#include "engine/exec/operator_metrics.h"

namespace thalweg::engine {

void OperatorMetrics::Clear() {
  input_rows.Set(0);
  output_rows.Set(0);
  read_bytes.Set(0);
  busy_ns.Set(0);
  custom.clear();
}

void OperatorTotals::AddCounters(const OperatorMetrics& one) {
  input_rows += one.input_rows.value();
  output_rows += one.output_rows.value();
  read_bytes += one.read_bytes.value();
  busy_ns += one.busy_ns.value();
}

void OperatorTotals::Add(const OperatorMetrics& one) {
  AddCounters(one);
  for (const auto& [name, value] : one.custom) custom[name] += value;
}

}  // namespace thalweg::engine
