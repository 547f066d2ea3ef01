#include "connectors/delta/delta_scan.h"

#include <algorithm>

#include "base/cores.h"
#include "connectors/delta/delta_filter.h"
#include "connectors/delta/delta_protocol.h"
#include "connectors/delta/delta_schema.h"
#include "connectors/delta/delta_stats.h"
#include "connectors/delta/delta_text_limits.h"
#include "connectors/delta/deletion_vector.h"
#include "data/columnar/builder.h"
#include "data/formats/parquet/parquet_reader.h"
#include "data/io/path.h"
#include "data/text/utf8.h"
#include "sql/datasource/row_level_operation.h"

namespace thalweg::connectors {

using data::Chunk;
using data::Column;
using data::ColumnPredicate;
using data::ColumnPtr;
using data::DataType;
using data::StructField;
using data::Value;

namespace {

constexpr int64_t kMaxSplitBytes = int64_t{128} << 20;  // spark.sql.files.maxPartitionBytes
constexpr int64_t kOpenCostBytes = int64_t{4} << 20;    // spark.sql.files.openCostInBytes

/// One column of the result.
struct ScanColumn {
  StructField field;            // logical, public
  bool is_partition = false;
  bool is_group = false;        // the number of the file
  bool is_position = false;     // of the row in the file
  std::string log_name;         // partition columns: key in partitionValues
  int file_column = -1;         // data columns: position in the read request
  int char_length = 0;
};

/// Everything that readers share. Immutable.
struct ScanPlan {
  std::shared_ptr<DeltaLog> log;
  DeltaSnapshotPtr snapshot;
  std::shared_ptr<const DeltaScanGroups> groups;  // null: the live files of the snapshot
  std::vector<ScanColumn> columns;
  data::Schema file_columns;    // physical, as in files
  std::vector<ColumnPredicate> file_predicates;       // physical names
  std::vector<ColumnPredicate> partition_predicates;  // log names
  data::TimeZone zone;
  std::vector<AddFilePtr> files() const { return groups != nullptr ? groups->files : snapshot->files()->live(); }
};
using ScanPlanPtr = std::shared_ptr<const ScanPlan>;

struct Piece {
  AddFilePtr add;
  int64_t begin = 0;
  int64_t end = INT64_MAX;
  int32_t group = 0;
};

// The same buffers under the logical type: names of nested fields differ from the physical ones only.
ColumnPtr Relabel(const ColumnPtr& column, const DataType& type) {
  if (column->type() == type) return column;
  if (!type.IsNested() || column->encoding() != data::Encoding::kFlat || column->num_children() == 0) {
    return data::WithType(column, type);
  }
  Column::Parts parts = column->parts();
  parts.type = type;
  for (size_t i = 0; i < parts.children.size(); ++i) {
    const DataType& child = type.Is(data::TypeKind::kStruct)  ? type.fields()[i].type
                            : type.Is(data::TypeKind::kArray) ? type.element()
                            : type.Is(data::TypeKind::kMap)   ? (i == 0 ? type.key() : type.value())
                                                              : parts.children[i]->type();
    parts.children[i] = Relabel(parts.children[i], child);
  }
  return Column::Make(std::move(parts));
}

// CHAR(n): values are stored as given and read padded to n characters.
ColumnPtr PadChars(const ColumnPtr& input, int length) {
  const ColumnPtr column = data::Flatten(input);
  data::TextBuilder builder(column->type());
  const auto values = column->values<data::TextView>();
  for (int64_t row = 0; row < column->length(); ++row) {
    if (column->IsNull(row)) {
      builder.AppendNull();
      continue;
    }
    std::string text(values[static_cast<size_t>(row)].view());
    const auto characters = std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; });
    if (characters < length) text.append(static_cast<size_t>(length - characters), ' ');
    builder.Append(text);
  }
  return builder.Finish();
}

class Reader final : public sql::PartitionReader {
 public:
  Reader(ScanPlanPtr plan, std::vector<Piece> pieces) : plan_(std::move(plan)), pieces_(std::move(pieces)) {}

