#pragma once

// A world for one run of a scenario: what outlives a crash (disk, brokers, feeds, what a sink was given, time) and the machine that
// may die and be started again.

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/random.h"
#include "connectors/delta/delta_source.h"
#include "connectors/kafka/embedded_broker.h"
#include "data/io/faulty_file_system.h"
#include "data/io/memory_file_system.h"
#include "scenario/feed.h"
#include "scenario/scenario.h"
#include "streaming/query/streaming_query.h"

namespace thalweg::scenario {

/// What a user's function was given, batch by batch; a batch that comes again must bring the same rows.
class Collected {
 public:
  void Take(int64_t batch, Rows rows) TW_EXCLUDES(mutex_);
  std::map<int64_t, Rows> batches() const TW_EXCLUDES(mutex_);
  /// The first batch that came twice with different rows; empty: none.
  std::string contradiction() const TW_EXCLUDES(mutex_);

 private:
  mutable Mutex mutex_;
  std::map<int64_t, Rows> batches_ TW_GUARDED_BY(mutex_);
  std::string contradiction_ TW_GUARDED_BY(mutex_);
};

struct MachineSize {
  int workers = 2;
  int partitions = 2;  ///< of a new checkpoint
};

/// Thread: confined to the runner.
class World {
 public:
  static Result<std::unique_ptr<World>> Make(const Scenario& scenario);
  ~World();

  /// Starts the machine and defines the script's sources, tables and views.
  Status Boot(MachineSize size);
  /// The machine is gone; what the disk holds stays as it is.
  void Halt();
  /// The machine is gone, and what was not durable: `random` (may be null) keeps a part of what had been written.
  void LosePower(Random* random);

  Status Add(const std::string& source, const Rows& rows);
  /// Runs until everything that is there has been processed. Errors: the query's failure.
  Status Run();
  /// Stops the query, if it runs.
  void StopQuery();
  /// What the sink holds, sorted. Collected rows: of all batches; complete mode: of the last.
  Result<Rows> SinkRows();
  /// Progress of all batches of this machine and those before, JSON.
  const std::vector<std::string>& progress() const { return progress_; }
  /// The newest batch that is committed; -1: none.
  int64_t LastCommit();
  /// The newest batch that has an offset entry; -1: none.
  int64_t LastOffset();

  data::FaultyFileSystem& files() { return faulty_; }
  data::MemoryFileSystem& disk() { return disk_; }
  ManualClock& clock() { return clock_; }
  Collected& collected() { return *collected_; }

 private:
  class Machine;
  explicit World(const Scenario& scenario);
  Status Define(const SourceLine& source);
  Status Define(const TableLine& table);
  Status Define(const ViewLine& view);
  Status CreateView(const std::string& name, const std::string& sql, const std::optional<Watermark>& watermark,
                    const std::optional<DropDuplicates>& drop_duplicates = std::nullopt);
  Status AddToDelta(const std::string& name, const std::string& schema, const std::vector<std::string>& lines);
  Status StartQuery();
  Status ProcessOnTime();
  Result<Rows> Query(const std::string& sql);
  void NoteProgress();
  int64_t Newest(const std::string& log);

  const Scenario& scenario_;
  ManualClock clock_;
  data::MemoryFileSystem disk_;
  data::FaultyFileSystem faulty_;
  std::shared_ptr<const sql::DataSource> delta_;  // on the disk itself: writes of others
  Feeds feeds_;
  std::map<std::string, int> files_added_;
  std::unique_ptr<connectors::EmbeddedBroker> broker_;
  std::shared_ptr<Collected> collected_ = std::make_shared<Collected>();
  std::vector<std::string> progress_;
  std::unique_ptr<Machine> machine_;
  std::shared_ptr<streaming::StreamingQuery> query_;
};

/// Sorts rows by their text.
void SortRows(Rows* rows);

}  // namespace thalweg::scenario
