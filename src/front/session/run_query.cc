// Analysis, explain and the run of batch queries.
#include <algorithm>
#include <map>

#include "base/mutex.h"
#include "engine/exec/execution.h"
#include "engine/planner/planner.h"
#include "engine/pyworker/session_python.h"
#include "front/session/session_environment.h"
#include "front/session/session_impl.h"
#include "sql/optimizer/optimizer.h"

namespace thalweg::front {

namespace {

// Whether the partitions of the root are computed apart from each other: no exchange anywhere.
bool PartitionsAreApart(const engine::PhysicalNodePtr& node) {
  return std::all_of(node->inputs.begin(), node->inputs.end(), [](const engine::PhysicalInput& input) {
    const bool exchanged = input.distribution != engine::Distribution::kSame && input.distribution != engine::Distribution::kOffset;
    return !exchanged && PartitionsAreApart(input.node);
  });
}

// Hands rows to a consumer in the order of partitions: those of the one whose turn it is as they come, the others when the ones
// before have ended. What waits is charged to the session; where partitions are apart, those with too much waiting are held up.
class OrderedDelivery {
 public:
  OrderedDelivery(const ResultConsumer& consumer, const engine::PhysicalNodePtr& root, MemoryAccount& account)
      : consumer_(consumer), apart_(PartitionsAreApart(root)), waiting_(root->num_partitions), ended_(root->num_partitions), memory_(account) {}

  Result<bool> Take(PartitionId partition, data::Chunk chunk, std::shared_ptr<Signal>* blocked) {
    std::shared_ptr<Signal> release;
    {
      const MutexLock lock(mutex_);
      if (stopped_) return false;
      if (static_cast<size_t>(partition.value()) != current_) return Keep(partition, chunk, blocked);
      TW_RETURN_NOT_OK(Deliver(chunk));
      if (!stopped_ && consumer_.throttle) *blocked = consumer_.throttle();
      if (!stopped_) return true;
      release = turn_;
    }
    release->Set();  // who waits for a turn finds the end
    return false;
  }

  /// The partition has given all its rows.
  void Ended(PartitionId partition) {
    std::shared_ptr<Signal> release;
    {
      const MutexLock lock(mutex_);
      ended_[partition.value()] = true;
      if (static_cast<size_t>(partition.value()) != current_) return;
      while (!stopped_ && current_ < ended_.size() && ended_[current_]) {
        ++current_;
        status_ = DeliverWaiting();
        stopped_ = stopped_ || !status_.ok();
      }
      release = std::exchange(turn_, std::make_shared<Signal>());
      if (stopped_) turn_ = release;  // stays set
    }
    release->Set();
  }

  Status Finish() {
    const MutexLock lock(mutex_);
    return status_;
  }

 private:
  static constexpr int64_t kMostWaitingBytes = 64 << 20;

  Result<bool> Keep(PartitionId partition, const data::Chunk& chunk, std::shared_ptr<Signal>* blocked) TW_REQUIRES(mutex_) {
    data::Chunk kept = chunk.Compacted();
    TW_RETURN_NOT_OK(memory_.Grow(kept.bytes()));
    waiting_[partition.value()].push_back(std::move(kept));
    if (apart_ && memory_.bytes() > kMostWaitingBytes) *blocked = turn_;
    return true;
  }

  /// Of the current partition.
  Status DeliverWaiting() TW_REQUIRES(mutex_) {
    if (current_ == waiting_.size()) return Status::OK();
    for (data::Chunk& chunk : std::exchange(waiting_[current_], {})) {
      if (!stopped_) TW_RETURN_NOT_OK(Deliver(chunk));
      memory_.Shrink(chunk.bytes());
      chunk = data::Chunk();
    }
    return Status::OK();
  }

  Status Deliver(const data::Chunk& chunk) TW_REQUIRES(mutex_) {
    if (!consumer_.on_chunk) return Status::OK();
    TW_ASSIGN_OR_RETURN(const bool more, consumer_.on_chunk(chunk));
    if (more) return Status::OK();
    stopped_ = true;
    return Status::OK();
  }

