#include "streaming/query/source_set.h"

#include <algorithm>

#include "data/io/path.h"

namespace thalweg::streaming {

Result<SourceSet> SourceSet::Open(const std::vector<const sql::Relation*>& relations,
                                  const sql::StreamContext& context) {
  SourceSet set;
  for (size_t i = 0; i < relations.size(); ++i) {
    sql::StreamContext own = context;
    own.source_index = static_cast<int>(i);
    own.metadata_path =
        data::JoinPath(data::JoinPath(context.checkpoint_root, "sources"), std::to_string(i));
    TW_ASSIGN_OR_RETURN(std::unique_ptr<sql::MicroBatchStream> stream,
                        relations[i]->table->NewMicroBatchStream(own));
    set.streams_.push_back(std::move(stream));
  }
  set.initial_.resize(set.streams_.size());
  return set;
}

bool SourceSet::SupportAvailableNow() const {
  return std::all_of(streams_.begin(), streams_.end(),
                     [](const auto& stream) { return stream->supports_available_now(); });
}

Status SourceSet::PrepareForAvailableNow() {
  available_now_ = true;
  frozen_ends_.assign(streams_.size(), std::nullopt);
  for (const auto& stream : streams_) {
    if (stream->supports_available_now()) TW_RETURN_NOT_OK(stream->PrepareForTriggerAvailableNow());
  }
  return Status::OK();
}

Result<sql::Offset> SourceSet::Initial(size_t i) {
  if (!initial_[i]) {
    TW_ASSIGN_OR_RETURN(initial_[i], streams_[i]->InitialOffset());
  }
  return *initial_[i];
}

Result<NextOffsets> SourceSet::Next(const OffsetVector& start, bool unlimited,
                                    const std::function<void(const std::string&)>& asking) {
  NextOffsets next;
  for (size_t i = 0; i < streams_.size(); ++i) {
    asking(streams_[i]->Description());
    std::optional<sql::Offset> from = start[i];
    if (!from) {
      TW_ASSIGN_OR_RETURN(from, Initial(i));
    }
    const bool wrapped = available_now_ && !streams_[i]->supports_available_now();
    const std::vector<sql::ReadLimit> limits =
        unlimited || wrapped ? std::vector<sql::ReadLimit>{sql::ReadAllAvailable{}}
                  : streams_[i]->DefaultReadLimits();
    std::optional<sql::Offset> end = wrapped ? frozen_ends_[i] : std::nullopt;
    if (!end) {
      TW_ASSIGN_OR_RETURN(end, streams_[i]->LatestOffset(*from, limits));
      if (wrapped) frozen_ends_[i] = end;
    }
    TW_ASSIGN_OR_RETURN(std::optional<sql::Offset> latest, streams_[i]->ReportLatestOffset());
    if (!end) end = start[i];
    if (!end && !from->json.empty()) end = from;
    next.has_new_data = next.has_new_data || end != start[i];
    next.end.push_back(std::move(end));
    next.latest.push_back(std::move(latest));
  }
  return next;
}

Result<OffsetVector> SourceSet::Deserialize(const std::vector<std::optional<std::string>>& texts) {
  TW_DCHECK(texts.size() == streams_.size());
  OffsetVector offsets;
  for (size_t i = 0; i < texts.size(); ++i) {
    if (!texts[i]) {
      offsets.emplace_back();
      continue;
    }
    TW_ASSIGN_OR_RETURN(sql::Offset offset, streams_[i]->DeserializeOffset(*texts[i]));
    offsets.emplace_back(std::move(offset));
  }
  return offsets;
}

Status SourceSet::Commit(const OffsetVector& end) {
  for (size_t i = 0; i < streams_.size(); ++i) {
    if (end[i]) TW_RETURN_NOT_OK(streams_[i]->Commit(*end[i]));
  }
  return Status::OK();
}

std::optional<int64_t> SourceSet::PollIntervalMs(int64_t setting_ms) const {
  std::optional<int64_t> least_ms;
  for (const auto& stream : streams_) {
    const int64_t interval_ms = stream->poll_interval().count();
    if (interval_ms == 0) continue;
    const int64_t own_ms = std::max(interval_ms, setting_ms);
    least_ms = least_ms ? std::min(*least_ms, own_ms) : own_ms;
  }
  return least_ms;
}

void SourceSet::Stop() {
  for (const auto& stream : streams_) stream->Stop();
}

}  // namespace thalweg::streaming
