#include "scenario/feed.h"

#include <algorithm>
#include <charconv>

#include "data/columnar/builder.h"

namespace thalweg::scenario {
namespace {

constexpr size_t kSplits = 3;

data::Schema FeedSchema() { return {{"value", data::DataType::String()}}; }

class FeedReader final : public sql::PartitionReader {
 public:
  FeedReader(std::vector<std::string> values, size_t columns) : values_(std::move(values)), columns_(columns) {}
  Result<sql::ReadStep> Next() override {
    if (values_.empty()) return sql::ReadStep(sql::ReadEnd{});
    const auto rows = static_cast<int64_t>(values_.size());
    std::vector<data::ValueList> lists;
    for (std::string& value : values_) lists.push_back({data::Value(std::move(value))});
    values_.clear();
    const data::Chunk chunk = data::ChunkFromRows({data::DataType::String()}, lists);
    return sql::ReadStep(sql::ReadChunk{data::Chunk(std::vector<data::ColumnPtr>(columns_, chunk.column(0)), rows)});
  }

 private:
  std::vector<std::string> values_;
  const size_t columns_;
};

class FeedSplit final : public sql::InputSplit {
 public:
  FeedSplit(std::vector<std::string> values, size_t columns) : values_(std::move(values)), columns_(columns) {}
  Result<std::unique_ptr<sql::PartitionReader>> Open(const sql::EvalConfig&) const override {
    return std::unique_ptr<sql::PartitionReader>(std::make_unique<FeedReader>(values_, columns_));
  }
  std::string Describe() const override { return "feed"; }

 private:
  const std::vector<std::string> values_;
  const size_t columns_;
};

class FeedStream final : public sql::MicroBatchStream {
 public:
  FeedStream(std::shared_ptr<Feed> feed, int64_t limit, std::function<void()> on_more) : feed_(std::move(feed)), limit_(limit) {
    feed_->OnAdd(std::move(on_more));
  }

  Result<sql::Offset> InitialOffset() override { return sql::Offset{""}; }
  std::vector<sql::ReadLimit> DefaultReadLimits() const override {
    if (limit_ > 0) return {sql::ReadMaxFiles{limit_}};
    return {sql::ReadAllAvailable{}};
  }
  Result<std::optional<sql::Offset>> LatestOffset(const sql::Offset& start, const std::vector<sql::ReadLimit>& limits) override {
    TW_ASSIGN_OR_RETURN(const int64_t from, Position(start.json));
    int64_t end = last_ ? std::min(*last_, feed_->size()) : feed_->size();
    for (const sql::ReadLimit& limit : limits) {
      if (const auto* files = std::get_if<sql::ReadMaxFiles>(&limit)) end = std::min(end, from + files->files);
    }
    if (end <= from) return std::optional<sql::Offset>{};
    return std::optional<sql::Offset>(sql::Offset{std::to_string(end)});
  }
  Status PrepareForTriggerAvailableNow() override {
    last_ = feed_->size();
    return Status::OK();
  }
  Result<std::vector<sql::InputSplitPtr>> PlanSplits(const sql::Offset& start, const sql::Offset& end, const sql::ScanRequest& scan) override {
    TW_ASSIGN_OR_RETURN(const int64_t from, Position(start.json));
    TW_ASSIGN_OR_RETURN(const int64_t to, Position(end.json));
    std::vector<std::vector<std::string>> parts(kSplits);
    size_t next = 0;
    for (std::string& value : feed_->Values(from, to)) parts[next++ % kSplits].push_back(std::move(value));
    std::vector<sql::InputSplitPtr> splits;
    for (std::vector<std::string>& part : parts) splits.push_back(std::make_shared<FeedSplit>(std::move(part), scan.columns.size()));
    return splits;
  }
  Status Commit(const sql::Offset&) override { return Status::OK(); }
  std::chrono::milliseconds poll_interval() const override { return std::chrono::milliseconds(0); }
  std::string Description() const override { return "Feed"; }
  void Stop() override { feed_->OnAdd(nullptr); }

 private:
  static Result<int64_t> Position(std::string_view json) {
    int64_t value = 0;
    if (json.empty()) return value;
    const auto [end, error] = std::from_chars(json.data(), json.data() + json.size(), value);
    if (error != std::errc{} || end != json.data() + json.size()) return InternalError("no position of a feed: " + std::string(json));
    return value;
  }

  const std::shared_ptr<Feed> feed_;
  const int64_t limit_;
  std::optional<int64_t> last_;
};

class FeedTable final : public sql::Table {
 public:
  FeedTable(std::shared_ptr<Feed> feed, int64_t limit) : feed_(std::move(feed)), limit_(limit) {}
  std::string name() const override { return "feed"; }
  data::Schema schema() const override { return FeedSchema(); }
  sql::TableCapabilities capabilities() const override { return {.micro_batch_read = true}; }
  Result<std::unique_ptr<sql::MicroBatchStream>> NewMicroBatchStream(const sql::StreamContext& context) override {
    return std::unique_ptr<sql::MicroBatchStream>(std::make_unique<FeedStream>(feed_, limit_, context.on_more_data));
  }

 private:
  const std::shared_ptr<Feed> feed_;
  const int64_t limit_;
};

class FeedDataSource final : public sql::DataSource {
 public:
  explicit FeedDataSource(const Feeds& feeds) : feeds_(feeds) {}
  std::string short_name() const override { return "scenario-feed"; }
  Result<sql::TablePtr> Load(const sql::LoadRequest& request) const override {
    const auto feed = feeds_.find(request.options.Get("feed").value_or(""));
    if (feed == feeds_.end()) return InternalError("no such feed");
    TW_ASSIGN_OR_RETURN(const int64_t limit, request.options.GetInt("limit", 0));
    return sql::TablePtr(std::make_shared<FeedTable>(feed->second, limit));
  }

 private:
  const Feeds& feeds_;
};

}  // namespace

void Feed::Add(std::vector<std::string> values) {
  std::function<void()> on_add;
  {
    const MutexLock lock(mutex_);
    additions_.push_back(std::move(values));
    on_add = on_add_;
  }
  if (on_add) on_add();
}

int64_t Feed::size() const {
  const MutexLock lock(mutex_);
  return static_cast<int64_t>(additions_.size());
}

std::vector<std::string> Feed::Values(int64_t start, int64_t end) const {
  const MutexLock lock(mutex_);
  std::vector<std::string> values;
  for (int64_t i = start; i < end && i < static_cast<int64_t>(additions_.size()); ++i) {
    values.insert(values.end(), additions_[i].begin(), additions_[i].end());
  }
  return values;
}

void Feed::OnAdd(std::function<void()> callback) {
  const MutexLock lock(mutex_);
  on_add_ = std::move(callback);
}

std::shared_ptr<const sql::DataSource> MakeFeedDataSource(const Feeds& feeds) { return std::make_shared<FeedDataSource>(feeds); }

}  // namespace thalweg::scenario
