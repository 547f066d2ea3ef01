#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status.h"
#include "sql/datasource/data_source.h"
#include "sql/plan/logical_plan.h"

namespace thalweg::streaming {

/// The end (or start) of a range in every source, in source order; nothing where a source has no
/// position yet.
using OffsetVector = std::vector<std::optional<sql::Offset>>;

/// What the sources offer for the next micro-batch.
struct NextOffsets {
  OffsetVector end;
  OffsetVector latest;  ///< for progress
  bool has_new_data = false;
};

/// The streaming sources of one query. Thread: confined to the driver. Blocks: as the sources do.
class SourceSet {
 public:
  /// Opens a stream per source. `context` is completed with index and metadata path.
  static Result<SourceSet> Open(const std::vector<const sql::Relation*>& relations,
                                const sql::StreamContext& context);

  size_t size() const { return streams_.size(); }
  sql::MicroBatchStream& stream(size_t i) { return *streams_[i]; }
  bool SupportAvailableNow() const;
  /// From here on no source goes beyond what it has now. Those that do not know the trigger have their
  /// end frozen when they are asked first.
  Status PrepareForAvailableNow();
  /// The next range after `start`. `unlimited`: Trigger.Once takes everything.
  /// A source without a position is asked for its initial one, which becomes its start within the
  /// range. `asking` hears the description of each source before it is asked.
  Result<NextOffsets> Next(const OffsetVector& start, bool unlimited,
                           const std::function<void(const std::string&)>& asking);
  /// The position before the first range; asked once.
  Result<sql::Offset> Initial(size_t i);
  /// Checks offsets that come from the log.
  Result<OffsetVector> Deserialize(const std::vector<std::optional<std::string>>& texts);
  Status Commit(const OffsetVector& end);
  /// The least pause that all sources allow; nothing when all of them announce data.
  std::optional<int64_t> PollIntervalMs(int64_t setting_ms) const;
  void Stop();

 private:
  std::vector<std::unique_ptr<sql::MicroBatchStream>> streams_;
  std::vector<std::optional<sql::Offset>> initial_;
  bool available_now_ = false;
  std::vector<std::optional<sql::Offset>> frozen_ends_;
};

}  // namespace thalweg::streaming
