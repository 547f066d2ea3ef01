#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "connectors/file/file_test_support.h"
#include "data/columnar/chunk.h"
#include "data/formats/json/json_writer.h"
#include "data/text/civil.h"
#include "data/text/datetime.h"

namespace thalweg::connectors {
namespace {

/// Rows as to_json(struct(*)) writes them, null fields kept.
Result<Lines> JsonRows(Files& files, sql::Table& table) {
  TW_ASSIGN_OR_RETURN(const auto scan, table.NewScan(Files::All(table), files.config));
  TW_ASSIGN_OR_RETURN(const auto splits, scan->PlanSplits());
  const data::DataType row_type = data::DataType::Struct(table.schema());
  TW_ASSIGN_OR_RETURN(data::JsonOptions options, data::JsonOptions::Make({{"ignoreNullFields", "false"}}, "UTC"));
  TW_ASSIGN_OR_RETURN(const data::JsonWriter writer, data::JsonWriter::Make(row_type, options));
  Lines rows;
  for (const sql::InputSplitPtr& split : splits) {
    TW_ASSIGN_OR_RETURN(const auto reader, split->Open(*files.config));
    while (true) {
      TW_ASSIGN_OR_RETURN(sql::ReadStep step, reader->Next());
      if (std::holds_alternative<sql::ReadEnd>(step)) break;
      const data::Chunk& chunk = std::get<sql::ReadChunk>(step).chunk;
      data::Column::Parts parts;
      parts.type = row_type;
      parts.length = chunk.num_rows();
      parts.children = chunk.columns();
      const data::ColumnPtr all = data::Column::Make(std::move(parts));
      for (int64_t row = 0; row < chunk.num_rows(); ++row) {
        std::string text;
        writer.AppendRow(*all, row, &text);
        rows.push_back(std::move(text));
      }
    }
  }
  return rows;
}

/// Bytes that the recording holds as Latin-1.
std::string BytesOf(const std::string& latin1) {
  std::string bytes;
  for (size_t i = 0; i < latin1.size(); ++i) {
    const auto c = static_cast<unsigned char>(latin1[i]);
    bytes.push_back(c < 0x80 ? latin1[i] : static_cast<char>((c & 3) << 6 | (latin1[++i] & 0x3F)));
  }
  return bytes;
}

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
