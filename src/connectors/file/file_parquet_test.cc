#include <gmock/gmock.h>

#include "connectors/file/file_test_support.h"
#include "data/columnar/builder.h"
#include "data/formats/parquet/parquet_writer.h"

namespace thalweg::connectors {
namespace {

void PutParquet(Files& files, const std::string& path, const data::Schema& schema,
                const std::vector<data::ValueList>& rows) {
  files.clock.Advance(std::chrono::milliseconds(1));
  ASSERT_TRUE(files.memory.MakeDirectories(data::ParentPath(path)).ok());
  std::vector<data::DataType> types;
  for (const data::StructField& field : schema) types.push_back(field.type);
  auto writer = data::ParquetWriter::Make(files.memory, path, schema).ValueOrDie();
  ASSERT_TRUE(writer->Write(data::ChunkFromRows(types, rows)).ok());
  ASSERT_TRUE(writer->Close().ok());
}

TEST(FileParquet, SchemaComesFromTheFilesAndRowsFromAllOfThem) {
  Files files;
  const data::Schema narrow = data::ParseSchemaDdl("v INT, s STRING").ValueOrDie();
  const data::Schema wide = data::ParseSchemaDdl("v INT, w DOUBLE").ValueOrDie();
  PutParquet(files, "/in/a.parquet", narrow, {{data::Value(int32_t{1}), data::Value(std::string("x"))}});
  PutParquet(files, "/in/b.parquet", wide, {{data::Value(int32_t{2}), data::Value(0.5)}});
  EXPECT_EQ(files.ReadAll("parquet", "/in", "").ValueOrDie(), (Lines{"1 | x", "2 | NULL"}));
  EXPECT_EQ(files.ReadAll("parquet", "/in", "", {{"mergeSchema", "true"}}).ValueOrDie(),
            (Lines{"1 | x | NULL", "2 | NULL | 0.5"}));
  const sql::TablePtr table = files.Load("parquet", "/in", "w DOUBLE, v BIGINT").ValueOrDie();
  EXPECT_EQ(files.Rows(*table, {"v"}).ValueOrDie().size(), 2u);
  EXPECT_EQ(files.Rows(*table, {}).ValueOrDie().size(), 2u);
  files.Put("/in/c.parquet", "not parquet");
  EXPECT_TRUE(files.Rows(*files.Load("parquet", "/in", "v INT").ValueOrDie(), {"v"})
                  .status()
                  .condition()
                  .starts_with("FAILED_READ_FILE"));
}

}  // namespace
}  // namespace thalweg::connectors
