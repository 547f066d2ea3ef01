#include "data/columnar/arrow_bridge.h"

#include <arrow/api.h>
#include <arrow/io/memory.h>
#include <arrow/ipc/api.h>
#include <arrow/util/compression.h>
#include <gtest/gtest.h>

#include "data/columnar/builder.h"
#include "data/columnar/random_column.h"

namespace thalweg::data {
namespace {

void ExpectSameRows(const Column& actual, const Column& expected, const std::string& what) {
  ASSERT_EQ(actual.length(), expected.length()) << what;
  ASSERT_EQ(actual.null_count(), expected.null_count()) << what;
  for (int64_t i = 0; i < actual.length(); ++i) {
    ASSERT_TRUE(actual.GetValue(i) == expected.GetValue(i)) << what << ", row " << i;
  }
}

TEST(ArrowBridge, EveryTypeSurvivesAStream) {
  for (uint64_t seed = 1; seed <= 6; ++seed) {
    Random random(seed);
    Schema schema;
    for (const auto& type : EveryScalarType()) schema.push_back({.name = "s", .type = type});
    for (int i = 0; i < 20; ++i) schema.push_back({.name = "n", .type = RandomType(random, 3)});
    std::vector<Chunk> chunks;
    for (const int64_t rows : {int64_t{0}, int64_t{77}}) {
      std::vector<ColumnPtr> columns;
      for (const auto& field : schema) columns.push_back(RandomColumn(random, field.type, rows));
      chunks.emplace_back(std::move(columns), rows);
    }
    for (const bool large : {false, true}) {
      const ExportOptions options{.large_var_types = large};
      const std::string bytes = WriteIpcStream(chunks, schema, options).ValueOrDie();
      const IpcStream read = ReadIpcStream(bytes).ValueOrDie();
      ASSERT_EQ(read.chunks.size(), 2U);
      for (size_t i = 0; i < schema.size(); ++i) {
        EXPECT_EQ(read.schema[i].type.SimpleString(), schema[i].type.SimpleString());
        for (size_t k = 0; k < chunks.size(); ++k) {
          const auto column = static_cast<int>(i);
          ExpectSameRows(*read.chunks[k].column(column), *chunks[k].column(column), schema[i].type.SimpleString());
        }
      }
    }
  }
}

TEST(ArrowBridge, ExportsLogicalRowsOfSlices) {
  Random random(42);
  for (int round = 0; round < 40; ++round) {
    const DataType type = RandomType(random, 2);
    const ColumnPtr slice = Slice(RandomColumn(random, type, 90), 33, 50);
    Chunk chunk({slice}, 50);
    chunk.set_selection(std::make_shared<std::vector<int32_t>>(std::vector<int32_t>{49, 0, 7}));
    const auto batch = ExportChunk(chunk, {{.name = "c", .type = type}}, {}).ValueOrDie();
    ASSERT_TRUE(batch->ValidateFull().ok()) << batch->ValidateFull().ToString();
    const ColumnPtr back = ImportArray(batch->column(0), type).ValueOrDie();
    ExpectSameRows(*back, *chunk.Dense().column(0), type.SimpleString());
    // And out of the middle of an array.
    const ColumnPtr tail = ImportArray(batch->column(0)->Slice(1, 2), type).ValueOrDie();
    ExpectSameRows(*tail, *Slice(back, 1, 2), type.SimpleString());
  }
}

TEST(ArrowBridge, FixedWidthIsImportedByReference) {
  arrow::Int64Builder builder;
  for (int64_t i = 0; i < 1000; ++i) ASSERT_TRUE(builder.Append(i).ok());
  const auto array = builder.Finish().ValueOrDie();
  const ColumnPtr column = ImportArray(array, DataType::Long()).ValueOrDie();
  EXPECT_EQ(column->parts().values->data(), array->data()->buffers[1]->data());
}

TEST(ArrowBridge, CompressedBodiesAreRead) {
  Random random(3);
  const Schema schema = {{.name = "a", .type = DataType::Long()}, {.name = "b", .type = DataType::String()}};
  const Chunk chunk({RandomColumn(random, schema[0].type, 500), RandomColumn(random, schema[1].type, 500)}, 500);
  const auto batch = ExportChunk(chunk, schema, {}).ValueOrDie();
  for (const auto codec : {arrow::Compression::LZ4_FRAME, arrow::Compression::ZSTD}) {
    auto options = arrow::ipc::IpcWriteOptions::Defaults();
    options.codec = arrow::util::Codec::Create(codec).ValueOrDie();
    auto sink = arrow::io::BufferOutputStream::Create().ValueOrDie();
    auto writer = arrow::ipc::MakeStreamWriter(sink, batch->schema(), options).ValueOrDie();
    ASSERT_TRUE(writer->WriteRecordBatch(*batch).ok());
    ASSERT_TRUE(writer->Close().ok());
    const auto buffer = sink->Finish().ValueOrDie();
    const IpcStream read = ReadIpcStream(std::string_view(*buffer)).ValueOrDie();
    for (int i = 0; i < 2; ++i) ExpectSameRows(*read.chunks[0].column(i), *chunk.column(i), "compressed");
  }
}

TEST(ArrowBridge, DictionariesAreKept) {
  arrow::StringDictionaryBuilder builder;
  for (const char* text : {"red", "green", "red"}) ASSERT_TRUE(builder.Append(text).ok());
  ASSERT_TRUE(builder.AppendNull().ok());
  const auto array = builder.Finish().ValueOrDie();
  const ColumnPtr column = ImportArray(array, DataType::String()).ValueOrDie();
  EXPECT_EQ(column->encoding(), Encoding::kDictionary);
  EXPECT_EQ(column->null_count(), 1);
  EXPECT_TRUE(column->GetValue(2) == Value(std::string("red")));
  EXPECT_TRUE(column->GetValue(3).is_null());
}

TEST(ArrowBridge, TimesOfOtherUnitsBecomeMicroseconds) {
  const auto import = [](arrow::TimeUnit::type unit, int64_t value) {
    arrow::TimestampBuilder builder(arrow::timestamp(unit, "UTC"), arrow::default_memory_pool());
    EXPECT_TRUE(builder.Append(value).ok());
    EXPECT_TRUE(builder.AppendNull().ok());
    return ImportArray(builder.Finish().ValueOrDie(), DataType::Timestamp());
  };
  EXPECT_TRUE(import(arrow::TimeUnit::SECOND, -2).ValueOrDie()->GetValue(0) == Value(int64_t{-2'000'000}));
  EXPECT_TRUE(import(arrow::TimeUnit::MILLI, 5).ValueOrDie()->GetValue(0) == Value(int64_t{5000}));
  EXPECT_TRUE(import(arrow::TimeUnit::NANO, -1).ValueOrDie()->GetValue(0) == Value(int64_t{-1}));
  EXPECT_EQ(import(arrow::TimeUnit::SECOND, INT64_MAX).status().condition(), "DATETIME_OVERFLOW");
}

TEST(ArrowBridge, ViewsDecimalsAndUnsignedAreImported) {
  arrow::StringViewBuilder views;
  ASSERT_TRUE(views.Append("short").ok());
  ASSERT_TRUE(views.AppendNull().ok());
  ASSERT_TRUE(views.Append("a text of more than twelve bytes").ok());
  const ColumnPtr text = ImportArray(views.Finish().ValueOrDie(), DataType::String()).ValueOrDie();
  EXPECT_TRUE(text->GetValue(0) == Value(std::string("short")));
  EXPECT_TRUE(text->GetValue(1).is_null());
  EXPECT_TRUE(text->GetValue(2) == Value(std::string("a text of more than twelve bytes")));

  arrow::Decimal256Builder wide(arrow::decimal256(20, 2), arrow::default_memory_pool());
  ASSERT_TRUE(wide.Append(arrow::Decimal256("-123456789012345678.25")).ok());
  const auto decimal = ImportArray(wide.Finish().ValueOrDie(), DataType::Decimal(20, 2)).ValueOrDie();
  EXPECT_TRUE(decimal->GetValue(0) == Value(-(Int128{12'345'678'901'234'567'8} * 100 + 25)));

  arrow::UInt64Builder unsigned_builder;
  ASSERT_TRUE(unsigned_builder.Append(UINT64_MAX).ok());
  const auto big = ImportArray(unsigned_builder.Finish().ValueOrDie(), DataType::Decimal(20, 0)).ValueOrDie();
  EXPECT_TRUE(big->GetValue(0) == Value(static_cast<Int128>(UINT64_MAX)));
  EXPECT_EQ(FromArrowType(*arrow::uint64()).ValueOrDie().SimpleString(), "decimal(20,0)");
}

TEST(ArrowBridge, ImpossiblePairsAndBrokenStreamsAreErrors) {
  arrow::StringBuilder builder;
  ASSERT_TRUE(builder.Append("x").ok());
  EXPECT_EQ(ImportArray(builder.Finish().ValueOrDie(), DataType::Long()).status().condition(), "INTERNAL_ERROR");
  EXPECT_FALSE(ReadIpcStream("not a stream").ok());
  Random random(9);
  const Schema schema = {{.name = "a", .type = DataType::String()}};
  const std::string bytes =
      WriteIpcStream({Chunk({RandomColumn(random, schema[0].type, 100)}, 100)}, schema, {}).ValueOrDie();
  for (int i = 0; i < 300; ++i) {  // damaged streams answer; what they answer depends on the byte
    std::string damaged = bytes;
    damaged[random.NextBelow(damaged.size())] = static_cast<char>(random.NextUint64());
    damaged.resize(damaged.size() - random.NextBelow(3) * random.NextBelow(damaged.size()) / 3);
    Ignore(ReadIpcStream(damaged).status(), "any answer will do");
  }
}

TEST(ArrowBridge, TypesFollowSpark) {
  const ExportOptions berlin{.time_zone = "Europe/Berlin"};
  EXPECT_EQ(ToArrowType(DataType::Timestamp(), berlin).ValueOrDie()->ToString(), "timestamp[us, tz=Europe/Berlin]");
  EXPECT_EQ(ToArrowType(DataType::TimestampNtz(), berlin).ValueOrDie()->ToString(), "timestamp[us]");
  EXPECT_EQ(ToArrowType(DataType::DayTimeInterval(), {}).ValueOrDie()->ToString(), "duration[us]");
  EXPECT_EQ(ToArrowType(DataType::Time(), {}).ValueOrDie()->ToString(), "time64[ns]");
  const auto array = ToArrowType(DataType::Array(DataType::Integer(), false), {}).ValueOrDie();
  EXPECT_EQ(array->field(0)->name(), "element");
  EXPECT_FALSE(array->field(0)->nullable());
  const auto doubled = ToArrowType(
      DataType::Struct({{.name = "a", .type = DataType::Long()}, {.name = "a", .type = DataType::Long()}}), {});
  EXPECT_EQ(doubled.status().ok(), true);
  EXPECT_EQ((*doubled)->field(0)->name(), "a_0");
  EXPECT_EQ((*doubled)->field(1)->name(), "a_1");
  const auto variant = ToArrowType(DataType::Variant(), {}).ValueOrDie();
  EXPECT_TRUE(FromArrowType(*variant).ValueOrDie().Is(TypeKind::kVariant));
}

TEST(ArrowBridge, StatusesHaveOurConditions) {
  EXPECT_TRUE(FromArrowStatus(arrow::Status::OK(), "write f").ok());
  EXPECT_EQ(FromArrowStatus(arrow::Status::IOError("gone"), "write f").condition(), "IO_ERROR");
  EXPECT_EQ(FromArrowStatus(arrow::Status::Invalid("odd"), "write f").condition(), "INTERNAL_ERROR");
  const Status memory = FromArrowStatus(arrow::Status::OutOfMemory("malloc"), "write f");
  EXPECT_EQ(memory.condition(), "OUT_OF_MEMORY");
  EXPECT_EQ(memory.kind(), ErrorKind::kEnvironment);
}

}  // namespace
}  // namespace thalweg::data
