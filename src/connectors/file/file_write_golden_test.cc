// What real Spark wrote, byte by byte: testdata/writes.jsonl.
#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "connectors/file/file_test_support.h"

namespace thalweg::connectors {
namespace {

/// The recording holds bytes as Latin-1.
std::string Latin1(const std::string& bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      text.push_back(c);
    } else {
      text.push_back(static_cast<char>(0xC0 | byte >> 6));
      text.push_back(static_cast<char>(0x80 | (byte & 0x3F)));
    }
  }
  return text;
}

TEST(FileWriteGolden, WritesWhatSparkWrites) {
  std::ifstream recorded(TW_SOURCE_DIR "/src/connectors/file/testdata/writes.jsonl");
  std::string line;
  ASSERT_TRUE(std::getline(recorded, line));
  int cases = 0;
  while (std::getline(recorded, line)) {
    SCOPED_TRACE(line.substr(0, 300));
    const nlohmann::json entry = nlohmann::json::parse(line);
    Files files;
    std::string rows;
    for (const std::string row : entry["rows"]) rows += row + "\n";
    Files::Writing writing;
    for (const auto& [key, value] : entry["options"].items()) writing.options.emplace_back(key, value);
    const Result<bool> written = files.Write(entry["format"], "/out", entry["schema"], rows, writing);
    ++cases;
    if (entry.contains("error")) {
      ASSERT_FALSE(written.ok());
      EXPECT_EQ(written.status().condition(), entry["error"].get<std::string>());
      continue;
    }
    ASSERT_TRUE(written.ok()) << written.status().message();
    const auto all = files.services.file_system->ListTree("/out").ValueOrDie();  // tidy: allow(ValueOrDie) tests alone
    ASSERT_EQ(all.size(), 2u);  // _SUCCESS
    EXPECT_EQ(Latin1(files.services.file_system->ReadWhole(all[1].path).ValueOrDie()), entry["bytes"].get<std::string>());  // tidy: allow(ValueOrDie) tests alone
  }
  EXPECT_GT(cases, 35);
}

}  // namespace
}  // namespace thalweg::connectors
