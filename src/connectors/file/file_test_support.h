#pragma once

// For the tests of this room: files in memory, tables over them, rows as text.

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "connectors/file/file_source.h"
#include "data/io/memory_file_system.h"
#include "data/io/path.h"
#include "data/text/literal.h"

namespace thalweg::connectors {

class Files {
 public:
  explicit Files(data::FileSystem* other = nullptr) {
    services.file_system = other != nullptr ? other : &memory;
    services.clock = &clock;
    for (auto& source : MakeFileDataSources(services)) EXPECT_TRUE(registry.Register(source).ok());
  }

  /// A file of that text, one millisecond younger than the last.
  void Put(const std::string& path, const std::string& text) {
    clock.Advance(std::chrono::milliseconds(1));
    PutNow(path, text);
  }
  void PutNow(const std::string& path, const std::string& text) {
    ASSERT_TRUE(services.file_system->MakeDirectories(data::ParentPath(path)).ok());
    auto file = services.file_system->Create(path, data::CreateMode::kReplace).ValueOrDie();  // tidy: allow(ValueOrDie) tests alone
    ASSERT_TRUE(file->Append(text).ok());
    ASSERT_TRUE(file->Close().ok());
  }

  Result<sql::TablePtr> Load(const std::string& format, const std::string& path, const std::string& ddl,
                             const std::vector<std::pair<std::string, std::string>>& options = {},
                             bool streaming = false) {
    sql::LoadRequest request;
    if (!path.empty()) request.paths = {path};
    for (const auto& [key, value] : options) request.options.Set(key, value);
    if (!ddl.empty()) request.schema = data::ParseSchemaDdl(ddl).ValueOrDie();  // tidy: allow(ValueOrDie) tests alone
    request.streaming = streaming;
    request.config = config;
    request.settings = std::make_shared<const SettingsMap>(settings);
    return registry.Find(format).ValueOrDie()->Load(request);  // tidy: allow(ValueOrDie) tests alone
  }

  static sql::ScanRequest All(sql::Table& table) {
    sql::ScanRequest request;
    for (const data::StructField& field : table.schema()) request.columns.push_back(field.name);
    return request;
  }

  /// "a | b" a row, in order of splits.
  Result<std::vector<std::string>> Read(const std::vector<sql::InputSplitPtr>& splits) {
    std::vector<std::string> rows;
    for (const sql::InputSplitPtr& split : splits) {
      TW_ASSIGN_OR_RETURN(auto reader, split->Open(*config));
      while (true) {
        TW_ASSIGN_OR_RETURN(sql::ReadStep step, reader->Next());
        if (std::holds_alternative<sql::ReadEnd>(step)) break;
        const data::Chunk& chunk = std::get<sql::ReadChunk>(step).chunk;
        for (int64_t row = 0; row < chunk.num_rows(); ++row) {
          std::string text;
          for (int i = 0; i < chunk.num_columns(); ++i) {
            text += i > 0 ? " | " : "";
            text += data::ValueText(chunk.column(i)->GetValue(row), chunk.column(i)->type());
          }
          rows.push_back(std::move(text));
        }
      }
    }
    return rows;
  }

  Result<std::vector<std::string>> Rows(sql::Table& table, std::vector<std::string> columns) {
    sql::ScanRequest request;
    request.columns = std::move(columns);
    TW_ASSIGN_OR_RETURN(const auto scan, table.NewScan(request, config));
    TW_ASSIGN_OR_RETURN(const auto splits, scan->PlanSplits());
    return Read(splits);
  }
  /// All rows of a batch read, sorted.
  Result<std::vector<std::string>> ReadAll(const std::string& format, const std::string& path, const std::string& ddl,
                                           const std::vector<std::pair<std::string, std::string>>& options = {}) {
    TW_ASSIGN_OR_RETURN(const sql::TablePtr table, Load(format, path, ddl, options));
    TW_ASSIGN_OR_RETURN(std::vector<std::string> rows, Rows(*table, All(*table).columns));
    std::sort(rows.begin(), rows.end());
    return rows;
  }

