#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/ids.h"
#include "base/mutex.h"
#include "streaming/query/streaming_query.h"

namespace thalweg::streaming {

/// The running queries of the process by id, across all sessions: no two runs of one query at a
/// time. Thread: synchronised.
class ActiveQueries {
 public:
  static ActiveQueries& Get();
  /// Enters the query; the run that holds its id otherwise.
  std::shared_ptr<StreamingQuery> Enter(const std::shared_ptr<StreamingQuery>& query);
  void Leave(const StreamingQuery& query);

 private:
  Mutex mutex_;
  std::map<std::string, std::weak_ptr<StreamingQuery>> by_id_ TW_GUARDED_BY(mutex_);
};

}  // namespace thalweg::streaming
