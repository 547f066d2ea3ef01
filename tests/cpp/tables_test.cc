// Promise: what is written is read back, by path and by name, and the catalog knows of it.
#include <filesystem>

#include "test_session.h"

namespace thalweg {
namespace {

using namespace thalweg::functions;  // NOLINT(google-build-using-namespace): as programs do
using testing::Contains;
using testing::ElementsAre;
using testing::Field;
using testing::IsEmpty;
using testing::Not;
using testing::UnorderedElementsAre;

class TablesTest : public SessionTest {
 protected:
  void SetUp() override {
    ASSERT_TRUE(spark().Sql("CREATE DATABASE IF NOT EXISTS cpp_tables").ok());
    ASSERT_TRUE(spark().Catalog().SetCurrentDatabase("cpp_tables").ok());
  }
  void TearDown() override {
    EXPECT_TRUE(spark().Catalog().SetCurrentDatabase("default").ok());
    EXPECT_TRUE(spark().Sql("DROP DATABASE cpp_tables CASCADE").ok());
  }
  static DataFrame Numbers(int64_t start, int64_t end) { return spark().Range(start, end).WithColumn("odd", col("id") % 2); }
};

TEST_F(TablesTest, DeltaByPath) {
  const std::string path = Folder("delta") + "/t";
  ASSERT_TRUE(Numbers(0, 3).Write().Format("delta").PartitionBy({"odd"}).Save(path).ok());
  EXPECT_FALSE(Numbers(0, 3).Write().Format("delta").Save(path).ok());
  ASSERT_TRUE(Numbers(3, 5).Write().Format("delta").Mode("append").Save(path).ok());
  ASSERT_TRUE(Numbers(9, 10).Write().Format("delta").Mode("ignore").Save(path).ok());
  EXPECT_THAT(Rows(spark().Read().Format("delta").Load({path}).OrderBy({"id"})),
              ElementsAre(Row{0, 0}, Row{1, 1}, Row{2, 0}, Row{3, 1}, Row{4, 0}));
  ASSERT_TRUE(Numbers(7, 8).Write().Format("delta").Mode("overwrite").Save(path).ok());
  EXPECT_THAT(Rows(spark().Read().Format("delta").Load({path})), ElementsAre(Row{7, 1}));
  EXPECT_THAT(Rows(spark().Read().Format("delta").Option("versionAsOf", "0").Load({path}).Select({"id"}).OrderBy({"id"})),
              ElementsAre(Row{0}, Row{1}, Row{2}));
  EXPECT_EQ(Numbers(0, 1).Write().Format("delta").Mode("sometimes").Save(path).condition(), "INVALID_SAVE_MODE");
}

TEST_F(TablesTest, TablesByName) {
  ASSERT_TRUE(Numbers(0, 2).Write().Format("delta").SaveAsTable("numbers").ok());
  ASSERT_TRUE(Numbers(2, 3).Write().InsertInto("numbers").ok());
  EXPECT_THAT(Rows(spark().Table("numbers").Select({"id"}).OrderBy({"id"})), ElementsAre(Row{0}, Row{1}, Row{2}));
  ASSERT_TRUE(Numbers(5, 6).WriteTo("numbers").Append().ok());
  EXPECT_EQ(spark().Read().Table("cpp_tables.numbers").Count().ValueOrDie(), 4);
  EXPECT_EQ(Numbers(0, 2).Write().Format("delta").SaveAsTable("numbers").condition(), "TABLE_OR_VIEW_ALREADY_EXISTS");
  ASSERT_TRUE(Numbers(0, 2).WriteTo("more").Using("delta").PartitionedBy({col("odd")}).Create().ok());
  EXPECT_EQ(spark().Table("more").Count().ValueOrDie(), 2);
}

TEST_F(TablesTest, FilesAreRead) {
  const std::string folder = Folder("files");
  WriteFile(folder + "/a.json", "{\"id\": 1, \"page\": \"home\"}\n{\"id\": 2}\n");
  EXPECT_THAT(Rows(spark().Read().Json(folder + "/a.json")), ElementsAre(Row{1, "home"}, Row{2, nullptr}));
  EXPECT_THAT(Rows(spark().Read().Schema("page STRING").Json(folder + "/a.json")), ElementsAre(Row{"home"}, Row{nullptr}));
  WriteFile(folder + "/b.csv", "id,page\n1,home\n2,\n");
  EXPECT_THAT(Rows(spark().Read().Options({{"header", "true"}, {"inferSchema", "true"}}).Csv(folder + "/b.csv")),
              ElementsAre(Row{1, "home"}, Row{2, nullptr}));
  WriteFile(folder + "/c.txt", "one\ntwo\n");
  const DataFrame lines = spark().Read().Text(folder + "/c.txt");
  EXPECT_THAT(Rows(lines), ElementsAre(Row{"one"}, Row{"two"}));
  EXPECT_THAT(lines.InputFiles().ValueOrDie(), ElementsAre("file://" + folder + "/c.txt"));
  EXPECT_EQ(spark().Read().Text(folder + "/absent").Collect().status().condition(), "PATH_NOT_FOUND");
  EXPECT_EQ(spark().Read().Format("papyrus").Load({folder}).Collect().status().condition(), "DATA_SOURCE_NOT_FOUND");
}

TEST_F(TablesTest, TheCatalogKnows) {
  const Catalog catalog = spark().Catalog();
  EXPECT_EQ(catalog.CurrentDatabase().ValueOrDie(), "cpp_tables");
  EXPECT_THAT(catalog.ListDatabases().ValueOrDie(), Contains(Field(&DatabaseInfo::name, "cpp_tables")));
  EXPECT_THAT(catalog.ListDatabases("cpp_t*").ValueOrDie(), ElementsAre(Field(&DatabaseInfo::name, "cpp_tables")));
  EXPECT_TRUE(catalog.DatabaseExists("cpp_tables").ValueOrDie());
  EXPECT_FALSE(catalog.DatabaseExists("absent").ValueOrDie());
  EXPECT_EQ(catalog.SetCurrentDatabase("absent").condition(), "SCHEMA_NOT_FOUND");

  ASSERT_TRUE(catalog.CreateTable("orders", "delta", "id BIGINT, price DECIMAL(8,2)").ok());
  ASSERT_TRUE(Numbers(0, 2).CreateOrReplaceTempView("numbers_view").ok());
  const std::vector<TableInfo> tables = catalog.ListTables().ValueOrDie();
  EXPECT_THAT(tables, UnorderedElementsAre(Field(&TableInfo::name, "orders"), Field(&TableInfo::name, "numbers_view")));
  const TableInfo orders = catalog.GetTable("orders").ValueOrDie();
  EXPECT_EQ(orders.kind, "MANAGED");
  EXPECT_THAT(orders.database, ElementsAre("cpp_tables"));
  EXPECT_FALSE(orders.is_temporary);
  EXPECT_THAT(catalog.ListColumns("orders").ValueOrDie(),
              ElementsAre(Field(&ColumnInfo::type, "bigint"), Field(&ColumnInfo::type, "decimal(8,2)")));
  EXPECT_TRUE(catalog.TableExists("orders").ValueOrDie());
  EXPECT_FALSE(catalog.TableExists("absent").ValueOrDie());
  EXPECT_TRUE(catalog.FunctionExists("upper").ValueOrDie());
  EXPECT_THAT(catalog.ListFunctions("upp*").ValueOrDie(), Contains("upper"));

  EXPECT_FALSE(catalog.IsCached("numbers_view").ValueOrDie());
  EXPECT_TRUE(catalog.CacheTable("numbers_view").ok());
  EXPECT_TRUE(catalog.IsCached("numbers_view").ok());  // an engine may find keeping the rows not worth it
  EXPECT_TRUE(catalog.UncacheTable("numbers_view").ok());
  EXPECT_TRUE(catalog.ClearCache().ok());
  EXPECT_TRUE(catalog.RefreshTable("orders").ok());
  EXPECT_TRUE(catalog.DropTempView("numbers_view").ValueOrDie());
  EXPECT_FALSE(catalog.DropTempView("numbers_view").ValueOrDie());
}

TEST_F(TablesTest, SettingsOfTheSession) {
  ASSERT_TRUE(spark().SetConf("spark.sql.shuffle.partitions", "3").ok());
  EXPECT_EQ(spark().GetConf("spark.sql.shuffle.partitions").ValueOrDie(), "3");
  ASSERT_TRUE(spark().UnsetConf("spark.sql.shuffle.partitions").ok());
  EXPECT_NE(spark().GetConf("spark.sql.shuffle.partitions").ValueOrDie(), "3");
  EXPECT_EQ(spark().GetConf("spark.my.own").status().condition(), "SQL_CONF_NOT_FOUND");
  EXPECT_EQ(spark().GetConfOption("spark.my.own").ValueOrDie(), std::nullopt);
  EXPECT_EQ(spark().GetConfOption("spark.sql.ansi.enabled").ValueOrDie(), "true");
  EXPECT_EQ(spark().SetConf("spark.sql.warehouse.dir", "/elsewhere").condition(), "CANNOT_MODIFY_STATIC_CONFIG");
  EXPECT_THAT(spark().Version().ValueOrDie(), Not(IsEmpty()));
}

}  // namespace
}  // namespace thalweg