  Mutex mutex_;
  const ResultConsumer& consumer_;
  const bool apart_;
  Status status_ TW_GUARDED_BY(mutex_);
  bool stopped_ TW_GUARDED_BY(mutex_) = false;
  size_t current_ TW_GUARDED_BY(mutex_) = 0;
  std::vector<std::vector<data::Chunk>> waiting_ TW_GUARDED_BY(mutex_);
  std::vector<bool> ended_ TW_GUARDED_BY(mutex_);
  std::shared_ptr<Signal> turn_ TW_GUARDED_BY(mutex_) = std::make_shared<Signal>();  // set when the next partition has its turn
  MemoryReservation memory_ TW_GUARDED_BY(mutex_);
};

// The names that the plan's CollectMetrics nodes give to the columns of their values.
std::map<std::string, data::Schema> ObservedSchemas(const sql::PlanPtr& analyzed) {
  std::map<std::string, data::Schema> schemas;
  sql::Visit(analyzed, [&](const sql::PlanPtr& node) {
    if (const auto* metrics = node->As<sql::CollectMetrics>()) {
      data::Schema& schema = schemas[metrics->name];
      schema.clear();
      for (const sql::ExprPtr& metric : metrics->metrics) schema.push_back(sql::ToAttribute(metric)->ToField());
    }
    return true;
  });
  return schemas;
}

QueryMetrics MetricsOf(const engine::EpochResult& result, const sql::PlanPtr& analyzed) {
  QueryMetrics metrics;
  for (const engine::NodeMetrics& node : result.nodes) {
    if (node.node == nullptr) continue;
    NodeMetric metric;
    metric.name = node.node->name;
    metric.plan_id = static_cast<int64_t>(metrics.nodes.size());
    metrics.nodes.push_back(std::move(metric));
  }
  if (result.observed.empty()) return metrics;
  const std::map<std::string, data::Schema> schemas = ObservedSchemas(analyzed);
  for (const auto& [name, chunk] : result.observed) {
    const auto schema = schemas.find(name);
    if (schema == schemas.end() || chunk.num_rows() == 0) continue;
    ObservedMetrics observed{name, schema->second, {}};
    const data::Chunk row = chunk.Dense();
    for (int i = 0; i < row.num_columns(); ++i) observed.values.push_back(row.column(i)->GetValue(0));
    metrics.observed.push_back(std::move(observed));
  }
  return metrics;
}

struct Prepared {
  sql::PlanPtr optimized;
  std::shared_ptr<const engine::PhysicalPlan> physical;
};

Result<Prepared> Prepare(const Session& session, ServerContext& server, const sql::PlanPtr& analyzed,
                         const std::shared_ptr<const sql::EvalConfig>& config) {
  TW_RETURN_NOT_OK(sql::CheckBatchSupported(analyzed));
  Prepared prepared;
  TW_ASSIGN_OR_RETURN(prepared.optimized, sql::Optimize(analyzed, {config, false}));
  TW_ASSIGN_OR_RETURN(prepared.physical, engine::PlanBatch(prepared.optimized, {config, server.scheduler->workers(), PythonOf(session, server)}));
  return prepared;
}

}  // namespace

std::shared_ptr<const engine::SessionPython> PythonOf(const Session& session, const ServerContext& server) {
  if (server.python == nullptr) return nullptr;
  return std::make_shared<const engine::SessionPython>(engine::SessionPython{server.python, session.SettingsSnapshot(), session.python_owner()});
}

Result<sql::PlanPtr> Session::Analyze(const sql::PlanPtr& plan, std::stop_token stop) {
  TW_ASSIGN_OR_RETURN(const sql::PlanPtr without_commands, RunInnerCommands(plan, stop));
  SessionEnvironment environment(*this, eval_config(), std::move(stop));
  return sql::Analyze(without_commands, environment);
}

// A command below the root (a DataFrame over its rows) runs now and becomes its rows.
Result<sql::PlanPtr> Session::RunInnerCommands(const sql::PlanPtr& plan, const std::stop_token& stop) {
  bool found = false;
  sql::Visit(plan, [&](const sql::PlanPtr& node) {
    found = found || (node->kind() == sql::PlanKind::kCommand && node != plan);
    return !found;
  });
  if (!found) return plan;
  return sql::TransformUp(plan, [&](const sql::PlanPtr& node) -> Result<sql::PlanPtr> {
    if (node->kind() != sql::PlanKind::kCommand || node == plan) return sql::PlanPtr();
    return CommandRows(node, stop);
  });
}

Result<sql::PlanPtr> Session::CommandRows(const sql::PlanPtr& command, std::stop_token stop) {
  data::Schema schema;
  std::vector<data::Chunk> chunks;
  ResultConsumer consumer;
  consumer.on_schema = [&](const data::Schema& of_rows) {
    schema = of_rows;
    return Status::OK();
  };
  consumer.on_chunk = [&](const data::Chunk& chunk) -> Result<bool> {
    chunks.push_back(chunk.Compacted());
    return true;
  };
  TW_RETURN_NOT_OK(Execute(command, consumer, std::move(stop)));
  sql::AttributeList attributes;
  for (const data::StructField& field : schema) {
    attributes.push_back(
        sql::Attribute::Make(field.name, field.type, field.nullable, sql::NewExprId(), {}, field.metadata_json));
  }
  return std::make_shared<sql::LocalRelation>(std::move(attributes), std::move(chunks));
}

Status Session::Execute(const sql::PlanPtr& plan, const ResultConsumer& consumer, std::stop_token stop) {
  if (plan->kind() == sql::PlanKind::kCommand) {
    if (!impl_->server.run_command) return Unsupported("commands");
    return impl_->server.run_command(*this, plan, consumer, std::move(stop));
  }
  TW_ASSIGN_OR_RETURN(const sql::PlanPtr analyzed, Analyze(plan, stop));
  const std::shared_ptr<const sql::EvalConfig> config = eval_config();
  TW_ASSIGN_OR_RETURN(const Prepared prepared, Prepare(*this, impl_->server, analyzed, config));
  if (consumer.on_schema) TW_RETURN_NOT_OK(consumer.on_schema(analyzed->schema()));
  OrderedDelivery delivery(consumer, prepared.physical->root, impl_->account);
  MemoryReservation memory(impl_->account);
  TW_ASSIGN_OR_RETURN(const engine::EpochResult result,
                      engine::RunBatch(
                          *impl_->server.scheduler, prepared.physical, config, &memory,
                          [&](PartitionId partition, data::Chunk chunk, std::shared_ptr<Signal>* blocked) {
                            return delivery.Take(partition, std::move(chunk), blocked);
                          },
                          stop, [&](PartitionId partition) { delivery.Ended(partition); }, consumer.view));
  if (stop.stop_requested()) return Cancelled();
  TW_RETURN_NOT_OK(delivery.Finish());
  if (consumer.on_metrics) consumer.on_metrics(MetricsOf(result, analyzed));
  return Status::OK();
}

Result<std::vector<data::Chunk>> Session::Collect(const sql::PlanPtr& plan, std::stop_token stop, MemoryReservation* held) {
  std::vector<data::Chunk> chunks;
  MemoryReservation own(impl_->account);
  MemoryReservation& memory = held == nullptr ? own : *held;
  ResultConsumer consumer;
  consumer.on_chunk = [&](const data::Chunk& chunk) -> Result<bool> {
    data::Chunk kept = chunk.Compacted();
    TW_RETURN_NOT_OK(memory.Grow(kept.bytes()));
    chunks.push_back(std::move(kept));
    return true;
  };
  TW_RETURN_NOT_OK(Execute(plan, consumer, std::move(stop)));
  return chunks;
}

Result<int64_t> Session::RunWrite(const sql::PlanPtr& analyzed, sql::BatchWrite& write, std::stop_token stop) {
  struct Writers {
    Mutex mutex;
    std::map<int, std::unique_ptr<sql::DataWriter>> by_partition TW_GUARDED_BY(mutex);
    int64_t rows TW_GUARDED_BY(mutex) = 0;
  } writers;
  const std::shared_ptr<const sql::EvalConfig> config = eval_config();
  TW_ASSIGN_OR_RETURN(const Prepared prepared, Prepare(*this, impl_->server, analyzed, config));
  MemoryReservation memory(impl_->account);
  const auto take = [&](PartitionId partition, data::Chunk chunk, std::shared_ptr<Signal>*) -> Result<bool> {
    sql::DataWriter* writer = nullptr;
    {
      const MutexLock lock(writers.mutex);
      std::unique_ptr<sql::DataWriter>& slot = writers.by_partition[partition.value()];
      if (slot == nullptr) {
        TW_ASSIGN_OR_RETURN(slot, write.NewWriter(partition));
      }
      writer = slot.get();
      writers.rows += chunk.num_rows();
    }
    TW_RETURN_NOT_OK(writer->Write(chunk));  // one task per partition, so no lock
    return true;
  };
  Status status = engine::RunBatch(*impl_->server.scheduler, prepared.physical, config, &memory, take, stop).status();
  if (status.ok() && stop.stop_requested()) status = Cancelled();
  const MutexLock lock(writers.mutex);
  if (status.ok() && writers.by_partition.empty()) {
    // An empty result still leaves what the format writes for one (a schema-only file).
    Result<std::unique_ptr<sql::DataWriter>> writer = write.NewWriter(PartitionId(0));
    status = writer.status();
    if (writer.ok()) writers.by_partition[0] = std::move(*writer);
  }
  std::vector<sql::CommitMessagePtr> messages;
  for (auto& [partition, writer] : writers.by_partition) {
    while (status.ok()) {
      std::shared_ptr<Signal> blocked;
      Result<sql::CommitMessagePtr> message = writer->Finish(&blocked);
      status = message.status();
      if (message.ok() && blocked == nullptr) {
        messages.push_back(std::move(*message));
        break;
      }
      if (message.ok() && !blocked->Wait(stop)) status = Cancelled();
    }
  }
  if (status.ok()) status = write.Commit(messages);
  if (!status.ok()) {
    for (auto& [partition, writer] : writers.by_partition) writer->Abort();
    write.Abort(messages);
    return status;
  }
  return writers.rows;
}

Result<std::string> Session::Explain(const sql::PlanPtr& plan, const std::string& mode, std::stop_token stop) {
  if (plan->kind() == sql::PlanKind::kCommand) return "== Physical Plan ==\n" + plan->TreeText() + "\n";
  TW_ASSIGN_OR_RETURN(const sql::PlanPtr analyzed, Analyze(plan, std::move(stop)));
  const std::shared_ptr<const sql::EvalConfig> config = eval_config();
  std::string physical_text;
  sql::PlanPtr optimized;
  if (analyzed->is_streaming()) {
    TW_ASSIGN_OR_RETURN(optimized, sql::Optimize(analyzed, {config, true}));
    physical_text = optimized->TreeText();
  } else {
    TW_ASSIGN_OR_RETURN(Prepared prepared, Prepare(*this, impl_->server, analyzed, config));
    optimized = prepared.optimized;
    physical_text = prepared.physical->ToString();
  }
  while (!physical_text.empty() && physical_text.back() == '\n') physical_text.pop_back();
  if (mode == "extended") {
    const auto body = [](const sql::PlanPtr& of) {
      std::string text = of->TreeText();
      while (!text.empty() && text.back() == '\n') text.pop_back();
      return text;
    };
    std::string types;
    for (const sql::AttributePtr& attribute : analyzed->output()) {
      types += (types.empty() ? "" : ", ") + attribute->name() + ": " + attribute->type().SimpleString();
    }
    return "== Parsed Logical Plan ==\n" + body(plan) + "\n\n== Analyzed Logical Plan ==\n" + types + "\n" + body(analyzed) +
           "\n\n== Optimized Logical Plan ==\n" + body(optimized) + "\n\n== Physical Plan ==\n" + physical_text + "\n";
  }
  if (mode == "cost") {
    return "== Optimized Logical Plan ==\n" + optimized->TreeText() + "\n== Physical Plan ==\n" + physical_text + "\n";
  }
  if (mode == "codegen") return "Found 0 WholeStageCodegen subtrees.\n\n== Physical Plan ==\n" + physical_text + "\n";
  return "== Physical Plan ==\n" + physical_text + "\n";
}

}  // namespace thalweg::front
