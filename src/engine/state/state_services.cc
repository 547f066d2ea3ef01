#include "engine/state/state_services.h"

#include <algorithm>

#include "base/fault_point.h"
#include "base/log.h"
#include "base/no_throw.h"
#include "base/thread.h"
#include "data/io/atomic_write.h"
#include "engine/state/state_codec.h"

namespace thalweg::engine {
namespace {

constexpr int kPublishers = 4;
// A store is worked on for a tenth of the time at most; where deltas come faster than that folds them, for half of it: else
// files would heap up without a bound.
constexpr int kRestPerWork = 9;
constexpr int kRestPerWorkBehind = 1;

}  // namespace

Status StateCommit::status() const {
  MutexLock lock(mutex_);
  return status_;
}

void StateCommit::Finish(Status status) {
  {
    MutexLock lock(mutex_);
    status_ = std::move(status);
  }
  signal_->Set();
}

// One version of a query's stores on its way to disk.
struct QueryState::Group {
  Group(data::FileSystem& file_system, StateVersion of) : version(of), files(file_system) {}
  const StateVersion version;
  data::DurableGroup files;
  std::shared_ptr<StateCommit> commit = std::make_shared<StateCommit>();
  struct Staged {
    const Member* member;
    std::shared_ptr<StatePersister> persister;
    int64_t entries;
  };
  std::vector<Staged> staged;
  std::vector<const Member*> withdrawn;
  Status cause;  // of the first that withdrew and had one
  int staging = 0;  // members that are writing their file just now

