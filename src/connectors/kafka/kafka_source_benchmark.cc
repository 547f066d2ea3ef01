// CPU per record of the Kafka source beside a bare consumer, in one run on one topic:
//   connectors_kafka_benchmark           (brokers from TW_BENCHMARK_BOOTSTRAP, else the embedded
//   broker)
// Counters: cpu_us_per_record of the whole process, librdkafka's threads included; "beyond" is the
// difference.

#include <benchmark/benchmark.h>
#include <librdkafka/rdkafka.h>
#include <sys/resource.h>

#include <array>
#include <cstdlib>

#include "connectors/kafka/embedded_broker.h"
#include "connectors/kafka/kafka_source.h"
#include "data/columnar/builder.h"
#include "data/io/memory_file_system.h"

namespace thalweg::connectors {
namespace {

constexpr int64_t kRecordsOfARealBroker = 1'000'000;
constexpr int64_t kRecordsOfTheEmbeddedOne = 20'000;  // it drops older ones

double ProcessCpuMicros() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto micros = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) * 1e6 + static_cast<double>(time.tv_usec);
  };
  return micros(usage.ru_utime) + micros(usage.ru_stime);
}

/// One topic with JSON records of about 100 bytes, written once.
class Topic {
 public:
  static Topic& Get() {
    static Topic topic;
    return topic;
  }
  const std::string& bootstrap() const { return bootstrap_; }
  const std::string& name() const { return name_; }
  int64_t records() const { return records_; }
  sql::TablePtr Load() const {
    sql::LoadRequest request;
    request.streaming = true;
    request.options.Set("kafka.bootstrap.servers", bootstrap_);
    request.options.Set("subscribe", name_);
    request.options.Set("startingOffsets", "earliest");
    return source_->Load(request).ValueOrDie();  // tidy: allow(ValueOrDie) a benchmark
  }

 private:
  Topic() {
    const char* given = std::getenv("TW_BENCHMARK_BOOTSTRAP");
    if (given == nullptr)
      broker_ = EmbeddedBroker::Make().ValueOrDie();  // tidy: allow(ValueOrDie) a benchmark
    bootstrap_ = given == nullptr ? broker_->bootstrap_servers() : given;
    records_ = given == nullptr ? kRecordsOfTheEmbeddedOne : kRecordsOfARealBroker;
    name_ = "benchmark-" + std::to_string(SystemClock::Get().NowMillis());
    services_.file_system = &files_;
    services_.clock = &SystemClock::Get();
    source_ = MakeKafkaDataSource(services_);
    Fill();
  }
  void Fill() {
    sql::LoadRequest load;
    load.for_write = true;
    load.options.Set("kafka.bootstrap.servers", bootstrap_);
    load.options.Set("topic", name_);
    sql::WriteRequest request;
    request.schema = {{"value", data::DataType::String()}};
    request.options = load.options;
    request.mode = sql::SaveMode::kAppend;
    const auto write = source_->Load(load)
                           .ValueOrDie()
                           ->NewBatchWrite(request)
                           .ValueOrDie();  // tidy: allow(ValueOrDie) a benchmark
    const auto writer =
        write->NewWriter(PartitionId(0)).ValueOrDie();  // tidy: allow(ValueOrDie) a benchmark
    for (int64_t row = 0; row < records_;) {
      data::TextBuilder values(data::DataType::String());
      for (int i = 0; i < 10'000 && row < records_; ++i, ++row)
        values.Append(R"({"user":"user-)" + std::to_string(row % 1000) + R"(","page":"/products/)" +
                      std::to_string(row % 97) + R"(","ts":"2026-01-01 00:00:00","number":)" +
                      std::to_string(row) + "}");
      const int64_t count = values.length();
      TW_CHECK(writer->Write(data::Chunk({values.Finish()}, count)).ok());
    }
    std::shared_ptr<Signal> blocked;
    TW_CHECK(writer->Finish(&blocked).ok());
    while (blocked != nullptr && blocked->Wait({})) {
      blocked.reset();
      TW_CHECK(writer->Finish(&blocked).ok());
    }
  }

  std::unique_ptr<EmbeddedBroker> broker_;
  data::MemoryFileSystem files_;
  sql::ConnectorServices services_;
  std::shared_ptr<const sql::DataSource> source_;
  std::string bootstrap_, name_;
  int64_t records_ = 0;
};

