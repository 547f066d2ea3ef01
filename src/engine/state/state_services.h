#pragma once

// Who looks after state: one StateServices per process, one QueryState per query run.

#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "base/bounded_queue.h"
#include "base/clock.h"
#include "base/ids.h"
#include "base/invariant.h"
#include "base/mutex.h"
#include "base/signal.h"
#include "data/io/file_system.h"
#include "engine/state/state_persister.h"

namespace thalweg::engine {

class StateServices;

/// The commit of one store's version: staged, then durable together with all other stores of the version.
/// Thread: any; outlives the store.
class StateCommit {
 public:
  bool done() const { return signal_->IsSet(); }
  /// Set when the version is durable or failed.
  const std::shared_ptr<Signal>& signal() const { return signal_; }
  /// After done().
  Status status() const TW_EXCLUDES(mutex_);

 private:
  friend class QueryState;
  void Finish(Status status) TW_EXCLUDES(mutex_);
  std::shared_ptr<Signal> signal_ = std::make_shared<Signal>();
  mutable Mutex mutex_;
  Status status_ TW_GUARDED_BY(mutex_);
};

/// The stores of one query run. Stores of one version become durable with one barrier: the last of the open stores to
/// commit publishes for all. A store that is opened later commits its first version in a group of its own.
/// Owner: the run and, by shared pointer, its stores. Thread: any.
class QueryState : public std::enable_shared_from_this<QueryState> {
 public:
  const std::string& checkpoint_root() const { return checkpoint_root_; }
  const StateOptions& options() const { return options_; }
  data::FileSystem& file_system() const { return file_system_; }
  /// Durable writes ask it first; may be null.
  PoisonFlag* poison() const { return poison_; }

  /// One store's place in the query: counts for groups and for maintenance as long as it lives.
  class Member {
   public:
    ~Member();
    StatePersister& persister() { return *persister_; }
    Clock& clock();
    /// Stages `writer`'s version. All members must do so once per version, or Withdraw.
    Result<std::shared_ptr<StateCommit>> Commit(StateVersion version, StateChangeWriter& writer, int64_t entries);
    /// This store will not commit the version it was working on: others no longer wait for it, and fail with `cause` if it is one.
    void Withdraw(const Status& cause = Status::OK());

   private:
    friend class QueryState;
    friend class StateServices;
    Member(std::shared_ptr<QueryState> query, std::shared_ptr<StatePersister> persister);
    std::shared_ptr<QueryState> query_;
    std::shared_ptr<StatePersister> persister_;
  };
  /// Opens a store and makes it a member. `memory` (may be null) pays for what writing takes. Errors: those of the provider.
  Result<std::unique_ptr<Member>> Open(OperatorId operator_id, PartitionId partition, std::string store_name,
                                       StateRowTypes types, MemoryAccount* memory = nullptr);

  /// Blocks until no version is on its way to the disk: afterwards this run writes nothing that a run after it could meet.
  void AwaitPublished() TW_EXCLUDES(mutex_);

  ~QueryState();

 private:
  friend class StateServices;
  struct Group;
  QueryState(StateServices& services, RunId run_id, data::FileSystem& file_system, std::string checkpoint_root,
             StateOptions options, PoisonFlag* poison);
  std::shared_ptr<Group> CurrentGroup(StateVersion version, const Member* member) TW_REQUIRES(mutex_);
  void PublishIfComplete() TW_REQUIRES(mutex_);
  void Publish(Group& group);

  StateServices& services_;
  const RunId run_id_;
  data::FileSystem& file_system_;
  const std::string checkpoint_root_;
  const StateOptions options_;
  PoisonFlag* const poison_;
  Mutex mutex_;
  std::vector<Member*> members_ TW_GUARDED_BY(mutex_);
  std::shared_ptr<Group> group_ TW_GUARDED_BY(mutex_);
  int publishing_ TW_GUARDED_BY(mutex_) = 0;  // groups handed to a publishing thread
  CondVar published_;
};

/// Process-wide: publishing threads and the maintenance thread. Must outlive every QueryState.
/// Maintenance looks after one store at a time and sleeps nine times as long as it worked: at most 10 % of a core.
class StateServices {
 public:
  /// `memory` (may be null) pays for maintenance; it must outlive the stores too.
  explicit StateServices(data::FileSystem& file_system, Clock& clock = SystemClock::Get(), MemoryAccount* memory = nullptr);
  ~StateServices();
  StateServices(const StateServices&) = delete;
  StateServices& operator=(const StateServices&) = delete;

  /// Starts a run's state; the driver calls it before the plan is made and drops it after the run. `poison` (may be null)
  /// must outlive it and its stores.
  Result<std::shared_ptr<QueryState>> OpenQuery(RunId run_id, std::string checkpoint_root, StateOptions options,
                                                PoisonFlag* poison = nullptr) TW_EXCLUDES(mutex_);
  /// The state of a run that is open, or null.
  std::shared_ptr<QueryState> FindQuery(RunId run_id) const TW_EXCLUDES(mutex_);

  data::FileSystem& file_system() { return file_system_; }
  Clock& clock() { return clock_; }
  /// Maintains every open store that is due, now, on the calling thread (tests and tools).
  Status MaintainAll(bool force) TW_EXCLUDES(mutex_);

 private:
  friend class QueryState;
  void MaintenanceLoop(std::stop_token stop);
  std::vector<std::shared_ptr<StatePersister>> DuePersisters(bool all) TW_EXCLUDES(mutex_);
  void RunPublish(std::function<void()> publish);

  data::FileSystem& file_system_;
  Clock& clock_;
  MemoryAccount* const memory_;
  mutable Mutex mutex_;
  std::map<RunId, std::weak_ptr<QueryState>> queries_ TW_GUARDED_BY(mutex_);
  Signal maintenance_wanted_;
  BoundedQueue<std::function<void()>> publishing_{256};
  std::vector<std::jthread> publishers_;
  std::jthread maintenance_;  // last member: joins first
};

}  // namespace thalweg::engine
