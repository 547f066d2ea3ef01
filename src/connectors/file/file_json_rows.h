#pragma once

// For the tests of this room: rows of a table as JSON texts, and bytes as recordings hold them.

#include "connectors/file/file_test_support.h"
#include "data/columnar/chunk.h"
#include "data/formats/json/json_writer.h"

namespace thalweg::connectors {

/// Rows as to_json(struct(*)) writes them, null fields kept.
inline Result<Lines> JsonRows(Files& files, sql::Table& table) {
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

/// Bytes that a recording holds as Latin-1.
inline std::string BytesOf(const std::string& latin1) {
  std::string bytes;
  for (size_t i = 0; i < latin1.size(); ++i) {
    const auto c = static_cast<unsigned char>(latin1[i]);
    bytes.push_back(c < 0x80 ? latin1[i] : static_cast<char>((c & 3) << 6 | (latin1[++i] & 0x3F)));
  }
  return bytes;
}

}  // namespace thalweg::connectors
