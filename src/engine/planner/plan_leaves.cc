#include <algorithm>

#include "engine/exec/operators/sources.h"
#include "engine/planner/plan_context.h"

namespace thalweg::engine {
namespace {

std::shared_ptr<PhysicalNode> ChunksNode(std::string name, std::string text, sql::AttributeList output,
                                         std::vector<data::Chunk> chunks) {
  auto shared = std::make_shared<const std::vector<data::Chunk>>(std::move(chunks));
  return NewNode(std::move(name), std::move(text), {}, std::move(output), 1,
                 [shared](PartitionId) -> Result<std::unique_ptr<Operator>> { return std::make_unique<ChunksSource>(shared); });
}

// Large chunks in pieces that operators take well.
std::vector<data::Chunk> Pieces(const std::vector<data::Chunk>& chunks) {
  std::vector<data::Chunk> out;
  for (const data::Chunk& chunk : chunks) {
    for (int64_t first = 0; first < chunk.num_rows(); first += data::kChunkRows) {
      out.push_back(chunk.num_rows() <= data::kChunkRows ? chunk
                                                         : chunk.Slice(first, std::min(data::kChunkRows, chunk.num_rows() - first)));
    }
  }
  return out;
}

}  // namespace

Result<PhysicalNodePtr> PlanLocalRelation(PlanContext&, const sql::PlanPtr& node) {
  const auto& relation = static_cast<const sql::LocalRelation&>(*node);
  return PhysicalNodePtr(ChunksNode("LocalTableScan", "LocalTableScan " + ListText(relation.attributes), relation.attributes,
                                    Pieces(relation.chunks)));
}

Result<PhysicalNodePtr> PlanOneRow(PlanContext&, const sql::PlanPtr&) {
  return PhysicalNodePtr(ChunksNode("OneRow", "Scan OneRowRelation[]", {}, {data::Chunk({}, 1)}));
}

Result<PhysicalNodePtr> PlanRange(PlanContext& context, const sql::PlanPtr& node) {
  const auto& range = static_cast<const sql::Range&>(*node);
  if (range.step == 0) return Error("INTERNAL_ERROR").With("message", "a range with step 0");
  const __int128 rows = RangeSource::NumRows(range.start, range.end, range.step);
  if (rows > INT64_MAX) return Unsupported("a range of more than 9223372036854775807 rows");
  int partitions = range.partitions.value_or(0);
  if (partitions <= 0) {
    partitions = static_cast<int>(std::clamp<__int128>(rows / data::kChunkRows, 1, context.parallelism));
  }
  const std::string text = "Range (" + std::to_string(range.start) + ", " + std::to_string(range.end) + ", step=" +
                           std::to_string(range.step) + ", splits=" + std::to_string(partitions) + ")";
  const int64_t start = range.start;
  const int64_t end = range.end;
  const int64_t step = range.step;
  return PhysicalNodePtr(NewNode("Range", text, {}, range.output(), partitions,
                                 [=](PartitionId partition) -> Result<std::unique_ptr<Operator>> {
                                   return std::make_unique<RangeSource>(start, end, step, partition.value(), partitions);
                                 }));
}

Result<PhysicalNodePtr> PlanRelation(PlanContext& context, const sql::PlanPtr& node) {
  const auto& relation = static_cast<const sql::Relation&>(*node);
  LeafSlot slot;
  for (const auto& attribute : relation.attributes) slot.request.columns.push_back(attribute->name());
  slot.request.attributes = relation.attributes;
  slot.request.filters = relation.pushed_filters;
  slot.output = relation.attributes;
  auto leaf = NewNode("Scan", "", {}, relation.attributes, context.parallelism, nullptr);
  if (relation.streaming) {
    if (context.stream == nullptr) return InternalError("a streaming relation in a batch plan");
    slot.stream_index = static_cast<int>(context.next_source++);
    slot.description = relation.table->name();
    leaf->name = "StreamingScan";
    leaf->text = "StreamingRelation " + relation.table->name() + ", " + ListText(relation.attributes);
  } else {
    TW_ASSIGN_OR_RETURN(std::unique_ptr<sql::Scan> scan, relation.table->NewScan(slot.request, context.config));
    slot.description = scan->Describe();
    leaf->text = slot.description;
    slot.scan = std::move(scan);
  }
  leaf->leaf = static_cast<int>(context.plan->leaves.size());
  context.plan->leaves.push_back(std::move(slot));
  return PhysicalNodePtr(std::move(leaf));
}

}  // namespace thalweg::engine
