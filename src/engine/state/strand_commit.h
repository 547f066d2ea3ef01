#pragma once

// What StateTable and StateStore share: which version they hold, and the two steps of a commit.

#include <memory>

#include "engine/state/state_metrics.h"
#include "engine/state/state_services.h"

namespace thalweg::engine {

/// The place of one working set in its query, and where in its life it stands.
/// States: not loaded, holding a version, committing the next one. Thread: confined to the strand.
class StrandCommit {
 public:
  explicit StrandCommit(std::unique_ptr<QueryState::Member> member) : member_(std::move(member)) {}
  ~StrandCommit() { Abort(); }

  StatePersister& persister() { return member_->persister(); }
  Clock& clock() { return member_->clock(); }
  bool Holds(StateVersion version) const { return loaded_ && commit_ == nullptr && version_ == version; }
  StateVersion version() const { return version_; }
  void Loaded(StateVersion version) {
    loaded_ = true;
    version_ = version;
  }
  void Unload() { loaded_ = false; }

  bool committing() const { return commit_ != nullptr; }
  /// First step: `write` fills the writer.
  template <typename Write>
  Status Stage(StateVersion version, int64_t entries, Write&& write) {
    if (!loaded_) return InternalError("commit of state that is not loaded");
    failure_ = TryStage(version, entries, write);
    return failure_;
  }
  /// Second step: false while it is not durable; once true the working set holds the staged version.
  Result<bool> Finish() {
    if (!commit_->done()) return false;
    TW_RETURN_NOT_OK(commit_->status());
    commit_.reset();
    version_ = staged_version_;
    return true;
  }
  std::shared_ptr<Signal> signal() const { return commit_ == nullptr ? nullptr : commit_->signal(); }
  void Abort() {
    if (commit_ == nullptr || !commit_->done()) member_->Withdraw(failure_);
    failure_ = Status::OK();
    commit_.reset();
    loaded_ = false;
  }

 private:
  template <typename Write>
  Status TryStage(StateVersion version, int64_t entries, Write& write) {
    TW_ASSIGN_OR_RETURN(const auto writer, persister().BeginChanges(version));
    TW_RETURN_NOT_OK(write(*writer));
    TW_ASSIGN_OR_RETURN(commit_, member_->Commit(version, *writer, entries));
    staged_version_ = version;
    return Status::OK();
  }

  std::unique_ptr<QueryState::Member> member_;
  Status failure_;  // of staging: the other stores of the query are told
  std::shared_ptr<StateCommit> commit_;
  StateVersion version_{0};
  StateVersion staged_version_{0};
  bool loaded_ = false;
};

}  // namespace thalweg::engine
