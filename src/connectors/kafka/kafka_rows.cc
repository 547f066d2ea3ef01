#include "connectors/kafka/kafka_rows.h"

#include <arrow/buffer.h>
#include <librdkafka/rdkafka.h>

#include "data/columnar/builder.h"

namespace thalweg::connectors {
namespace {

/// What a record costs in librdkafka beside its bytes, roughly.
constexpr int64_t kRecordOverheadBytes = 512;

/// Keeps a block of records alive for the views that point into it. It has no bytes of its own; its
/// size says what is held: the records and the fetch responses that they lie in. So whoever keeps
/// rows copies them (Compact) instead of keeping a client.
class BlockBuffer final : public arrow::Buffer {
 public:
  BlockBuffer(std::shared_ptr<MessageBlock> block, int64_t held_bytes)
      : arrow::Buffer(nullptr, held_bytes), block_(std::move(block)) {}

 private:
  std::shared_ptr<MessageBlock> block_;
};

data::TextView ViewOf(const void* bytes, size_t size) {
  return data::TextView(static_cast<const char*>(bytes), static_cast<uint32_t>(size));
}

template <typename Field>
data::ColumnPtr BuildText(std::span<rd_kafka_message_t* const> messages,
                          const data::BufferPtr& held, Field field) {
  data::TextBuilder builder(data::DataType::Binary());
  builder.Reserve(static_cast<int64_t>(messages.size()));
  for (const rd_kafka_message_t* message : messages) {
    const auto [bytes, size] = field(message);
    if (bytes == nullptr) {
      builder.AppendNull();
    } else {
      builder.AppendView(ViewOf(bytes, size));
    }
  }
  builder.AddTextBuffer(held);
  return builder.Finish();
}

data::ColumnPtr BuildOffsets(std::span<rd_kafka_message_t* const> messages) {
  data::FixedBuilder<int64_t> builder(data::DataType::Long());
  builder.Reserve(static_cast<int64_t>(messages.size()));
  for (const rd_kafka_message_t* message : messages) builder.Append(message->offset);
  return builder.Finish();
}

Result<data::ColumnPtr> BuildTimestamps(std::span<rd_kafka_message_t* const> messages,
                                        const TopicPartition& partition) {
  data::FixedBuilder<int64_t> builder(data::DataType::Timestamp());
  builder.Reserve(static_cast<int64_t>(messages.size()));
  for (const rd_kafka_message_t* message : messages) {
    rd_kafka_timestamp_type_t type;
    const int64_t millis = rd_kafka_message_timestamp(message, &type);
    int64_t micros = 0;
    if (__builtin_mul_overflow(millis, int64_t{1000}, &micros)) {
      return Error("KAFKA_MALFORMED_RECORD_TIMESTAMP")
          .With("topic", partition.topic)
          .With("partition", partition.partition)
          .With("offset", static_cast<long long>(message->offset))
          .With("timestamp", static_cast<long long>(millis));
    }
    builder.Append(micros);
  }
  return builder.Finish();
}

/// Java's ids: -1 none, 0 by the producer, 1 by the broker.
data::ColumnPtr BuildTimestampTypes(std::span<rd_kafka_message_t* const> messages) {
  data::FixedBuilder<int32_t> builder(data::DataType::Integer());
  builder.Reserve(static_cast<int64_t>(messages.size()));
  for (const rd_kafka_message_t* message : messages) {
    rd_kafka_timestamp_type_t type;
    rd_kafka_message_timestamp(message, &type);
    builder.Append(static_cast<int32_t>(type) -
                   static_cast<int32_t>(RD_KAFKA_TIMESTAMP_CREATE_TIME));
  }
  return builder.Finish();
}

/// Null for a record without headers.
data::ColumnPtr BuildHeaders(std::span<rd_kafka_message_t* const> messages,
                             const data::BufferPtr& held) {
  const data::DataType type = HeadersType();
  data::TextBuilder keys(data::DataType::String()), values(data::DataType::Binary());
  data::BufferBuilder<int32_t> offsets;
  data::ValidityBuilder validity;
  int32_t count = 0;
  offsets.Append(0);
  for (const rd_kafka_message_t* message : messages) {
    rd_kafka_headers_t* headers = nullptr;
    const bool has = rd_kafka_message_headers(message, &headers) == RD_KAFKA_RESP_ERR_NO_ERROR &&
                     headers != nullptr;
    const char* name = nullptr;
    const void* value = nullptr;
    size_t size = 0;
    for (size_t i = 0; has && rd_kafka_header_get_all(headers, i, &name, &value, &size) ==
                                  RD_KAFKA_RESP_ERR_NO_ERROR;
         ++i) {
      keys.AppendView(ViewOf(name, std::char_traits<char>::length(name)));
      value == nullptr ? values.AppendNull() : values.AppendView(ViewOf(value, size));
      ++count;
    }
    const bool any = count > offsets[offsets.size() - 1];
    offsets.Append(count);
    any ? validity.AppendValid() : validity.AppendNull();
  }
  keys.AddTextBuffer(held);
  values.AddTextBuffer(held);
  data::Column::Parts entries;
  entries.type = type.element();
  entries.length = count;
  entries.children = {keys.Finish(), values.Finish()};
  data::Column::Parts lists;
  lists.type = type;
  lists.length = static_cast<int64_t>(messages.size());
  lists.null_count = validity.null_count();
  lists.validity = validity.Finish();
  lists.values = offsets.Finish();
  lists.children = {data::Column::Make(std::move(entries))};
  return data::Column::Make(std::move(lists));
}

}  // namespace

data::DataType HeadersType() {
  return data::DataType::Array(data::DataType::Struct(
      {{"key", data::DataType::String()}, {"value", data::DataType::Binary()}}));
}

data::Schema KafkaSchema(bool include_headers) {
  data::Schema schema{
      {"key", data::DataType::Binary()},           {"value", data::DataType::Binary()},
      {"topic", data::DataType::String()},         {"partition", data::DataType::Integer()},
      {"offset", data::DataType::Long()},          {"timestamp", data::DataType::Timestamp()},
      {"timestampType", data::DataType::Integer()}};
  if (include_headers) schema.push_back({"headers", HeadersType()});
  return schema;
}

MessageBlock::~MessageBlock() {
  for (rd_kafka_message_t* message : messages_) rd_kafka_message_destroy(message);
}

Result<data::Chunk> BuildRows(std::shared_ptr<MessageBlock> block, const TopicPartition& partition,
                              std::span<const std::string> columns, int64_t* payload_bytes) {
  const std::span<rd_kafka_message_t* const> messages(block->messages());
  const auto rows = static_cast<int64_t>(messages.size());
  int64_t bytes = 0;
  for (const rd_kafka_message_t* message : messages)
    bytes += static_cast<int64_t>(message->len + message->key_len);
  *payload_bytes += bytes;
  const data::BufferPtr held = data::Buffer::FromArrow(
      std::make_shared<BlockBuffer>(block, 2 * bytes + kRecordOverheadBytes * rows));
  std::vector<data::ColumnPtr> made;
  for (const std::string& column : columns) {
    if (column == "key") {
      made.push_back(BuildText(messages, held, [](const rd_kafka_message_t* m) {
        return std::pair(m->key, m->key_len);
      }));
    } else if (column == "value") {
      made.push_back(BuildText(messages, held, [](const rd_kafka_message_t* m) {
        return std::pair(m->payload, m->len);
      }));
    } else if (column == "topic") {
      made.push_back(
          data::Column::Constant(data::DataType::String(), data::Value(partition.topic), rows));
    } else if (column == "partition") {
      made.push_back(data::Column::Constant(data::DataType::Integer(),
                                            data::Value(partition.partition), rows));
    } else if (column == "offset") {
      made.push_back(BuildOffsets(messages));
    } else if (column == "timestamp") {
      TW_ASSIGN_OR_RETURN(data::ColumnPtr timestamps, BuildTimestamps(messages, partition));
      made.push_back(std::move(timestamps));
    } else if (column == "timestampType") {
      made.push_back(BuildTimestampTypes(messages));
    } else if (column == "headers") {
      made.push_back(BuildHeaders(messages, held));
    } else {
      return InternalError("no column " + column + " in a Kafka source");
    }
  }
  return data::Chunk(std::move(made), rows);
}

}  // namespace thalweg::connectors
