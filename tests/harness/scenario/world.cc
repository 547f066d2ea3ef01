#include "scenario/world.h"

#include <algorithm>
#include <charconv>

#include "apps/builtin_connectors.h"
#include "data/io/atomic_write.h"
#include "data/text/literal.h"
#include "engine/exec/execution.h"
#include "engine/state/state_services.h"
#include "front/commands/run_command.h"
#include "front/session/session.h"
#include "sql/catalog/catalog.h"
#include "sql/functions/registry.h"

namespace thalweg::scenario {
namespace {

constexpr int64_t kStartUs = 1'709'251'200'000'000;  // 2024-03-01, the day of a scenario
constexpr char kCheckpoint[] = "/checkpoint";
constexpr char kTable[] = "/table";
constexpr std::string_view kDay = "2024-03-01 ";

std::string CellText(const data::Value& value, const data::DataType& type) {
  std::string text = data::ValueText(value, type);
  if (!type.Is(data::TypeKind::kTimestamp)) return text;
  if (text.starts_with(kDay)) return text.substr(kDay.size());
  const size_t blank = text.find(' ');
  if (blank != std::string::npos) text[blank] = 'T';
  return text;
}

void AppendRows(const data::Chunk& chunk, const data::Schema& schema, Rows* rows) {
  const data::Chunk dense = chunk.Dense();
  for (int64_t i = 0; i < dense.num_rows(); ++i) {
    Cells cells;
    for (int c = 0; c < dense.num_columns(); ++c) {
      const data::Value value = dense.column(c)->GetValue(i);
      cells.push_back(value.is_null() ? std::nullopt : std::optional(CellText(value, schema[c].type)));
    }
    rows->push_back(std::move(cells));
  }
}

class CollectSink final : public sql::BatchSink {
 public:
  explicit CollectSink(std::shared_ptr<Collected> collected) : collected_(std::move(collected)) {}
  sql::DeliveryGuarantee guarantee() const override { return sql::DeliveryGuarantee::kAtLeastOnce; }
  Status AddBatch(BatchId epoch, std::shared_ptr<const sql::BatchRelation> relation) override {
    Rows rows;
    for (const data::Chunk& chunk : relation->chunks()) AppendRows(chunk, relation->schema(), &rows);
    SortRows(&rows);
    collected_->Take(epoch.value(), std::move(rows));
    return Status::OK();
  }
  std::string Description() const override { return "collect"; }

 private:
  const std::shared_ptr<Collected> collected_;
};

std::string SqlText(std::string_view text) {
  std::string quoted = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') quoted += '\\';
    quoted += c;
  }
  return quoted + "'";
}

}  // namespace

void SortRows(Rows* rows) {
  std::sort(rows->begin(), rows->end(), [](const Cells& a, const Cells& b) { return RowText(a) < RowText(b); });
}

void Collected::Take(int64_t batch, Rows rows) {
  const MutexLock lock(mutex_);
  const auto [at, fresh] = batches_.emplace(batch, rows);
  if (!fresh && at->second != rows && contradiction_.empty()) {
    contradiction_ = "batch " + std::to_string(batch) + " came again with other rows";
  }
}

std::map<int64_t, Rows> Collected::batches() const {
  const MutexLock lock(mutex_);
  return batches_;
}

std::string Collected::contradiction() const {
  const MutexLock lock(mutex_);
  return contradiction_;
}

/// What a process holds; the members go in reverse order.
class World::Machine {
 public:
  MemoryAccount account{"scenario", nullptr};
  MemoryReservation memory{account};
  sql::DataSourceRegistry data_sources;
  std::unique_ptr<sql::Catalog> catalog;
  std::unique_ptr<engine::StateServices> state;
  std::unique_ptr<engine::Scheduler> scheduler;
  front::ServerContext context;
  std::shared_ptr<front::Session> session;

  ~Machine() {
    if (session != nullptr) session->Close();
  }
};

World::World(const Scenario& scenario)
    : scenario_(scenario), clock_(kStartUs), disk_(clock_), faulty_(disk_),
      delta_(connectors::MakeDeltaDataSource({&disk_, &clock_, [](std::string_view) {}})) {}

