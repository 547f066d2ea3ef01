// thalweg checkpoint inspect|verify DIR: what stands in a checkpoint of Thalweg or Spark, and whether a query can go on from it.

#include <CLI/CLI.hpp>
#include <iostream>

#include "apps/commands.h"
#include "data/io/local_file_system.h"
#include "data/io/path.h"
#include "engine/state/checkpoint_audit.h"

namespace thalweg::apps {
namespace {

std::string Range(const std::vector<int64_t>& ids) {
  if (ids.empty()) return "none";
  return std::to_string(ids.front()) + " to " + std::to_string(ids.back()) + " (" + std::to_string(ids.size()) + ")";
}

std::string Columns(const data::Schema& schema) {
  std::string text;
  for (const data::StructField& field : schema) text += (text.empty() ? "" : ", ") + field.name + " " + field.type.Sql();
  return "(" + text + ")";
}

void PrintOperator(const engine::OperatorSummary& one) {
  std::cout << "operator " << one.id.value() << ": " << (one.name.empty() ? "unknown (no metadata)" : one.name) << "\n";
  for (const engine::StoreSummary& store : one.stores) {
    std::cout << "  store " << store.metadata.store_name << ": " << store.partitions.size() << " partitions, version " << store.newest_version
              << ", " << store.files << " files, " << store.bytes << " bytes\n";
    if (store.schema) std::cout << "    key " << Columns(store.schema->key) << "\n    value " << Columns(store.schema->value) << "\n";
  }
}

Status Inspect(const std::string& text) {
  TW_ASSIGN_OR_RETURN(const std::string root, data::PathFromText(text));
  TW_ASSIGN_OR_RETURN(const engine::CheckpointSummary summary, engine::SummarizeCheckpoint(data::LocalFileSystem::Get(), root));
  std::cout << "query    " << (summary.query_id.empty() ? "unknown (no metadata)" : summary.query_id) << "\n"
            << "offsets  " << Range(summary.offset_ids) << "\n"
            << "commits  " << Range(summary.commit_ids) << "\n"
            << "next     batch " << summary.next_batch.value() << (summary.runs_again ? ", planned already: runs again" : "") << "\n";
  if (summary.next_batch_watermark_ms) std::cout << "watermark of the next batch  " << *summary.next_batch_watermark_ms << " ms\n";
  if (summary.newest_offsets) {
    for (const engine::SourceOffset& offset : summary.newest_offsets->offsets) {
      std::cout << "source " << offset.source_id << "  " << offset.json.value_or("-") << "\n";
    }
    if (summary.newest_offsets->metadata) {
      for (const auto& [key, value] : summary.newest_offsets->metadata->conf) std::cout << "pinned   " << key << "=" << value << "\n";
    }
  }
  for (const engine::OperatorSummary& one : summary.operators) PrintOperator(one);
  return Status::OK();
}

Status Verify(const std::string& text, int64_t versions_back, int* exit_code) {
  TW_ASSIGN_OR_RETURN(const std::string root, data::PathFromText(text));
  TW_ASSIGN_OR_RETURN(const engine::CheckpointAudit audit,
                      engine::AuditCheckpoint(data::LocalFileSystem::Get(), root, SettingsMap(), versions_back));
  for (const engine::CheckpointFinding& finding : audit.findings) {
    std::cout << (finding.fatal ? "ERROR   " : "note    ") << finding.where << ": " << finding.what << "\n";
  }
  std::cout << (audit.sound() ? "sound" : "DAMAGED") << ": " << audit.log_entries << " log entries, " << audit.stores << " stores, "
            << audit.entries << " entries of state\n";
  *exit_code = audit.sound() ? 0 : 1;
  return Status::OK();
}

void Report(const Status& status, int* exit_code) {
  if (status.ok()) return;
  std::cerr << "thalweg checkpoint: " << status.message() << "\n";
  *exit_code = 1;
}

}  // namespace

void AddCheckpointCommand(CLI::App& app, int* exit_code) {
  struct Arguments {
    std::string directory;
    int64_t versions_back = 0;
  };
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("checkpoint", "Look at the checkpoint of a streaming query, ours or Spark's; nothing is written");
  command->require_subcommand(1);
  CLI::App* inspect = command->add_subcommand("inspect", "Print logs, settings, operators and stores");
  CLI::App* verify = command->add_subcommand("verify", "Read all that a restart needs; exit status 1 when it would fail or give wrong answers");
  for (CLI::App* one : {inspect, verify}) one->add_option("directory", arguments->directory, "The checkpoint")->required();
  verify->add_option("--versions-back", arguments->versions_back, "So many older state versions as well")->check(CLI::NonNegativeNumber);
  inspect->callback([=] { Report(Inspect(arguments->directory), exit_code); });
  verify->callback([=] { Report(Verify(arguments->directory, arguments->versions_back, exit_code), exit_code); });
}

}  // namespace thalweg::apps