  Result<sql::ReadStep> Next() override {
    while (true) {
      if (reader_ == nullptr) {
        if (next_ == pieces_.size()) return sql::ReadStep(sql::ReadEnd{});
        TW_RETURN_NOT_OK(OpenPiece(pieces_[next_++]));
      }
      TW_ASSIGN_OR_RETURN(auto read, reader_->Next());
      if (!read) {
        bytes_read_ += reader_->bytes_read();
        reader_.reset();
        continue;
      }
      TW_ASSIGN_OR_RETURN(Chunk chunk, Finish(*read));
      if (chunk.num_rows() > 0) return sql::ReadStep(sql::ReadChunk{std::move(chunk)});
    }
  }
  int64_t bytes_read() const override { return bytes_read_ + (reader_ ? reader_->bytes_read() : 0); }

 private:
  Status OpenPiece(const Piece& piece) {
    add_ = piece.add;
    group_ = piece.group;
    TW_ASSIGN_OR_RETURN(std::string path, data::PathFromUri(add_->path));
    if (!path.starts_with("/")) path = data::JoinPath(plan_->log->table_path(), path);
    TW_ASSIGN_OR_RETURN(const auto file, data::ParquetFile::Open(plan_->log->file_system(), path));
    data::ParquetReadRequest request;
    request.columns = plan_->file_columns;
    request.predicates = plan_->file_predicates;
    request.split_begin = piece.begin;
    request.split_end = piece.end;
    TW_ASSIGN_OR_RETURN(reader_, file->NewReader(request));
    deleted_.clear();
    if (add_->deletion_vector) {
      TW_ASSIGN_OR_RETURN(deleted_, LoadDeletionVector(plan_->log->file_system(), plan_->log->table_path(), *add_->deletion_vector));
    }
    partition_values_.clear();
    for (const ScanColumn& column : plan_->columns) {
      if (!column.is_partition) continue;
      std::optional<std::string> text;
      for (const auto& [name, value] : add_->partition_values) {
        if (name == column.log_name) text = value;
      }
      TW_ASSIGN_OR_RETURN(Value value, ParsePartitionValue(text, column.field.type, plan_->zone));
      partition_values_.push_back(std::move(value));
    }
    return Status::OK();
  }

  Result<Chunk> Finish(const data::ParquetChunk& read) const {
    std::vector<ColumnPtr> columns;
    size_t partition = 0;
    const int64_t rows = read.chunk.physical_rows();
    for (const ScanColumn& column : plan_->columns) {
      if (column.is_group) {
        columns.push_back(Column::Constant(column.field.type, Value(group_), rows));
        continue;
      }
      if (column.is_position) {
        data::FixedBuilder<int64_t> positions(column.field.type);
        positions.Reserve(rows);
        for (int64_t row = 0; row < rows; ++row) positions.Append(read.first_row + row);
        columns.push_back(positions.Finish());
        continue;
      }
      if (column.is_partition) {
        columns.push_back(Column::Constant(column.field.type, partition_values_[partition++], rows));
        continue;
      }
      ColumnPtr data = Relabel(read.chunk.column(column.file_column), column.field.type);
      if (column.char_length > 0) data = PadChars(data, column.char_length);
      columns.push_back(std::move(data));
    }
    Chunk chunk(std::move(columns), rows);
    if (!deleted_.empty()) SelectLiving(read.first_row, &chunk);
    return chunk;
  }

  void SelectLiving(int64_t first_row, Chunk* chunk) const {
    const int64_t rows = chunk->physical_rows();
    auto at = std::lower_bound(deleted_.begin(), deleted_.end(), first_row);
    if (at == deleted_.end() || *at >= first_row + rows) return;
    auto selection = std::make_shared<std::vector<int32_t>>();
    for (int64_t row = 0; row < rows; ++row) {
      if (at != deleted_.end() && *at == first_row + row) {
        ++at;
      } else {
        selection->push_back(static_cast<int32_t>(row));
      }
    }
    chunk->set_selection(std::move(selection));
  }

