#include "thalweg/data_frame_writer.h"

#include <spark/connect/commands.pb.h>

#include "front/dataframe/nodes.h"
#include "front/dataframe/session_state.h"

namespace thalweg {

namespace proto = ::spark::connect;

struct DataFrameWriter::Spec {
  proto::WriteOperation operation;
  std::string unknown_mode;  // told when it runs
  Status Check() const {
    return unknown_mode.empty() ? Status::OK() : Status(Error("INVALID_SAVE_MODE").With("mode", "\"" + unknown_mode + "\""));
  }
};

DataFrameWriter::DataFrameWriter(std::shared_ptr<internal::SessionState> session, std::shared_ptr<const internal::RelationNode> input)
    : session_(std::move(session)), input_(std::move(input)), spec_(std::make_shared<Spec>()) {
  spec_->operation.set_mode(proto::WriteOperation::SAVE_MODE_ERROR_IF_EXISTS);
}

DataFrameWriter& DataFrameWriter::Format(std::string_view format) {
  spec_->operation.set_source(std::string(format));
  return *this;
}

DataFrameWriter& DataFrameWriter::Mode(std::string_view mode) {
  using Write = proto::WriteOperation;
  constexpr std::pair<std::string_view, Write::SaveMode> kModes[] = {{"append", Write::SAVE_MODE_APPEND},
                                                                     {"overwrite", Write::SAVE_MODE_OVERWRITE},
                                                                     {"ignore", Write::SAVE_MODE_IGNORE},
                                                                     {"error", Write::SAVE_MODE_ERROR_IF_EXISTS},
                                                                     {"errorifexists", Write::SAVE_MODE_ERROR_IF_EXISTS},
                                                                     {"default", Write::SAVE_MODE_ERROR_IF_EXISTS}};
  spec_->unknown_mode = mode;
  for (const auto& [name, value] : kModes) {
    if (name != mode) continue;
    spec_->operation.set_mode(value);
    spec_->unknown_mode.clear();
  }
  return *this;
}

DataFrameWriter& DataFrameWriter::Option(std::string_view key, std::string_view value) {
  (*spec_->operation.mutable_options())[std::string(key)] = std::string(value);
  return *this;
}

DataFrameWriter& DataFrameWriter::Options(const std::map<std::string, std::string>& options) {
  for (const auto& [key, value] : options) Option(key, value);
  return *this;
}

DataFrameWriter& DataFrameWriter::PartitionBy(const std::vector<std::string>& columns) {
  for (const std::string& column : columns) spec_->operation.add_partitioning_columns(column);
  return *this;
}

Status DataFrameWriter::Save(std::string_view path) {
  TW_RETURN_NOT_OK(spec_->Check());
  proto::Command command;
  *command.mutable_write_operation() = spec_->operation;
  *command.mutable_write_operation()->mutable_input() = input_->relation;
  if (!path.empty()) command.mutable_write_operation()->set_path(std::string(path));
  return session_->ExecuteCommand(command);
}

Status DataFrameWriter::SaveAsTable(std::string_view name) {
  using SaveTable = proto::WriteOperation::SaveTable;
  TW_RETURN_NOT_OK(spec_->Check());
  proto::Command command;
  *command.mutable_write_operation() = spec_->operation;
  *command.mutable_write_operation()->mutable_input() = input_->relation;
  command.mutable_write_operation()->mutable_table()->set_table_name(std::string(name));
  command.mutable_write_operation()->mutable_table()->set_save_method(SaveTable::TABLE_SAVE_METHOD_SAVE_AS_TABLE);
  return session_->ExecuteCommand(command);
}

Status DataFrameWriter::InsertInto(std::string_view name, bool overwrite) {
  using SaveTable = proto::WriteOperation::SaveTable;
  proto::Command command;
  proto::WriteOperation* write = command.mutable_write_operation();
  *write = spec_->operation;
  write->set_mode(overwrite ? proto::WriteOperation::SAVE_MODE_OVERWRITE : proto::WriteOperation::SAVE_MODE_APPEND);
  *write->mutable_input() = input_->relation;
  write->mutable_table()->set_table_name(std::string(name));
  write->mutable_table()->set_save_method(SaveTable::TABLE_SAVE_METHOD_INSERT_INTO);
  return session_->ExecuteCommand(command);
}

struct DataFrameWriterV2::Spec {
  proto::WriteOperationV2 operation;
};

DataFrameWriterV2::DataFrameWriterV2(std::shared_ptr<internal::SessionState> session,
                                     std::shared_ptr<const internal::RelationNode> input, std::string_view table)
    : session_(std::move(session)), input_(std::move(input)), spec_(std::make_shared<Spec>()) {
  spec_->operation.set_table_name(std::string(table));
}

DataFrameWriterV2& DataFrameWriterV2::Using(std::string_view format) {
  spec_->operation.set_provider(std::string(format));
  return *this;
}

DataFrameWriterV2& DataFrameWriterV2::Option(std::string_view key, std::string_view value) {
  (*spec_->operation.mutable_options())[std::string(key)] = std::string(value);
  return *this;
}

DataFrameWriterV2& DataFrameWriterV2::TableProperty(std::string_view key, std::string_view value) {
  (*spec_->operation.mutable_table_properties())[std::string(key)] = std::string(value);
  return *this;
}

DataFrameWriterV2& DataFrameWriterV2::PartitionedBy(const std::vector<Column>& columns) {
  for (const Column& column : columns) *spec_->operation.add_partitioning_columns() = internal::ColumnAccess::Message(column);
  return *this;
}

Status DataFrameWriterV2::Create() { return Run(proto::WriteOperationV2::MODE_CREATE); }
Status DataFrameWriterV2::Replace() { return Run(proto::WriteOperationV2::MODE_REPLACE); }
Status DataFrameWriterV2::CreateOrReplace() { return Run(proto::WriteOperationV2::MODE_CREATE_OR_REPLACE); }
Status DataFrameWriterV2::Append() { return Run(proto::WriteOperationV2::MODE_APPEND); }
Status DataFrameWriterV2::OverwritePartitions() { return Run(proto::WriteOperationV2::MODE_OVERWRITE_PARTITIONS); }

Status DataFrameWriterV2::Overwrite(const Column& condition) {
  *spec_->operation.mutable_overwrite_condition() = internal::ColumnAccess::Message(condition);
  return Run(proto::WriteOperationV2::MODE_OVERWRITE);
}

Status DataFrameWriterV2::Run(int mode) {
  proto::Command command;
  *command.mutable_write_operation_v2() = spec_->operation;
  command.mutable_write_operation_v2()->set_mode(static_cast<proto::WriteOperationV2::Mode>(mode));
  *command.mutable_write_operation_v2()->mutable_input() = input_->relation;
  return session_->ExecuteCommand(command);
}

}  // namespace thalweg
