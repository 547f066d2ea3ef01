#pragma once

// Conjuncts over partition columns alone, asked of files: their answer holds for every row of a file.

#include <memory>
#include <string>
#include <vector>

#include "connectors/delta/delta_snapshot.h"
#include "data/text/time_zone.h"
#include "sql/expr/evaluator.h"

namespace thalweg::connectors {

/// Thread: immutable.
class DeltaPartitionFilter {
 public:
  /// Takes those of `filters` (over `attributes`, the table's columns) that name partition columns only and are deterministic.
  /// Errors: INTERNAL_ERROR.
  static Result<std::shared_ptr<const DeltaPartitionFilter>> Make(const DeltaMetadata& metadata, const sql::ExprList& filters,
                                                                  const sql::AttributeList& attributes,
                                                                  const std::shared_ptr<const sql::EvalConfig>& config);
  /// True: nothing was left out.
  bool took_all() const { return took_all_; }
  /// One answer per file: whether its rows satisfy what was taken. Errors: those of the expressions, DELTA_FAILED_CAST_PARTITION_VALUE.
  Result<std::vector<bool>> Matches(const std::vector<AddFilePtr>& files) const;

 private:
  struct Key {
    std::string log_name;
    data::DataType type;
  };
  std::vector<Key> keys_;                        // inputs of the program
  std::shared_ptr<const sql::Program> program_;  // one column per conjunct; null: none
  std::shared_ptr<const sql::EvalConfig> config_;
  data::TimeZone zone_;
  bool took_all_ = true;
};
using DeltaPartitionFilterPtr = std::shared_ptr<const DeltaPartitionFilter>;

/// "[p=a, q=null]" of a file, as conflicts name it; empty for unpartitioned tables.
std::string PartitionText(const DeltaMetadata& metadata, const PartitionValues& values);

}  // namespace thalweg::connectors
