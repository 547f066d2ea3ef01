#pragma once

#include <map>
#include <memory>
#include <string>

#include "base/ids.h"
#include "base/mutex.h"
#include "streaming/query/micro_batch_driver.h"

namespace thalweg::streaming {

/// The running queries of the process by id, across all sessions: no two runs of one query at a
/// time. Thread: synchronised.
class ActiveQueries {
 public:
  static ActiveQueries& Get();
  /// Enters the query; the run that holds its id otherwise.
  std::shared_ptr<MicroBatchDriver> Enter(const std::shared_ptr<MicroBatchDriver>& query);
  void Leave(const MicroBatchDriver& query);

 private:
  Mutex mutex_;
  std::map<std::string, std::weak_ptr<MicroBatchDriver>> by_id_ TW_GUARDED_BY(mutex_);
};

}  // namespace thalweg::streaming
