#include "connectors/kafka/kafka_source.h"

#include "connectors/kafka/embedded_broker.h"
#include "connectors/kafka/kafka_options.h"
#include "connectors/kafka/kafka_properties.h"
#include "connectors/kafka/kafka_rows.h"
#include "connectors/kafka/kafka_scan.h"
#include "connectors/kafka/kafka_sink.h"
#include "connectors/kafka/kafka_stream.h"

namespace thalweg::connectors {
namespace {

class KafkaReadTable final : public sql::Table {
 public:
  KafkaReadTable(KafkaReadOptions options, KafkaClientSettings settings,
                 const sql::ConnectorServices& services)
      : options_(std::make_shared<const KafkaReadOptions>(std::move(options))),
        settings_(std::move(settings)),
        services_(services) {}

  std::string name() const override { return "kafka"; }
  data::Schema schema() const override { return KafkaSchema(options_->include_headers); }
  sql::TableCapabilities capabilities() const override {
    return {.batch_read = true, .micro_batch_read = true};
  }
  Result<std::unique_ptr<sql::Scan>> NewScan(const sql::ScanRequest& request,
                                             std::shared_ptr<const sql::EvalConfig>) override {
    return MakeKafkaScan(options_, settings_, request);
  }
  Result<std::unique_ptr<sql::MicroBatchStream>> NewMicroBatchStream(
      const sql::StreamContext& context) override {
    return MakeKafkaStream(options_, settings_, services_, context);
  }

 private:
  const std::shared_ptr<const KafkaReadOptions> options_;
  const KafkaClientSettings settings_;
  const sql::ConnectorServices services_;
};

class KafkaWriteTable final : public sql::Table {
 public:
  explicit KafkaWriteTable(data::FileSystem& files) : files_(files) {}

  std::string name() const override { return "kafka"; }
  data::Schema schema() const override { return KafkaSchema(/*include_headers=*/true); }
  sql::TableCapabilities capabilities() const override {
    return {.batch_write = true, .streaming_write = true};
  }
  Result<std::unique_ptr<sql::BatchWrite>> NewBatchWrite(
      const sql::WriteRequest& request) override {
    return MakeKafkaBatchWrite(request, files_);
  }
  Result<std::variant<std::unique_ptr<sql::StreamingWrite>, std::unique_ptr<sql::BatchSink>>>
  NewStreamingWrite(const sql::StreamWriteRequest& request) override {
    TW_ASSIGN_OR_RETURN(std::unique_ptr<sql::StreamingWrite> write,
                        MakeKafkaStreamingWrite(request, files_));
    return std::variant<std::unique_ptr<sql::StreamingWrite>, std::unique_ptr<sql::BatchSink>>(
        std::move(write));
  }

 private:
  data::FileSystem& files_;
};

class KafkaDataSource final : public sql::DataSource {
 public:
  explicit KafkaDataSource(const sql::ConnectorServices& services) : services_(services) {}

  std::string short_name() const override { return "kafka"; }
  Result<sql::TablePtr> Load(const sql::LoadRequest& request) const override {
    if (request.for_write) {
      TW_RETURN_NOT_OK(ParseWriteOptions(request.options).status());
      return sql::TablePtr(std::make_shared<KafkaWriteTable>(*services_.file_system));
    }
    if (request.schema)
      return Error("ILLEGAL_ARGUMENT")
          .With("message", "Kafka source has a fixed schema and cannot be set with a custom one");
    TW_ASSIGN_OR_RETURN(KafkaReadOptions options,
                        ParseReadOptions(request.options, request.streaming));
    TW_ASSIGN_OR_RETURN(
        KafkaClientSettings settings,
        TranslateProperties(options.properties, KafkaRole::kConsumer, *services_.file_system));
    if (!settings.fetch_wait_given && IsEmbeddedBroker(options.properties.at("bootstrap.servers")))
      settings.Set("fetch.wait.max.ms", "5");  // it does not wake a waiting fetch
    return sql::TablePtr(
        std::make_shared<KafkaReadTable>(std::move(options), std::move(settings), services_));
  }

 private:
  const sql::ConnectorServices services_;
};

}  // namespace

std::shared_ptr<const sql::DataSource> MakeKafkaDataSource(const sql::ConnectorServices& services) {
  return std::make_shared<KafkaDataSource>(services);
}

}  // namespace thalweg::connectors