World::~World() { Halt(); }

Result<std::unique_ptr<World>> World::Make(const Scenario& scenario) {
  std::unique_ptr<World> world(new World(scenario));
  bool kafka = scenario.sink == "kafka";
  std::vector<std::string> topics;
  if (kafka) topics.emplace_back("out");
  for (const Definition& definition : scenario.definitions) {
    const auto* source = std::get_if<SourceLine>(&definition);
    if (source == nullptr) continue;
    if (source->kind == "memory") world->feeds_[source->name] = std::make_shared<Feed>();
    if (source->kind == "kafka") topics.push_back(source->name);
    if (source->kind == "delta") {
      TW_ASSIGN_OR_RETURN(const data::Schema schema, data::ParseSchemaDdl(source->schema));
      TW_RETURN_NOT_OK(world->delta_->CreateTable("/in/" + source->name, schema, {}, {}, sql::EvalConfig{}));
    }
    if (source->kind == "file" || source->kind == "csv") {
      const std::string folder = "/in/" + source->name;
      TW_RETURN_NOT_OK(world->disk_.MakeDirectories(folder));
      for (const char* path : {"/", "/in", folder.c_str()}) TW_RETURN_NOT_OK(world->disk_.SyncDirectory(path));
    }
  }
  if (!topics.empty()) {
    TW_ASSIGN_OR_RETURN(world->broker_, connectors::EmbeddedBroker::Make());
    for (const std::string& topic : topics) TW_RETURN_NOT_OK(world->broker_->CreateTopic(topic, 2));
  }
  return world;
}

Status World::Boot(MachineSize size) {
  auto machine = std::make_unique<Machine>();
  machine->catalog = std::make_unique<sql::Catalog>(faulty_, "/warehouse");
  machine->state = std::make_unique<engine::StateServices>(faulty_, clock_);
  engine::Scheduler::Options options;
  options.workers = size.workers;
  options.io_threads = 2;
  machine->scheduler = std::make_unique<engine::Scheduler>(options);
  front::ServerContext& context = machine->context;
  context.scheduler = machine->scheduler.get();
  context.state = machine->state.get();
  context.catalog = machine->catalog.get();
  context.data_sources = &machine->data_sources;
  context.functions = &sql::BuiltinFunctions();
  context.connectors = {&faulty_, &clock_, [](std::string_view) {}};
  context.memory = &machine->memory;
  context.server_settings.Set("spark.sql.session.timeZone", "UTC");
  context.server_settings.Set("spark.sql.shuffle.partitions", std::to_string(size.partitions));
  for (const auto& [key, value] : scenario_.settings) context.server_settings.Set(key, value);
  context.run_command = front::RunCommand;
  TW_RETURN_NOT_OK(apps::RegisterBuiltinConnectors(context.connectors, &machine->data_sources));
  TW_RETURN_NOT_OK(machine->data_sources.Register(MakeFeedDataSource(feeds_)));
  machine->session = front::Session::Make(context, "scenario", "scenario");
  machine_ = std::move(machine);
  for (const Definition& definition : scenario_.definitions) {
    TW_RETURN_NOT_OK(std::visit([&](const auto& one) { return Define(one); }, definition));
  }
  return Status::OK();
}

void World::Halt() {
  StopQuery();
  machine_.reset();
}

void World::LosePower(Random* random) {
  Halt();
  disk_.Crash(random);
}

Status World::CreateView(const std::string& name, const std::string& sql, const std::optional<Watermark>& watermark,
                         const std::optional<DropDuplicates>& drop_duplicates) {
  front::Session& session = *machine_->session;
  TW_ASSIGN_OR_RETURN(sql::PlanPtr plan, session.ParseSql(sql, {}, {}));
  if (watermark) {
    plan = std::make_shared<sql::EventTimeWatermark>(sql::UnresolvedAttribute::Make({watermark->column}), watermark->delay, plan);
  }
  if (drop_duplicates) {
    auto drop = std::make_shared<sql::Deduplicate>(plan);
    drop->column_names = drop_duplicates->columns;
    drop->all_columns = drop->column_names.empty();
    drop->within_watermark = drop_duplicates->within_watermark;
    plan = std::move(drop);
  }
  TW_ASSIGN_OR_RETURN(const sql::PlanPtr analyzed, session.Analyze(plan));
  return session.CreateTempView(name, analyzed, true, false);
}

