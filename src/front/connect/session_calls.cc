// Interrupt, GetStatus and the artifact calls.
#include <spark/connect/base.pb.h>
#include <zlib.h>

#include <algorithm>

#include "front/connect/unary_calls.h"
#include "sql/protocol/protocol_errors.h"

namespace thalweg::front {

namespace {

namespace pb = ::spark::connect;
using State = pb::GetStatusResponse::OperationStatus::OperationState;

constexpr int64_t kMaxArtifactBytes = int64_t{2} << 30;

State StateToProto(OperationState state) {
  switch (state) {
    case OperationState::kUnknown: return pb::GetStatusResponse::OperationStatus::OPERATION_STATE_UNKNOWN;
    case OperationState::kRunning: return pb::GetStatusResponse::OperationStatus::OPERATION_STATE_RUNNING;
    case OperationState::kTerminating: return pb::GetStatusResponse::OperationStatus::OPERATION_STATE_TERMINATING;
    case OperationState::kSucceeded: return pb::GetStatusResponse::OperationStatus::OPERATION_STATE_SUCCEEDED;
    case OperationState::kFailed: return pb::GetStatusResponse::OperationStatus::OPERATION_STATE_FAILED;
    case OperationState::kCancelled: return pb::GetStatusResponse::OperationStatus::OPERATION_STATE_CANCELLED;
  }
  return pb::GetStatusResponse::OperationStatus::OPERATION_STATE_UNKNOWN;
}

bool CrcFits(const pb::AddArtifactsRequest::ArtifactChunk& chunk) {
  const uLong crc = crc32(0, reinterpret_cast<const Bytef*>(chunk.data().data()), static_cast<uInt>(chunk.data().size()));
  return static_cast<int64_t>(crc) == chunk.crc();
}

bool Tagged(const std::vector<std::string>& tags, const std::string& tag) {
  return std::find(tags.begin(), tags.end(), tag) != tags.end();
}

}  // namespace

Status AnswerInterrupt(SessionHolder& holder, const pb::InterruptRequest& request, pb::InterruptResponse* response,
                       std::vector<std::shared_ptr<streaming::StreamingQuery>>* stop) {
  const auto interrupt = [&](auto wanted) {
    for (const std::shared_ptr<Operation>& operation : holder.Operations()) {
      if (wanted(operation->ids().operation_id, operation->tags()) && operation->Interrupt()) {
        response->add_interrupted_ids(operation->ids().operation_id);
      }
    }
    for (const StartedQuery& started : holder.StartedQueries()) {
      const std::shared_ptr<streaming::StreamingQuery> query = started.query.lock();
      if (query == nullptr || !query->is_active() || !wanted(started.operation_id, started.tags)) continue;
      response->add_interrupted_ids(started.operation_id);
      stop->push_back(query);
    }
  };
  switch (request.interrupt_type()) {
    case pb::InterruptRequest::INTERRUPT_TYPE_ALL:
      holder.StopAnalyses();
      interrupt([](const std::string&, const std::vector<std::string>&) { return true; });
      return Status::OK();
    case pb::InterruptRequest::INTERRUPT_TYPE_TAG:
      if (request.operation_tag().empty()) return Error("INVALID_PARAMETER_VALUE.INTERRUPT_TYPE_TAG_REQUIRES_TAG").With("functionName", "`interrupt`").With("parameter", "`operation_tag`");
      interrupt([&](const std::string&, const std::vector<std::string>& tags) { return Tagged(tags, request.operation_tag()); });
      return Status::OK();
    case pb::InterruptRequest::INTERRUPT_TYPE_OPERATION_ID: {
      if (request.operation_id().empty()) {
        return Error("INVALID_PARAMETER_VALUE.INTERRUPT_TYPE_OPERATION_ID_REQUIRES_ID").With("functionName", "`interrupt`").With("parameter", "`operation_id`");
      }
      const std::shared_ptr<Operation> operation = holder.Find(request.operation_id());
      if (operation != nullptr && operation->Interrupt()) response->add_interrupted_ids(request.operation_id());
      return Status::OK();
    }
    default: break;
  }
  return Error("UNSUPPORTED_FEATURE.INTERRUPT_TYPE").With("interruptType", pb::InterruptRequest::InterruptType_Name(request.interrupt_type()));
}

void AnswerStatus(SessionHolder& holder, const pb::GetStatusRequest& request, pb::GetStatusResponse* response) {
  if (!request.has_operation_status()) return;
  std::vector<std::string> ids(request.operation_status().operation_ids().begin(),
                               request.operation_status().operation_ids().end());
  if (ids.empty()) ids = holder.AllOperationIds();
  for (const std::string& id : ids) {
    auto* status = response->add_operation_statuses();
    status->set_operation_id(id);
    status->set_state(StateToProto(holder.StateOf(id)));
  }
}

void AnswerArtifactStatus(SessionHolder& holder, const pb::ArtifactStatusesRequest& request,
                          pb::ArtifactStatusesResponse* response) {
  for (const std::string& name : request.names()) {
    (*response->mutable_statuses())[name].set_exists(holder.artifacts().Exists(name));
  }
}

Status ArtifactReceiver::Store(SessionHolder& holder, const std::string& name, std::string bytes, bool crc_ok) {
  TW_RETURN_NOT_OK(Artifacts::CheckName(name));
  summaries_.emplace_back(name, crc_ok);
  return crc_ok ? holder.artifacts().Add(name, std::move(bytes)) : Status::OK();
}

Status ArtifactReceiver::Take(SessionHolder& holder, const pb::AddArtifactsRequest& request) {
  switch (request.payload_case()) {
    case pb::AddArtifactsRequest::kBatch:
      if (chunks_left_ > 0) return sql::InvalidPlan("An artifact in chunks was interrupted by another one.");
      for (const auto& artifact : request.batch().artifacts()) {
        TW_RETURN_NOT_OK(Store(holder, artifact.name(), artifact.data().data(), CrcFits(artifact.data())));
      }
      return Status::OK();
    case pb::AddArtifactsRequest::kBeginChunk: {
      const auto& begin = request.begin_chunk();
      if (chunks_left_ > 0) return sql::InvalidPlan("An artifact in chunks was interrupted by another one.");
      if (begin.num_chunks() < 1 || begin.total_bytes() < 0 || begin.total_bytes() > kMaxArtifactBytes) {
        return sql::InvalidPlan("The size of the artifact " + begin.name() + " is out of range.");
      }
      TW_RETURN_NOT_OK(Artifacts::CheckName(begin.name()));
      name_ = begin.name();
      total_bytes_ = begin.total_bytes();
      chunks_left_ = begin.num_chunks() - 1;
      crc_ok_ = CrcFits(begin.initial_chunk());
      bytes_ = begin.initial_chunk().data();
      if (chunks_left_ == 0) return Store(holder, name_, std::move(bytes_), crc_ok_);
      return Status::OK();
    }
    case pb::AddArtifactsRequest::kChunk:
      if (chunks_left_ <= 0) return sql::InvalidPlan("A chunk without the beginning of its artifact.");
      if (static_cast<int64_t>(bytes_.size() + request.chunk().data().size()) > total_bytes_) {
        return sql::InvalidPlan("The artifact " + name_ + " is longer than it said.");
      }
      crc_ok_ = crc_ok_ && CrcFits(request.chunk());
      bytes_ += request.chunk().data();
      if (--chunks_left_ == 0) return Store(holder, name_, std::move(bytes_), crc_ok_);
      return Status::OK();
    case pb::AddArtifactsRequest::PAYLOAD_NOT_SET: break;
  }
  return sql::OneOfNotSet(request.GetTypeName(), "PAYLOAD_NOT_SET");
}

Status ArtifactReceiver::Finish() {
  if (chunks_left_ > 0) return sql::InvalidPlan("The artifact " + name_ + " is not complete.");
  return Status::OK();
}

void ArtifactReceiver::FillSummaries(pb::AddArtifactsResponse* response) const {
  for (const auto& [name, crc_ok] : summaries_) {
    auto* summary = response->add_artifacts();
    summary->set_name(name);
    summary->set_is_crc_successful(crc_ok);
  }
}

}  // namespace thalweg::front