  ScanPlanPtr plan_;
  std::vector<Piece> pieces_;
  size_t next_ = 0;
  AddFilePtr add_;
  int32_t group_ = 0;
  std::unique_ptr<data::ParquetChunkReader> reader_;
  std::vector<int64_t> deleted_;       // rows of the file, ascending
  std::vector<Value> partition_values_;
  int64_t bytes_read_ = 0;
};

class Split final : public sql::InputSplit {
 public:
  Split(ScanPlanPtr plan, std::vector<Piece> pieces, int64_t bytes)
      : plan_(std::move(plan)), pieces_(std::move(pieces)), bytes_(bytes) {}
  Result<std::unique_ptr<sql::PartitionReader>> Open(const sql::EvalConfig&) const override {
    return std::unique_ptr<sql::PartitionReader>(std::make_unique<Reader>(plan_, pieces_));
  }
  int64_t estimated_bytes() const override { return bytes_; }
  std::string Describe() const override {
    return "delta " + pieces_.front().add->path + (pieces_.size() > 1 ? " and " + std::to_string(pieces_.size() - 1) + " more" : "");
  }

 private:
  ScanPlanPtr plan_;
  std::vector<Piece> pieces_;
  int64_t bytes_;
};

// Spark's FilePartition: pieces of at most so many bytes, put together until a partition is full.
// `numbers`: the group of each file.
std::vector<sql::InputSplitPtr> PackSplits(const ScanPlanPtr& plan, const std::vector<AddFilePtr>& files,
                                           const std::vector<int32_t>& numbers) {
  int64_t total = 0;
  for (const AddFilePtr& add : files) total += add->size + kOpenCostBytes;
  const auto cores = AvailableCores();
  const int64_t target = std::min(kMaxSplitBytes, std::max(kOpenCostBytes, total / cores));
  std::vector<Piece> pieces;
  for (size_t i = 0; i < files.size(); ++i) {
    const AddFilePtr& add = files[i];
    const bool divide = add->size > target && !add->deletion_vector;
    if (!divide) pieces.push_back({.add = add, .group = numbers[i]});
    for (int64_t at = 0; divide && at < add->size; at += target) {
      const bool last = at + target >= add->size;
      pieces.push_back({.add = add, .begin = at, .end = last ? INT64_MAX : at + target, .group = numbers[i]});
    }
  }
  std::vector<sql::InputSplitPtr> splits;
  std::vector<Piece> current;
  int64_t bytes = 0;
  for (Piece& piece : pieces) {
    const int64_t size = std::min(piece.end, piece.add->size) - piece.begin;
    if (!current.empty() && bytes + size > target) {
      splits.push_back(std::make_shared<Split>(plan, std::move(current), bytes));
      current.clear();
      bytes = 0;
    }
    bytes += size + kOpenCostBytes;
    current.push_back(std::move(piece));
  }
  if (!current.empty()) splits.push_back(std::make_shared<Split>(plan, std::move(current), bytes));
  return splits;
}

Result<ScanPlanPtr> MakePlan(std::shared_ptr<DeltaLog> log, DeltaSnapshotPtr snapshot, const sql::ScanRequest& request,
                             const std::shared_ptr<const sql::EvalConfig>& config, std::shared_ptr<const DeltaScanGroups> groups);

class DeltaScan final : public sql::Scan {
 public:
  DeltaScan(ScanPlanPtr plan, sql::ScanRequest request, std::shared_ptr<const sql::EvalConfig> config, bool pinned)
      : plan_(std::move(plan)), request_(std::move(request)), config_(std::move(config)), pinned_(pinned) {}

  data::Schema schema() const override {
    data::Schema out;
    for (const ScanColumn& column : plan_->columns) out.push_back(column.field);
    return out;
  }
  std::string Describe() const override {
    std::string out = "FileScan delta [";
    for (const ScanColumn& column : plan_->columns) out += (out.back() == '[' ? "" : ",") + column.field.name;
    return out + "] " + data::QualifiedPathText(plan_->log->table_path()) + "@v" + std::to_string(plan_->snapshot->version());
  }
  Result<std::vector<sql::InputSplitPtr>> PlanSplits() override;
  Result<sql::LeafVersion> Version() override {
    TW_RETURN_NOT_OK(Refresh());
    return sql::LeafVersion{plan_->snapshot->metadata().id + "@" + std::to_string(plan_->snapshot->version())};
  }
  std::vector<std::string> InputFiles() const override;
  std::optional<int64_t> EstimatedRows() const override;

