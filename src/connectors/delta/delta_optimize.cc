// OPTIMIZE: small files of one partition become large ones. Source: Delta's documentation, "Optimizations".

#include <algorithm>
#include <map>
#include <set>

#include "base/fault_point.h"
#include "connectors/delta/delta_command.h"
#include "connectors/delta/delta_partition_filter.h"
#include "connectors/delta/delta_protocol.h"
#include "connectors/delta/delta_scan.h"
#include "connectors/delta/delta_schema.h"
#include "connectors/delta/delta_settings.h"
#include "connectors/delta/delta_stats.h"
#include "connectors/delta/delta_write_plan.h"
#include "data/io/path.h"

namespace thalweg::connectors {

using data::Value;
using data::ValueList;

namespace {

constexpr int kMaxOptimizeAttempts = 100;

using Bin = std::vector<AddFilePtr>;

bool DeletesTooMuch(const AddFile& add, double most) {
  if (!add.deletion_vector) return false;
  const auto rows = StatsRecordCount(add);
  return !rows || *rows == 0 || static_cast<double>(add.deletion_vector->cardinality) / static_cast<double>(*rows) > most;
}

// Which live files the WHERE of the command is about: a condition over partition values.
Result<std::vector<AddFilePtr>> FilesOf(const DeltaCommandRun& run) {
  std::vector<AddFilePtr> files = run.snapshot->files()->live();
  if (run.request.condition == nullptr) return files;
  const auto& partitions = run.snapshot->metadata().partition_columns;
  for (const ExprId used : sql::References(run.request.condition)) {
    const auto& all = run.request.attributes;
    const auto found = std::find_if(all.begin(), all.end(), [&](const sql::AttributePtr& attribute) { return attribute->id() == used; });
    const std::string name = found == all.end() ? "" : (*found)->name();
    if (std::find(partitions.begin(), partitions.end(), name) != partitions.end()) continue;
    std::string list;
    for (const std::string& partition : partitions) list += (list.empty() ? "" : ", ") + partition;
    return Error("DELTA_NON_PARTITION_COLUMN_REFERENCE").With("columnName", name).With("columnList", list);
  }
  TW_ASSIGN_OR_RETURN(const DeltaPartitionFilterPtr filter,
                      DeltaPartitionFilter::Make(run.snapshot->metadata(), {run.request.condition}, run.request.attributes, run.request.config));
  if (!filter->took_all()) return Unsupported("OPTIMIZE with a condition that is not deterministic");
  TW_ASSIGN_OR_RETURN(const std::vector<bool> matches, filter->Matches(files));
  std::vector<AddFilePtr> chosen;
  for (size_t i = 0; i < files.size(); ++i) {
    if (matches[i]) chosen.push_back(files[i]);
  }
  return chosen;
}

// Files of one partition, small ones first, as many together as fit; what stays alone is left as it is, unless too much of it
// is deleted.
std::vector<Bin> PackBins(const std::vector<AddFilePtr>& files, const SettingsMap& settings) {
  const int64_t min_size = settings.Get(kOptimizeMinFileSize), max_size = settings.Get(kOptimizeMaxFileSize);
  const double max_deleted = settings.Get(kOptimizeMaxDeletedRatio);
  std::map<PartitionValues, Bin> partitions;
  for (const AddFilePtr& add : files) {
    if (add->size >= min_size && !DeletesTooMuch(*add, max_deleted)) continue;
    PartitionValues key = add->partition_values;
    std::sort(key.begin(), key.end());
    partitions[std::move(key)].push_back(add);
  }
  std::vector<Bin> bins;
  for (auto& [key, candidates] : partitions) {
    std::stable_sort(candidates.begin(), candidates.end(), [](const AddFilePtr& a, const AddFilePtr& b) { return a->size < b->size; });
    Bin current;
    int64_t bytes = 0;
    const auto close = [&] {
      if (current.size() > 1 || (current.size() == 1 && DeletesTooMuch(*current[0], max_deleted))) bins.push_back(std::move(current));
      current = {};
      bytes = 0;
    };
    for (const AddFilePtr& add : candidates) {
      if (!current.empty() && bytes + add->size > max_size) close();
      current.push_back(add);
      bytes += add->size;
    }
    close();
  }
  return bins;
}

// Every row of the splits into the writer, to its end.
Result<sql::CommitMessagePtr> CopyRows(const DeltaCommandRun& run, const std::vector<sql::InputSplitPtr>& splits, sql::DataWriter& writer) {
  const sql::EvalConfig defaults;
  for (const sql::InputSplitPtr& split : splits) {
    TW_ASSIGN_OR_RETURN(const auto reader, split->Open(run.request.config != nullptr ? *run.request.config : defaults));
    while (true) {
      if (run.request.stop.stop_requested()) return Cancelled();
      TW_ASSIGN_OR_RETURN(const sql::ReadStep step, reader->Next());
      if (std::holds_alternative<sql::ReadEnd>(step)) break;
      if (const auto* read = std::get_if<sql::ReadChunk>(&step)) TW_RETURN_NOT_OK(writer.Write(read->chunk.Dense()));
    }
  }
  std::shared_ptr<Signal> blocked;
  return writer.Finish(&blocked);
}

// Reads the living rows of a bin into one new file; none is left when that fails.
Result<sql::CommitMessagePtr> RewriteBin(const DeltaCommandRun& run, const DeltaWritePlanPtr& plan, const Bin& bin, int32_t task) {
  sql::ScanRequest scan;
  for (const data::StructField& field : run.snapshot->schema()) scan.columns.push_back(field.name);
  TW_ASSIGN_OR_RETURN(const auto splits, PlanDeltaFiles(run.log, run.snapshot, scan, run.request.config, bin));
  const std::unique_ptr<sql::DataWriter> writer = NewDeltaFilesWriter(plan, task);
  Result<sql::CommitMessagePtr> written = CopyRows(run, splits, *writer);
  if (!written.ok()) writer->Abort();
  return written;
}

/// What the rewriting comes to.
struct Rewritten {
  std::vector<AddFile> adds;
  std::vector<RemoveFile> removes;
  int64_t vectors = 0, deleted_rows = 0;
  std::set<PartitionValues> partitions;
};

std::vector<int64_t> Sizes(const std::vector<AddFile>& files) {
  std::vector<int64_t> sizes;
  for (const AddFile& file : files) sizes.push_back(file.size);
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

std::vector<int64_t> Sizes(const std::vector<RemoveFile>& files) {
  std::vector<int64_t> sizes;
  for (const RemoveFile& file : files) sizes.push_back(file.size.value_or(0));
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

int64_t Total(const std::vector<int64_t>& sizes) {
  int64_t total = 0;
  for (const int64_t size : sizes) total += size;
  return total;
}

StringPairs Metrics(const Rewritten& done) {
  const std::vector<int64_t> added = Sizes(done.adds), removed = Sizes(done.removes);
  const auto quantile = [&](size_t quarters) {
    return std::to_string(added.empty() ? 0 : added[std::min(added.size() - 1, added.size() * quarters / 4)]);
  };
  return {{"numRemovedFiles", std::to_string(removed.size())}, {"numRemovedBytes", std::to_string(Total(removed))},
          {"p25FileSize", quantile(1)}, {"numDeletionVectorsRemoved", std::to_string(done.vectors)},
          {"minFileSize", quantile(0)}, {"p75FileSize", quantile(3)}, {"p50FileSize", quantile(2)},
          {"numAddedBytes", std::to_string(Total(added))}, {"numAddedFiles", std::to_string(added.size())},
          {"maxFileSize", quantile(4)}};
}

std::string Parameters(const DeltaCommandRun& run) {
  const auto predicate = run.request.arguments.Get("predicate");
  std::string out = "{\"predicate\":";
  AppendJsonText(JsonStringArray(predicate ? std::vector<std::string>{*predicate} : std::vector<std::string>{}), &out);
  return out + ",\"auto\":false,\"clusterBy\":\"[]\",\"zOrderBy\":\"[]\"}";
}

// Commits, and again on top of what others did meanwhile while every file that goes is still live in the same form. `*unnamed`: the
// log does not name the new files.
Status Commit(const DeltaCommandRun& run, const Rewritten& done, bool* unnamed) {
  DeltaSnapshotPtr base = run.snapshot;
  for (int attempt = 0;; ++attempt) {
    DeltaTransaction transaction;
    transaction.read = base;
    transaction.adds = done.adds;
    transaction.removes = done.removes;
    transaction.operation = "OPTIMIZE";
    transaction.parameters_json = Parameters(run);
    transaction.metrics = Metrics(done);
    transaction.snapshot_isolation = true;
    const Status committed = CommitDelta(*run.log, std::move(transaction)).status();
    *unnamed = IsDeltaConflict(committed);
    if (!*unnamed || attempt == kMaxOptimizeAttempts) return committed;
    TW_ASSIGN_OR_RETURN(base, run.log->Update());
    if (base == nullptr || base->metadata().partition_columns != run.snapshot->metadata().partition_columns ||
        base->metadata().schema_string != run.snapshot->metadata().schema_string) {
      return committed;
    }
    TW_RETURN_NOT_OK(CheckDeltaWritable(*base, run.table_name()));
    std::set<std::string> live;
    for (const AddFilePtr& add : base->files()->live()) live.insert(DeltaFileKey(add->path, add->deletion_vector));
    for (const RemoveFile& remove : done.removes) {
      if (!live.contains(DeltaFileKey(remove.path, remove.deletion_vector))) return committed;
    }
  }
}

Value SizeStats(const std::vector<int64_t>& sizes) {
  const double average = sizes.empty() ? 0.0 : static_cast<double>(Total(sizes)) / static_cast<double>(sizes.size());
  return Value(ValueList{sizes.empty() ? Value() : Value(sizes.front()), sizes.empty() ? Value() : Value(sizes.back()), Value(average),
                         Value(static_cast<int64_t>(sizes.size())), Value(Total(sizes))});
}

Result<sql::TableCommandAnswer> Answer(const DeltaCommandRun& run, const Rewritten& done, size_t considered, size_t bins, int64_t start_ms) {
  static constexpr std::string_view kFiles = "STRUCT<min: BIGINT, max: BIGINT, avg: DOUBLE, totalFiles: BIGINT, totalSize: BIGINT>";
  static constexpr std::string_view kCube = "STRUCT<num: BIGINT, size: BIGINT>";
  const std::string files(kFiles), cube(kCube);
  const std::string z_order = "STRUCT<strategyName: STRING, inputCubeFiles: " + cube + ", inputOtherFiles: " + cube +
                              ", inputNumCubes: BIGINT, mergedFiles: " + cube + ", numOutputCubes: BIGINT, mergedNumCubes: BIGINT>";
  const std::string clustering_files = "STRUCT<numFiles: BIGINT, size: BIGINT>";
  const std::string clustering = "STRUCT<inputZCubeFiles: " + clustering_files + ", inputOtherFiles: " + clustering_files +
                                 ", inputNumZCubes: BIGINT, mergedFiles: " + clustering_files + ", numOutputZCubes: BIGINT>";
  sql::TableCommandAnswer answer;
  TW_ASSIGN_OR_RETURN(
      answer.schema,
      data::ParseSchemaDdl(
          "path STRING, metrics STRUCT<numFilesAdded: BIGINT, numFilesRemoved: BIGINT, filesAdded: " + files + ", filesRemoved: " + files +
          ", partitionsOptimized: BIGINT, zOrderStats: " + z_order + ", clusteringStats: " + clustering +
          ", numBins: BIGINT, numBatches: BIGINT, totalConsideredFiles: BIGINT, totalFilesSkipped: BIGINT, preserveInsertionOrder: BOOLEAN, "
          "numFilesSkippedToReduceWriteAmplification: BIGINT, numBytesSkippedToReduceWriteAmplification: BIGINT, startTimeMs: BIGINT, "
          "endTimeMs: BIGINT, totalClusterParallelism: BIGINT, totalScheduledTasks: BIGINT, autoCompactParallelismStats: "
          "STRUCT<maxClusterActiveParallelism: BIGINT, minClusterActiveParallelism: BIGINT, maxSessionActiveParallelism: BIGINT, "
          "minSessionActiveParallelism: BIGINT>, deletionVectorStats: STRUCT<numDeletionVectorsRemoved: BIGINT, "
          "numDeletionVectorRowsRemoved: BIGINT>, numTableColumns: BIGINT, numTableColumnsWithStats: BIGINT>"));
  const auto number = [](size_t count) { return Value(static_cast<int64_t>(count)); };
  const size_t columns = run.snapshot->schema().size();
  ValueList metrics{number(done.adds.size()), number(done.removes.size()), SizeStats(Sizes(done.adds)), SizeStats(Sizes(done.removes)),
                    number(done.partitions.size()), Value(), Value(), number(bins), number(1), number(considered),
                    number(considered - done.removes.size()), Value(false), number(0), number(0), Value(start_ms),
                    Value(run.log->clock().NowMillis()), number(1), number(bins), Value(),
                    Value(ValueList{Value(done.vectors), Value(done.deleted_rows)}), number(columns), number(std::min<size_t>(columns, 32))};
  answer.rows.push_back({Value(data::QualifiedPathText(run.log->table_path())), Value(std::move(metrics))});
  return answer;
}

}  // namespace

Result<sql::TableCommandAnswer> OptimizeDelta(const DeltaCommandRun& run) {
  if (!run.request.columns.empty()) return Unsupported("OPTIMIZE ... ZORDER BY");
  const bool clustered = run.snapshot->domains().contains("delta.clustering");
  if (run.request.arguments.Has("full") && !clustered) return Error("DELTA_OPTIMIZE_FULL_NOT_SUPPORTED");
  if (clustered) return Unsupported("OPTIMIZE of a clustered Delta table");
  TW_RETURN_NOT_OK(CheckDeltaWritable(*run.snapshot, run.table_name()));
  const int64_t start_ms = run.log->clock().NowMillis();
  TW_ASSIGN_OR_RETURN(const std::vector<AddFilePtr> files, FilesOf(run));
  const SettingsMap none;
  const std::vector<Bin> bins = PackBins(files, run.request.settings != nullptr ? *run.request.settings : none);
  Rewritten done;
  if (bins.empty()) return Answer(run, done, files.size(), 0, start_ms);

  DeltaWriteRequest wanted{.schema = PublicSchema(run.snapshot->schema()), .partition_columns = {}, .options = {}, .config = run.request.config};
  TW_ASSIGN_OR_RETURN(const DeltaWriteTarget target, PlanDeltaWrite(*run.log, run.snapshot, wanted));
  std::vector<sql::CommitMessagePtr> messages;
  for (const Bin& bin : bins) {
    Result<sql::CommitMessagePtr> written = RewriteBin(run, target.plan, bin, static_cast<int32_t>(messages.size()));
    if (!written.ok()) {
      RemoveDeltaFiles(run.log->file_system(), messages);
      return written.status();
    }
    messages.push_back(std::move(*written));
    for (const AddFilePtr& add : bin) {
      RemoveFile remove = RemoveOf(*add, run.log->clock().NowMillis());
      remove.data_change = false;
      done.removes.push_back(std::move(remove));
      done.partitions.insert(add->partition_values);
      if (!add->deletion_vector) continue;
      ++done.vectors;
      done.deleted_rows += add->deletion_vector->cardinality;
    }
  }
  done.adds = JoinDeltaFiles(messages).adds;
  for (AddFile& add : done.adds) add.data_change = false;
  TW_RETURN_NOT_OK(SyncDeltaFiles(run.log->file_system(), messages));
  TW_FAULT_POINT("delta optimize: files durable");
  bool unnamed = false;
  const Status committed = Commit(run, done, &unnamed);
  if (unnamed) RemoveDeltaFiles(run.log->file_system(), messages);
  TW_RETURN_NOT_OK(committed);
  return Answer(run, done, files.size(), bins.size(), start_ms);
}

}  // namespace thalweg::connectors
