// The writer: rows to levels and values ("shredding"), row groups, the footer. Exceptions of the Parquet library end here.

#include "data/formats/parquet/parquet_writer.h"

#include <arrow/util/compression.h>
#include <arrow/util/key_value_metadata.h>
#include <parquet/exception.h>
#include <parquet/file_writer.h>
#include <parquet/properties.h>

#include <algorithm>
#include <cctype>

#include "data/columnar/arrow_bridge.h"
#include "data/formats/parquet/arrow_files.h"
#include "data/formats/parquet/leaf_statistics.h"
#include "data/formats/parquet/leaf_writer.h"
#include "data/formats/parquet/parquet_schema.h"

namespace thalweg::data {

namespace {

struct Codec {
  std::string_view name;
  arrow::Compression::type type;
  std::string_view suffix;
};
constexpr Codec kCodecs[] = {
    {"brotli", arrow::Compression::BROTLI, "br"},     {"uncompressed", arrow::Compression::UNCOMPRESSED, ""},
    {"lzo", arrow::Compression::LZO, "lzo"},          {"snappy", arrow::Compression::SNAPPY, "snappy"},
    {"lz4_raw", arrow::Compression::LZ4, "lz4raw"},   {"none", arrow::Compression::UNCOMPRESSED, ""},
    {"zstd", arrow::Compression::ZSTD, "zstd"},       {"lz4", arrow::Compression::LZ4_HADOOP, "lz4hadoop"},
    {"gzip", arrow::Compression::GZIP, "gz"},
};

Result<const Codec*> FindCodec(std::string_view compression) {
  std::string lower(compression);
  for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  for (const Codec& codec : kCodecs) {
    if (codec.name == lower && codec.type != arrow::Compression::LZO) return &codec;
  }
  return Error("CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION").With("codecName", compression)
      .With("availableCodecs", "brotli, uncompressed, lzo, snappy, lz4_raw, none, zstd, lz4, gzip");
}

/// One node of the written schema with what its levels need.
struct WriteNode {
  DataType type;
  bool nullable = true;
  int leaf = -1;                // Parquet column, leaves only
  int statistics = -1;          // index in the accumulators
  int16_t repetition = 0;       // repetition level of this node's elements (lists, maps), else of the node
  std::vector<WriteNode> children;
};

/// Where the values of a node are: one slot per value or absence. A negative row: absent, the levels are final.
struct Slots {
  std::vector<int32_t> rows;
  std::vector<int16_t> def;
  std::vector<int16_t> rep;
};

Status NullInRequired() { return InternalError("a null in a Parquet column that is not nullable"); }

class Writer final : public ParquetWriter {
 public:
  explicit Writer(const ParquetWriteOptions& options) : options_(options) {}

  Status Open(FileSystem& file_system, const std::string& path, const Schema& schema);
  Status Write(const Chunk& chunk) override;
  Result<ParquetFileSummary> Close() override;
  int64_t bytes_written() const override;
  int64_t rows_written() const override { return rows_; }

 private:
  void AddNode(const std::string& name, const DataType& type, bool nullable, int16_t repetition, bool counted,
               std::vector<std::string> path, std::vector<WriteNode>* out);
  Status WriteColumn(const WriteNode& node, const ColumnPtr& column);
  Status WriteFlat(const WriteNode& node, const Column& column);
  Status Shred(const WriteNode& node, const ColumnPtr& column, Slots slots);
  Status ShredRepeated(const WriteNode& node, const Column& column, Slots slots);
  int64_t RowGroupBytes() const;
  void WriteSlots(const WriteNode& node, const Column& column, const Slots& slots);
  LeafAccumulator* Accumulator(const WriteNode& node) {
    return node.statistics < 0 ? nullptr : accumulators_[static_cast<size_t>(node.statistics)].get();
  }
  template <typename Body>
  Status Guard(Body body);

