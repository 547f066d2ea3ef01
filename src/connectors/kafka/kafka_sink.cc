#include "connectors/kafka/kafka_sink.h"

#include <librdkafka/rdkafka.h>

#include <atomic>

#include "base/clock.h"
#include "base/fault_point.h"
#include "base/log.h"
#include "connectors/kafka/kafka_options.h"
#include "connectors/kafka/kafka_producer.h"
#include "connectors/kafka/kafka_rows.h"

namespace thalweg::connectors {
namespace {

constexpr std::chrono::milliseconds kSpacePause{10};

Status Refused(std::string message) {
  return Error("_LEGACY_ERROR_TEMP_3080").With("msg", message);
}

/// Where the sink's columns stand among those of the rows; -1 when absent.
struct SinkColumns {
  int topic = -1, key = -1, value = -1, headers = -1, partition = -1;
};

int Find(const data::Schema& schema, std::string_view name) {
  for (size_t i = 0; i < schema.size(); ++i) {
    if (schema[i].name == name) return static_cast<int>(i);
  }
  return -1;
}

Status CheckType(const data::Schema& schema, int index,
                 std::initializer_list<data::DataType> wanted) {
  if (index < 0) return Status::OK();
  const data::StructField& field = schema[index];
  std::string names;
  for (const data::DataType& type : wanted) {
    if (field.type.SameType(type)) return Status::OK();
    names += (names.empty() ? "" : " or ") + type.SimpleString();
  }
  return Refused(field.name + " attribute unsupported type " + field.type.SimpleString() + ". " +
                 field.name + " must be a(n) " + names);
}

/// Spark's KafkaWriter.validateQuery, in its order.
Result<SinkColumns> CheckColumns(const data::Schema& schema, bool has_topic_option) {
  SinkColumns columns;
  const data::DataType string = data::DataType::String(), binary = data::DataType::Binary();
  if (!has_topic_option) {
    columns.topic = Find(schema, "topic");
    if (columns.topic < 0)
      return Refused(
          "topic option required when no 'topic' attribute is present. Use the topic option for "
          "setting a topic.");
    TW_RETURN_NOT_OK(CheckType(schema, columns.topic, {string}));
  }
  columns.key = Find(schema, "key");
  TW_RETURN_NOT_OK(CheckType(schema, columns.key, {string, binary}));
  columns.value = Find(schema, "value");
  if (columns.value < 0) return Refused("Required attribute 'value' not found");
  TW_RETURN_NOT_OK(CheckType(schema, columns.value, {string, binary}));
  columns.headers = Find(schema, "headers");
  TW_RETURN_NOT_OK(CheckType(schema, columns.headers, {HeadersType()}));
  columns.partition = Find(schema, "partition");
  TW_RETURN_NOT_OK(CheckType(schema, columns.partition, {data::DataType::Integer()}));
  return columns;
}

/// What every writer of a query knows.
struct SinkPlan {
  std::optional<std::string> topic;
  SinkColumns columns;
  std::shared_ptr<KafkaProducer> producer;
};

struct RowCount final : sql::CommitMessage {
  int64_t rows = 0;
};

/// A text column's values: null pointer for null.
class TextCells {
 public:
  TextCells(const data::Chunk& chunk, int index)
      : column_(index < 0 ? nullptr : data::Flatten(chunk.column(index))) {
    if (column_ != nullptr) views_ = column_->values<data::TextView>();
  }
  std::pair<const void*, size_t> at(int64_t row) const {
    if (column_ == nullptr || column_->IsNull(row)) return {nullptr, 0};
    return {views_[row].data(), views_[row].size()};
  }

 private:
  data::ColumnPtr column_;
  std::span<const data::TextView> views_;
};

class KafkaDataWriter final : public sql::DataWriter {
 public:
  explicit KafkaDataWriter(std::shared_ptr<const SinkPlan> plan)
      : plan_(std::move(plan)), records_(std::make_shared<SentRecords>()) {}
  ~KafkaDataWriter() override { SentRecords::LeaveToReports(std::move(records_)); }