 private:
  Result<bool> Keeps(const AddFile& add) const;
  /// Takes the newest version, unless a version was asked for.
  Status Refresh();

  ScanPlanPtr plan_;
  const sql::ScanRequest request_;
  const std::shared_ptr<const sql::EvalConfig> config_;
  const bool pinned_;
};

Status DeltaScan::Refresh() {
  if (pinned_) return Status::OK();
  TW_ASSIGN_OR_RETURN(const DeltaSnapshotPtr newest, plan_->log->Update());
  if (newest == nullptr) return Error("DELTA_TABLE_NOT_FOUND").With("tableName", "delta.`" + plan_->log->table_path() + "`");
  if (newest == plan_->snapshot) return Status::OK();
  const data::Schema old_schema = schema();
  for (const StructField& field : old_schema) {
    const int at = FindColumn(newest->schema(), field.name, true);
    if (at >= 0 && newest->schema()[static_cast<size_t>(at)].type.SameType(field.type)) continue;
    if (at >= 0 && HasColumnMapping(newest->metadata())) continue;  // nested metadata differs by names only
    return Error("DELTA_SCHEMA_CHANGE_SINCE_ANALYSIS").With("schemaDiff", "column " + field.name).With("legacyFlagMessage", "");
  }
  TW_RETURN_NOT_OK(CheckDeltaReadable(newest->protocol(), "delta.`" + plan_->log->table_path() + "`"));
  TW_ASSIGN_OR_RETURN(plan_, MakePlan(plan_->log, newest, request_, config_, nullptr));
  return Status::OK();
}

// Whether partition values and statistics leave room for a matching row.
Result<bool> DeltaScan::Keeps(const AddFile& add) const {
  for (const ColumnPredicate& predicate : plan_->partition_predicates) {
    std::optional<std::string> text;
    for (const auto& [name, value] : add.partition_values) {
      if (name == predicate.column) text = value;
    }
    TW_ASSIGN_OR_RETURN(const Value value, ParsePartitionValue(text, predicate.type, plan_->zone));
    data::ColumnRange range;
    range.row_count = 1;
    range.null_count = value.is_null() ? 1 : 0;
    if (!value.is_null()) range.min = range.max = value;
    if (!data::MayMatch(predicate, range)) return false;
  }
  return FileMayMatch(add, plan_->file_predicates);
}

Result<std::vector<sql::InputSplitPtr>> DeltaScan::PlanSplits() {
  TW_RETURN_NOT_OK(Refresh());
  const std::vector<AddFilePtr> all = plan_->files();
  std::vector<AddFilePtr> files;
  std::vector<int32_t> numbers;
  for (size_t i = 0; i < all.size(); ++i) {
    TW_ASSIGN_OR_RETURN(const bool keep, Keeps(*all[i]));
    if (!keep) continue;
    files.push_back(all[i]);
    numbers.push_back(plan_->groups != nullptr ? plan_->groups->numbers[i] : 0);
  }
  return PackSplits(plan_, files, numbers);
}

std::vector<std::string> DeltaScan::InputFiles() const {
  std::vector<std::string> out;
  for (const AddFilePtr& add : plan_->files()) {
    auto path = data::PathFromUri(add->path);
    if (!path.ok()) continue;
    if (!path->starts_with("/")) *path = data::JoinPath(plan_->log->table_path(), *path);
    out.push_back(data::UriFromPath(*path));
  }
  return out;
}

std::optional<int64_t> DeltaScan::EstimatedRows() const {
  int64_t rows = 0;
  for (const AddFilePtr& add : plan_->files()) {
    const auto count = StatsRecordCount(*add);
    if (!count) return {};
    rows += *count - (add->deletion_vector ? add->deletion_vector->cardinality : 0);
  }
  return rows;
}

