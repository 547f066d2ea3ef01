#include "connectors/delta/delta_partition_filter.h"

#include <algorithm>

#include "connectors/delta/delta_schema.h"
#include "data/columnar/builder.h"

namespace thalweg::connectors {

namespace {

std::optional<std::string> ValueText(const PartitionValues& values, const std::string& name) {
  for (const auto& [key, value] : values) {
    if (key == name) return value;
  }
  return std::nullopt;
}

}  // namespace

Result<DeltaPartitionFilterPtr> DeltaPartitionFilter::Make(const DeltaMetadata& metadata, const sql::ExprList& filters,
                                                           const sql::AttributeList& attributes,
                                                           const std::shared_ptr<const sql::EvalConfig>& config) {
  auto filter = std::make_shared<DeltaPartitionFilter>();
  filter->config_ = config;
  TW_ASSIGN_OR_RETURN(filter->zone_, data::TimeZone::Parse(config->time_zone));
  TW_ASSIGN_OR_RETURN(const data::DataType table, data::ParseTypeJson(metadata.schema_string));
  const bool mapped = HasColumnMapping(metadata);
  sql::AttributeList inputs;
  for (const std::string& name : metadata.partition_columns) {
    const int at = FindColumn(table.fields(), name, true);
    const auto attribute = std::find_if(attributes.begin(), attributes.end(), [&](const sql::AttributePtr& a) { return a->name() == name; });
    if (at < 0 || attribute == attributes.end()) continue;
    inputs.push_back(*attribute);
    filter->keys_.push_back({PhysicalField(table.fields()[static_cast<size_t>(at)], mapped).name, (*attribute)->type()});
  }
  sql::ExprList taken;
  for (const sql::ExprPtr& whole : filters) {
    for (const sql::ExprPtr& conjunct : sql::SplitConjunction(whole)) {
      const std::vector<ExprId> ids = sql::References(conjunct);
      const bool ours = conjunct->deterministic() && std::all_of(ids.begin(), ids.end(), [&](ExprId id) {
        return std::any_of(inputs.begin(), inputs.end(), [&](const sql::AttributePtr& input) { return input->id() == id; });
      });
      if (ours) {
        taken.push_back(conjunct);
      } else {
        filter->took_all_ = false;
      }
    }
  }
  if (!taken.empty()) {
    TW_ASSIGN_OR_RETURN(filter->program_, sql::Program::Compile(taken, inputs, config));
  }
  return DeltaPartitionFilterPtr(std::move(filter));
}

Result<std::vector<bool>> DeltaPartitionFilter::Matches(const std::vector<AddFilePtr>& files) const {
  std::vector<bool> out(files.size(), true);
  if (program_ == nullptr || files.empty()) return out;
  std::vector<data::ColumnPtr> columns;
  for (const Key& key : keys_) {
    const auto builder = data::ColumnBuilder::Make(key.type);
    for (const AddFilePtr& file : files) {
      TW_ASSIGN_OR_RETURN(const data::Value value, ParsePartitionValue(ValueText(file->partition_values, key.log_name), key.type, zone_));
      builder->AppendValue(value);
    }
    columns.push_back(builder->Finish());
  }
  const data::Chunk input(std::move(columns), static_cast<int64_t>(files.size()));
  sql::EpochContext epoch;
  sql::EvalContext context{.config = config_.get(), .epoch = &epoch};
  TW_ASSIGN_OR_RETURN(const data::Chunk answers, program_->Run(input, context));
  for (int c = 0; c < answers.num_columns(); ++c) {
    for (size_t i = 0; i < files.size(); ++i) {
      const data::Value value = answers.column(c)->GetValue(static_cast<int64_t>(i));
      out[i] = out[i] && !value.is_null() && value.get<bool>();
    }
  }
  return out;
}

std::string PartitionText(const DeltaMetadata& metadata, const PartitionValues& values) {
  if (metadata.partition_columns.empty()) return "";
  std::string out;
  for (const auto& [key, value] : values) out += (out.empty() ? "[" : ", ") + key + "=" + value.value_or("null");
  return out.empty() ? "[]" : out + "]";
}

}  // namespace thalweg::connectors