void Report(benchmark::State& state, int64_t records, double cpu_micros) {
  state.SetItemsProcessed(records);
  state.counters["cpu_us_per_record"] = cpu_micros / static_cast<double>(records);
}

/// What librdkafka itself costs: fetch, hand out in batches, destroy.
void BareConsumer(benchmark::State& state) {
  const Topic& topic = Topic::Get();
  int64_t records = 0;
  double cpu_micros = 0;
  for (auto _ : state) {
    const double begin = ProcessCpuMicros();
    rd_kafka_conf_t* conf = rd_kafka_conf_new();
    char text[256];
    rd_kafka_conf_set(conf, "bootstrap.servers", topic.bootstrap().c_str(), text, sizeof(text));
    rd_kafka_conf_set(conf, "enable.auto.offset.store", "false", text, sizeof(text));
    rd_kafka_t* client = rd_kafka_new(RD_KAFKA_CONSUMER, conf, text, sizeof(text));
    rd_kafka_topic_t* handle = rd_kafka_topic_new(client, topic.name().c_str(), nullptr);
    rd_kafka_queue_t* queue = rd_kafka_queue_new(client);
    rd_kafka_consume_start_queue(handle, 0, RD_KAFKA_OFFSET_BEGINNING, queue);
    std::array<rd_kafka_message_t*, 1024> messages;
    int64_t seen = 0, bytes = 0;
    while (seen < topic.records()) {
      const ssize_t count =
          rd_kafka_consume_batch_queue(queue, 100, messages.data(), messages.size());
      for (ssize_t i = 0; i < count; ++i) {
        if (messages[i]->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
          ++seen;
          bytes += static_cast<int64_t>(messages[i]->len);
        }
        rd_kafka_message_destroy(messages[i]);
      }
    }
    benchmark::DoNotOptimize(bytes);
    rd_kafka_consume_stop(handle, 0);
    rd_kafka_queue_destroy(queue);
    rd_kafka_topic_destroy(handle);
    rd_kafka_destroy(client);
    records += seen;
    cpu_micros += ProcessCpuMicros() - begin;
  }
  Report(state, records, cpu_micros);
}

/// The source: offsets, plan, chunks of one column.
void Source(benchmark::State& state) {
  const Topic& topic = Topic::Get();
  const sql::TablePtr table = topic.Load();
  int64_t records = 0, runs = 0;
  double cpu_micros = 0;
  const auto more = std::make_shared<Signal>();
  for (auto _ : state) {
    const double begin = ProcessCpuMicros();
    sql::StreamContext context;
    context.metadata_path = "/" + std::to_string(++runs) + "/sources/0";
    context.on_more_data = [more] { more->Set(); };
    const auto stream =
        table->NewMicroBatchStream(context).ValueOrDie();  // tidy: allow(ValueOrDie) a benchmark
    const sql::Offset start =
        stream->InitialOffset().ValueOrDie();  // tidy: allow(ValueOrDie) a benchmark
    const auto end = stream->LatestOffset(start, {sql::ReadAllAvailable{}})
                         .ValueOrDie();  // tidy: allow(ValueOrDie) a benchmark
    sql::ScanRequest scan;
    scan.columns = {"value"};
    int64_t seen = 0;
    for (const auto& split : stream->PlanSplits(start, *end, scan)
                                 .ValueOrDie()) {        // tidy: allow(ValueOrDie) a benchmark
      const auto reader = split->Open({}).ValueOrDie();  // tidy: allow(ValueOrDie) a benchmark
      while (true) {
        sql::ReadStep step = reader->Next().ValueOrDie();  // tidy: allow(ValueOrDie) a benchmark
        if (std::holds_alternative<sql::ReadEnd>(step)) break;
        if (const auto* blocked = std::get_if<sql::ReadBlocked>(&step)) blocked->signal->Wait({});
        if (const auto* chunk = std::get_if<sql::ReadChunk>(&step)) seen += chunk->chunk.num_rows();
      }
    }
    TW_CHECK(seen == topic.records());
    stream->Stop();
    records += seen;
    cpu_micros += ProcessCpuMicros() - begin;
  }
  Report(state, records, cpu_micros);
}

BENCHMARK(BareConsumer)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(5);
BENCHMARK(Source)->Unit(benchmark::kMillisecond)->UseRealTime()->Iterations(5);

}  // namespace
}  // namespace thalweg::connectors