Result<ScanPlanPtr> MakePlan(std::shared_ptr<DeltaLog> log, DeltaSnapshotPtr snapshot, const sql::ScanRequest& request,
                             const std::shared_ptr<const sql::EvalConfig>& config, std::shared_ptr<const DeltaScanGroups> groups) {
  auto plan = std::make_shared<ScanPlan>();
  const bool mapped = HasColumnMapping(snapshot->metadata());
  const bool case_sensitive = config != nullptr && config->case_sensitive;
  const data::Schema& schema = snapshot->schema();
  const data::Schema shown = PublicSchema(schema);
  const auto& partitions = snapshot->metadata().partition_columns;
  const auto is_partition = [&](const std::string& name) { return std::find(partitions.begin(), partitions.end(), name) != partitions.end(); };
  if (config != nullptr) {
    TW_ASSIGN_OR_RETURN(plan->zone, data::TimeZone::Parse(config->time_zone));
  }
  for (const std::string& name : request.columns) {
    if (groups != nullptr && name == sql::RowLevelOperation::kGroupColumn) {
      plan->columns.push_back({.field = {.name = name, .type = DataType::Integer(), .nullable = false}, .is_group = true});
      continue;
    }
    if (groups != nullptr && name == sql::RowLevelOperation::kPositionColumn) {
      plan->columns.push_back({.field = {.name = name, .type = DataType::Long(), .nullable = false}, .is_position = true});
      continue;
    }
    const int at = FindColumn(schema, name, case_sensitive);
    if (at < 0) return InternalError("no column " + name + " in Delta table " + log->table_path());
    const StructField& field = schema[static_cast<size_t>(at)];
    ScanColumn column{.field = shown[static_cast<size_t>(at)], .is_partition = is_partition(field.name)};
    StructField physical = PhysicalField(field, mapped);
    column.log_name = physical.name;
    column.char_length = CharLength(field);
    if (!column.is_partition) {
      column.file_column = static_cast<int>(plan->file_columns.size());
      plan->file_columns.push_back(std::move(physical));
    }
    plan->columns.push_back(std::move(column));
  }
  for (ColumnPredicate& predicate : SimplePredicates(request.filters)) {
    const int at = FindColumn(schema, predicate.column, case_sensitive);
    if (at < 0) continue;
    const StructField& field = schema[static_cast<size_t>(at)];
    if (CharLength(field) > 0 || !field.type.SameType(predicate.type)) continue;
    predicate.column = PhysicalField(field, mapped).name;
    auto& list = is_partition(field.name) ? plan->partition_predicates : plan->file_predicates;
    list.push_back(std::move(predicate));
  }
  plan->groups = std::move(groups);
  plan->log = std::move(log);
  plan->snapshot = std::move(snapshot);
  return ScanPlanPtr(std::move(plan));
}

}  // namespace

Result<std::unique_ptr<sql::Scan>> NewDeltaScan(std::shared_ptr<DeltaLog> log, DeltaSnapshotPtr snapshot,
                                                const sql::ScanRequest& request, std::shared_ptr<const sql::EvalConfig> config,
                                                bool pinned, std::shared_ptr<const DeltaScanGroups> groups) {
  TW_ASSIGN_OR_RETURN(ScanPlanPtr plan, MakePlan(std::move(log), std::move(snapshot), request, config, std::move(groups)));
  return std::unique_ptr<sql::Scan>(std::make_unique<DeltaScan>(std::move(plan), request, std::move(config), pinned));
}

Result<std::vector<sql::InputSplitPtr>> PlanDeltaFiles(std::shared_ptr<DeltaLog> log, DeltaSnapshotPtr snapshot,
                                                       const sql::ScanRequest& request, const std::shared_ptr<const sql::EvalConfig>& config,
                                                       const std::vector<AddFilePtr>& files) {
  TW_ASSIGN_OR_RETURN(const ScanPlanPtr plan, MakePlan(std::move(log), std::move(snapshot), request, config, nullptr));
  return PackSplits(plan, files, std::vector<int32_t>(files.size()));
}

}  // namespace thalweg::connectors
