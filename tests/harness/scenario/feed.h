#pragma once

// The stream that a script feeds: rows as JSON texts, one column `value`, kept outside of the machine that may crash.

#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/mutex.h"
#include "sql/datasource/data_source.h"

namespace thalweg::scenario {

/// What was added to one source. Positions count additions: "2" is after the second. Thread: synchronised.
class Feed {
 public:
  void Add(std::vector<std::string> values);
  int64_t size() const;
  /// The values of additions (start, end].
  std::vector<std::string> Values(int64_t start, int64_t end) const;
  /// Called at each addition, until it is replaced.
  void OnAdd(std::function<void()> callback);

 private:
  mutable Mutex mutex_;
  std::vector<std::vector<std::string>> additions_ TW_GUARDED_BY(mutex_);
  std::function<void()> on_add_ TW_GUARDED_BY(mutex_);
};
using Feeds = std::map<std::string, std::shared_ptr<Feed>>;

/// The format "scenario-feed": option `feed` names one of `feeds`, which must outlive it; `limit`: additions in a micro-batch.
std::shared_ptr<const sql::DataSource> MakeFeedDataSource(const Feeds& feeds);

}  // namespace thalweg::scenario
