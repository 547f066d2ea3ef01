#pragma once

// Options of a Delta table that is read as a stream. Source: Delta's documentation, "Table streaming reads and writes".

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "sql/datasource/data_source.h"

namespace thalweg::connectors {

/// A regular expression that is looked for in paths. Immutable.
class PathPattern;

struct DeltaStreamOptions {
  std::optional<int64_t> max_files;          ///< of a micro-batch; 1000 when neither limit was given
  std::optional<int64_t> max_bytes;          ///< soft
  bool starts_at_latest = false;             ///< startingVersion = latest
  std::optional<int64_t> starting_version;
  std::optional<int64_t> starting_micros;    ///< startingTimestamp
  bool ignore_deletes = false;
  bool ignore_changes = false;
  bool skip_change_commits = false;
  bool ignore_file_deletion = false;
  bool fail_on_data_loss = true;
  std::shared_ptr<const PathPattern> excluded;

  bool HasStart() const { return starts_at_latest || starting_version || starting_micros; }
  bool Excludes(const std::string& path) const;

  /// Errors: DELTA_ILLEGAL_OPTION, DELTA_STARTING_VERSION_AND_TIMESTAMP_BOTH_SET, DELTA_REGEX_OPT_SYNTAX_ERROR,
  /// DELTA_TIMESTAMP_INVALID.
  static Result<DeltaStreamOptions> Make(const sql::OptionMap& options, const sql::EvalConfig* config, int64_t now_micros);
};

}  // namespace thalweg::connectors