  ParquetWriteOptions options_;
  std::string path_;
  Status disk_error_;
  std::vector<WriteNode> columns_;
  std::vector<std::unique_ptr<LeafWriter>> leaves_;
  std::vector<std::unique_ptr<LeafAccumulator>> accumulators_;
  std::vector<LeafStatistics> statistics_;
  std::shared_ptr<arrow::io::OutputStream> output_;
  std::unique_ptr<parquet::ParquetFileWriter> file_;
  parquet::RowGroupWriter* row_group_ = nullptr;  // owned by file_
  std::vector<int16_t> present_;                  // levels "1", as many as a chunk ever had rows
  std::vector<int16_t> levels_;
  std::vector<int32_t> rows_scratch_;
  int64_t rows_ = 0;
  int row_groups_ = 0;
};

template <typename Body>
Status Writer::Guard(Body body) {
  Status status = GuardWriting(path_, body);
  return disk_error_.ok() ? status : disk_error_;
}

void Writer::AddNode(const std::string& name, const DataType& type, bool nullable, int16_t repetition, bool counted,
                     std::vector<std::string> path, std::vector<WriteNode>* out) {
  WriteNode node{.type = type, .nullable = nullable, .repetition = repetition};
  path.push_back(name);
  const auto count = [&] {
    const bool wanted = options_.statistics_columns < 0 ||
                        static_cast<int>(statistics_.size()) < options_.statistics_columns;
    if (!counted || !wanted) return;
    node.statistics = static_cast<int>(accumulators_.size());
    accumulators_.push_back(LeafAccumulator::Make(type));
    statistics_.push_back({.path = path, .type = type, .null_count = 0, .min = {}, .max = {}});
  };
  switch (type.kind()) {
    case TypeKind::kStruct:
      for (const StructField& field : type.fields()) {
        AddNode(field.name, field.type, field.nullable, repetition, counted, path, &node.children);
      }
      break;
    case TypeKind::kArray:
      count();
      node.repetition = static_cast<int16_t>(repetition + 1);
      AddNode("element", type.element(), type.contains_null(), node.repetition, false, path, &node.children);
      break;
    case TypeKind::kMap:
      count();
      node.repetition = static_cast<int16_t>(repetition + 1);
      AddNode("key", type.key(), false, node.repetition, false, path, &node.children);
      AddNode("value", type.value(), type.contains_null(), node.repetition, false, path, &node.children);
      break;
    case TypeKind::kVariant:
      count();
      AddNode("value", DataType::Binary(), false, repetition, false, path, &node.children);
      AddNode("metadata", DataType::Binary(), false, repetition, false, path, &node.children);
      break;
    default:
      count();
      node.leaf = static_cast<int>(leaves_.size());
      leaves_.push_back(LeafWriter::Make(type, options_.timestamps == ParquetWriteOptions::Timestamps::kInt96));
  }
  out->push_back(std::move(node));
}

Status Writer::Open(FileSystem& file_system, const std::string& path, const Schema& schema) {
  path_ = path;
  TW_ASSIGN_OR_RETURN(const Codec* codec, FindCodec(options_.compression));
  TW_ASSIGN_OR_RETURN(auto root, ToParquetSchema(schema, options_));
  for (const StructField& field : schema) AddNode(field.name, field.type, field.nullable, 0, true, {}, &columns_);
  TW_ASSIGN_OR_RETURN(auto disk_file, file_system.Create(path, CreateMode::kReplace));
  output_ = MakeArrowOutput(std::move(disk_file), &disk_error_);
  parquet::WriterProperties::Builder properties;
  properties.compression(codec->type)
      ->memory_pool(ProcessPool())
      ->disable_write_page_index()
      ->set_size_statistics_level(parquet::SizeStatisticsLevel::None)
      ->max_row_group_length(INT64_MAX)
      ->write_batch_size(kChunkRows);
  auto metadata = std::make_shared<arrow::KeyValueMetadata>();
  for (const auto& [key, value] : options_.metadata) metadata->Append(key, value);
  metadata->Append("org.apache.spark.version", "4.2.0");
  metadata->Append("org.apache.spark.sql.parquet.row.metadata", DataType::Struct(schema).Json());
  return Guard([&]() -> Status {
    file_ = parquet::ParquetFileWriter::Open(output_, root, properties.build(), metadata);
    return Status::OK();
  });
}

Status Writer::Write(const Chunk& input) {
  if (input.num_columns() != static_cast<int>(columns_.size())) {
    return InternalError("a chunk of " + std::to_string(input.num_columns()) + " columns for a Parquet file of " +
                         std::to_string(columns_.size()));
  }
  const Chunk chunk = input.Dense();
  if (chunk.num_rows() == 0) return Status::OK();
  return Guard([&]() -> Status {
    if (row_group_ == nullptr) {
      row_group_ = file_->AppendBufferedRowGroup();
      ++row_groups_;
    }
    for (size_t i = 0; i < columns_.size(); ++i) {
      TW_RETURN_NOT_OK(WriteColumn(columns_[i], Flatten(chunk.column(static_cast<int>(i)))));
    }
    rows_ += chunk.num_rows();
    if (RowGroupBytes() >= options_.row_group_bytes) {
      row_group_->Close();
      row_group_ = nullptr;
    }
    return Status::OK();
  });
}

Status Writer::WriteColumn(const WriteNode& node, const ColumnPtr& column) {
  if (node.leaf >= 0) return WriteFlat(node, *column);
  Slots slots;
  const auto rows = static_cast<size_t>(column->length());
  slots.rows.resize(rows);
  for (size_t i = 0; i < rows; ++i) slots.rows[i] = static_cast<int32_t>(i);
  slots.def.assign(rows, 0);
  slots.rep.assign(rows, 0);
  return Shred(node, column, std::move(slots));
}

Status Writer::WriteFlat(const WriteNode& node, const Column& column) {
  const auto rows = static_cast<size_t>(column.length());
  LeafWriter& leaf = *leaves_[static_cast<size_t>(node.leaf)];
  parquet::ColumnWriter* writer = row_group_->column(node.leaf);
  LeafAccumulator* accumulator = Accumulator(node);
  if (!column.has_nulls()) {
    if (present_.size() < rows) present_.assign(rows, 1);
    leaf.Write(writer, column, nullptr, column.length(), column.length(), node.nullable ? present_.data() : nullptr, nullptr);
    if (accumulator != nullptr) accumulator->Add(column, nullptr, column.length());
    return Status::OK();
  }
  if (!node.nullable) return NullInRequired();
  levels_.resize(rows);
  rows_scratch_.resize(rows);
  size_t count = 0;
  for (size_t i = 0; i < rows; ++i) {
    const bool valid = !column.IsNull(static_cast<int64_t>(i));
    levels_[i] = valid ? 1 : 0;
    rows_scratch_[count] = static_cast<int32_t>(i);
    count += valid ? 1 : 0;
  }
  leaf.Write(writer, column, rows_scratch_.data(), static_cast<int64_t>(count), column.length(), levels_.data(), nullptr);
  if (accumulator != nullptr) {
    accumulator->AddNulls(column.null_count());
    accumulator->Add(column, rows_scratch_.data(), static_cast<int64_t>(count));
  }
  return Status::OK();
}

Status Writer::Shred(const WriteNode& node, const ColumnPtr& input, Slots slots) {
  const ColumnPtr column = Flatten(input);
  for (size_t i = 0; i < slots.rows.size(); ++i) {
    if (slots.rows[i] < 0) continue;
    const bool null = column->IsNull(slots.rows[i]);
    if (null && !node.nullable) return NullInRequired();
    if (null) slots.rows[i] = -1;
    if (!null && node.nullable) ++slots.def[i];
  }
  if (node.leaf >= 0) {
    WriteSlots(node, *column, slots);
    return Status::OK();
  }
  if (LeafAccumulator* accumulator = Accumulator(node)) {
    accumulator->AddNulls(std::count(slots.rows.begin(), slots.rows.end(), -1));
  }
  if (node.type.physical() != PhysicalType::kStruct) return ShredRepeated(node, *column, std::move(slots));
  for (size_t i = 0; i < node.children.size(); ++i) {
    TW_RETURN_NOT_OK(Shred(node.children[i], column->child(static_cast<int>(i)), slots));
  }
  return Status::OK();
}

Status Writer::ShredRepeated(const WriteNode& node, const Column& column, Slots slots) {
  Slots inner;
  const auto offsets = column.offsets();
  for (size_t i = 0; i < slots.rows.size(); ++i) {
    const int32_t row = slots.rows[i];
    const int32_t begin = row < 0 ? 0 : offsets[static_cast<size_t>(row)];
    const int32_t end = row < 0 ? 0 : offsets[static_cast<size_t>(row) + 1];
    if (begin == end) {
      inner.rows.push_back(-1);
      inner.def.push_back(slots.def[i]);
      inner.rep.push_back(slots.rep[i]);
      continue;
    }
    for (int32_t at = begin; at < end; ++at) {
      inner.rows.push_back(at);
      inner.def.push_back(static_cast<int16_t>(slots.def[i] + 1));
      inner.rep.push_back(at == begin ? slots.rep[i] : node.repetition);
    }
  }
  for (size_t i = 0; i < node.children.size(); ++i) {
    TW_RETURN_NOT_OK(Shred(node.children[i], column.child(static_cast<int>(i)), inner));
  }
  return Status::OK();
}

void Writer::WriteSlots(const WriteNode& node, const Column& column, const Slots& slots) {
  rows_scratch_.clear();
  for (const int32_t row : slots.rows) {
    if (row >= 0) rows_scratch_.push_back(row);
  }
  const auto count = static_cast<int64_t>(rows_scratch_.size());
  const auto levels = static_cast<int64_t>(slots.rows.size());
  parquet::ColumnWriter* writer = row_group_->column(node.leaf);
  const bool has_def = writer->descr()->max_definition_level() > 0;
  const bool has_rep = writer->descr()->max_repetition_level() > 0;
  leaves_[static_cast<size_t>(node.leaf)]->Write(writer, column, rows_scratch_.data(), count, levels,
                                                 has_def ? slots.def.data() : nullptr,
                                                 has_rep ? slots.rep.data() : nullptr);
  if (LeafAccumulator* accumulator = Accumulator(node)) {
    accumulator->AddNulls(levels - count);
    accumulator->Add(column, rows_scratch_.data(), count);
  }
}

Result<ParquetFileSummary> Writer::Close() {
  ParquetFileSummary summary;
  TW_RETURN_NOT_OK(Guard([&]() -> Status {
    file_->Close();
    auto position = output_->Tell();
    if (!position.ok()) return FromArrowStatus(position.status(), "write " + path_);
    summary.bytes = *position;
    return FromArrowStatus(output_->Close(), "write " + path_);
  }));
  summary.rows = rows_;
  summary.row_groups = row_groups_;
  for (size_t i = 0; i < statistics_.size(); ++i) accumulators_[i]->Finish(&statistics_[i]);
  summary.leaves = std::move(statistics_);
  return summary;
}

int64_t Writer::RowGroupBytes() const {
  if (row_group_ == nullptr) return 0;
  const auto buffered = row_group_->estimated_buffered_stats();
  return row_group_->total_compressed_bytes() + row_group_->total_compressed_bytes_written() + buffered.value_bytes +
         buffered.dict_bytes + buffered.def_level_bytes + buffered.rep_level_bytes;
}

int64_t Writer::bytes_written() const {
  const auto position = output_->Tell();
  const int64_t written = position.ok() ? *position : 0;
  return written + RowGroupBytes();
}

}  // namespace

Result<std::string> ParquetCodecSuffix(std::string_view compression) {
  TW_ASSIGN_OR_RETURN(const Codec* codec, FindCodec(compression));
  return std::string(codec->suffix);
}

Result<std::unique_ptr<ParquetWriter>> ParquetWriter::Make(FileSystem& file_system, const std::string& path,
                                                           const Schema& schema, const ParquetWriteOptions& options) {
  auto writer = std::make_unique<Writer>(options);
  TW_RETURN_NOT_OK(writer->Open(file_system, path, schema));
  return std::unique_ptr<ParquetWriter>(std::move(writer));
}

}  // namespace thalweg::data
