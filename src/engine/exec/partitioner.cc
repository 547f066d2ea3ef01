#include "engine/exec/partitioner.h"

#include "data/rowformat/column_hash.h"

namespace thalweg::engine {

Status HashPartitions(const data::Chunk& chunk, const std::vector<int>& key_columns, int partitions,
                      std::vector<int32_t>* targets) {
  std::vector<data::ColumnPtr> keys;
  keys.reserve(key_columns.size());
  for (const int column : key_columns) keys.push_back(chunk.column(column));
  targets->resize(chunk.num_rows());
  const auto& selection = chunk.selection();
  data::HashColumns(keys, selection ? selection.get() : nullptr, *targets);
  for (int32_t& target : *targets) target = data::PartitionOf(target, partitions);
  return Status::OK();
}

}  // namespace thalweg::engine
