#include "sql/catalog/catalog.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "data/io/local_file_system.h"

namespace thalweg::sql {
namespace {

using ::testing::ElementsAre;

class CatalogTest : public ::testing::Test {
 protected:
  CatalogTest() {
    warehouse_ = std::string(::testing::TempDir()) + "/catalog_" +
                 ::testing::UnitTest::GetInstance()->current_test_info()->name() + "_" + std::to_string(::getpid());
    std::filesystem::remove_all(warehouse_);
  }
  ~CatalogTest() override { std::filesystem::remove_all(warehouse_); }

  TableInfo Table(std::string database, std::string name) {
    TableInfo table;
    table.database = std::move(database);
    table.name = std::move(name);
    table.format = "parquet";
    table.schema = {{"a", data::DataType::Integer(), false, R"({"comment":"x"})"}, {"b", data::DataType::String()}};
    table.partition_columns = {"b"};
    table.location = warehouse_ + "/t";
    table.properties = {{"p", "1"}};
    return table;
  }

  data::LocalFileSystem files_;
  std::string warehouse_;
};

TEST_F(CatalogTest, AFreshWarehouseHoldsTheDefaultDatabaseAndMakesNoFile) {
  Catalog catalog(files_, warehouse_);
  const std::vector<DatabaseInfo> databases = catalog.ListDatabases().ValueOrDie();
  ASSERT_EQ(databases.size(), 1u);
  EXPECT_EQ(databases[0].name, "default");
  EXPECT_EQ(databases[0].location, warehouse_);
  EXPECT_TRUE(catalog.ListTables("default").ValueOrDie().empty());
  EXPECT_FALSE(std::filesystem::exists(warehouse_));
}

TEST_F(CatalogTest, EntriesSurviveARestart) {
  {
    Catalog catalog(files_, warehouse_);
    ASSERT_TRUE(catalog.CreateDatabase({"Sales", catalog.DefaultDatabaseLocation("Sales"), "c", {{"k", "v"}}}, false).ok());
    ASSERT_TRUE(catalog.CreateTable(Table("sales", "Orders"), Catalog::IfExists::kFail).ValueOrDie());
  }
  Catalog again(files_, warehouse_);
  const DatabaseInfo database = again.GetDatabase("SALES").ValueOrDie();
  EXPECT_EQ(database.location, warehouse_ + "/sales.db");
  EXPECT_EQ(database.properties.at("k"), "v");
  const TableInfo table = again.GetTable("sales", "ORDERS").ValueOrDie();
  EXPECT_EQ(table.schema, Table("", "").schema);
  EXPECT_THAT(table.partition_columns, ElementsAre("b"));
  EXPECT_THAT(table.QualifiedName(), ElementsAre("spark_catalog", "sales", "orders"));
}

TEST_F(CatalogTest, EntriesChangeInPlace) {
  Catalog catalog(files_, warehouse_);
  ASSERT_TRUE(catalog.CreateTable(Table("default", "t"), Catalog::IfExists::kFail).ok());
  ASSERT_TRUE(catalog.CreateTable(Table("default", "other"), Catalog::IfExists::kFail).ok());
  const auto rename = [&](const char* from, const char* to) {
    return catalog.AlterTable("default", from, [&](TableInfo* table) {
      table->name = to;
      table->properties["p"] = "2";
      return Status::OK();
    });
  };
  ASSERT_TRUE(rename("T", "Renamed").ok());
  EXPECT_FALSE(catalog.TableExists("default", "t").ValueOrDie());
  EXPECT_EQ(catalog.GetTable("default", "renamed").ValueOrDie().properties.at("p"), "2");
  EXPECT_EQ(rename("renamed", "other").condition(), "TABLE_OR_VIEW_ALREADY_EXISTS");
  EXPECT_EQ(rename("t", "other").condition(), "TABLE_OR_VIEW_NOT_FOUND");
  EXPECT_EQ(rename("renamed", "a/b").condition(), "INVALID_SCHEMA_OR_RELATION_NAME");
  EXPECT_TRUE(catalog.TableExists("default", "renamed").ValueOrDie());
  const Status refused = catalog.AlterTable("default", "renamed", [](TableInfo* table) -> Status {
    table->properties["p"] = "3";
    return InternalError("refused");
  });
  EXPECT_EQ(refused.condition(), "INTERNAL_ERROR");
  EXPECT_EQ(catalog.GetTable("default", "renamed").ValueOrDie().properties.at("p"), "2");
  const auto comment = [](DatabaseInfo* database) { database->comment = "changed"; };
  ASSERT_TRUE(catalog.AlterDatabase("Default", comment).ok());
  EXPECT_EQ(catalog.GetDatabase("default").ValueOrDie().comment, "changed");
  EXPECT_EQ(catalog.AlterDatabase("nope", comment).condition(), "SCHEMA_NOT_FOUND");
}

TEST_F(CatalogTest, AViewReplacesNoTable) {
  Catalog catalog(files_, warehouse_);
  ASSERT_TRUE(catalog.CreateTable(Table("default", "t"), Catalog::IfExists::kFail).ok());
  TableInfo view = Table("default", "t");
  view.type = TableType::kView;
  EXPECT_EQ(catalog.CreateTable(view, Catalog::IfExists::kReplace).status().condition(), "EXPECT_VIEW_NOT_TABLE.NO_ALTERNATIVE");
  EXPECT_NE(catalog.GetTable("default", "t").ValueOrDie().type, TableType::kView);
}

// Two programs with one warehouse: whatever each of them does lies between two steps of the other.
TEST_F(CatalogTest, ChangesAtTheSameTimeAreAllKept) {
  constexpr int kThreads = 4, kTurns = 20;
  Catalog first(files_, warehouse_), second(files_, warehouse_);
  ASSERT_TRUE(first.CreateDatabase({"d", "/d", "", {}}, false).ok());
  ASSERT_TRUE(first.CreateTable(Table("d", "t"), Catalog::IfExists::kFail).ok());
  std::atomic<int> made = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < kThreads; ++i) {
    threads.emplace_back([&, i] {
      Catalog& catalog = i % 2 == 0 ? first : second;
      for (int turn = 0; turn < kTurns; ++turn) {
        const std::string key = std::to_string(i) + "_" + std::to_string(turn);
        EXPECT_TRUE(catalog.AlterTable("d", "t", [&](TableInfo* table) { table->properties[key] = "1"; return Status::OK(); }).ok());
        EXPECT_TRUE(catalog.AlterDatabase("d", [&](DatabaseInfo* database) { database->properties[key] = "1"; }).ok());
        made += catalog.CreateFunction({"d", "f" + std::to_string(turn), "a.B"}, Catalog::IfExists::kFail).ok();
      }
    });
  }
  threads.clear();
  EXPECT_EQ(first.GetTable("d", "t").ValueOrDie().properties.size(), Table("", "").properties.size() + kThreads * kTurns);
  EXPECT_EQ(second.GetDatabase("d").ValueOrDie().properties.size(), size_t{kThreads * kTurns});
  EXPECT_EQ(made.load(), kTurns);
}

TEST_F(CatalogTest, FunctionsAreNamesOfClasses) {
  Catalog catalog(files_, warehouse_);
  EXPECT_TRUE(catalog.ListFunctions("default").ValueOrDie().empty());
  EXPECT_FALSE(catalog.FindFunction("default", "f").ValueOrDie().has_value());
  ASSERT_TRUE(catalog.CreateFunction({"default", "F", "a.B"}, Catalog::IfExists::kFail).ValueOrDie());
  EXPECT_EQ(catalog.CreateFunction({"default", "f", "a.C"}, Catalog::IfExists::kFail).status().condition(), "ROUTINE_ALREADY_EXISTS");
  EXPECT_FALSE(catalog.CreateFunction({"default", "f", "a.C"}, Catalog::IfExists::kKeep).ValueOrDie());
  EXPECT_EQ(catalog.FindFunction("default", "f").ValueOrDie()->class_name, "a.B");
  EXPECT_TRUE(catalog.CreateFunction({"default", "f", "a.C"}, Catalog::IfExists::kReplace).ValueOrDie());
  EXPECT_EQ(Catalog(files_, warehouse_).ListFunctions("default").ValueOrDie().at(0).class_name, "a.C");
  EXPECT_TRUE(catalog.DropFunction("default", "f").ValueOrDie());
  EXPECT_FALSE(catalog.DropFunction("default", "f").ValueOrDie());
  EXPECT_EQ(catalog.CreateFunction({"nope", "f", "a.B"}, Catalog::IfExists::kFail).status().condition(), "SCHEMA_NOT_FOUND");
}

TEST_F(CatalogTest, RefusesWithSparksConditions) {
  Catalog catalog(files_, warehouse_);
  EXPECT_EQ(catalog.GetTable("default", "nope").status().condition(), "TABLE_OR_VIEW_NOT_FOUND");
  EXPECT_EQ(catalog.GetTable("nope", "t").status().condition(), "SCHEMA_NOT_FOUND");
  EXPECT_EQ(catalog.CreateTable(Table("nope", "t"), Catalog::IfExists::kFail).status().condition(), "SCHEMA_NOT_FOUND");
  EXPECT_EQ(catalog.CreateDatabase({"default", "", "", {}}, false).condition(), "SCHEMA_ALREADY_EXISTS");
  EXPECT_TRUE(catalog.CreateDatabase({"default", "", "", {}}, true).ok());
  ASSERT_TRUE(catalog.CreateDatabase({"d", "/d", "", {}}, false).ok());
  ASSERT_TRUE(catalog.CreateTable(Table("d", "t"), Catalog::IfExists::kFail).ok());
  EXPECT_EQ(catalog.CreateTable(Table("d", "t"), Catalog::IfExists::kFail).status().condition(), "TABLE_OR_VIEW_ALREADY_EXISTS");
  EXPECT_FALSE(catalog.CreateTable(Table("d", "T"), Catalog::IfExists::kKeep).ValueOrDie());
  EXPECT_EQ(catalog.DropDatabase("d", false, false).status().condition(), "SCHEMA_NOT_EMPTY");
  EXPECT_EQ(catalog.DropDatabase("d", false, true).ValueOrDie().managed.size(), 1u);
  EXPECT_EQ(catalog.DropDatabase("d", false, false).status().condition(), "SCHEMA_NOT_FOUND");
  EXPECT_TRUE(catalog.DropDatabase("d", true, false).ok());
}

TEST_F(CatalogTest, NamesThatLeadOutOfTheWarehouseAreRefused) {
  Catalog catalog(files_, warehouse_);
  for (const char* name : {"", "..", "a/b", "../x", "a.b", "t t", "\xC3\xA4"}) {
    EXPECT_EQ(catalog.CreateDatabase({name, "/d", "", {}}, false).condition(), "INVALID_SCHEMA_OR_RELATION_NAME") << name;
    EXPECT_EQ(catalog.CreateTable(Table("default", name), Catalog::IfExists::kFail).status().condition(),
              "INVALID_SCHEMA_OR_RELATION_NAME") << name;
  }
}

TEST_F(CatalogTest, TwoCatalogsShareOneWarehouse) {
  Catalog first(files_, warehouse_);
  Catalog second(files_, warehouse_);
  ASSERT_TRUE(first.CreateTable(Table("default", "t"), Catalog::IfExists::kFail).ok());
  EXPECT_TRUE(second.TableExists("default", "t").ValueOrDie());
  EXPECT_EQ(second.DropTable("default", "t").ValueOrDie().name, "t");
  EXPECT_FALSE(first.TableExists("default", "t").ValueOrDie());
}

TEST(CatalogNames, PatternsAreSparks) {
  EXPECT_TRUE(MatchesPattern("Orders", "ord*"));
  EXPECT_TRUE(MatchesPattern("orders", "a* | *ers"));
  EXPECT_FALSE(MatchesPattern("orders", "order"));
  EXPECT_TRUE(MatchesPattern("abcbd", "*b*d"));
  EXPECT_EQ(QuoteName({"a", "b`c"}), "`a`.`b``c`");
}

}  // namespace
}  // namespace thalweg::sql