Status World::Define(const SourceLine& source) {
  front::Session& session = *machine_->session;
  auto relation = std::make_shared<sql::UnresolvedDataSource>();
  relation->streaming = true;
  relation->format = source.kind;
  for (const auto& [key, value] : source.options) relation->options.Set(key, value);
  std::string sql = "SELECT * FROM " + source.name + "__raw";
  const std::string parse = "from_json(CAST(value AS STRING), " + SqlText(source.schema) + ")";
  if (source.kind == "memory") {
    relation->format = "scenario-feed";
    relation->options.Set("feed", source.name);
  } else if (source.kind == "kafka") {
    relation->options.Set("kafka.bootstrap.servers", broker_->bootstrap_servers());
    relation->options.Set("subscribe", source.name);
    if (!relation->options.Has("startingOffsets")) relation->options.Set("startingOffsets", "earliest");
  } else if (source.kind == "file" || source.kind == "csv") {
    relation->format = source.kind == "csv" ? "csv" : "json";
    relation->paths = {"/in/" + source.name};
    relation->schema_text = source.schema;
  } else if (source.kind == "delta") {
    relation->paths = {"/in/" + source.name};
  }
  if (source.kind == "memory" || source.kind == "kafka") {
    sql = "SELECT e.* FROM (SELECT " + parse + " AS e FROM " + source.name + "__raw)";
  }
  TW_ASSIGN_OR_RETURN(const sql::PlanPtr analyzed, session.Analyze(relation));
  TW_RETURN_NOT_OK(session.CreateTempView(source.name + "__raw", analyzed, true, false));
  return CreateView(source.name, sql, source.watermark);
}

Status World::Define(const TableLine& table) {
  TW_ASSIGN_OR_RETURN(const data::Schema schema, data::ParseSchemaDdl(table.schema));
  std::string values;
  for (const Cells& row : table.rows) {
    TW_ASSIGN_OR_RETURN(const std::string json, RowAsJson(row, schema));
    values += (values.empty() ? "(" : ", (") + SqlText(json) + ")";
  }
  return CreateView(table.name, "SELECT e.* FROM (SELECT from_json(value, " + SqlText(table.schema) + ") AS e FROM VALUES " + values + " AS v(value))",
                    std::nullopt);
}

Status World::Define(const ViewLine& view) { return CreateView(view.name, view.sql, view.watermark, view.drop_duplicates); }

Status World::Add(const std::string& name, const Rows& rows) {
  const SourceLine* source = nullptr;
  for (const Definition& definition : scenario_.definitions) {
    const auto* one = std::get_if<SourceLine>(&definition);
    if (one != nullptr && one->name == name) source = one;
  }
  if (source == nullptr) return InternalError("no source " + name);
  TW_ASSIGN_OR_RETURN(const data::Schema schema, data::ParseSchemaDdl(source->schema));
  std::vector<std::string> lines;
  for (const Cells& row : rows) {
    std::string line;
    if (source->kind == "csv") {
      for (size_t i = 0; i < row.size(); ++i) line += (i == 0 ? "" : ",") + row[i].value_or("");
    } else {
      TW_ASSIGN_OR_RETURN(line, RowAsJson(row, schema));
    }
    lines.push_back(std::move(line));
  }
  if (source->kind == "memory") {
    feeds_.at(name)->Add(std::move(lines));
    return Status::OK();
  }
  if (source->kind == "kafka") {
    std::string values;
    for (size_t i = 0; i < lines.size(); ++i) {
      values += (i == 0 ? "(" : ", (") + SqlText(lines[i]) + ", " + std::to_string(i % 2) + ")";
    }
    sql::WriteDataFrame write;
    TW_ASSIGN_OR_RETURN(write.input, machine_->session->ParseSql("SELECT value, partition FROM VALUES " + values + " AS v(value, partition)", {}, {}));
    write.format = "kafka";
    write.mode = sql::SaveMode::kAppend;
    write.options.Set("kafka.bootstrap.servers", broker_->bootstrap_servers());
    write.options.Set("topic", name);
    return machine_->session->Collect(std::make_shared<sql::Command>(std::move(write))).status();
  }
  clock_.Advance(std::chrono::seconds(1));  // files in the order of their times
  if (source->kind == "delta") return AddToDelta(name, source->schema, lines);
  std::string text;
  for (const std::string& line : lines) text += line + "\n";
  char number[16];
  std::snprintf(number, sizeof(number), "%05d", files_added_[name]++);
  return data::AtomicWriteFile(disk_, "/in/" + name + "/" + number + (source->kind == "csv" ? ".csv" : ".json"), text);
}