  /// All chunks of a table.
  Result<std::vector<data::Chunk>> Chunks(sql::Table& table) {
    std::vector<data::Chunk> chunks;
    TW_ASSIGN_OR_RETURN(const auto scan, table.NewScan(All(table), config));
    TW_ASSIGN_OR_RETURN(const auto splits, scan->PlanSplits());
    for (const sql::InputSplitPtr& split : splits) {
      TW_ASSIGN_OR_RETURN(auto reader, split->Open(*config));
      while (true) {
        TW_ASSIGN_OR_RETURN(sql::ReadStep step, reader->Next());
        if (std::holds_alternative<sql::ReadEnd>(step)) break;
        chunks.push_back(std::get<sql::ReadChunk>(step).chunk);
      }
    }
    return chunks;
  }
  /// The rows of JSON lines.
  Result<std::vector<data::Chunk>> ChunksOf(const std::string& ddl, const std::string& json_lines) {
    PutNow("/rows/rows.json", json_lines);
    TW_ASSIGN_OR_RETURN(const sql::TablePtr table, Load("json", "/rows/rows.json", ddl));
    return Chunks(*table);
  }

  /// What a query would write to.
  Result<sql::TablePtr> Target(const std::string& format, const std::string& path,
                               const std::vector<std::pair<std::string, std::string>>& options = {}) {
    sql::LoadRequest request;
    request.paths = {path};
    for (const auto& [key, value] : options) request.options.Set(key, value);
    request.for_write = true;
    request.config = config;
    request.settings = std::make_shared<const SettingsMap>(settings);
    return registry.Find(format).ValueOrDie()->Load(request);  // tidy: allow(ValueOrDie) tests alone
  }

  struct Writing {
    sql::SaveMode mode = sql::SaveMode::kErrorIfExists;
    std::vector<std::string> partition_columns;
    std::vector<std::pair<std::string, std::string>> options;
  };
  /// One task writes JSON lines; false when there was nothing to do.
  Result<bool> Write(const std::string& format, const std::string& path, const std::string& ddl, const std::string& json_lines,
                     const Writing& writing) {
    TW_ASSIGN_OR_RETURN(const std::vector<data::Chunk> chunks, ChunksOf(ddl, json_lines));
    TW_ASSIGN_OR_RETURN(const sql::TablePtr table, Target(format, path, writing.options));
    sql::WriteRequest request;
    TW_ASSIGN_OR_RETURN(request.schema, data::ParseSchemaDdl(ddl));
    request.mode = writing.mode;
    request.partition_columns = writing.partition_columns;
    request.config = config;
    TW_ASSIGN_OR_RETURN(const auto write, table->NewBatchWrite(request));
    if (write == nullptr) return false;
    TW_ASSIGN_OR_RETURN(const auto writer, write->NewWriter(PartitionId(0)));
    for (const data::Chunk& chunk : chunks) TW_RETURN_NOT_OK(writer->Write(chunk));
    std::shared_ptr<Signal> blocked;
    TW_ASSIGN_OR_RETURN(sql::CommitMessagePtr message, writer->Finish(&blocked));
    TW_RETURN_NOT_OK(write->Commit({message}));
    return true;
  }

  /// Files below a directory, relative, with the random part of their names cut out.
  std::vector<std::string> Tree(const std::string& root) {
    std::vector<std::string> names;
    for (const data::FileInfo& file : services.file_system->ListTree(root).ValueOrDie()) {  // tidy: allow(ValueOrDie) tests alone
      std::string name = file.path.substr(root.size() + 1);
      const size_t part = name.find("part-");
      if (part != std::string::npos && name.size() > part + 47) name.replace(part + 11, 36, "U");
      names.push_back(std::move(name));
    }
    return names;
  }

  ManualClock clock{1'700'000'000'000'000};
  data::MemoryFileSystem memory{clock};
  sql::ConnectorServices services;
  sql::DataSourceRegistry registry;
  SettingsMap settings;
  std::shared_ptr<const sql::EvalConfig> config = std::make_shared<sql::EvalConfig>();
};

using Lines = std::vector<std::string>;

}  // namespace thalweg::connectors
