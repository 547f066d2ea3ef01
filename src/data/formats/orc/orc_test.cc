// ORC files: what is written comes back, old days keep their date, damage is a Status.

#include <gtest/gtest.h>

#include "base/random.h"
#include "data/columnar/builder.h"
#include "data/columnar/random_column.h"
#include "data/formats/orc/hybrid_calendar.h"
#include "data/formats/orc/orc_file_reader.h"
#include "data/formats/orc/orc_file_writer.h"
#include "data/formats/orc/orc_footer.h"
#include "data/io/memory_file_system.h"
#include "data/text/civil.h"
#include "data/text/literal.h"

namespace thalweg::data {
namespace {

void WriteFile(FileSystem& disk, const Schema& schema, const std::vector<Chunk>& chunks, std::string_view codec = "zstd") {
  const auto writer = MakeOrcFileWriter(disk, "/f.orc", schema, codec).ValueOrDie();
  for (const Chunk& chunk : chunks) ASSERT_TRUE(writer->Write(chunk).ok());
  ASSERT_TRUE(writer->Close().ok());
}

std::vector<ValueList> RowsOf(const std::vector<ColumnPtr>& columns) {
  std::vector<ValueList> rows(columns.empty() ? 0 : static_cast<size_t>(columns[0]->length()));
  for (const ColumnPtr& column : columns) {
    for (size_t row = 0; row < rows.size(); ++row) rows[row].push_back(column->GetValue(static_cast<int64_t>(row)));
  }
  return rows;
}

Result<std::vector<ValueList>> ReadFile(FileSystem& disk, const Schema& schema, FileRange range = {.path = "/f.orc"}) {
  const auto reader = MakeOrcFileReader({.columns = schema, .table = schema});
  TW_RETURN_NOT_OK(reader->Open(disk, range));
  std::vector<ValueList> rows;
  for (bool more = true; more;) {
    TW_ASSIGN_OR_RETURN(more, reader->Read(1000));
    TW_ASSIGN_OR_RETURN(const auto columns, reader->Finish());
    for (ValueList& row : RowsOf(columns)) rows.push_back(std::move(row));
  }
  return rows;
}

bool Storable(const DataType& type) {
  switch (type.kind()) {
    case TypeKind::kNull:
    case TypeKind::kCalendarInterval:
    case TypeKind::kVariant:
    case TypeKind::kTime:
    case TypeKind::kTimestamp:      // those out of reach are tested apart
    case TypeKind::kTimestampNtz:
    case TypeKind::kDate: return false;
    case TypeKind::kArray: return Storable(type.element());
    case TypeKind::kMap: return Storable(type.key()) && Storable(type.value());
    case TypeKind::kStruct:
      for (const StructField& field : type.fields()) {
        if (!Storable(field.type)) return false;
      }
      return !type.fields().empty();
    default: return true;
  }
}

TEST(Orc, WhatIsWrittenComesBack) {
  Random random(20261130);
  for (int round = 0; round < 60; ++round) {
    SCOPED_TRACE(round);
    MemoryFileSystem disk;
    Schema schema;
    for (const DataType& type : EveryScalarType()) {
      if (Storable(type)) schema.push_back({.name = "c" + std::to_string(schema.size()), .type = type.AsNullable()});
    }
    for (int i = 0; i < 4; ++i) {
      const DataType type = RandomType(random, 3);
      if (Storable(type)) schema.push_back({.name = "n" + std::to_string(schema.size()), .type = type.AsNullable()});
    }
    std::vector<Chunk> chunks;
    std::vector<ValueList> expected;
    for (int part = 0; part < 3; ++part) {
      const auto length = static_cast<int64_t>(random.NextBelow(400));
      std::vector<ColumnPtr> columns;
      for (const StructField& field : schema) columns.push_back(RandomColumn(random, field.type, length));
      for (ValueList& row : RowsOf(columns)) expected.push_back(std::move(row));
      chunks.emplace_back(std::move(columns), length);
    }
    constexpr std::string_view kCodecs[] = {"none", "snappy", "zlib", "lz4", "ZSTD"};
    WriteFile(disk, schema, chunks, kCodecs[round % 5]);
    EXPECT_EQ(SchemaDdl(ReadOrcSchema(disk, "/f.orc").ValueOrDie()), SchemaDdl(schema));
    const auto rows = ReadFile(disk, schema).ValueOrDie();
    ASSERT_EQ(rows.size(), expected.size());
    for (size_t row = 0; row < rows.size(); ++row) {
      for (size_t c = 0; c < schema.size(); ++c) {
        ASSERT_TRUE(rows[row][c] == expected[row][c])
            << schema[c].type.Sql() << " of row " << row << ": " << ValueText(rows[row][c], schema[c].type) << ", not "
            << ValueText(expected[row][c], schema[c].type);
      }
    }
  }
}

TEST(Orc, OldDaysKeepTheirDate) {
  EXPECT_EQ(ToHybridDays(-141427), -141427);               // 1582-10-15
  EXPECT_EQ(ToHybridDays(-141437), -141427);               // 1582-10-05: not in the hybrid calendar
  EXPECT_EQ(ToHybridDays(-141438), -141428);               // 1582-10-04
  for (int year = -4000; year < 2300; year += 7) {
    for (const auto& [month, day] : {std::pair{1, 1}, {2, 28}, {3, 1}, {10, 4}, {12, 31}}) {
      const auto days = static_cast<int32_t>(DaysFromCivil(year, month, day));
      EXPECT_EQ(FromHybridDays(ToHybridDays(days)), days) << year << " " << month << " " << day;
    }
  }
  MemoryFileSystem disk;
  const Schema schema{{.name = "d", .type = DataType::Date()}, {.name = "l", .type = DataType::Array(DataType::Date())}};
  std::vector<ValueList> rows;
  for (const int year : {1, 900, 1500, 1582, 1600, 9999}) {
    const Value day(static_cast<int32_t>(DaysFromCivil(year, 10, 4)));
    rows.push_back({day, Value(ValueList{day, Value()})});
  }
  std::vector<DataType> types{schema[0].type, schema[1].type};
  WriteFile(disk, schema, {ChunkFromRows(types, rows)});
  EXPECT_EQ(ReadFile(disk, schema).ValueOrDie(), rows);
}

TEST(Orc, TimesWithinReachComeBackAndOthersAreRefused) {
  MemoryFileSystem disk;
  const Schema schema{{.name = "t", .type = DataType::Timestamp()}, {.name = "n", .type = DataType::TimestampNtz()}};
  std::vector<DataType> types{schema[0].type, schema[1].type};
  std::vector<ValueList> rows;
  for (const int64_t micros : {int64_t{0}, int64_t{1}, int64_t{999999}, int64_t{-1000000}, int64_t{1700000000123456}, int64_t{-9000000000000000},
                               int64_t{9000000000000001}}) {
    rows.push_back({Value(micros), Value(-micros)});
  }
  rows.push_back({Value(), Value(INT64_MIN)});
  WriteFile(disk, schema, {ChunkFromRows(types, rows)});
  EXPECT_EQ(SchemaDdl(ReadOrcSchema(disk, "/f.orc").ValueOrDie()), "t TIMESTAMP,n TIMESTAMP_NTZ");
  EXPECT_EQ(ReadFile(disk, schema).ValueOrDie(), rows);
  WriteFile(disk, schema, {ChunkFromRows(types, std::vector<ValueList>{{Value(int64_t{253402300799000000}), Value()}})});
  const Status status = ReadFile(disk, schema).status();
  EXPECT_EQ(status.condition(), "FAILED_READ_FILE.NO_HINT");
  EXPECT_EQ(status.cause().condition(), "UNSUPPORTED_FEATURE.THALWEG");
  const auto writer = MakeOrcFileWriter(disk, "/g.orc", schema, "none").ValueOrDie();
  EXPECT_EQ(writer->Write(ChunkFromRows(types, std::vector<ValueList>{{Value(int64_t{-1}), Value()}})).condition(), "UNSUPPORTED_FEATURE.THALWEG");
}

TEST(Orc, PiecesOfAFileShareItsStripes) {
  MemoryFileSystem disk;
  const Schema schema{{.name = "v", .type = DataType::Long()}};
  Random random(7);
  std::vector<Chunk> chunks;
  for (int part = 0; part < 40; ++part) chunks.emplace_back(std::vector{RandomColumn(random, DataType::Long(), 4096, 0.1, Encoding::kFlat)}, 4096);
  WriteFile(disk, schema, chunks, "none");
  const auto whole = ReadFile(disk, schema).ValueOrDie();
  ASSERT_EQ(whole.size(), 40u * 4096);
  const int64_t size = disk.Stat("/f.orc").ValueOrDie().size_bytes;
  std::vector<ValueList> pieces;
  for (int64_t at = 0; at < size; at += 100000) {
    for (ValueList& row : ReadFile(disk, schema, {.path = "/f.orc", .start = at, .length = 100000}).ValueOrDie()) pieces.push_back(std::move(row));
  }
  EXPECT_EQ(pieces, whole);
  EXPECT_EQ(ReadFile(disk, {}).ok(), true);
}

// Damage inside of stripes can crash the library: README.md.
TEST(Orc, ACutFileIsAStatus) {
  MemoryFileSystem disk;
  const Schema schema{{.name = "v", .type = DataType::Long()}, {.name = "s", .type = DataType::String()}};
  Random random(11);
  WriteFile(disk, schema, {Chunk({RandomColumn(random, schema[0].type, 50, 0.2), RandomColumn(random, schema[1].type, 50, 0.2)}, 50)});
  const std::string good = disk.ReadWhole("/f.orc").ValueOrDie();
  for (size_t length = 1; length < good.size(); ++length) {
    auto out = disk.Create("/f.orc", CreateMode::kReplace).ValueOrDie();
    ASSERT_TRUE(out->Append(good.substr(0, length)).ok() && out->Close().ok());
    EXPECT_EQ(ReadOrcSchema(disk, "/f.orc").status().condition(), "FAILED_READ_FILE.CANNOT_READ_FILE_FOOTER") << length;
  }
}

TEST(Orc, AFooterThatSaysNothingIsHybrid) {
  EXPECT_FALSE(SaysProleptic(""));
  EXPECT_TRUE(SaysProleptic(std::string_view("\x0a\x01\x00\x12\x04\x08\x03\x58\x02", 9)));
  EXPECT_FALSE(SaysProleptic(std::string_view("\x12\x04\x08\x03\x58\x01", 6)));
  EXPECT_FALSE(SaysProleptic(std::string_view("\x12\x09\x08\x03\x58\x02", 6)));
}

}  // namespace
}  // namespace thalweg::data