  Status Write(const data::Chunk& given) override {
    TW_RETURN_NOT_OK(records_->error());
    const data::Chunk chunk = given.Dense();
    const int64_t rows = chunk.num_rows();
    records_->Sent(rows);
    int64_t sent = 0;
    const Status status = SendRows(chunk, &sent);
    for (int64_t row = sent; row < rows; ++row) records_->Delivered(Status::OK());  // never left
    rows_ += sent;
    return status;
  }

  Result<sql::CommitMessagePtr> Finish(std::shared_ptr<Signal>* blocked) override {
    if (std::shared_ptr<Signal> rest = records_->Rest()) {
      *blocked = std::move(rest);
      return sql::CommitMessagePtr();
    }
    TW_RETURN_NOT_OK(plan_->producer->failure());
    TW_RETURN_NOT_OK(records_->error());
    TW_FAULT_POINT("kafka sink: records delivered");
    auto message = std::make_shared<RowCount>();
    message->rows = rows_;
    return sql::CommitMessagePtr(std::move(message));
  }
  void Abort() override {}

 private:
  struct Record {
    rd_kafka_topic_t* topic = nullptr;
    int32_t partition = RD_KAFKA_PARTITION_UA;
    std::pair<const void*, size_t> key, value;
    rd_kafka_headers_t* headers = nullptr;  // owned until sent
  };

  Status SendRows(const data::Chunk& chunk, int64_t* sent) {
    const SinkColumns& columns = plan_->columns;
    const TextCells topics(chunk, columns.topic), keys(chunk, columns.key),
        values(chunk, columns.value);
    const data::ColumnPtr partitions =
        columns.partition < 0 ? nullptr : data::Flatten(chunk.column(columns.partition));
    const data::ColumnPtr headers =
        columns.headers < 0 ? nullptr : data::Flatten(chunk.column(columns.headers));
    if (plan_->topic) TW_RETURN_NOT_OK(UseTopic(*plan_->topic));
    for (int64_t row = 0; row < chunk.num_rows(); ++row) {
      if (!plan_->topic) {
        const auto [name, size] = topics.at(row);
        if (name == nullptr) return Error("KAFKA_NULL_TOPIC_IN_DATA");
        TW_RETURN_NOT_OK(UseTopic({static_cast<const char*>(name), size}));
      }
      Record record;
      record.topic = topic_;
      record.key = keys.at(row);
      record.value = values.at(row);
      if (partitions != nullptr && !partitions->IsNull(row)) {
        record.partition = partitions->values<int32_t>()[row];
        TW_RETURN_NOT_OK(CheckPartition(record.partition));
      }
      if (headers != nullptr && !headers->IsNull(row))
        TW_RETURN_NOT_OK(AddHeaders(*headers, row, &record));
      const Status status = Send(&record);
      if (record.headers != nullptr) rd_kafka_headers_destroy(record.headers);
      TW_RETURN_NOT_OK(status);
      ++*sent;
    }
    return Status::OK();
  }

  Status UseTopic(std::string_view name) {
    if (topic_ != nullptr && name == topic_name_) return Status::OK();
    topic_name_ = name;
    known_partitions_ = 0;
    TW_ASSIGN_OR_RETURN(topic_, plan_->producer->Topic(topic_name_));
    return Status::OK();
  }

  /// A partition that the topic does not have is told at once; the client would find out later or
  /// never.
  Status CheckPartition(int32_t partition) {
    if (partition < 0) {
      return Error("KAFKA_REQUEST_FAILED")
          .With("attempted", "send to " + topic_name_)
          .With("error", "Invalid partition: " + std::to_string(partition) +
                             ". Partition number should always be non-negative or null.");
    }
    if (partition < known_partitions_) return Status::OK();
    TW_ASSIGN_OR_RETURN(known_partitions_, plan_->producer->CountPartitions(topic_name_));
    if (partition < known_partitions_) return Status::OK();
    return Error("KAFKA_REQUEST_FAILED")
        .With("attempted", "send to " + topic_name_)
        .With("error", "org.apache.kafka.common.errors.TimeoutException: Partition " +
                           std::to_string(partition) + " of topic " + topic_name_ +
                           " with partition count " + std::to_string(known_partitions_) +
                           " is not present in metadata.")
        .Kind(ErrorKind::kEnvironment);
  }

