#pragma once

#include <string>
#include <vector>

#include "engine/exec/operator.h"

namespace thalweg::engine {

struct ShowStringParams {
  std::vector<std::string> names;       ///< of the input's columns
  std::vector<data::DataType> types;
  int num_rows = 20;                    ///< rows to print; the input brings one more when there are more
  int truncate = 20;                    ///< 0: cells are not cut
  bool vertical = false;
  bool html = false;
};

/// The text of df.show() for rows of one instance (dense, in order), exactly as Spark prints it.
std::string FormatRows(const ShowStringParams& params, const std::vector<data::Chunk>& chunks, const std::string& time_zone);

/// One row, one string: the first rows of the input as a table.
class ShowString final : public Operator {
 public:
  explicit ShowString(ShowStringParams params) : params_(std::move(params)) {}
  Status Open(const TaskContext& context) override;
  Status BeginEpoch(const sql::EpochContext& epoch) override;
  Result<OperatorState> Push(int port, data::Chunk chunk) override;
  Result<OperatorState> EndInput(int port) override;
  Result<std::optional<data::Chunk>> Pull(OperatorState* state) override;

 private:
  const ShowStringParams params_;
  std::string time_zone_;
  std::vector<data::Chunk> chunks_;
  int64_t rows_ = 0;
};

}  // namespace thalweg::engine