// One commit with one file, by somebody whose machine does not fail.
Status World::AddToDelta(const std::string& name, const std::string& schema, const std::vector<std::string>& lines) {
  std::string values;
  for (const std::string& line : lines) values += (values.empty() ? "(" : ", (") + SqlText(line) + ")";
  front::Session& session = *machine_->session;
  TW_ASSIGN_OR_RETURN(const sql::PlanPtr plan,
                      session.ParseSql("SELECT e.* FROM (SELECT from_json(value, " + SqlText(schema) + ") AS e FROM VALUES " + values +
                                           " AS v(value))", {}, {}));
  TW_ASSIGN_OR_RETURN(const sql::PlanPtr analyzed, session.Analyze(plan));
  TW_ASSIGN_OR_RETURN(const std::vector<data::Chunk> chunks, session.Collect(analyzed));
  sql::LoadRequest load;
  load.paths = {"/in/" + name};
  load.for_write = true;
  TW_ASSIGN_OR_RETURN(const sql::TablePtr table, delta_->Load(load));
  sql::WriteRequest request;
  request.schema = analyzed->schema();
  request.mode = sql::SaveMode::kAppend;
  request.config = session.eval_config();
  TW_ASSIGN_OR_RETURN(const auto write, table->NewBatchWrite(request));
  TW_ASSIGN_OR_RETURN(const auto writer, write->NewWriter(PartitionId(0)));
  for (const data::Chunk& chunk : chunks) TW_RETURN_NOT_OK(writer->Write(chunk));
  std::shared_ptr<Signal> blocked;
  TW_ASSIGN_OR_RETURN(sql::CommitMessagePtr message, writer->Finish(&blocked));
  return write->Commit({std::move(message)});
}

Status World::StartQuery() {
  front::Session& session = *machine_->session;
  front::StreamStart start;
  TW_ASSIGN_OR_RETURN(start.input, session.ParseSql(scenario_.sql, {}, {}));
  if (scenario_.mode == "update") start.output_mode = sql::OutputMode::kUpdate;
  if (scenario_.mode == "complete") start.output_mode = sql::OutputMode::kComplete;
  for (const auto& [key, value] : scenario_.sink_options) start.options.Set(key, value);
  start.options.Set("checkpointLocation", kCheckpoint);
  start.partition_columns = scenario_.partition_columns;
  start.query_name = "out";
  if (scenario_.sink == "collect") {
    start.format = "foreachBatch";
    start.open_callback_sink = [collected = collected_]() -> Result<streaming::SinkFactory> {
      return streaming::SinkFactory([collected](const sql::StreamWriteRequest&)
                                        -> Result<std::variant<std::unique_ptr<sql::StreamingWrite>, std::unique_ptr<sql::BatchSink>>> {
        return {std::make_unique<CollectSink>(collected)};
      });
    };
  } else {
    start.format = scenario_.sink;
  }
  if (scenario_.sink == "delta") start.path = kTable;
  if (scenario_.sink == "kafka") {
    start.options.Set("kafka.bootstrap.servers", broker_->bootstrap_servers());
    start.options.Set("topic", "out");
  }
  if (scenario_.trigger == "available-now") start.trigger = streaming::AvailableNow{};
  if (scenario_.trigger == "once") start.trigger = streaming::Once{};
  if (scenario_.trigger == "every") start.trigger = streaming::ProcessingTime{std::chrono::milliseconds(scenario_.trigger_ms)};
  TW_ASSIGN_OR_RETURN(query_, session.StartStream(std::move(start)));
  return Status::OK();
}