  static Status AddHeaders(const data::Column& column, int64_t row, Record* record) {
    const auto offsets = column.offsets();
    const data::ColumnPtr& entries = column.child(0);
    const data::ColumnPtr names = data::Flatten(entries->child(0)),
                          values = data::Flatten(entries->child(1));
    for (int32_t i = offsets[row]; i < offsets[row + 1]; ++i) {
      if (entries->IsNull(i) || names->IsNull(i)) {
        if (record->headers != nullptr) rd_kafka_headers_destroy(record->headers);
        record->headers = nullptr;
        return Error("KAFKA_REQUEST_FAILED")
            .With("attempted", "send a record")
            .With("error", "Null header keys are not permitted");
      }
      if (record->headers == nullptr)
        record->headers = rd_kafka_headers_new(static_cast<size_t>(offsets[row + 1] - i));
      const data::TextView& name = names->values<data::TextView>()[i];
      const bool null = values->IsNull(i);
      const data::TextView value = null ? data::TextView() : values->values<data::TextView>()[i];
      rd_kafka_header_add(record->headers, name.data(), name.size(), null ? nullptr : value.data(),
                          null ? 0 : static_cast<ssize_t>(value.size()));
    }
    return Status::OK();
  }

  /// Hands a record to the client; it takes the headers then. Waits while its queue is full.
  Status Send(Record* record) {
    Clock& clock = SystemClock::Get();
    std::optional<std::chrono::nanoseconds> waiting_since;
    while (true) {
      const int code = Produce(record);
      if (code == RD_KAFKA_RESP_ERR_NO_ERROR) {
        record->headers = nullptr;
        return Status::OK();
      }
      TW_RETURN_NOT_OK(plan_->producer->failure());
      if (code != RD_KAFKA_RESP_ERR__QUEUE_FULL) return KafkaError("send to " + topic_name_, code);
      if (!waiting_since) waiting_since = clock.NowMonotonic();
      if (clock.NowMonotonic() - *waiting_since > plan_->producer->settings().max_block)
        return KafkaError("send to " + topic_name_, code,
                          "Failed to allocate memory within the configured max blocking time " +
                              std::to_string(plan_->producer->settings().max_block.count()) +
                              " ms.");
      records_->AwaitSome(kSpacePause);
    }
  }

  int Produce(Record* record) {
    rd_kafka_t* const client = plan_->producer->handle().get();
    const auto& [key, key_size] = record->key;
    const auto& [value, value_size] = record->value;
    if (record->headers == nullptr) {
      const int failed =
          rd_kafka_produce(record->topic, record->partition, RD_KAFKA_MSG_F_COPY,
                           const_cast<void*>(value), value_size, key, key_size, records_.get());
      return failed == 0 ? RD_KAFKA_RESP_ERR_NO_ERROR : rd_kafka_last_error();
    }
    return rd_kafka_producev(
        client, RD_KAFKA_V_RKT(record->topic), RD_KAFKA_V_PARTITION(record->partition),
        RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY),
        RD_KAFKA_V_VALUE(const_cast<void*>(value), value_size),
        RD_KAFKA_V_KEY(const_cast<void*>(key), key_size), RD_KAFKA_V_OPAQUE(records_.get()),
        RD_KAFKA_V_HEADERS(record->headers), RD_KAFKA_V_END);
  }

