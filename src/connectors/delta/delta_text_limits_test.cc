#include "connectors/delta/delta_text_limits.h"

#include <gtest/gtest.h>

#include "data/columnar/builder.h"

namespace thalweg::connectors {
namespace {

using data::DataType;

data::StructField Hinted(const DataType& type, const std::string& hint) {
  return {.name = "c", .type = type, .nullable = true, .metadata_json = R"({"__CHAR_VARCHAR_TYPE_STRING":")" + hint + "\"}"};
}

data::Chunk Texts(std::string_view text) {
  data::TextBuilder builder(DataType::String());
  builder.Append(text);
  return data::Chunk({builder.Finish()}, 1);
}

std::string Refused(const data::StructField& field, std::string_view text) { return TextLimits({field}).Check(Texts(text)).condition(); }

TEST(DeltaTextLimits, PaddingAndLimitsReadAHintAlike) {
  const struct {
    const char* hint;
    int char_length;
    bool limited;  // to three characters
  } cases[] = {
      {"char(3)", 3, true},         {"CHAR(3)", 3, true},         {" char( 3 ) ", 3, true},
      {"varchar(3)", 0, true},      {"string", 0, false},         {"char(3", 0, false},
      {"char()", 0, false},         {"char(-3)", 0, false},       {"char(3) x", 0, false},
      {"array<char(3)>", 0, false}, {"int", 0, false},            {"char(99999999999)", 0, false},
      {"char(1048576)", 0, false},  {"char(1048575)", 1048575, false}, {"", 0, false},
  };
  for (const auto& [hint, char_length, limited] : cases) {
    const data::StructField field = Hinted(DataType::String(), hint);
    EXPECT_EQ(CharLength(field), char_length) << hint;
    EXPECT_EQ(Refused(field, "abcd"), limited ? "DELTA_EXCEED_CHAR_VARCHAR_LIMIT" : "") << hint;
    EXPECT_EQ(Refused(field, "abc"), "") << hint;
  }
}

TEST(DeltaTextLimits, AHintOfAnotherShapeIsNone) {
  const DataType texts = DataType::Array(DataType::String(), true);
  EXPECT_EQ(DeclaredTextType(Hinted(texts, "array<char(3)>")), DataType::Array(data::ParseTypeDdl("char(3)").ValueOrDie(), true));
  EXPECT_EQ(CharLength(Hinted(texts, "array<char(3)>")), 0);
  EXPECT_EQ(DeclaredTextType(Hinted(texts, "char(3)")), std::nullopt);
  EXPECT_EQ(DeclaredTextType(Hinted(DataType::Integer(), "char(3)")), std::nullopt);
  EXPECT_EQ(CharLength(Hinted(DataType::Integer(), "char(3)")), 0);
  EXPECT_EQ(DeclaredTextType({.name = "c", .type = DataType::String(), .nullable = true}), std::nullopt);
}

TEST(DeltaTextLimits, WhatIsStoredIsReadBack) {
  data::StructField field{.name = "c", .type = data::ParseTypeDdl("char(5)").ValueOrDie(), .nullable = true, .metadata_json = R"({"comment":"a"})"};
  StoreTextLimits(&field);
  EXPECT_EQ(field.type, DataType::String());
  EXPECT_EQ(CharLength(field), 5);
  EXPECT_EQ(field.Comment(), "a");
}

TEST(DeltaTextLimits, TheHintStandsBesideWhatTheColumnAlreadySays) {
  data::StructField field{.name = "c", .type = data::ParseTypeDdl("varchar(5)").ValueOrDie(), .nullable = true,
                          .metadata_json = R"({"comment":"x","owner":{"n":1}})"};
  StoreTextLimits(&field);
  EXPECT_EQ(field.type, DataType::String());
  EXPECT_EQ(field.metadata_json, R"json({"comment":"x","owner":{"n":1},"__CHAR_VARCHAR_TYPE_STRING":"varchar(5)"})json");
}

TEST(DeltaTextLimits, AnOldHintGivesWayToTheDeclaredType) {
  data::StructField field = Hinted(data::ParseTypeDdl("array<char(3)>").ValueOrDie(), "varchar(9)");
  StoreTextLimits(&field);
  EXPECT_EQ(field.MetadataString("__CHAR_VARCHAR_TYPE_STRING"), "array<char(3)>");
  data::StructField other{.name = "c", .type = DataType::String(), .nullable = true, .metadata_json = R"({"owner":"x"})"};
  StoreTextLimits(&other);
  EXPECT_EQ(other.metadata_json, R"({"owner":"x"})");
}

}  // namespace
}  // namespace thalweg::connectors
