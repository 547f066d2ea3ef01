#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "connectors/file/file_json_rows.h"
#include "data/text/civil.h"
#include "data/text/datetime.h"

namespace thalweg::connectors {
namespace {

/// The current UTC date as 2026-11-29.
std::string Today() {
  constexpr int64_t kDayMs = int64_t{24} * 3600 * 1000;
  std::string text;
  data::AppendDate(static_cast<int32_t>(data::FloorDiv(SystemClock().NowMillis(), kDayMs)), &text);
  return text;
}

TEST(FileGolden, AnswersWhatSparkAnswers) {
  std::ifstream recorded(TW_SOURCE_DIR "/src/connectors/file/testdata/files.jsonl");
  std::string line;
  ASSERT_TRUE(std::getline(recorded, line));
  // A time without a date is one of today.
  const std::string day_of_recording = nlohmann::json::parse(line)["today"];
  const std::string today = Today();
  int cases = 0;
  while (std::getline(recorded, line)) {
    SCOPED_TRACE(line);
    const nlohmann::json entry = nlohmann::json::parse(line);
    Files files;
    const std::string format = entry["format"];
    files.Put("/in/f." + format, BytesOf(entry["content"]));
    std::vector<std::pair<std::string, std::string>> options;
    for (const auto& [key, value] : entry["options"].items()) options.emplace_back(key, value);
    const std::string schema = entry.contains("schema") ? entry["schema"].get<std::string>() : "";
    Status status;
    Result<sql::TablePtr> table = files.Load(format, "/in", schema, options);
    Lines rows;
    if (table.ok() && !(*table)->schema().empty()) {
      Result<Lines> read = JsonRows(files, **table);
      status = read.status();
      if (read.ok()) rows = *read;
    } else {
      status = table.status();
    }
    ++cases;
    if (entry.contains("error")) {
      EXPECT_FALSE(status.ok());
      const std::string error = entry["error"];
      if (error.find("_") != std::string::npos) {
        EXPECT_EQ(status.condition(), error);
      }
      continue;
    }
    EXPECT_TRUE(status.ok()) << status.message();
    if (!status.ok()) continue;
    EXPECT_EQ(data::SchemaDdl((*table)->schema()), entry["found"].get<std::string>());
    Lines expected = entry["rows"].get<Lines>();
    for (std::string& row : expected) {
      for (size_t at = row.find(day_of_recording); at != std::string::npos; at = row.find(day_of_recording, at + 1)) {
        row.replace(at, day_of_recording.size(), today);
      }
    }
    EXPECT_EQ(rows, expected);
  }
  EXPECT_GT(cases, 250);
}

}  // namespace
}  // namespace thalweg::connectors