  const std::shared_ptr<const SinkPlan> plan_;
  std::shared_ptr<SentRecords> records_;
  std::string topic_name_;
  rd_kafka_topic_t* topic_ = nullptr;  // the producer's
  int32_t known_partitions_ = 0;       // at least; of the topic
  int64_t rows_ = 0;
};

int64_t CountRows(const std::vector<sql::CommitMessagePtr>& messages) {
  int64_t rows = 0;
  for (const sql::CommitMessagePtr& message : messages)
    rows += static_cast<const RowCount&>(*message).rows;
  return rows;
}

class KafkaStreamingWrite final : public sql::StreamingWrite {
 public:
  explicit KafkaStreamingWrite(std::shared_ptr<const SinkPlan> plan) : plan_(std::move(plan)) {}
  sql::DeliveryGuarantee guarantee() const override { return sql::DeliveryGuarantee::kAtLeastOnce; }
  Result<std::unique_ptr<sql::DataWriter>> NewWriter(PartitionId, BatchId) override {
    return std::unique_ptr<sql::DataWriter>(std::make_unique<KafkaDataWriter>(plan_));
  }
  Status Commit(BatchId, const std::vector<sql::CommitMessagePtr>& messages) override {
    last_rows_ = CountRows(messages);
    return Status::OK();
  }
  void Abort(BatchId, const std::vector<sql::CommitMessagePtr>&) override {}
  std::string Description() const override { return "KafkaTable"; }
  int64_t LastEpochRows() const override { return last_rows_; }

 private:
  const std::shared_ptr<const SinkPlan> plan_;
  std::atomic<int64_t> last_rows_{0};
};

class KafkaBatchWrite final : public sql::BatchWrite {
 public:
  explicit KafkaBatchWrite(std::shared_ptr<const SinkPlan> plan) : plan_(std::move(plan)) {}
  Result<std::unique_ptr<sql::DataWriter>> NewWriter(PartitionId) override {
    return std::unique_ptr<sql::DataWriter>(std::make_unique<KafkaDataWriter>(plan_));
  }
  Status Commit(const std::vector<sql::CommitMessagePtr>&) override { return Status::OK(); }
  void Abort(const std::vector<sql::CommitMessagePtr>&) override {}

 private:
  const std::shared_ptr<const SinkPlan> plan_;
};

Result<std::shared_ptr<const SinkPlan>> MakePlan(const data::Schema& schema,
                                                 const sql::OptionMap& given,
                                                 data::FileSystem& files) {
  auto plan = std::make_shared<SinkPlan>();
  TW_ASSIGN_OR_RETURN(KafkaWriteOptions options, ParseWriteOptions(given));
  TW_ASSIGN_OR_RETURN(plan->columns, CheckColumns(schema, options.topic.has_value()));
  plan->topic = options.topic;
  TW_ASSIGN_OR_RETURN(plan->producer,
                      KafkaProducer::Get(options.properties, options.topic.value_or(""), files));
  return std::shared_ptr<const SinkPlan>(std::move(plan));
}

}  // namespace

Result<std::unique_ptr<sql::StreamingWrite>> MakeKafkaStreamingWrite(
    const sql::StreamWriteRequest& request, data::FileSystem& files) {
  TW_ASSIGN_OR_RETURN(std::shared_ptr<const SinkPlan> plan,
                      MakePlan(request.schema, request.options, files));
  return std::unique_ptr<sql::StreamingWrite>(
      std::make_unique<KafkaStreamingWrite>(std::move(plan)));
}

Result<std::unique_ptr<sql::BatchWrite>> MakeKafkaBatchWrite(const sql::WriteRequest& request,
                                                             data::FileSystem& files) {
  if (request.mode == sql::SaveMode::kOverwrite || request.mode == sql::SaveMode::kIgnore) {
    return Error("_LEGACY_ERROR_TEMP_3081")
        .With("mode", request.mode == sql::SaveMode::kOverwrite ? "Overwrite" : "Ignore")
        .With("append", "Append")
        .With("errorIfExists", "ErrorIfExists");
  }
  TW_ASSIGN_OR_RETURN(std::shared_ptr<const SinkPlan> plan,
                      MakePlan(request.schema, request.options, files));
  return std::unique_ptr<sql::BatchWrite>(std::make_unique<KafkaBatchWrite>(std::move(plan)));
}

}  // namespace thalweg::connectors
