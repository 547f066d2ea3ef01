#include "connectors/delta/delta_table.h"

#include "connectors/delta/delta_alter.h"
#include "connectors/delta/delta_command.h"
#include "connectors/delta/delta_protocol.h"
#include "connectors/delta/delta_row_level.h"
#include "connectors/delta/delta_scan.h"
#include "connectors/delta/delta_schema.h"
#include "connectors/delta/delta_streaming_source.h"
#include "connectors/delta/delta_write.h"
#include "sql/datasource/output_modes.h"

namespace thalweg::connectors {

namespace {

class DeltaTable final : public sql::Table, public sql::SupportsRowLevelOperations, public sql::SupportsTableCommands,
                         public sql::SupportsAlterTable, public sql::DeclaresOutputModes {
 public:
  DeltaTable(std::shared_ptr<DeltaLog> log, DeltaSnapshotPtr snapshot, bool pinned, sql::OptionMap options)
      : log_(std::move(log)), snapshot_(std::move(snapshot)), pinned_(pinned), options_(std::move(options)) {}

  std::string name() const override { return "delta.`" + log_->table_path() + "`"; }
  data::Schema schema() const override { return snapshot_ == nullptr ? data::Schema{} : PublicSchema(snapshot_->schema()); }
  std::vector<std::string> partition_columns() const override {
    return snapshot_ == nullptr ? std::vector<std::string>{} : snapshot_->metadata().partition_columns;
  }
  sql::TableCapabilities capabilities() const override {
    return {.batch_read = true, .micro_batch_read = true, .batch_write = true, .streaming_write = true};
  }
  std::map<std::string, std::string> properties() const override {
    std::map<std::string, std::string> out;
    if (snapshot_ == nullptr) return out;
    for (const auto& [key, value] : snapshot_->metadata().configuration) out[key] = value;
    out["delta.minReaderVersion"] = std::to_string(snapshot_->protocol().min_reader_version);
    out["delta.minWriterVersion"] = std::to_string(snapshot_->protocol().min_writer_version);
    return out;
  }
  Result<std::unique_ptr<sql::Scan>> NewScan(const sql::ScanRequest& request, std::shared_ptr<const sql::EvalConfig> config) override {
    if (snapshot_ == nullptr) return Error("DELTA_TABLE_NOT_FOUND").With("tableName", name());
    return NewDeltaScan(log_, snapshot_, request, std::move(config), pinned_);
  }
  Result<std::unique_ptr<sql::MicroBatchStream>> NewMicroBatchStream(const sql::StreamContext& context) override {
    return NewDeltaStream(log_, snapshot_, options_, context);
  }
  Result<std::unique_ptr<sql::BatchWrite>> NewBatchWrite(const sql::WriteRequest& request) override {
    TW_RETURN_NOT_OK(CheckNotHistorical());
    TW_ASSIGN_OR_RETURN(DeltaSnapshotPtr newest, log_->Update());
    return NewDeltaBatchWrite(log_, std::move(newest), request);
  }
  Status CheckOutputMode(sql::OutputMode mode) const override { return CheckDeltaSinkMode(mode); }
  Result<std::variant<std::unique_ptr<sql::StreamingWrite>, std::unique_ptr<sql::BatchSink>>> NewStreamingWrite(
      const sql::StreamWriteRequest& request) override {
    TW_RETURN_NOT_OK(CheckNotHistorical());
    TW_ASSIGN_OR_RETURN(std::unique_ptr<sql::StreamingWrite> sink, NewDeltaSink(log_, request));
    return std::variant<std::unique_ptr<sql::StreamingWrite>, std::unique_ptr<sql::BatchSink>>(std::move(sink));
  }
  Result<std::unique_ptr<sql::RowLevelOperation>> NewRowLevelOperation(const sql::RowLevelRequest& request) override {
    TW_RETURN_NOT_OK(CheckNotHistorical());
    TW_ASSIGN_OR_RETURN(DeltaSnapshotPtr newest, log_->Update());
    return NewDeltaRowLevelOperation(log_, std::move(newest), request);
  }

  Result<sql::TableCommandAnswer> RunCommand(const sql::TableCommandRequest& request) override { return RunDeltaCommand(log_, request); }
  Status Alter(std::span<const sql::TableChange> changes, const sql::TableChangeContext& context) override {
    TW_RETURN_NOT_OK(CheckNotHistorical());
    return AlterDelta(log_, changes, context);
  }

 private:
  Status CheckNotHistorical() const {
    if (!pinned_) return Status::OK();
    return Error("DELTA_FAILED_SCAN_WITH_HISTORICAL_VERSION").With("historicalVersion", snapshot_->version());
  }

  std::shared_ptr<DeltaLog> log_;
  DeltaSnapshotPtr snapshot_;
  const bool pinned_;
  const sql::OptionMap options_;
};

}  // namespace

sql::TablePtr MakeDeltaTable(std::shared_ptr<DeltaLog> log, DeltaSnapshotPtr snapshot, bool pinned, sql::OptionMap options) {
  return std::make_shared<DeltaTable>(std::move(log), std::move(snapshot), pinned, std::move(options));
}

}  // namespace thalweg::connectors
