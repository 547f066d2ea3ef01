#pragma once

// A client's session: the facade, and what only the protocol knows: operations, errors to be fetched, artifacts, relations.

#include <deque>
#include <map>
#include <memory>
#include <stop_token>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "base/status.h"
#include "front/connect/artifacts.h"
#include "front/connect/operation.h"
#include "front/session/session.h"

namespace thalweg::front {

class ListenerBus;

/// What a streaming query's start leaves: for Interrupt by tag and by operation.
struct StartedQuery {
  std::string operation_id;
  std::vector<std::string> tags;
  std::weak_ptr<streaming::StreamingQuery> query;
  /// What the client of its foreachBatch function calls itself; empty: it has none.
  std::string worker_agent;
};

/// Thread: synchronised. Lives as long as somebody works for it; Close() ends its work.
class SessionHolder : public std::enable_shared_from_this<SessionHolder> {
 public:
  SessionHolder(std::shared_ptr<Session> session, std::string server_side_id);
  ~SessionHolder();

  Session& session() { return *session_; }
  const std::string& user() const { return session_->user(); }
  const std::string& id() const { return session_->id(); }
  const std::string& server_side_id() const { return server_side_id_; }
  Artifacts& artifacts() { return artifacts_; }
  ListenerBus& listener_bus() { return *listener_bus_; }

  // --- operations ---
  struct Begun {
    std::shared_ptr<Operation> operation;
    bool existed = false;  ///< the same id and plan: attach to it
  };
  /// Errors: INVALID_HANDLE.OPERATION_ALREADY_EXISTS, INVALID_HANDLE.OPERATION_ABANDONED, INVALID_HANDLE.SESSION_CLOSED.
  Result<Begun> Begin(const std::string& operation_id, bool reattachable, std::string fingerprint,
                      std::vector<std::string> tags, int64_t retry_buffer_bytes);
  /// Null when unknown or released.
  std::shared_ptr<Operation> Find(const std::string& operation_id) const;
  bool WasReleased(const std::string& operation_id) const;
  /// Forgets it; interrupts it when it is running. False when it is not there.
  bool Release(const std::string& operation_id);
  std::vector<std::shared_ptr<Operation>> Operations() const;
  OperationState StateOf(const std::string& operation_id) const;
  std::vector<std::string> AllOperationIds() const;

  // --- analyses: operations without an id ---
  /// Requested by StopAnalyses(), and by the end of the session.
  std::stop_token analyses() const;
  /// Those that run now.
  void StopAnalyses();

  // --- errors ---
  /// The wire form of an error; its details stay until they are fetched (the last thousand).
  grpc::Status ToWire(const Status& status);
  /// Taken once. Ok when unknown.
  Status TakeError(const std::string& error_id);

  // --- relations by id ---
  void PutRelation(const std::string& id, sql::PlanPtr plan);
  sql::PlanPtr FindRelation(const std::string& id) const;
  void DropRelation(const std::string& id);
  /// What a message meant when it was first read, by its bytes (the last 32): the rows of a catalogue call, the source of a streaming
  /// frame whose schema was inferred. Null otherwise.
  sql::PlanPtr CachedRows(const std::string& key) const;
  void CacheRows(const std::string& key, sql::PlanPtr rows);

  // --- streaming queries ---
  void NoteStarted(const std::string& query_id, StartedQuery started);
  std::vector<StartedQuery> StartedQueries() const;

  // --- life ---
  void Touch(int64_t now_ms);
  int64_t idle_ms(int64_t now_ms) const;
  /// Interrupts operations, stops queries (waiting), ends the listener stream. Later operations are refused.
  void Close();

 private:
  const std::shared_ptr<Session> session_;
  const std::string server_side_id_;
  Artifacts artifacts_;
  std::unique_ptr<ListenerBus> listener_bus_;

  mutable Mutex mutex_;
  bool closed_ TW_GUARDED_BY(mutex_) = false;
  int64_t touched_ms_ TW_GUARDED_BY(mutex_) = 0;
  std::stop_source analyses_ TW_GUARDED_BY(mutex_);
  std::map<std::string, std::shared_ptr<Operation>> operations_ TW_GUARDED_BY(mutex_);
  std::unordered_map<std::string, OperationState> released_ TW_GUARDED_BY(mutex_);
  std::deque<std::string> released_order_ TW_GUARDED_BY(mutex_);
  std::unordered_map<std::string, Status> errors_ TW_GUARDED_BY(mutex_);
  std::deque<std::string> error_order_ TW_GUARDED_BY(mutex_);
  std::map<std::string, sql::PlanPtr> relations_ TW_GUARDED_BY(mutex_);
  std::deque<std::pair<std::string, sql::PlanPtr>> cached_rows_ TW_GUARDED_BY(mutex_);
  std::map<std::string, StartedQuery> started_ TW_GUARDED_BY(mutex_);
};

}  // namespace thalweg::front
