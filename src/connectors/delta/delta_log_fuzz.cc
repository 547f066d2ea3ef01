// The log's texts and deletion vectors: whatever the bytes, no crash; what was understood says the same when written again.

#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "connectors/delta/delta_actions.h"
#include "connectors/delta/delta_stats.h"
#include "connectors/delta/deletion_vector.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
  using namespace thalweg::connectors;  // NOLINT
  const std::string_view text(reinterpret_cast<const char*>(bytes), size);
  if (const auto commit = ParseDeltaCommit(text, "fuzz"); commit.ok()) {
    for (const AddFilePtr& add : commit->adds) {
      const auto again = ParseDeltaCommit(ActionLine(*add), "again");
      if (!again.ok() || again->adds.size() != 1 || again->adds[0]->path != add->path || again->adds[0]->stats != add->stats) std::abort();
      FileMayMatch(*add, {{.column = "id", .type = thalweg::data::DataType::Long(), .values = {thalweg::data::Value(int64_t{1})}}});
    }
    if (commit->metadata) {
      const auto again = ParseDeltaCommit(ActionLine(*commit->metadata), "again");
      if (!again.ok() || !again->metadata || !(*again->metadata == *commit->metadata)) std::abort();
    }
  }
  if (ParseLastCheckpoint(text).ok() && size == 0) std::abort();
  if (DecodeZ85(text).ok() && size % 5 != 0) std::abort();
  if (const auto rows = ParseDeletionBitmap(text, 1 << 20); rows.ok() && !rows->empty() && rows->front() < 0) std::abort();
  return 0;
}