  bool TookPart(const Member* member) const {
    return std::any_of(staged.begin(), staged.end(), [member](const Staged& one) { return one.member == member; }) ||
           std::find(withdrawn.begin(), withdrawn.end(), member) != withdrawn.end();
  }
};

QueryState::Member::Member(std::shared_ptr<QueryState> query, std::shared_ptr<StatePersister> persister)
    : query_(std::move(query)), persister_(std::move(persister)) {}

Clock& QueryState::Member::clock() { return query_->services_.clock_; }

QueryState::Member::~Member() {
  persister_->StrandEnded();
  MutexLock lock(query_->mutex_);
  std::erase(query_->members_, this);
  // A version of which a part is missing must not become visible.
  if (query_->group_ != nullptr && !query_->group_->TookPart(this)) query_->group_->withdrawn.push_back(this);
  query_->PublishIfComplete();
}

Result<std::shared_ptr<StateCommit>> QueryState::Member::Commit(StateVersion version, StateChangeWriter& writer,
                                                                int64_t entries) {
  if (query_->poison_ != nullptr) TW_RETURN_NOT_OK(query_->poison_->Check());
  std::shared_ptr<Group> group;
  {
    MutexLock lock(query_->mutex_);
    group = query_->CurrentGroup(version, this);
    ++group->staging;
  }
  Status staged = writer.Finish(group->files);
  MutexLock lock(query_->mutex_);
  --group->staging;
  if (staged.ok()) {
    group->staged.push_back({this, persister_, entries});
  } else {
    group->withdrawn.push_back(this);
    if (group->cause.ok()) group->cause = staged;
  }
  query_->PublishIfComplete();
  if (!staged.ok()) return staged;
  return group->commit;
}

void QueryState::Member::Withdraw(const Status& cause) {
  MutexLock lock(query_->mutex_);
  if (query_->group_ == nullptr) return;
  query_->group_->withdrawn.push_back(this);
  if (query_->group_->cause.ok()) query_->group_->cause = cause;
  query_->PublishIfComplete();
}

QueryState::QueryState(StateServices& services, RunId run_id, data::FileSystem& file_system,
                       std::string checkpoint_root, StateOptions options, PoisonFlag* poison)
    : services_(services),
      run_id_(run_id),
      file_system_(file_system),
      checkpoint_root_(std::move(checkpoint_root)),
      options_(std::move(options)),
      poison_(poison) {}

QueryState::~QueryState() {
  MutexLock lock(services_.mutex_);
  services_.queries_.erase(run_id_);
}

Result<std::unique_ptr<QueryState::Member>> QueryState::Open(OperatorId operator_id, PartitionId partition,
                                                             std::string store_name, StateRowTypes types,
                                                             MemoryAccount* memory) {
  TW_ASSIGN_OR_RETURN(const StateStoreProvider* provider, FindStateStoreProvider(options_.provider_class));
  const StateStoreId id{checkpoint_root_, operator_id, partition, std::move(store_name)};
  TW_ASSIGN_OR_RETURN(auto persister, provider->Open(file_system_, id, options_, std::move(types), {memory, services_.memory_}));
  std::unique_ptr<Member> member(new Member(shared_from_this(), std::move(persister)));
  MutexLock lock(mutex_);
  members_.push_back(member.get());
  return member;
}

std::shared_ptr<QueryState::Group> QueryState::CurrentGroup(StateVersion version, const Member* member) {
  // A group of another version, or one in which this member had its turn, was given up: nobody waits for it any more.
  if (group_ != nullptr && (group_->version != version || group_->TookPart(member))) {
    group_->commit->Finish(InternalError("the state version was given up"));
    group_.reset();
  }
  if (group_ == nullptr) group_ = std::make_shared<Group>(file_system_, version);
  return group_;
}

void QueryState::PublishIfComplete() {
  if (group_ == nullptr || group_->staging > 0) return;
  if (!std::all_of(members_.begin(), members_.end(), [this](const Member* member) { return group_->TookPart(member); })) {
    return;
  }
  std::shared_ptr<Group> group = std::move(group_);
  group_.reset();
  if (!group->withdrawn.empty() || group->staged.empty()) {
    group->commit->Finish(group->cause.ok() ? InternalError("another store of the query did not write its state") : group->cause);
    return;
  }
  ++publishing_;
  services_.RunPublish([self = shared_from_this(), group] {
    self->Publish(*group);
    MutexLock lock(self->mutex_);
    --self->publishing_;
    self->published_.NotifyAll();
  });
}

void QueryState::AwaitPublished() {
  MutexLock lock(mutex_);
  published_.Wait(mutex_, [this] { return publishing_ == 0; });
}

void QueryState::Publish(Group& group) {
  Status status = poison_ != nullptr ? poison_->Check() : Status::OK();
  if (status.ok()) {
    status = NoThrow([&]() -> Status {
      TW_RETURN_NOT_OK(group.files.Publish(options_.durable));
      bool due = false;
      const int64_t now_ms = services_.clock_.NowMillis();
      for (const auto& staged : group.staged) {
        staged.persister->Committed(group.version, staged.entries);
        due = due || staged.persister->MaintenanceDue(now_ms);
      }
      if (due) services_.maintenance_wanted_.Set();
      return Status::OK();
    });
  }
  group.commit->Finish(std::move(status));
}

StateServices::StateServices(data::FileSystem& file_system, Clock& clock, MemoryAccount* memory)
    : file_system_(file_system), clock_(clock), memory_(memory) {
  for (int i = 0; i < kPublishers; ++i) {
    publishers_.push_back(StartLoop("state-publish", [this](std::stop_token stop) {
      while (auto publish = publishing_.Pop(stop)) (*publish)();
      return false;
    }));
  }
  maintenance_ = StartLoop("state-maint", [this](std::stop_token stop) {
    MaintenanceLoop(std::move(stop));
    return false;
  });
}

StateServices::~StateServices() {
  maintenance_.request_stop();
  publishing_.Close();
}

void StateServices::RunPublish(std::function<void()> publish) { publishing_.Push(std::move(publish)); }

Result<std::shared_ptr<QueryState>> StateServices::OpenQuery(RunId run_id, std::string checkpoint_root,
                                                             StateOptions options, PoisonFlag* poison) {
  TW_RETURN_NOT_OK(FindStateStoreProvider(options.provider_class).status());
  TW_RETURN_NOT_OK(FindStateCodec(options.codec).status());
  std::shared_ptr<QueryState> query(
      new QueryState(*this, run_id, file_system_, std::move(checkpoint_root), std::move(options), poison));
  MutexLock lock(mutex_);
  queries_[run_id] = query;
  return query;
}

std::shared_ptr<QueryState> StateServices::FindQuery(RunId run_id) const {
  MutexLock lock(mutex_);
  const auto found = queries_.find(run_id);
  return found == queries_.end() ? nullptr : found->second.lock();
}

std::vector<std::shared_ptr<StatePersister>> StateServices::DuePersisters(bool all) {
  std::vector<std::shared_ptr<QueryState>> queries;
  {
    MutexLock lock(mutex_);
    for (const auto& [run_id, weak] : queries_) {
      if (auto query = weak.lock()) queries.push_back(std::move(query));
    }
  }
  const int64_t now_ms = clock_.NowMillis();
  std::vector<std::shared_ptr<StatePersister>> due;
  for (const auto& query : queries) {
    if (query->poison_ != nullptr && query->poison_->poisoned()) continue;
    MutexLock lock(query->mutex_);
    for (const QueryState::Member* member : query->members_) {
      if (all || member->persister_->MaintenanceDue(now_ms)) due.push_back(member->persister_);
    }
  }
  return due;
}

Status StateServices::MaintainAll(bool force) {
  for (const auto& persister : DuePersisters(true)) {
    TW_RETURN_NOT_OK(persister->Maintain(clock_.NowMillis(), force).status());
  }
  return Status::OK();
}

void StateServices::MaintenanceLoop(std::stop_token stop) {
  constexpr auto kLook = std::chrono::seconds(10);  // what is due by time is found at the latest then
  while (clock_.WaitFor(kLook, &maintenance_wanted_, stop) != Clock::Wake::kStop) {
    maintenance_wanted_.Reset();
    for (const auto& persister : DuePersisters(false)) {
      const auto begin = clock_.NowMonotonic();
      bool behind = false;
      const Status status = NoThrow([&]() -> Status {
        TW_ASSIGN_OR_RETURN(const StateMaintenanceResult result, persister->Maintain(clock_.NowMillis(), false));
        behind = result.behind;
        return Status::OK();
      });
      // A store that was closed meanwhile may have lost its folder.
      const bool open = persister.use_count() > 1;
      if (!status.ok() && open) TW_LOG(kWarn, "state maintenance failed, it will be tried again", {"error", status});
      const auto work = std::chrono::duration_cast<std::chrono::microseconds>(clock_.NowMonotonic() - begin);
      if (clock_.WaitFor(work * (behind ? kRestPerWorkBehind : kRestPerWork), nullptr, stop) == Clock::Wake::kStop) return;
    }
  }
}

}  // namespace thalweg::engine
