#include "sql/datasource/data_source.h"

#include <gtest/gtest.h>

namespace thalweg::sql {
namespace {

TEST(OptionMapTest, KeysCompareWithoutCaseAndKeepTheLastSpelling) {
  OptionMap options;
  options.Set("maxFilesPerTrigger", "1");
  options.Set("MAXFILESPERTRIGGER", "2");
  options.Set("path", "/a");
  EXPECT_EQ(options.Get("maxfilespertrigger"), "2");
  ASSERT_EQ(options.entries().size(), 2u);
  EXPECT_EQ(options.entries()[0].first, "MAXFILESPERTRIGGER");
  EXPECT_FALSE(options.Has("nope"));
}

TEST(OptionMapTest, NumbersAndBooleansAreChecked) {
  OptionMap options;
  options.Set("n", "-12");
  options.Set("bad", "12x");
  options.Set("yes", "TRUE");
  EXPECT_EQ(options.GetInt("n", 0).ValueOrDie(), -12);
  EXPECT_EQ(options.GetInt("absent", 7).ValueOrDie(), 7);
  EXPECT_EQ(options.GetInt("bad", 0).status().condition(), "INVALID_OPTION_VALUE");
  EXPECT_TRUE(options.GetBool("yes", false).ValueOrDie());
  EXPECT_EQ(options.GetBool("bad", false).status().condition(), "INVALID_OPTION_VALUE");
}

class BareTable final : public Table {
 public:
  std::string name() const override { return "bare"; }
  data::Schema schema() const override { return {}; }
  TableCapabilities capabilities() const override { return {}; }
};

TEST(TableTest, WhatATableCannotDoHasACondition) {
  BareTable table;
  EXPECT_EQ(table.NewScan({}, nullptr).status().condition(), "UNSUPPORTED_FEATURE.TABLE_OPERATION");
  EXPECT_EQ(table.NewBatchWrite({}).status().condition(), "UNSUPPORTED_FEATURE.TABLE_OPERATION");
  EXPECT_EQ(table.NewMicroBatchStream({}).status().condition(), "_LEGACY_ERROR_TEMP_2049");
  EXPECT_EQ(table.NewStreamingWrite({}).status().condition(), "_LEGACY_ERROR_TEMP_2049");
}

TEST(TableTest, OnlyUpdateModeReplacesRows) {
  BareTable table;
  EXPECT_EQ(table.accepted_changes(OutputMode::kAppend), ChangelogMode::kInsertOnly);
  EXPECT_EQ(table.accepted_changes(OutputMode::kComplete), ChangelogMode::kInsertOnly);
  EXPECT_EQ(table.accepted_changes(OutputMode::kUpdate), ChangelogMode::kUpsert);
}

class BareSource final : public DataSource {
 public:
  std::string short_name() const override { return "bare"; }
  std::vector<std::string> aliases() const override { return {"org.Bare"}; }
  Result<TablePtr> Load(const LoadRequest&) const override { return TablePtr(std::make_shared<BareTable>()); }
};

TEST(DataSourceRegistryTest, FindsByNameAndAliasWithoutCase) {
  DataSourceRegistry registry;
  ASSERT_TRUE(registry.Register(std::make_shared<BareSource>()).ok());
  EXPECT_TRUE(registry.Find("BARE").ok());
  EXPECT_TRUE(registry.Find("org.bare").ok());
  EXPECT_EQ(registry.Find("nope").status().condition(), "DATA_SOURCE_NOT_FOUND");
  EXPECT_FALSE(registry.Register(std::make_shared<BareSource>()).ok());
}

}  // namespace
}  // namespace thalweg::sql
