// Parquet files: what is written comes back, what Spark wrote is read, statistics tell the truth, damage is a Status.

#include <arrow/io/memory.h>
#include <gtest/gtest.h>
#include <parquet/column_writer.h>
#include <parquet/file_writer.h>

#include <cmath>
#include <limits>
#include <set>

#include "base/process_memory.h"
#include "base/random.h"
#include "data/columnar/builder.h"
#include "data/columnar/random_column.h"
#include "data/formats/parquet/column_adapter.h"
#include "data/formats/parquet/parquet_reader.h"
#include "data/formats/parquet/parquet_writer.h"
#include "data/io/local_file_system.h"
#include "data/io/memory_file_system.h"
#include "data/text/literal.h"

namespace thalweg::data {
namespace {

constexpr int64_t kYear1 = -62135596800000000;       // 0001-01-01T00:00:00Z
constexpr int64_t kYear9999 = 253402300799999999;    // 9999-12-31T23:59:59.999999Z

Schema AllNullable(std::vector<std::pair<std::string, DataType>> columns) {
  Schema schema;
  for (auto& [name, type] : columns) schema.push_back({.name = name, .type = type});
  return schema;
}

ParquetFileSummary WriteFile(FileSystem& disk, const std::string& path, const Schema& schema,
                             const std::vector<Chunk>& chunks, const ParquetWriteOptions& options = {}) {
  auto writer = ParquetWriter::Make(disk, path, schema, options).ValueOrDie();
  for (const Chunk& chunk : chunks) EXPECT_TRUE(writer->Write(chunk).ok());
  return writer->Close().ValueOrDie();
}

std::vector<ValueList> Rows(const Chunk& input) {
  const Chunk chunk = input.Dense();
  std::vector<ValueList> rows(static_cast<size_t>(chunk.num_rows()));
  for (int c = 0; c < chunk.num_columns(); ++c) {
    for (size_t r = 0; r < rows.size(); ++r) rows[r].push_back(chunk.column(c)->GetValue(static_cast<int64_t>(r)));
  }
  return rows;
}

std::vector<ValueList> ReadFile(FileSystem& disk, const std::string& path, const ParquetReadRequest& request) {
  auto file = ParquetFile::Open(disk, path).ValueOrDie();
  auto reader = file->NewReader(request).ValueOrDie();
  std::vector<ValueList> rows;
  while (auto next = reader->Next().ValueOrDie()) {
    for (auto& row : Rows(next->chunk)) rows.push_back(std::move(row));
  }
  return rows;
}

// Empty when equal; else where, in words (a gtest print of thousands of values helps nobody).
std::string FirstDifference(const std::vector<ValueList>& got, const std::vector<ValueList>& wanted, const Schema& schema) {
  if (got.size() != wanted.size()) return std::to_string(got.size()) + " rows, not " + std::to_string(wanted.size());
  for (size_t row = 0; row < got.size(); ++row) {
    for (size_t c = 0; c < schema.size(); ++c) {
      if (got[row][c] == wanted[row][c]) continue;
      return "row " + std::to_string(row) + " of " + schema[c].type.Sql() + ": " + ValueText(got[row][c], schema[c].type) +
             ", not " + ValueText(wanted[row][c], schema[c].type);
    }
  }
  return "";
}

bool Storable(const DataType& type) {
  switch (type.kind()) {
    case TypeKind::kNull:
    case TypeKind::kCalendarInterval:
    case TypeKind::kTime: return false;  // nanoseconds are cut to microseconds, tested apart
    case TypeKind::kArray: return Storable(type.element());
    case TypeKind::kMap: return Storable(type.key()) && Storable(type.value());
    case TypeKind::kStruct:
      for (const auto& field : type.fields()) {
        if (!Storable(field.type)) return false;
      }
      return !type.fields().empty();
    default: return true;
  }
}

// Arrow reads the days of INT96 as unsigned: nothing before 4713 BC inside structs, arrays and maps. SQL's timestamps begin at year 1.
bool InRange(const Value& value, const DataType& type) {
  if (value.is_null()) return true;
  if (type.Is(TypeKind::kTimestamp)) {
    const int64_t micros = value.get<int64_t>();
    return micros > -2440588 * int64_t{86400000000} && micros < INT64_MAX / 2;
  }
  if (!type.IsNested() || type.Is(TypeKind::kVariant)) return true;
  const auto& list = value.get<ValueList>();
  for (size_t i = 0; i < list.size(); ++i) {
    const DataType& child = type.Is(TypeKind::kStruct) ? type.fields()[i].type
                            : type.Is(TypeKind::kArray) ? type.element()
                            : i % 2 == 0                ? type.key()
                                                        : type.value();
    if (!InRange(list[i], child)) return false;
  }
  return true;
}

TEST(ParquetTest, RandomColumnsOfEveryTypeComeBack) {
  Random random(20260729);
  for (int round = 0; round < 60; ++round) {
    Schema schema;
    while (schema.size() < 5) {
      const DataType type = RandomType(random, static_cast<int>(random.NextBelow(4)));
      if (!Storable(type)) continue;
      schema.push_back({.name = "c" + std::to_string(schema.size()), .type = type});
    }
    std::vector<Chunk> chunks;
    std::vector<ValueList> expected;
    for (int c = 0; c < 3; ++c) {
      const auto length = static_cast<int64_t>(random.NextBelow(300));
      std::vector<ColumnPtr> columns;
      for (const auto& field : schema) {
        ColumnPtr column = RandomColumn(random, field.type, length);
        auto builder = ColumnBuilder::Make(field.type);
        for (const Value& value : ColumnValues(*column)) {
          InRange(value, field.type) ? builder->AppendValue(value) : builder->AppendNull();
        }
        columns.push_back(builder->Finish());
      }
      Chunk chunk(std::move(columns), length);
      if (random.NextBool() && length > 0) {
        auto selection = std::make_shared<std::vector<int32_t>>();
        for (int32_t row = 0; row < length; ++row) {
          if (random.NextBool()) selection->push_back(row);
        }
        chunk.set_selection(std::move(selection));
      }
      for (auto& row : Rows(chunk)) expected.push_back(std::move(row));
      chunks.push_back(std::move(chunk));
    }
    MemoryFileSystem disk;
    ParquetWriteOptions options;
    options.row_group_bytes = random.NextBool() ? 1 : int64_t{1} << 20;  // a row group a chunk, or one
    options.compression = round % 3 == 0 ? "snappy" : round % 3 == 1 ? "uncompressed" : "zstd";
    options.timestamps =
        random.NextBool() ? ParquetWriteOptions::Timestamps::kInt96 : ParquetWriteOptions::Timestamps::kMicros;
    const auto summary = WriteFile(disk, "/f.parquet", schema, chunks, options);
    EXPECT_EQ(summary.rows, static_cast<int64_t>(expected.size()));
    EXPECT_EQ(summary.bytes, disk.Stat("/f.parquet").ValueOrDie().size_bytes);
    ParquetReadRequest request;
    request.columns = schema;
    request.batch_rows = 1 + static_cast<int64_t>(random.NextBelow(200));
    EXPECT_EQ(FirstDifference(ReadFile(disk, "/f.parquet", request), expected, schema), "");
    const auto file = ParquetFile::Open(disk, "/f.parquet").ValueOrDie();
    EXPECT_EQ(DataType::Struct(file->ReadSchema().ValueOrDie()), DataType::Struct(schema).AsNullable());
  }
}

TEST(ParquetTest, TypesOfSparkAreReadRightlyAlsoInt96OfFarYears) {
  // tests/delta/types: written by Spark 4.2.0; timestamps are INT96.
  auto& disk = LocalFileSystem::Get();
  std::set<int64_t> stamps;
  for (const auto& info : disk.ListTree(TW_SOURCE_DIR "/tests/delta/types").ValueOrDie()) {
    if (!info.path.ends_with(".parquet") || info.path.find("_delta_log") != std::string::npos) continue;
    const auto file = ParquetFile::Open(disk, info.path).ValueOrDie();
    const Schema schema = file->ReadSchema().ValueOrDie();
    ASSERT_EQ(schema.size(), 18u);
    EXPECT_EQ(schema[12].type, DataType::Timestamp());
    EXPECT_EQ(schema[7].type, DataType::Decimal(38, 10));
    ParquetReadRequest request;
    request.columns = {{.name = "TS", .type = DataType::Timestamp()}, {.name = "gone", .type = DataType::Long()}};
    for (const ValueList& row : ReadFile(disk, info.path, request)) {
      if (!row[0].is_null()) stamps.insert(row[0].get<int64_t>());
      EXPECT_TRUE(row[1].is_null());
    }
    request.case_sensitive = true;
    for (const ValueList& row : ReadFile(disk, info.path, request)) EXPECT_TRUE(row[0].is_null());
  }
  EXPECT_TRUE(stamps.contains(kYear1));
  EXPECT_TRUE(stamps.contains(kYear9999));
  EXPECT_TRUE(stamps.contains(1704164645123456));  // 2024-01-02T03:04:05.123456Z
}

TEST(ParquetTest, FarTimestampsSurviveInBothForms) {
  const Schema schema = AllNullable({{"ts", DataType::Timestamp()}, {"ntz", DataType::TimestampNtz()}});
  std::vector<ValueList> rows;
  constexpr int64_t kFirstJulianDay = -2440588 * int64_t{86400000000};  // 4713 BC
  for (const int64_t micros : {kYear1, kYear1 + 1, int64_t{-1}, int64_t{0}, int64_t{1}, kYear9999, INT64_MIN, INT64_MIN + 1, INT64_MAX, kFirstJulianDay,
                               kFirstJulianDay - 1, kFirstJulianDay + 1}) {
    rows.push_back({Value(micros), Value(micros)});
    rows.push_back({Value(), Value()});
  }
  for (const auto form : {ParquetWriteOptions::Timestamps::kInt96, ParquetWriteOptions::Timestamps::kMicros}) {
    MemoryFileSystem disk;
    ParquetWriteOptions options;
    options.timestamps = form;
    WriteFile(disk, "/f", schema, {ChunkFromRows({schema[0].type, schema[1].type}, rows)}, options);
    ParquetReadRequest request;
    request.columns = schema;
    EXPECT_EQ(ReadFile(disk, "/f", request), rows);
    request.batch_rows = 5;
    request.columns = {schema[0], schema[0]};  // INT96 alone: nothing is left for Arrow
    const auto twice = ReadFile(disk, "/f", request);
    ASSERT_EQ(twice.size(), rows.size());
    for (size_t i = 0; i < rows.size(); ++i) EXPECT_EQ(twice[i], (ValueList{rows[i][0], rows[i][0]}));
  }
}

TEST(ParquetTest, NestedFieldsAreMatchedByNameAndTypesWiden) {
  const DataType written = DataType::Struct({{.name = "a", .type = DataType::Integer()},
                                             {.name = "b", .type = DataType::String()}});
  const Schema schema = AllNullable({{"s", written}, {"l", DataType::Array(DataType::Float())},
                                     {"d", DataType::Decimal(5, 2)}, {"t", DataType::Byte()}, {"day", DataType::Date()}});
  std::vector<DataType> types;
  for (const auto& field : schema) types.push_back(field.type);
  MemoryFileSystem disk;
  WriteFile(disk, "/f", schema,
            {ChunkFromRows(types, {{Value(ValueList{Value(int32_t{1}), Value(std::string("x"))}),
                                    Value(ValueList{Value(1.5f), Value()}), Value(Int128{123}), Value(int8_t{-7}),
                                    Value(int32_t{1})},
                                   {Value(), Value(), Value(), Value(), Value()}})});
  ParquetReadRequest request;
  request.columns = AllNullable({{"s", DataType::Struct({{.name = "new", .type = DataType::Long()},
                                                         {.name = "A", .type = DataType::Long()}})},
                                 {"l", DataType::Array(DataType::Double())}, {"d", DataType::Decimal(10, 4)},
                                 {"t", DataType::Decimal(12, 1)}, {"day", DataType::TimestampNtz()}});
  const auto rows = ReadFile(disk, "/f", request);
  ASSERT_EQ(rows.size(), 2u);
  EXPECT_EQ(rows[0][0], Value(ValueList{Value(), Value(int64_t{1})}));
  EXPECT_EQ(rows[0][1], Value(ValueList{Value(1.5), Value()}));
  EXPECT_EQ(rows[0][2], Value(Int128{12300}));
  EXPECT_EQ(rows[0][3], Value(Int128{-70}));
  EXPECT_EQ(rows[0][4], Value(int64_t{86400000000}));
  for (const Value& value : rows[1]) EXPECT_TRUE(value.is_null());
  request.columns = AllNullable({{"s", DataType::Long()}});
  const auto refused = ParquetFile::Open(disk, "/f").ValueOrDie()->NewReader(request);
  EXPECT_EQ(refused.status().condition(), "FAILED_READ_FILE.PARQUET_COLUMN_DATA_TYPE_MISMATCH");
}

TEST(ParquetTest, SummaryTellsMinimumMaximumAndNulls) {
  const Schema schema = AllNullable({{"d", DataType::Double()}, {"s", DataType::String()}, {"b", DataType::Boolean()},
                                     {"st", DataType::Struct({{.name = "x", .type = DataType::Integer()}})},
                                     {"m", DataType::Map(DataType::String(), DataType::Integer())}});
  std::vector<DataType> types;
  for (const auto& field : schema) types.push_back(field.type);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  MemoryFileSystem disk;
  const auto summary = WriteFile(
      disk, "/f", schema,
      {ChunkFromRows(types, {{Value(1.0), Value(std::string("b\xC3\xA9")), Value(true), Value(ValueList{Value(int32_t{4})}), Value()},
                             {Value(nan), Value(std::string("b")), Value(), Value(), Value(ValueList{})}}),
       ChunkFromRows(types, {{Value(-3.0), Value(), Value(false), Value(ValueList{Value()}), Value()}})});
  ASSERT_EQ(summary.leaves.size(), 5u);
  EXPECT_EQ(*summary.leaves[0].min, Value(-3.0));
  EXPECT_TRUE(std::isnan(summary.leaves[0].max->get<double>()));
  EXPECT_EQ(*summary.leaves[1].min, Value(std::string("b")));
  EXPECT_EQ(*summary.leaves[1].max, Value(std::string("b\xC3\xA9")));
  EXPECT_EQ(summary.leaves[1].null_count, 1);
  EXPECT_FALSE(summary.leaves[2].min.has_value());
  EXPECT_EQ(summary.leaves[2].null_count, 1);
  EXPECT_EQ(summary.leaves[3].path, (std::vector<std::string>{"st", "x"}));
  EXPECT_EQ(*summary.leaves[3].min, Value(int32_t{4}));
  EXPECT_EQ(summary.leaves[3].null_count, 2);
  EXPECT_EQ(summary.leaves[4].null_count, 2);
}

TEST(ParquetTest, StatisticsSkipOnlyRowGroupsWithoutMatches) {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    const std::vector<DataType> scalars = EveryScalarType();
    DataType type = scalars[random.NextBelow(scalars.size())];
    if (!Storable(type) || !HasOrderedBounds(type)) continue;
    const Schema schema = AllNullable({{"c", type}});
    MemoryFileSystem disk;
    std::vector<Chunk> chunks;
    std::vector<ValueList> all;
    for (int c = 0; c < 4; ++c) {
      auto builder = ColumnBuilder::Make(type);
      for (int row = 0; row < 3; ++row) {
        const Value value = RandomValue(random, type, 0.3);
        InRange(value, type) ? builder->AppendValue(value) : builder->AppendNull();
      }
      chunks.emplace_back(std::vector<ColumnPtr>{builder->Finish()}, 3);
      for (auto& row : Rows(chunks.back())) all.push_back(std::move(row));
    }
    ParquetWriteOptions options;
    options.row_group_bytes = 1;
    options.timestamps = ParquetWriteOptions::Timestamps::kMicros;
    WriteFile(disk, "/f", schema, chunks, options);
    const auto op = static_cast<ColumnPredicate::Op>(random.NextBelow(8));
    ColumnPredicate predicate{.column = "C", .op = op, .type = type, .values = {RandomValue(random, type, 0)}};
    ParquetReadRequest request;
    request.columns = schema;
    request.predicates = {predicate};
    const auto read = ReadFile(disk, "/f", request);
    const auto matches = [&](const ValueList& row) {
      if (op == ColumnPredicate::Op::kIsNull) return row[0].is_null();
      if (row[0].is_null()) return false;
      if (op == ColumnPredicate::Op::kIsNotNull) return true;
      const int order = CompareValues(row[0], predicate.values[0], type);
      switch (op) {
        case ColumnPredicate::Op::kLess: return order < 0;
        case ColumnPredicate::Op::kLessOrEqual: return order <= 0;
        case ColumnPredicate::Op::kGreater: return order > 0;
        case ColumnPredicate::Op::kGreaterOrEqual: return order >= 0;
        default: return order == 0;
      }
    };
    EXPECT_EQ(std::count_if(read.begin(), read.end(), matches), std::count_if(all.begin(), all.end(), matches))
        << type.Sql() << " op " << static_cast<int>(op);
  }
}

// Other writers' unsigned columns: their bounds are unsigned too.
TEST(ParquetTest, BoundsOfUnsignedColumnsAreReadAsSuch) {
  using parquet::LogicalType;
  using parquet::schema::GroupNode;
  using parquet::schema::PrimitiveNode;
  const auto field = [](const char* name, int bits, parquet::Type::type physical) {
    return PrimitiveNode::Make(name, parquet::Repetition::REQUIRED, LogicalType::Int(bits, false), physical);
  };
  const auto root = GroupNode::Make("schema", parquet::Repetition::REQUIRED,
                                    {field("u", 32, parquet::Type::INT32), field("w", 64, parquet::Type::INT64)});
  const auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
  const auto writer = parquet::ParquetFileWriter::Open(sink, std::static_pointer_cast<GroupNode>(root));
  parquet::RowGroupWriter* group = writer->AppendRowGroup();
  const auto small = static_cast<int32_t>(3'000'000'000U);
  const auto large = static_cast<int64_t>(UINT64_MAX);
  static_cast<parquet::Int32Writer*>(group->NextColumn())->WriteBatch(1, nullptr, nullptr, &small);
  static_cast<parquet::Int64Writer*>(group->NextColumn())->WriteBatch(1, nullptr, nullptr, &large);
  writer->Close();
  const auto bytes = sink->Finish().ValueOrDie();
  MemoryFileSystem disk;
  const auto file = disk.Create("/f", CreateMode::kReplace).ValueOrDie();
  ASSERT_TRUE(file->Append({reinterpret_cast<const char*>(bytes->data()), static_cast<size_t>(bytes->size())}).ok());
  ASSERT_TRUE(file->Close().ok());
  const DataType wide = DataType::Decimal(20, 0);
  const std::vector<ColumnPredicate> predicates = {
      {.column = "u", .op = ColumnPredicate::Op::kGreater, .type = DataType::Long(), .values = {Value(int64_t{2'000'000'000})}},
      {.column = "w", .op = ColumnPredicate::Op::kEqual, .type = wide, .values = {Value(Int128{UINT64_MAX})}}};
  for (const ColumnPredicate& predicate : predicates) {
    ParquetReadRequest request;
    request.columns = AllNullable({{"u", DataType::Long()}, {"w", wide}});
    request.predicates = {predicate};
    const auto rows = ReadFile(disk, "/f", request);
    ASSERT_EQ(rows.size(), 1U) << predicate.column;
    EXPECT_EQ(rows[0][0], Value(int64_t{3'000'000'000}));
    EXPECT_EQ(rows[0][1], Value(Int128{UINT64_MAX}));
  }
}

TEST(ParquetTest, PushdownSkipsRowGroups) {
  const Schema schema = AllNullable({{"id", DataType::Long()}});
  MemoryFileSystem disk;
  std::vector<Chunk> chunks;
  for (int64_t c = 0; c < 10; ++c) chunks.push_back(ChunkFromRows({DataType::Long()}, {{Value(c * 10)}, {Value(c * 10 + 9)}}));
  ParquetWriteOptions options;
  options.row_group_bytes = 1;
  WriteFile(disk, "/f", schema, chunks, options);
  ParquetReadRequest request;
  request.columns = schema;
  request.predicates = {{.column = "id", .op = ColumnPredicate::Op::kGreaterOrEqual, .type = DataType::Long(), .values = {Value(int64_t{75})}}};
  auto reader = ParquetFile::Open(disk, "/f").ValueOrDie()->NewReader(request).ValueOrDie();
  EXPECT_EQ(reader->row_groups_read(), 3);
  EXPECT_EQ(reader->row_groups_skipped(), 7);
  const auto first = reader->Next().ValueOrDie();
  EXPECT_EQ(first->first_row, 14);
}

TEST(ParquetTest, SplitsShareAFileWithoutGapOrOverlap) {
  const Schema schema = AllNullable({{"id", DataType::Long()}});
  MemoryFileSystem disk;
  std::vector<Chunk> chunks;
  for (int64_t c = 0; c < 20; ++c) chunks.push_back(ChunkFromRows({DataType::Long()}, {{Value(c)}}));
  ParquetWriteOptions options;
  options.row_group_bytes = 1;
  const auto summary = WriteFile(disk, "/f", schema, chunks, options);
  EXPECT_EQ(summary.row_groups, 20);
  for (const int64_t step : {int64_t{100}, int64_t{333}, summary.bytes}) {
    std::vector<ValueList> rows;
    for (int64_t at = 0; at < summary.bytes; at += step) {
      ParquetReadRequest request;
      request.columns = schema;
      request.split_begin = at;
      request.split_end = at + step;
      for (auto& row : ReadFile(disk, "/f", request)) rows.push_back(std::move(row));
    }
    ASSERT_EQ(rows.size(), 20u);
    for (int64_t c = 0; c < 20; ++c) EXPECT_EQ(rows[static_cast<size_t>(c)][0], Value(c));
  }
}

TEST(ParquetTest, CountingReadsNoColumn) {
  const Schema schema = AllNullable({{"id", DataType::Long()}});
  MemoryFileSystem disk;
  WriteFile(disk, "/f", schema, {ChunkFromRows({DataType::Long()}, {{Value(int64_t{1})}, {Value()}})});
  auto reader = ParquetFile::Open(disk, "/f").ValueOrDie()->NewReader({}).ValueOrDie();
  const auto chunk = reader->Next().ValueOrDie();
  EXPECT_EQ(chunk->chunk.num_rows(), 2);
  EXPECT_EQ(chunk->chunk.num_columns(), 0);
  EXPECT_FALSE(reader->Next().ValueOrDie().has_value());
}

TEST(ParquetTest, WhatParquetCannotHoldIsRefusedByName) {
  MemoryFileSystem disk;
  const auto refused = ParquetWriter::Make(disk, "/f", AllNullable({{"v", DataType::Null()}}));
  EXPECT_EQ(refused.status().condition(), "UNSUPPORTED_DATA_TYPE_FOR_DATASOURCE");
  ParquetWriteOptions options;
  options.compression = "lzo";
  EXPECT_EQ(ParquetWriter::Make(disk, "/f", {}, options).status().condition(),
            "CODEC_NOT_AVAILABLE.WITH_AVAILABLE_CODECS_SUGGESTION");
  EXPECT_EQ(ParquetCodecSuffix("GZIP").ValueOrDie(), "gz");
  EXPECT_EQ(ParquetFile::Open(disk, "/none").status().condition(), "FAILED_READ_FILE.FILE_NOT_EXIST");
  Schema required = AllNullable({{"id", DataType::Long()}});
  required[0].nullable = false;
  auto writer = ParquetWriter::Make(disk, "/f", required).ValueOrDie();
  EXPECT_FALSE(writer->Write(ChunkFromRows({DataType::Long()}, {{Value()}})).ok());
}

TEST(ParquetTest, DamageIsAStatus) {
  Random random(99);
  const Schema schema = AllNullable({{"id", DataType::Long()}, {"s", DataType::String()},
                                     {"l", DataType::Array(DataType::Integer())}, {"ts", DataType::Timestamp()}});
  std::vector<ColumnPtr> columns;
  for (const auto& field : schema) columns.push_back(Flatten(RandomColumn(random, field.type, 500, 0.2, Encoding::kFlat)));
  MemoryFileSystem disk;
  WriteFile(disk, "/f", schema, {Chunk(columns, 500)});
  const std::string whole = disk.ReadWhole("/f").ValueOrDie();
  int failures = 0;
  for (int round = 0; round < 400; ++round) {
    std::string bytes = whole;
    if (round % 4 == 0) bytes.resize(random.NextBelow(bytes.size()));
    for (int hit = 0; hit < 3 && !bytes.empty(); ++hit) {
      const size_t tail = std::min<size_t>(bytes.size(), 2500);  // the footer mostly
      const size_t at = random.NextBool() ? bytes.size() - 1 - random.NextBelow(tail) : random.NextBelow(bytes.size());
      bytes[at] = static_cast<char>(random.NextUint64());
    }
    auto target = disk.Create("/g", CreateMode::kReplace).ValueOrDie();
    ASSERT_TRUE(target->Append(bytes).ok() && target->Close().ok());
    const auto file = ParquetFile::Open(disk, "/g");
    if (!file.ok()) {
      ++failures;
      EXPECT_FALSE(file.status().condition().empty());
      continue;
    }
    if ((*file)->num_rows() > 10000) continue;  // a damaged count: reading would only take long
    ParquetReadRequest request;
    request.columns = schema;
    auto reader = (*file)->NewReader(request);
    if (!reader.ok()) {
      ++failures;
      continue;
    }
    for (int steps = 0; steps < 100; ++steps) {
      const auto next = (*reader)->Next();
      if (!next.ok()) ++failures;
      if (!next.ok() || !next->has_value()) break;
    }
  }
  EXPECT_GT(failures, 100);
}

TEST(ParquetTest, MemoryThatRunsOutWhileAFileIsWrittenIsNamed) {
  MemoryFileSystem disk;
  const Schema schema = AllNullable({{"s", DataType::String()}});
  auto writer = ParquetWriter::Make(disk, "/f.parquet", schema, {}).ValueOrDie();
  const std::string large(static_cast<size_t>(4 * kLargeAllocation), 'x');
  const Chunk chunk = ChunkFromRows({DataType::String()}, {{Value(large)}});
  SetProcessMemoryLimit(1);
  Status status = writer->Write(chunk);
  if (status.ok()) status = writer->Close().status();
  SetProcessMemoryLimit(0);
  EXPECT_EQ(status.condition(), "OUT_OF_MEMORY") << status.message();
}

}  // namespace
}  // namespace thalweg::data
