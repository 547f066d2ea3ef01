#pragma once

// A scenario: one script, one answer. The language is described in README.md beside this file.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/status.h"
#include "data/types/data_type.h"

namespace thalweg::scenario {

using Cells = std::vector<std::optional<std::string>>;  ///< nullopt: null
using Rows = std::vector<Cells>;

struct Watermark {
  std::string column, delay;
};

/// A stream that the script feeds (memory, file, kafka: a schema) or that feeds itself (a format and its options).
struct SourceLine {
  std::string name, kind, schema;
  std::map<std::string, std::string> options;
  std::optional<Watermark> watermark;
};
/// Rows that do not change.
struct TableLine {
  std::string name, schema;
  Rows rows;
};
/// DataFrame.dropDuplicates and its kin, which SQL has no words for.
struct DropDuplicates {
  std::vector<std::string> columns;  ///< none: all
  bool within_watermark = false;
};
struct ViewLine {
  std::string name, sql;
  std::optional<Watermark> watermark;
  std::optional<DropDuplicates> drop_duplicates;  ///< above the watermark
};
using Definition = std::variant<SourceLine, TableLine, ViewLine>;

enum class StepKind { kAdd, kRun, kRestart, kAdvance, kExpect };
enum class Expectation { kRows, kTable, kWatermark, kDropped, kState, kBatches, kBatchRows, kBatchState, kFails };

struct Step {
  StepKind kind = StepKind::kRun;
  int line = 0;
  std::string name;        ///< add: the source
  Rows rows;               ///< add, expected rows
  int64_t advance_ms = 0;  ///< may be negative
  Expectation expectation = Expectation::kRows;
  int64_t batch = 0;
  std::string text;  ///< what else is expected
};

struct Scenario {
  std::string name;  ///< its path
  std::vector<Definition> definitions;
  std::map<std::string, std::string> settings;
  std::string mode, sql;
  std::string sink = "collect";
  std::map<std::string, std::string> sink_options;
  std::vector<std::string> partition_columns;
  std::string trigger = "processing";
  int64_t trigger_ms = 0;
  std::string refused;  ///< the condition with which start() fails
  std::vector<Step> steps;

  bool undisturbed = false;  ///< only straight runs

  /// Whether a run may die and go on: the memory sink forgets its rows with the process.
  bool recoverable() const { return refused.empty() && sink != "memory" && !undisturbed; }
};

/// Errors: INTERNAL_ERROR with file and line.
Result<Scenario> ParseScenario(const std::string& name, std::string_view text);

/// One row as a JSON object of `schema`; errors: a wrong number of cells.
Result<std::string> RowAsJson(const Cells& cells, const data::Schema& schema);
std::string RowText(const Cells& cells);

}  // namespace thalweg::scenario
