#pragma once

// Recorded rows for the tests of this room: one JSON array a line, Spark's version in the first line.

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace thalweg::data {

using GoldenRow = nlohmann::json;

inline std::vector<GoldenRow> ReadGoldenRows(const std::string& name) {
  std::ifstream file(std::string(TW_SOURCE_DIR) + "/src/data/text/testdata/" + name + ".jsonl");
  std::vector<GoldenRow> rows;
  for (std::string line; std::getline(file, line);) rows.push_back(GoldenRow::parse(line));
  EXPECT_GT(rows.size(), 1u) << name;
  if (!rows.empty()) rows.erase(rows.begin());
  return rows;
}

/// "null" or the text of a recorded cell.
inline std::string GoldenText(const GoldenRow& cell) {
  return cell.is_null() ? "null" : cell.is_string() ? cell.get<std::string>() : cell.dump();
}

}  // namespace thalweg::data