Status World::Run() {
  if (query_ == nullptr) TW_RETURN_NOT_OK(StartQuery());
  Status status;
  if (scenario_.trigger == "available-now" || scenario_.trigger == "once") {
    status = query_->AwaitTermination(std::nullopt).status();
    StopQuery();
  } else if (scenario_.trigger == "every") {
    status = ProcessOnTime();
  } else {
    status = query_->ProcessAllAvailable();
  }
  TW_RETURN_NOT_OK(status);
  NoteProgress();
  return machine_->state->MaintainAll(true);
}

/// A query that waits for its next turn: the clock is moved from turn to turn until nothing is left to do.
Status World::ProcessOnTime() {
  Signal done;
  Status status;
  {
    std::jthread waiter([&] {
      status = query_->ProcessAllAvailable();
      done.Set();
    });
    while (!done.WaitFor({}, std::chrono::milliseconds(1))) clock_.Advance(std::chrono::milliseconds(scenario_.trigger_ms));
  }
  return status;
}

void World::StopQuery() {
  if (query_ == nullptr) return;
  Ignore(query_->Stop(), "it may have failed before");
  NoteProgress();
  query_.reset();
}

void World::NoteProgress() {
  if (query_ == nullptr) return;
  for (const std::string& progress : query_->recent_progress()) {
    if (std::find(progress_.begin(), progress_.end(), progress) == progress_.end()) progress_.push_back(progress);
  }
}

Result<Rows> World::Query(const std::string& sql) {
  TW_ASSIGN_OR_RETURN(const sql::PlanPtr parsed, machine_->session->ParseSql(sql, {}, {}));
  TW_ASSIGN_OR_RETURN(const sql::PlanPtr plan, machine_->session->Analyze(parsed));
  TW_ASSIGN_OR_RETURN(const std::vector<data::Chunk> chunks, machine_->session->Collect(plan));
  Rows rows;
  for (const data::Chunk& chunk : chunks) AppendRows(chunk, plan->schema(), &rows);
  SortRows(&rows);
  return rows;
}

Result<Rows> World::SinkRows() {
  if (scenario_.sink == "collect") {
    Rows rows;
    for (auto& [batch, of_batch] : collected_->batches()) {
      if (scenario_.mode == "complete") rows.clear();
      rows.insert(rows.end(), of_batch.begin(), of_batch.end());
    }
    SortRows(&rows);
    return rows;
  }
  if (scenario_.sink == "memory") return Query("SELECT * FROM out");
  if (scenario_.sink == "delta") {
    TW_ASSIGN_OR_RETURN(const bool there, disk_.Exists(std::string(kTable) + "/_delta_log"));
    return there ? Query(std::string("SELECT * FROM delta.`") + kTable + "`") : Rows();
  }
  if (scenario_.sink == "kafka") {
    auto relation = std::make_shared<sql::UnresolvedDataSource>();
    relation->format = "kafka";
    relation->options.Set("kafka.bootstrap.servers", broker_->bootstrap_servers());
    relation->options.Set("subscribe", "out");
    TW_ASSIGN_OR_RETURN(const sql::PlanPtr analyzed, machine_->session->Analyze(relation));
    TW_RETURN_NOT_OK(machine_->session->CreateTempView("out__topic", analyzed, true, false));
    return Query("SELECT CAST(value AS STRING) FROM out__topic");
  }
  return InternalError("the sink " + scenario_.sink + " holds no rows");
}

int64_t World::Newest(const std::string& log) {
  const Result<std::vector<data::FileInfo>> files = disk_.List(std::string(kCheckpoint) + "/" + log);
  int64_t newest = -1;
  if (!files.ok()) return newest;
  for (const data::FileInfo& file : *files) {
    const std::string_view name = file.name();
    int64_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error == std::errc{} && end == name.data() + name.size()) newest = std::max(newest, number);
  }
  return newest;
}

int64_t World::LastCommit() { return Newest("commits"); }
int64_t World::LastOffset() { return Newest("offsets"); }

}  // namespace thalweg::scenario
