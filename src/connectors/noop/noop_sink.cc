#include "connectors/noop/noop_sink.h"

#include <atomic>

namespace thalweg::connectors {
namespace {

struct RowCount final : sql::CommitMessage {
  int64_t rows = 0;
};

class NoopWriter final : public sql::DataWriter {
 public:
  Status Write(const data::Chunk& chunk) override {
    rows_ += chunk.num_rows();
    return Status::OK();
  }
  Result<sql::CommitMessagePtr> Finish(std::shared_ptr<Signal>*) override {
    auto message = std::make_shared<RowCount>();
    message->rows = rows_;
    return sql::CommitMessagePtr(std::move(message));
  }
  void Abort() override {}

 private:
  int64_t rows_ = 0;
};

class NoopStreamingWrite final : public sql::StreamingWrite {
 public:
  sql::DeliveryGuarantee guarantee() const override { return sql::DeliveryGuarantee::kAtLeastOnce; }
  Result<std::unique_ptr<sql::DataWriter>> NewWriter(PartitionId, BatchId) override {
    return std::unique_ptr<sql::DataWriter>(std::make_unique<NoopWriter>());
  }
  Status Commit(BatchId, const std::vector<sql::CommitMessagePtr>& messages) override {
    int64_t rows = 0;
    for (const sql::CommitMessagePtr& message : messages)
      rows += static_cast<const RowCount&>(*message).rows;
    last_rows_ = rows;
    return Status::OK();
  }
  void Abort(BatchId, const std::vector<sql::CommitMessagePtr>&) override {}
  std::string Description() const override { return "NoopTable"; }
  int64_t LastEpochRows() const override { return last_rows_; }

 private:
  std::atomic<int64_t> last_rows_{0};
};

class NoopBatchWrite final : public sql::BatchWrite {
 public:
  Result<std::unique_ptr<sql::DataWriter>> NewWriter(PartitionId) override {
    return std::unique_ptr<sql::DataWriter>(std::make_unique<NoopWriter>());
  }
  Status Commit(const std::vector<sql::CommitMessagePtr>&) override { return Status::OK(); }
  void Abort(const std::vector<sql::CommitMessagePtr>&) override {}
};

class NoopTable final : public sql::Table {
 public:
  std::string name() const override { return "noop-table"; }
  data::Schema schema() const override { return {}; }
  sql::TableCapabilities capabilities() const override {
    return {.batch_write = true, .streaming_write = true};
  }
  Result<std::unique_ptr<sql::BatchWrite>> NewBatchWrite(const sql::WriteRequest&) override {
    return std::unique_ptr<sql::BatchWrite>(std::make_unique<NoopBatchWrite>());
  }
  Result<std::variant<std::unique_ptr<sql::StreamingWrite>, std::unique_ptr<sql::BatchSink>>>
  NewStreamingWrite(const sql::StreamWriteRequest&) override {
    std::unique_ptr<sql::StreamingWrite> write = std::make_unique<NoopStreamingWrite>();
    return std::variant<std::unique_ptr<sql::StreamingWrite>, std::unique_ptr<sql::BatchSink>>(
        std::move(write));
  }
};

class NoopDataSource final : public sql::DataSource {
 public:
  std::string short_name() const override { return "noop"; }
  Result<sql::TablePtr> Load(const sql::LoadRequest&) const override {
    return sql::TablePtr(std::make_shared<NoopTable>());
  }
};

}  // namespace

std::shared_ptr<const sql::DataSource> MakeNoopDataSource() {
  return std::make_shared<NoopDataSource>();
}

}  // namespace thalweg::connectors
