#include "connectors/delta/delta_snapshot.h"

#include <algorithm>

#include "connectors/delta/delta_damaged.h"
#include "data/io/path.h"

namespace thalweg::connectors {

namespace {
// So many commits may wait before file lists are put together, whoever asks: bounds memory and the copies of the list.
constexpr size_t kMaxPending = 64;
}  // namespace

std::string DeltaFileKey(const std::string& path, const std::optional<DeletionVector>& vector) {
  std::string key = path;
  if (path.find_first_of("%:") != std::string::npos) {
    auto decoded = data::PathFromUri(path);
    if (decoded.ok()) key = std::move(*decoded);
  }
  if (vector) key += "\n" + vector->UniqueId();
  return key;
}

void DeltaFiles::Drop(const std::string& key) {
  const auto found = index_.find(key);
  if (found == index_.end()) return;
  live_bytes_ -= slots_[found->second]->size;
  --num_live_;
  slots_[found->second] = nullptr;
  index_.erase(found);
}

void DeltaFiles::Apply(const DeltaCommit& commit) {
  for (const RemoveFile& remove : commit.removes) {
    std::string key = DeltaFileKey(remove.path, remove.deletion_vector);
    Drop(key);
    tombstones_[std::move(key)] = remove;
  }
  for (const AddFilePtr& add : commit.adds) {
    std::string key = DeltaFileKey(add->path, add->deletion_vector);
    Drop(key);
    if (!tombstones_.empty()) tombstones_.erase(key);
    index_.emplace(std::move(key), slots_.size());
    slots_.push_back(add);
    ++num_live_;
    live_bytes_ += add->size;
  }
  if (slots_.size() < 64 || slots_.size() < 2 * static_cast<size_t>(num_live_)) return;
  std::vector<AddFilePtr> dense = live();  // more holes than files: close them
  slots_ = std::move(dense);
  index_.clear();
  for (size_t i = 0; i < slots_.size(); ++i) index_.emplace(DeltaFileKey(slots_[i]->path, slots_[i]->deletion_vector), i);
}

std::vector<AddFilePtr> DeltaFiles::live() const {
  std::vector<AddFilePtr> out;
  out.reserve(static_cast<size_t>(num_live_));
  std::copy_if(slots_.begin(), slots_.end(), std::back_inserter(out), [](const AddFilePtr& add) { return add != nullptr; });
  return out;
}

Result<DeltaSnapshotPtr> DeltaSnapshot::After(const DeltaSnapshotPtr& previous, DeltaCommitPtr commit, int64_t version) {
  auto next = std::make_shared<DeltaSnapshot>();
  if (previous != nullptr) {
    next->has_protocol_ = previous->has_protocol_;
    next->has_metadata_ = previous->has_metadata_;
    next->protocol_ = previous->protocol_;
    next->metadata_ = previous->metadata_;
    next->schema_ = previous->schema_;
    next->transactions_ = previous->transactions_;
    next->domains_ = previous->domains_;
    const MutexLock lock(previous->mutex_);
    next->base_ = previous->base_;
    next->pending_ = previous->pending_;
  }
  next->version_ = version;
  if (commit->protocol) {
    next->protocol_ = *commit->protocol;
    next->has_protocol_ = true;
  }
  if (commit->metadata) {
    next->metadata_ = *commit->metadata;
    next->has_metadata_ = true;
    data::Schema schema;
    if (!next->metadata_.schema_string.empty()) {
      TW_ASSIGN_OR_RETURN(const data::DataType type, data::ParseTypeJson(next->metadata_.schema_string));
      if (!type.Is(data::TypeKind::kStruct)) return DeltaDamaged("the schema is no struct");
      schema = type.fields();
    }
    next->schema_ = std::make_shared<const data::Schema>(std::move(schema));
  }
  for (const SetTransaction& transaction : commit->transactions) next->transactions_[transaction.app_id] = transaction;
  for (const DomainMetadata& domain : commit->domains) {
    if (domain.removed) {
      next->domains_.erase(domain.domain);
    } else {
      next->domains_[domain.domain] = domain;
    }
  }
  if (commit->info) next->in_commit_timestamp_ = commit->info->in_commit_timestamp;
  if (next->schema_ == nullptr) next->schema_ = std::make_shared<const data::Schema>();
  if (!commit->adds.empty() || !commit->removes.empty()) next->pending_.push_back(std::move(commit));
  if (next->pending_.size() > kMaxPending) next->files();
  return DeltaSnapshotPtr(std::move(next));
}

std::shared_ptr<const DeltaFiles> DeltaSnapshot::files() const {
  const MutexLock lock(mutex_);
  if (base_ == nullptr || !pending_.empty()) {
    auto files = base_ == nullptr ? std::make_shared<DeltaFiles>() : std::make_shared<DeltaFiles>(*base_);
    for (const DeltaCommitPtr& commit : pending_) files->Apply(*commit);
    base_ = std::move(files);
    pending_.clear();
  }
  return base_;
}

}  // namespace thalweg::connectors
