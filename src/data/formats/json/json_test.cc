#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "data/columnar/chunk.h"
#include "data/formats/json/json_decoder.h"
#include "data/formats/json/json_writer.h"

namespace thalweg::data {
namespace {

JsonOptions Options(const OptionList& options = {}) {
  return JsonOptions::Make(options, "UTC").ValueOrDie();
}

/// A table schema is a struct, anything else one type.
DataType TypeOf(const std::string& ddl) {
  if (Result<DataType> type = ParseTypeDdl(ddl); type.ok()) return *type;
  return DataType::Struct(ParseSchemaDdl(ddl).ValueOrDie());
}

std::string RoundTrip(const std::string& ddl, const std::string& document) {
  const DataType type = TypeOf(ddl);
  auto decoder = JsonDecoder::Make(type, Options(), {}).ValueOrDie();
  EXPECT_TRUE(decoder->Append(document).ok());
  EXPECT_EQ(decoder->length(), 1);
  const DataType wrapped = DataType::Struct({{"v", type}});
  Column::Parts parts;
  parts.type = wrapped;
  parts.length = 1;
  parts.children = {decoder->Finish()};
  const JsonWriter writer =
      JsonWriter::Make(wrapped, Options({{"ignoreNullFields", "false"}})).ValueOrDie();
  std::string out;
  writer.AppendRow(*Column::Make(std::move(parts)), 0, &out);
  return out;
}

TEST(JsonDecoder, AnswersWhatSparkAnswers) {
  std::ifstream recorded(TW_SOURCE_DIR "/src/data/formats/testdata/from_json.jsonl");
  std::string line;
  ASSERT_TRUE(std::getline(recorded, line));
  int cases = 0;
  while (std::getline(recorded, line)) {
    const nlohmann::json entry = nlohmann::json::parse(line);
    const std::string schema = entry["schema"], document = entry["document"];
    EXPECT_EQ(RoundTrip(schema, document), entry["result"].get<std::string>())
        << schema << " of " << document;
    ++cases;
  }
  EXPECT_GT(cases, 100);
}

}  // namespace
}  // namespace thalweg::data
